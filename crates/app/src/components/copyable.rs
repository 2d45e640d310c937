//! Text for a terminal or a program, with a copy button if scripts are on.

use maud::{Markup, html};

/// The script that copies.
pub(crate) const COPY_SCRIPT: &str = "copy.js";

/// Preformatted text. `words` is its accessible label. The page must include [`COPY_SCRIPT`];
/// without scripts, the text can be selected.
pub(crate) fn copyable(id: &str, words: &str, text: &str) -> Markup {
    html! {
        div.copyable {
            // the keyboard can scroll it
            pre #(id) dir="ltr" role="region" aria-label=(words) tabindex="0" { (text) }
            button type="button" data-copy=(id) hidden { "Copy" }
        }
    }
}
