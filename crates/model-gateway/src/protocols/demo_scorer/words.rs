//! Words of a text, cut to stems so that `charged` equals `charges`.

use std::collections::{BTreeSet, HashMap};

/// Length of a stem, short enough for `delivery` and `delivered` to have one stem.
const STEM_CHARS: usize = 5;

const ENDINGS: [&str; 9] = [
    "ments", "ment", "ings", "ing", "edly", "ies", "ed", "ly", "s",
];

/// Words that do not hint at the topic of a text.
const STOP_WORDS: [&str; 64] = [
    "the", "and", "for", "are", "was", "were", "been", "being", "have", "has", "had", "does",
    "did", "this", "that", "these", "those", "with", "from", "into", "about", "what", "which",
    "who", "whom", "how", "why", "when", "where", "there", "here", "you", "your", "our", "his",
    "her", "its", "their", "they", "them", "she", "him", "but", "nor", "can", "could", "would",
    "should", "will", "shall", "may", "might", "must", "any", "some", "all", "than", "then",
    "text", "message", "writer", "main", "asks", "want",
];

const NEGATIONS: [&str; 7] = ["not", "no", "never", "don't", "isn't", "wasn't", "without"];

/// The stems of a text with their weights, and signs of excitement.
#[derive(Debug, Default)]
pub(crate) struct Words {
    weights: HashMap<String, f64>,
    total: f64,
    excitement: f64,
}

impl Words {
    /// Adds a text and gives each of its words this weight.
    pub(crate) fn add(&mut self, text: &str, weight: f64) {
        let mut negated = false;
        for word in split(text) {
            self.total += weight;
            if is_shouted(word) {
                self.excitement += 0.3 * weight;
            }
            let lower = word.to_lowercase();
            // `not happy` is no sign of happiness
            if !negated && counts(&lower) {
                *self.weights.entry(stem(&lower)).or_default() += weight;
            }
            negated = NEGATIONS.contains(&lower.as_str());
        }
        self.excitement += weight * 0.3 * count_of(text.matches('!').count());
    }

    /// The weight of a stem; 0 if the text lacks it.
    pub(crate) fn weight(&self, stem: &str) -> f64 {
        self.weights.get(stem).copied().unwrap_or(0.0)
    }

    /// Number of these stems in the text; a frequent stem counts a little more.
    pub(crate) fn overlap(&self, stems: impl IntoIterator<Item = impl AsRef<str>>) -> f64 {
        let weights = stems.into_iter().map(|stem| self.weight(stem.as_ref()));
        weights.map(f64::ln_1p).sum()
    }

    /// The weight of all words, stop words included.
    pub(crate) fn total(&self) -> f64 {
        self.total
    }

    /// The weight of exclamation marks and of words in capitals.
    pub(crate) fn excitement(&self) -> f64 {
        self.excitement
    }
}

/// The different stems of a text, without stop words.
pub(crate) fn stems(text: &str) -> BTreeSet<String> {
    let words = split(text).map(str::to_lowercase);
    words
        .filter(|word| counts(word))
        .map(|word| stem(&word))
        .collect()
}

/// The first five characters of a word in lower case, without its ending.
pub(crate) fn stem(word: &str) -> String {
    let bare = ENDINGS.iter().find_map(|ending| {
        let bare = word.strip_suffix(ending)?;
        (bare.chars().count() >= 3).then_some(bare)
    });
    bare.unwrap_or(word).chars().take(STEM_CHARS).collect()
}

/// A count as a floating-point number.
pub(crate) fn count_of(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

fn split(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’');
    words.filter(|word| !word.is_empty())
}

fn counts(lower: &str) -> bool {
    lower.chars().nth(2).is_some() && !STOP_WORDS.contains(&lower)
}

fn is_shouted(word: &str) -> bool {
    word.chars().nth(2).is_some() && word.chars().all(char::is_uppercase)
}
