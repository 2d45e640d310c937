//! The beginnings of texts that are too long to be shown whole.

use maud::{Markup, html};

use super::number::count;

/// The beginning of a text, of at most `most` characters, and the rest.
pub(crate) fn beginning(text: &str, most: usize) -> (&str, &str) {
    let end = text.char_indices().nth(most);
    text.split_at(end.map_or(text.len(), |(at, _)| at))
}

/// The beginning of a text, with a mark when there is more of it.
pub(crate) fn clamped(text: &str, most: usize) -> String {
    let (shown, rest) = beginning(text, most);
    let mark = if rest.is_empty() { "" } else { "…" };
    format!("{shown}{mark}")
}

/// How much there is of the rest of a text.
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
