//! Text for a terminal or a program, with a button that copies it where there are scripts.

use maud::{Markup, html};

/// The script that copies.
pub(crate) const COPY_SCRIPT: &str = "copy.js";

/// Text in lines as they are. `words` say what it is. The page has to have [`COPY_SCRIPT`]; without
/// scripts, the text can be selected.
pub(crate) fn copyable(id: &str, words: &str, text: &str) -> Markup {
    html! {
        div.copyable {
            // it can be scrolled by keyboard
            pre #(id) dir="ltr" role="region" aria-label=(words) tabindex="0" { (text) }
            button type="button" data-copy=(id) hidden { "Copy" }
        }
    }
}
