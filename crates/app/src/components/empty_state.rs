//! The content of a page that has no items yet.

use maud::{Markup, html};

/// One sentence about the purpose of the page, and the next action.
pub(crate) fn empty_state(sentence: &str, action: &Markup) -> Markup {
    html! {
        div.empty {
            p { (sentence) }
            (action)
        }
    }
}
