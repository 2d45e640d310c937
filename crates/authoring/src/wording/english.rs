//! English words by which rules recognise questions and clauses.

use super::words::is_one_of;

/// Words by which a text is recognised as English. None of them is common in another language with
/// the Latin alphabet.
const TELLING: [&str; 37] = [
    "the", "this", "that", "these", "those", "there", "their", "they", "it", "its", "is", "are",
    "were", "does", "did", "has", "could", "would", "should", "what", "which", "who", "why", "how",
    "when", "where", "and", "not", "any", "from", "with", "isn't", "aren't", "doesn't", "didn't",
    "hasn't", "wasn't",
];

/// The number of different [`TELLING`] words that make a text English.
const ENOUGH: usize = 2;

const AUXILIARIES: [&str; 18] = [
    "is", "are", "was", "were", "am", "do", "does", "did", "has", "have", "had", "can", "could",
    "will", "would", "should", "may", "must",
];

const QUESTION_WORDS: [&str; 8] = [
    "what", "which", "who", "whose", "why", "how", "when", "where",
];

const SUBJECTS: [&str; 24] = [
    "he", "she", "it", "they", "you", "we", "i", "there", "this", "that", "these", "those", "the",
    "a", "an", "any", "anyone", "anything", "someone", "his", "her", "their", "its", "all",
];

/// Whether a text is English for certain.
pub(super) fn is_english<'a>(words: impl Iterator<Item = &'a str>) -> bool {
    let mut telling: Vec<&str> = words.filter(|word| TELLING.contains(word)).collect();
    telling.sort_unstable();
    telling.dedup();
    telling.len() >= ENOUGH
}

/// Whether a word is an auxiliary that can begin a yes/no question, such as `does`.
pub(super) fn is_auxiliary(word: Option<&str>) -> bool {
    is_one_of(word, &AUXILIARIES)
}

/// Whether a word is an auxiliary contracted with `not`, such as `isn't`.
pub(super) fn is_negated_auxiliary(word: Option<&str>) -> bool {
    let stem = word.and_then(|word| word.strip_suffix("n't"));
    // `can't` has only one n, and the stem of `won't` is `wo`
    is_auxiliary(stem) || is_one_of(stem, &["ca", "wo"])
}

/// Whether a word asks for a thing, a person, a reason, a way, a time or a place.
pub(super) fn is_question_word(word: Option<&str>) -> bool {
    is_one_of(word, &QUESTION_WORDS)
}

/// Whether a word can begin the subject of a clause.
pub(super) fn begins_subject(word: Option<&str>) -> bool {
    is_one_of(word, &SUBJECTS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wording::words::words;

    fn english(text: &str) -> bool {
        is_english(words(text).iter().map(String::as_str))
    }

    #[test]
    fn other_languages_are_not_taken_for_english() {
        for text in [
            "Is the writer angry?",
            "Isn't this spam?",
            "What does it say?",
        ] {
            assert!(english(text), "{text}");
        }
        for text in [
            "Is de klant boos of verdrietig?",
            "Ist der Kunde in Not und was will er?",
            "¿El cliente no está contento y por qué?",
            "O cliente está no Brasil?",
            "Il cliente non è contento, no?",
            "Le client est-il en colère ou triste ?",
            "Are clientul o problemă?",
            "Er kunden sint, and er det haster?",
        ] {
            assert!(!english(text), "{text}");
        }
    }

    #[test]
    fn auxiliaries_with_not_are_known() {
        for word in ["isn't", "can't", "won't", "didn't", "haven't"] {
            assert!(is_negated_auxiliary(Some(word)), "{word}");
        }
        for word in ["is", "n't", "don", "ain't"] {
            assert!(!is_negated_auxiliary(Some(word)), "{word}");
        }
        assert!(!is_negated_auxiliary(None));
    }
}
