//! Texts that are too long to show whole, and texts to copy.

use maud::{Markup, html};
use refract_domain::submission::Submission;

use super::number::count;

/// Splits a text after `most` characters: its beginning and the rest.
pub(crate) fn beginning(text: &str, most: usize) -> (&str, &str) {
    let end = text.char_indices().nth(most);
    text.split_at(end.map_or(text.len(), |(at, _)| at))
}

/// The first `most` characters of a text, with an ellipsis when it is longer.
pub(crate) fn clamped(text: &str, most: usize) -> String {
    let (shown, rest) = beginning(text, most);
    let mark = if rest.is_empty() { "" } else { "…" };
    format!("{shown}{mark}")
}

/// The beginning of a submission's texts.
pub(crate) fn in_short(submission: &Submission, most: usize) -> String {
    let fields = submission.fields().iter().map(|(_, text)| text.as_str());
    let texts: Vec<_> = fields.filter(|text| !text.is_empty()).collect();
    if texts.is_empty() {
        return "(empty)".to_owned();
    }
    clamped(&texts.join("\n"), most)
}

/// The number of characters in the rest of a text.
pub(crate) fn more_characters(rest: &str) -> Markup {
    html! { "and " (count(rest.chars().count())) " more characters" }
}

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

/// The script that copies.
pub(crate) const COPY_SCRIPT: &str = "copy.js";

/// Preformatted text. `words` is its accessible label. The page must include [`COPY_SCRIPT`];
/// without scripts, the text can be selected.
pub(crate) fn copyable(id: &str, words: &str, text: &str) -> Markup {
    html! {
        div.copyable {
            pre #(id) dir="ltr" role="group" aria-label=(words) { (text) }
            button type="button" data-copy=(id) hidden { "Copy" }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(clamped("äöü", 3), "äöü");
        assert_eq!(clamped("🦊🦊🦊", 2), "🦊🦊…");
    }

    #[test]
    fn a_long_text_is_whole_and_escaped() {
        let text = format!("{}<b>🦊", "ä".repeat(1_999));
        let shown = whole_text(&text).into_string();
        assert!(shown.contains("and 3 more characters") && shown.contains("b&gt;🦊"));
        assert!(!shown.contains("<b>"));
        assert!(!whole_text("a").into_string().contains("details"));
    }
}
