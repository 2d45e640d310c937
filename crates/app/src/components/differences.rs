//! The differences between a version and the one before.

use maud::{Markup, html};
use refract_authoring::version_difference::{ChangedWording, Severity, VersionDifference};

use super::number::count;

/// The `most` most serious differences, without the texts before and after. `more` is the address
/// of the page that shows all.
pub(crate) fn differences_in_short(
    differences: &[VersionDifference],
    most: usize,
    more: &str,
) -> Markup {
    let sorted = most_serious_first(differences);
    let hidden = sorted.len().saturating_sub(most);
    html! {
        ul.differences {
            @for difference in sorted.iter().take(most) { li { (sentence(difference)) } }
            @if hidden > 0 {
                li { a href=(more) { "and " (count(hidden)) " more" } }
            }
        }
    }
}

/// Every difference, most serious first, with the texts before and after.
pub(crate) fn differences(differences: &[VersionDifference]) -> Markup {
    html! {
        ul.differences {
            @for difference in most_serious_first(differences) {
                li {
                    (sentence(difference))
                    @if let Some(wording) = &difference.wording { (changed(wording)) }
                }
            }
        }
    }
}

fn most_serious_first(differences: &[VersionDifference]) -> Vec<&VersionDifference> {
    let mut sorted: Vec<_> = differences.iter().collect();
    sorted.sort_by_key(|difference| difference.severity);
    sorted
}

fn sentence(difference: &VersionDifference) -> Markup {
    html! {
        @match difference.severity {
            Severity::ForCallers => { span.tag.strong { "for callers" } " " }
            Severity::ForAnswers => { span.tag { "answers may change" } " " }
            Severity::Cosmetic => {}
        }
        bdi { (difference.text) }
    }
}

fn changed(wording: &ChangedWording) -> Markup {
    html! {
        div.before-after {
            @if let Some(before) = &wording.before {
                del { span.unseen { "Before: " } span.text dir="auto" { (before) } }
            }
            @if let Some(after) = &wording.after {
                ins { span.unseen { "After: " } span.text dir="auto" { (after) } }
            }
        }
    }
}
