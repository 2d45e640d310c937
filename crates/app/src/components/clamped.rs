//! Truncates texts that are too long to show whole.

use maud::{Markup, html};

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

/// The number of characters in the rest of a text.
pub(crate) fn more_characters(rest: &str) -> Markup {
    html! { "and " (count(rest.chars().count())) " more characters" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(clamped("äöü", 3), "äöü");
        assert_eq!(clamped("🦊🦊🦊", 2), "🦊🦊…");
    }
}
