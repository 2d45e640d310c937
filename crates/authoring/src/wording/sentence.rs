//! The sentences of a question's text.

use super::words::words;

/// Characters that open or close a quotation.
const QUOTES: [char; 7] = ['"', '“', '”', '„', '«', '»', '‟'];

/// A sentence of a question's text, without the text in double quotes.
pub(super) struct AskingSentence {
    words: Vec<String>,
    /// Whether a question mark ends the sentence.
    pub(super) is_question: bool,
}

impl AskingSentence {
    /// The word at a position; `None` past the end.
    pub(super) fn word(&self, index: usize) -> Option<&str> {
        self.words.get(index).map(String::as_str)
    }

    /// The word before a position.
    pub(super) fn word_before(&self, index: usize) -> Option<&str> {
        self.word(index.checked_sub(1)?)
    }

    /// The words in order.
    pub(super) fn words(&self) -> impl DoubleEndedIterator<Item = &str> + ExactSizeIterator {
        self.words.iter().map(String::as_str)
    }
}

/// The sentences of a text, without empty ones. If any ends with a question mark, the others are
/// introductions and are left out.
pub(super) fn asking_sentences(text: &str) -> Vec<AskingSentence> {
    let mut sentences = sentences(text);
    if sentences.iter().any(|sentence| sentence.is_question) {
        sentences.retain(|sentence| sentence.is_question);
    }
    sentences
}

fn sentences(text: &str) -> Vec<AskingSentence> {
    let mut sentences = Vec::new();
    let mut sentence = String::new();
    let mut is_quoted = false;
    let mut end = |sentence: &mut String, is_question| {
        let words = words(sentence);
        sentence.clear();
        if !words.is_empty() {
            sentences.push(AskingSentence { words, is_question });
        }
    };
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        let ends_word = characters.peek().is_none_or(|next| !next.is_alphanumeric());
        if QUOTES.contains(&c) {
            is_quoted = !is_quoted;
            sentence.push(' ');
        } else if is_quoted {
            // a quotation asks nothing
        } else if c == '\n' || (matches!(c, '?' | '.' | '!' | ':' | ';') && ends_word) {
            end(&mut sentence, c == '?');
        } else {
            sentence.push(c);
        }
    }
    end(&mut sentence, false);
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(text: &str) -> Vec<String> {
        let sentences = asking_sentences(text);
        sentences
            .iter()
            .map(|it| it.words().collect::<Vec<_>>().join(" "))
            .collect()
    }

    #[test]
    fn only_what_asks_is_kept() {
        assert_eq!(seen("Look closely. Is it v1.5??"), ["is it v1 5"]);
        assert_eq!(seen("The writer is angry."), ["the writer is angry"]);
        assert_eq!(
            seen(r#"Does it ask "where is it? and why?" or so?"#),
            ["does it ask or so"]
        );
        assert_eq!(seen("See http://a.example/?q=1: spam?"), ["spam"]);
        assert_eq!(seen("?!…"), Vec::<String>::new());
    }
}
