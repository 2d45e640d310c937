//! The tabs of a prism: links between its pages. And file runs and retests in lists and links.

use actix_web::http::header::HeaderName;
use maud::{Markup, html};
use refract_domain::account::Role;
use refract_domain::ids::{FileRunId, RetestId};
use refract_domain::result::{FileRunState, RetestState};
use refract_service::measures::SAMPLED_NEWEST;
use refract_service::measures::stored_retests::{
    DrawnTexts, RetestEstimate, StoredRetest, TextOrigin,
};
use refract_service::model::TokenPrice;
use refract_service::prisms::Prism;

use super::readable::{count, counted};

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

/// The header of the changing part of a page with the state of the work that the page follows: in
/// another state the page has other parts.
pub(crate) const STATE: HeaderName = HeaderName::from_static("x-run-state");

/// The address of a run's page.
pub(crate) fn run_address(run: FileRunId) -> String {
    format!("/runs/{run}")
}

/// The state of a run as a label. A run that never began and whose file was deleted waits for nothing.
pub(crate) fn state_tag(state: FileRunState, has_file: bool) -> Markup {
    let is_strong = matches!(state, FileRunState::Paused | FileRunState::Broken);
    let has_begun = !matches!(
        state,
        FileRunState::Matching | FileRunState::Checking | FileRunState::Ready
    );
    let words = if has_file || has_begun {
        state_words(state)
    } else {
        "file deleted"
    };
    html! { span.tag.strong[is_strong] { (words) } }
}

/// The state of a run in people's words.
pub(crate) fn state_words(state: FileRunState) -> &'static str {
    match state {
        FileRunState::Matching => "match columns",
        FileRunState::Checking => "reading",
        FileRunState::Ready => "ready to start",
        FileRunState::Previewing => "answering five rows",
        FileRunState::Running => "running",
        FileRunState::Paused => "paused",
        FileRunState::Done => "done",
        FileRunState::Cancelled => "cancelled",
        FileRunState::Broken => "cannot be read",
    }
}

/// The question that retests answer: the heading of their pages.
pub(crate) const RETEST_TITLE: &str = "Would another model do?";

/// The address of the page of a prism's retests.
pub(crate) fn retests_address(prism: &Prism) -> String {
    format!("{}/retests", prism_address(prism))
}

/// The address of a retest's page.
pub(crate) fn retest_address(prism: &Prism, retest: RetestId) -> String {
    format!("{}/{retest}", retests_address(prism))
}

/// The version that a retest asks, in words.
pub(crate) fn asked_version(retest: &StoredRetest) -> Markup {
    html! {
        @match retest.version {
            Some(number) => (number),
            None if retest.drawn.draft.is_some() => "a draft",
            None => "the one that answered each text",
        }
    }
}

/// The state of a retest in people's words.
pub(crate) fn retest_tag(state: RetestState) -> Markup {
    let is_strong = state == RetestState::Failed;
    html! { span.tag.strong[is_strong] { (state.name()) } }
}

/// What the texts of a retest were drawn from, and what was left out.
pub(crate) fn left_out(drawn: &DrawnTexts) -> Markup {
    html! {
        @match drawn.from {
            TextOrigin::Answered | TextOrigin::Found | TextOrigin::LeastSure => {}
            TextOrigin::Marked => p.hint { "Only texts with a random or imported mark." },
            TextOrigin::Wrong => p.hint { "Only texts that were answered wrongly, so nothing is said about the others: marked texts show what gets worse." },
        }
        @if drawn.is_of_newest {
            p.hint { "The texts are from the newest " (count(SAMPLED_NEWEST)) " results." }
        }
        @if drawn.lacking_fields > 0 {
            p.hint { "Left out: " (counted(drawn.lacking_fields, "text")) " without a field of the version." }
        }
        @if drawn.too_large > 0 {
            p.hint { "Left out: " (counted(drawn.too_large, "text")) " too large for the version." }
        }
        @for (question, texts) in &drawn.not_compared {
            p.hint { "Not compared: " code { (question) } " on " (counted(*texts, "text")) ", whose version lacks it or has other outcomes." }
        }
    }
}

/// What asking about the texts costs: model requests, tokens and money.
pub(crate) fn price(estimate: &RetestEstimate, price: TokenPrice) -> Markup {
    let cost = estimate.cost;
    let tokens = u64::try_from(cost.tokens).unwrap_or(u64::MAX);
    html! {
        p {
            strong { (counted(estimate.texts(), estimate.drawn.from.noun())) }
            @if cost.requests > 0 {
                ": about " (counted(cost.requests, "model request")) " and " (counted(cost.tokens, "token")) " to read"
                @if let Some(price) = price.of_reading(tokens) { "; " (price) }
                "."
            } @else {
                ". The built-in scorer costs nothing."
            }
        }
    }
}
