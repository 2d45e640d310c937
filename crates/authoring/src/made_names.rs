//! Keys and slugs made from labels, questions and names.

use refract_domain::key::{FieldKey, OutcomeKey, QuestionKey};
use refract_domain::limits::{KEY_CHARS, PRISM_PATH_CHARS};
use refract_domain::prism::slug::Slug;
use refract_domain::problem::ValidationError;
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// Makes the key of an option or level from its label; `taken` returns whether a key is in use.
///
/// The words of the label are joined by `_`. The key is `option` when no letter or digit is left;
/// `option_` is put before a leading digit, and `_2`, `_3`, … after a key in use (readings).
pub fn outcome_key(label: &str, taken: impl Fn(&str) -> bool) -> OutcomeKey {
    made_key(label, "option", taken, OutcomeKey::parse)
}

/// Makes the key of a field from its label, as [`outcome_key`] does, but with `field` in place of
/// `option`. It is never a reserved key.
pub fn field_key(label: &str, taken: impl Fn(&str) -> bool) -> FieldKey {
    made_key(label, "field", taken, FieldKey::parse)
}

/// Makes the key of a question from its text, as [`outcome_key`] does, but with `question` in place
/// of `option`. It is never a reserved key.
pub fn question_key(text: &str, taken: impl Fn(&str) -> bool) -> QuestionKey {
    made_key(text, "question", taken, QuestionKey::parse)
}

/// Makes a free key from the words of a text; `parse` must accept it. The key is `noun` when no
/// letter or digit is left, and begins with `noun` when the text begins with a digit.
fn made_key<Key>(
    text: &str,
    noun: &str,
    taken: impl Fn(&str) -> bool,
    parse: fn(&str) -> Result<Key, ValidationError>,
) -> Key {
    let joined = ascii_words(text).join("_");
    let base = match joined.bytes().next() {
        None => noun.to_owned(),
        Some(first) if first.is_ascii_digit() => format!("{noun}_{joined}"),
        Some(_) => joined,
    };
    let mut key = ascii_prefix(&base, KEY_CHARS)
        .trim_end_matches('_')
        .to_owned();
    let mut number: u32 = 1;
    loop {
        if !taken(&key)
            && let Ok(key) = parse(&key)
        {
            return key;
        }
        number += 1;
        let suffix = format!("_{number}");
        key = format!("{}{suffix}", ascii_prefix(&base, KEY_CHARS - suffix.len()));
    }
}

/// Candidate slugs for a new prism of this name, in order of preference: the prism gets the first
/// one that is free in the account.
pub fn slugs(name: &str) -> impl Iterator<Item = Slug> {
    let words = ascii_words(name).join("-");
    let base = if words.is_empty() {
        "prism".to_owned()
    } else {
        words
    };
    (1_u32..).filter_map(move |number| {
        let suffix = match number {
            1 => String::new(),
            _ => format!("-{number}"),
        };
        let kept = ascii_prefix(&base, PRISM_PATH_CHARS - suffix.len());
        Slug::parse(&format!("{}{suffix}", kept.trim_end_matches('-')))
    })
}

/// The words of a text in lower case ASCII letters and digits; accents are dropped.
fn ascii_words(text: &str) -> Vec<String> {
    let plain: String = text
        .to_lowercase()
        .nfd()
        .filter(|c| !is_combining_mark(*c))
        .collect();
    plain
        .split(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The first `bytes` bytes of an ASCII text, or the whole text when it is shorter.
fn ascii_prefix(text: &str, bytes: usize) -> &str {
    text.get(..bytes).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(name: &str) -> String {
        slugs(name).next().unwrap().to_string()
    }

    #[test]
    fn a_slug_is_made_from_the_name() {
        assert_eq!(first("Support triage"), "support-triage");
        assert_eq!(first("  Ärger -- & Ñandú 2! "), "arger-nandu-2");
        assert_eq!(first("日本"), "prism");
        assert_eq!(first(&"abc ".repeat(60)).len(), 63);
    }

    #[test]
    fn a_taken_slug_gets_a_number_within_64_characters() {
        let tried: Vec<_> = slugs(&"a".repeat(90)).take(3).collect();
        assert_eq!(tried[0].as_str(), "a".repeat(64));
        assert_eq!(tried[1].as_str(), format!("{}-2", "a".repeat(62)));
        assert_eq!(tried[2].as_str(), format!("{}-3", "a".repeat(62)));
    }

    #[test]
    fn no_slug_looks_like_a_uuid() {
        let name = "0190b8f2-0000-7000-8000-0000000000aa";
        assert_eq!(first(name), format!("{name}-2"));
    }

    #[test]
    fn an_option_key_is_made_from_its_label() {
        let cases = [
            ("Billing", "billing"),
            ("  Crème brûlée, please!", "creme_brulee_please"),
            ("24 hours", "option_24_hours"),
            ("日本", "option"),
            ("", "option"),
        ];
        for (label, key) in cases {
            assert_eq!(outcome_key(label, |_| false).as_str(), key, "{label}");
        }
    }

    #[test]
    fn a_field_or_question_key_is_made_from_words_and_is_never_reserved() {
        assert_eq!(field_key("Context", |_| false).as_str(), "context_2");
        assert_eq!(field_key("日本", |_| false).as_str(), "field");
        let question = |text| question_key(text, |key| key == "text");
        assert_eq!(question("Is it 5 stars?").as_str(), "is_it_5_stars");
        assert_eq!(question("5 stars?").as_str(), "question_5_stars");
        assert_eq!(question("Status").as_str(), "status_2");
        assert_eq!(question("Text").as_str(), "text_2");
    }

    #[test]
    fn a_taken_option_key_gets_a_number() {
        let long = "x".repeat(200);
        assert_eq!(
            outcome_key("A", |key| key == "a" || key == "a_2").as_str(),
            "a_3"
        );
        let derived = outcome_key(&long, |key| key.len() == 64 && key.ends_with('x'));
        assert_eq!(derived.as_str(), format!("{}_2", "x".repeat(62)));
    }
}
