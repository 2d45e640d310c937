//! Splits texts into lower case words. Letters of every script are parts of words.

/// Punctuation beyond ASCII that separates words.
const PUNCTUATION: &str = "–—―…«»“”„‟‹›¿¡、。，；：？！（）【】「」『』・•·／｜،؛؟।";

/// The words of a text in lower case. Apostrophes and hyphens inside a word belong to the word, and
/// so do `+`, `#`, `%`, `$` and `@`: without them `C++` would be `C`. `&` becomes the word `and`.
pub(super) fn words(text: &str) -> Vec<String> {
    let text = text.to_lowercase().replace(['’', '‘'], "'");
    let text = text.replace('&', " and ");
    text.split(is_between_words)
        .map(|word| word.trim_matches(['\'', '-']))
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

fn is_between_words(c: char) -> bool {
    let is_part = matches!(c, '\'' | '-' | '+' | '#' | '%' | '$' | '@');
    let is_punctuation = c.is_ascii_punctuation() && !is_part;
    c.is_whitespace() || c.is_control() || is_punctuation || PUNCTUATION.contains(c)
}

/// Whether a word is one of these.
pub(super) fn is_one_of(word: Option<&str>, known: &[&str]) -> bool {
    word.is_some_and(|word| known.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_cut_at_spaces_and_punctuation_of_every_script() {
        assert_eq!(
            words("Isn’t it 'no-reply' (or Q&A)?"),
            ["isn't", "it", "no-reply", "or", "q", "and", "a"]
        );
        assert_eq!(words("C, C++ – C#"), ["c", "c++", "c#"]);
        assert_eq!(words("शिकायत？退款、发货"), ["शिकायत", "退款", "发货"]);
        assert_eq!(words(" - '' … "), Vec::<String>::new());
    }
}
