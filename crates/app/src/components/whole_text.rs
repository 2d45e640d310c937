//! A caller's text of any length.

use maud::{Markup, html};

use super::clamped::{beginning, more_characters};

/// The number of characters shown above the fold.
const BEGINNING: usize = 2_000;

/// A text exactly as it was sent, with all but its beginning folded.
pub(crate) fn whole_text(text: &str) -> Markup {
    let (beginning, rest) = beginning(text, BEGINNING);
    html! {
        @if text.is_empty() { span.soft { "empty" } }
        div.text dir="auto" { (beginning) }
        @if !rest.is_empty() {
            details {
                summary { (more_characters(rest)) }
                div.text dir="auto" { (rest) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_whole_and_escaped() {
        let text = format!("{}<b>🦊", "ä".repeat(1_999));
        let shown = whole_text(&text).into_string();
        assert!(shown.contains("and 3 more characters") && shown.contains("b&gt;🦊"));
        assert!(!shown.contains("<b>"));
        assert!(!whole_text("a").into_string().contains("details"));
    }
}
