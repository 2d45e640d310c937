//! Words that a search looks for in the texts of results.

use refract_domain::submission::FieldValues;

/// Most characters of all words together.
const MOST_CHARS: usize = 200;
/// Most words.
const MOST_WORDS: usize = 10;

/// Words that the field values of a result must have, in any order and any case. A word may be a
/// part of a longer one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextWords(Vec<String>);

impl TextWords {
    /// Splits a text into words at white space; `None` for no word, for more than 10 words or for
    /// more than 200 characters.
    pub fn parse(text: &str) -> Option<Self> {
        let words: Vec<_> = text.split_whitespace().map(str::to_lowercase).collect();
        let is_valid = (1..=MOST_WORDS).contains(&words.len())
            && text.chars().count() <= MOST_CHARS
            && !text.contains('\0');
        is_valid.then_some(Self(words))
    }

    /// Whether one of the values has each word.
    pub(crate) fn are_in(&self, values: &FieldValues) -> bool {
        let texts: Vec<_> = values
            .as_slice()
            .iter()
            .map(|(_, it)| it.to_lowercase())
            .collect();
        let mut words = self.0.iter();
        words.all(|word| texts.iter().any(|text| text.contains(word)))
    }

    /// Patterns of `LIKE` for the fields as JSON in lower case. Each result that has the words
    /// matches all patterns; others may match too. Since not every database knows the lower case
    /// of letters beyond ASCII, a pattern leaves such letters open.
    pub(crate) fn patterns(&self) -> Vec<String> {
        self.0.iter().map(|word| pattern(word)).collect()
    }
}

fn pattern(word: &str) -> String {
    // texts serialise without an error
    let json = serde_json::to_string(word).unwrap_or_default();
    let inner = json
        .get(1..json.len().saturating_sub(1))
        .unwrap_or_default();
    let mut pattern = String::from("%");
    for letter in inner.chars() {
        let has_cases = letter
            .to_lowercase()
            .chain(letter.to_uppercase())
            .any(|it| it != letter);
        match letter {
            '%' | '_' | '\\' => pattern.extend(['\\', letter]),
            _ if letter.is_ascii() || !has_cases => pattern.push(letter),
            _ => pattern.push('%'),
        }
    }
    pattern.push('%');
    pattern
}

#[cfg(test)]
mod tests {
    use refract_domain::key::FieldKey;

    use super::*;

    fn values(texts: &[&str]) -> FieldValues {
        let key = |number| FieldKey::parse(&format!("f{number}")).unwrap();
        let values = texts.iter().enumerate();
        FieldValues::new(
            values
                .map(|(number, text)| (key(number), (*text).to_owned()))
                .collect(),
        )
    }

    #[test]
    fn words_are_found_in_any_order_case_and_field() {
        let texts = values(&["Where is my ORDER?", "Größe, Ärger 🦊"]);
        for words in ["order where", "größe", "ÄRGER", "🦊 my", "is  \t my"] {
            assert!(TextWords::parse(words).unwrap().are_in(&texts), "{words}");
        }
        for words in ["order late", "orders", "f0"] {
            assert!(!TextWords::parse(words).unwrap().are_in(&texts), "{words}");
        }
    }

    #[test]
    fn what_is_no_search_is_refused() {
        for text in ["", " \n", "a\0b", &"x".repeat(201), &"x ".repeat(11)] {
            assert_eq!(TextWords::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_pattern_escapes_what_like_and_json_do() {
        let patterns = |words| TextWords::parse(words).unwrap().patterns();
        assert_eq!(
            patterns("50%_off Ä 東京"),
            [r"%50\%\_off%", "%%%", "%東京%"]
        );
        assert_eq!(patterns(r#"a"b\c"#), [r#"%a\\"b\\\\c%"#]);
    }
}
