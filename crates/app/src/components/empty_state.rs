//! What a page shows when there is nothing yet.

use maud::{Markup, html};

/// One sentence on what the page is for, and the one thing to do next.
pub(crate) fn empty_state(sentence: &str, action: &Markup) -> Markup {
    html! {
        div.empty {
            p { (sentence) }
            (action)
        }
    }
}
