//! A retest in lists and links.

use maud::{Markup, html};
use refract_domain::ids::RetestId;
use refract_domain::prism::VersionNumber;
use refract_domain::result::retest::RetestState;
use refract_service::measures::stored_retests::DrawnTexts;
use refract_service::measures::{DrawnFrom, SAMPLED_NEWEST};
use refract_service::prisms::Prism;

use super::number::{count, counted};
use super::prism_tabs::prism_address;

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
pub(crate) fn asked_version(version: Option<VersionNumber>) -> Markup {
    html! { @match version { Some(number) => (number), None => "the one that answered each text" } }
}

/// The state of a retest in people's words.
pub(crate) fn retest_tag(state: RetestState) -> Markup {
    let is_strong = state == RetestState::Failed;
    html! { span.tag.strong[is_strong] { (state.name()) } }
}

/// What the texts of a retest were drawn from, and what was left out.
pub(crate) fn left_out(drawn: &DrawnTexts) -> Markup {
    html! {
        @if drawn.from == DrawnFrom::Marked {
            p.hint { "Only texts with a random or imported mark." }
        }
        @if drawn.is_of_newest {
            p.hint { "The texts are drawn from the newest " (count(SAMPLED_NEWEST)) " results." }
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
