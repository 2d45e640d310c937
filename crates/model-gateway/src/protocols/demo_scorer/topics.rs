//! Groups of words about one topic, so that `refund` hints at an option called Billing.

use std::collections::{BTreeSet, HashMap};

use super::words::{Words, stem, stems};

/// Weight of a word that shares a topic with an outcome's words; those words themselves have weight
/// 1.
const NEAR: f64 = 0.8;

const TOPICS: [&str; 7] = [
    "billing invoice charge payment paid pay refund money price card subscription cost bank \
     twice",
    "delivery order shipping parcel package arrive courier tracking late shipment address \
     waiting",
    "bug error crash broken broke defect fault repair damaged technical fails working",
    "account login password profile username access locked email",
    "return exchange cancel cancellation warranty replace replacement",
    "sales buy purchase quote offer discount available stock",
    "praise thanks thank great love excellent wonderful happy",
];

/// Topics, found by the stems of their words.
pub(crate) struct Topics {
    stems: Vec<Vec<String>>,
    by_stem: HashMap<String, usize>,
}

impl Topics {
    pub(crate) fn new() -> Self {
        let stems: Vec<Vec<String>> = TOPICS
            .iter()
            .map(|words| words.split_ascii_whitespace().map(stem).collect())
            .collect();
        let by_stem = stems
            .iter()
            .enumerate()
            .flat_map(|(topic, stems)| stems.iter().map(move |stem| (stem.clone(), topic)));
        let by_stem = by_stem.collect();
        Self { stems, by_stem }
    }

    /// Number of words in the text that share a topic with these words.
    pub(crate) fn near(&self, words: &str, text: &Words) -> f64 {
        let topics: BTreeSet<usize> = stems(words)
            .iter()
            .filter_map(|stem| self.by_stem.get(stem).copied())
            .collect();
        let near = topics
            .into_iter()
            .filter_map(|topic| self.stems.get(topic))
            .flatten();
        NEAR * text.overlap(near)
    }
}
