//! Splits texts into lower case words, and normalises those of labels for comparison. Letters of
//! every script are parts of words. Some English words are known, by which rules recognise questions
//! and clauses.

use refract_domain::prism::Outcome;

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

/// Words that mean little before other words.
const SMALL: [&str; 4] = ["a", "an", "the", "of"];

/// Words that give the order of the other words a meaning: `A to B` is not `B to A`.
const ORDERING: [&str; 12] = [
    "to", "from", "by", "over", "into", "before", "after", "than", "versus", "vs", "for", "in",
];

/// Synonyms in labels.
const SYNONYMS: [(&str, &str); 6] = [
    ("issue", "problem"),
    ("trouble", "problem"),
    ("query", "question"),
    ("inquiry", "question"),
    ("enquiry", "question"),
    ("info", "information"),
];

/// The label of an outcome as normalised words.
pub(super) struct LabelWords<'a> {
    /// The outcome with the label.
    pub(super) outcome: &'a Outcome,
    /// The words in singular, without articles.
    pub(super) words: Vec<String>,
    sorted: Vec<String>,
    /// Whether the label has digits. Labels such as `1 to 10` and `10` differ by more than words.
    pub(super) has_digits: bool,
}

impl<'a> LabelWords<'a> {
    /// The words of an outcome's label.
    pub(super) fn of(outcome: &'a Outcome) -> Self {
        let words = compared(&outcome.label);
        let mut sorted = words.clone();
        sorted.sort_unstable();
        sorted.dedup();
        Self {
            outcome,
            words,
            sorted,
            has_digits: outcome.label.chars().any(char::is_numeric),
        }
    }

    /// Whether two labels have the same words, in any order unless a word such as `to` gives the
    /// order a meaning.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let is_ordered = has_any(&self.words, &ORDERING);
        !self.words.is_empty()
            && (self.words == other.words || (!is_ordered && self.sorted == other.sorted))
    }

    /// Whether the label has every word of the other one and at least one more.
    pub(super) fn contains(&self, other: &Self) -> bool {
        let has = |word: &String| self.sorted.binary_search(word).is_ok();
        let is_more = self.sorted.len() > other.sorted.len();
        is_more && !other.sorted.is_empty() && other.sorted.iter().all(has)
    }

    /// The words of this label that the other label lacks.
    pub(super) fn beyond(&self, other: &Self) -> impl Iterator<Item = &str> {
        let is_new = |word: &&String| other.sorted.binary_search(word).is_err();
        self.sorted.iter().filter(is_new).map(String::as_str)
    }
}

/// Whether any of the words is one of these.
pub(super) fn has_any(words: &[String], known: &[&str]) -> bool {
    words.iter().any(|word| known.contains(&word.as_str()))
}

/// The words of a text in singular, without articles and `of`, synonyms as one word.
pub(super) fn compared(text: &str) -> Vec<String> {
    let words = words(text);
    let last = words.len().saturating_sub(1);
    let kept = words.iter().enumerate().filter(|(index, word)| {
        // the last word of `Plan A` is no article
        *index == last || !is_one_of(Some(word), &SMALL)
    });
    kept.map(|(_, word)| {
        let word = singular(word);
        let synonym = SYNONYMS.iter().find(|(synonym, _)| *synonym == word);
        synonym.map_or(word, |(_, word)| (*word).to_owned())
    })
    .collect()
}

/// An English word in singular, by the S-stemmer (Harman 1991, Journal of the American Society for
/// Information Science 42): it cuts plural endings only, so few different words become equal.
fn singular(word: &str) -> String {
    let is_short = word.chars().count() <= 3;
    let ends = |endings: &[&str]| endings.iter().any(|ending| word.ends_with(ending));
    if is_short || !word.ends_with('s') || ends(&["us", "ss", "'s", "is"]) {
        return word.to_owned();
    }
    if let Some(stem) = word.strip_suffix("ies")
        && !ends(&["eies", "aies"])
    {
        return format!("{stem}y");
    }
    word.strip_suffix('s').unwrap_or(word).to_owned()
}

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

/// Whether a word is an auxiliary verb, which can begin a yes/no question.
pub(super) fn is_auxiliary(word: Option<&str>) -> bool {
    is_one_of(word, &AUXILIARIES)
}

/// Whether a word is an auxiliary verb contracted with `not`, such as `isn't`.
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
    use super::{words, *};

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

    #[test]
    fn plurals_articles_and_synonyms_make_no_difference() {
        assert_eq!(compared("The status of an order"), ["status", "order"]);
        assert_eq!(compared("Delivery queries"), ["delivery", "question"]);
        assert_eq!(compared("Payment issues"), compared("Payment problem"));
        assert_eq!(compared("After-sales"), ["after-sale"]);
        assert_eq!(compared("Plan A"), ["plan", "a"]);
        assert_eq!(
            compared("US, gas, business, analysis"),
            ["us", "gas", "business", "analysis"]
        );
    }

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
