//! The tabs of a prism: links between its pages.

use maud::{Markup, html};
use refract_domain::account::Role;
use refract_service::prisms::Prism;

/// A page of a prism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PrismTab {
    /// What callers need, the versions and the changes.
    Overview,
    /// Fields, context and questions.
    Edit,
    /// Trying a text.
    Try,
    /// The lens.
    Lens,
    /// Saved results.
    Results,
    /// Marking results.
    Review,
    /// How often answers are right.
    Quality,
    /// Fixed texts and their right answers.
    Examples,
    /// Files whose rows are asked about.
    Runs,
}

impl PrismTab {
    const ALL: [Self; 9] = [
        Self::Overview,
        Self::Edit,
        Self::Try,
        Self::Lens,
        Self::Results,
        Self::Review,
        Self::Quality,
        Self::Examples,
        Self::Runs,
    ];

    /// The tab's label, the end of its address, and the least role that can use it.
    fn facts(self) -> (&'static str, &'static str, Role) {
        match self {
            Self::Overview => ("Overview", "", Role::Reviewer),
            Self::Edit => ("Edit", "/edit", Role::Editor),
            Self::Try => ("Try", "/try", Role::Reviewer),
            Self::Lens => ("Lens", "/lens", Role::Reviewer),
            Self::Results => ("Results", "/results", Role::Reviewer),
            Self::Review => ("Review", "/review", Role::Reviewer),
            Self::Quality => ("Quality", "/quality", Role::Reviewer),
            Self::Examples => ("Examples", "/examples", Role::Reviewer),
            Self::Runs => ("Runs", "/runs", Role::Reviewer),
        }
    }
}

/// The id of the place after the tabs, where a prism's page begins.
pub(crate) const AFTER_TABS: &str = "after-tabs";

/// The address of a prism's page. A prism whose slug clashes with a fixed address of the app is
/// addressed by its id.
pub(crate) fn prism_address(prism: &Prism) -> String {
    match prism.slug.as_str() {
        "new" => format!("/prisms/{}", prism.id),
        slug => format!("/prisms/{slug}"),
    }
}

/// The heading of every page of a prism: its name and the tabs.
pub(crate) fn prism_heading(prism: &Prism, current: PrismTab, role: Role) -> Markup {
    let address = prism_address(prism);
    html! {
        div.prism {
            h1 { bdi { (prism.name) } }
            @if prism.archived_at.is_some() { span.tag { "archived" } }
            nav aria-label="Pages of this prism" {
                @for tab in PrismTab::ALL {
                    @let (name, ending, least) = tab.facts();
                    @if role.may(least) {
                        a href={ (address) (ending) } aria-current=[(tab == current).then_some("page")] { (name) }
                    }
                }
            }
            // focusable, since Chromium does not always go on from where a link led to
            span.unseen #(AFTER_TABS) tabindex="-1" {}
        }
    }
}
