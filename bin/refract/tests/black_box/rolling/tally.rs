//! The callers' answers, to compare with the model's requests and the saved results.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::rolling::counted_model::FAILS_FIRST;

/// A create call with an idempotency key, to be repeated.
#[derive(Clone, Debug)]
pub(crate) struct KeyedCreate {
    pub(crate) text: String,
    pub(crate) key: String,
    pub(crate) id: String,
}

/// What was acknowledged so far.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// The name of each text, and its expected number of model requests.
    pub(crate) texts: BTreeMap<String, usize>,
    /// The ids of all results, in the order of their answers.
    pub(crate) ids: Vec<String>,
    pub(crate) keyed: Vec<KeyedCreate>,
    pub(crate) calls: BTreeMap<&'static str, usize>,
    durations: Vec<Duration>,
}

impl Tally {
    /// Counts an answered call.
    pub(crate) fn answered(&mut self, kind: &'static str, took: Duration) {
        *self.calls.entry(kind).or_default() += 1;
        self.durations.push(took);
    }

    /// Records a result of a create or retry.
    pub(crate) fn made(&mut self, name: &str, id: String) {
        let expected = if name.starts_with(FAILS_FIRST) { 2 } else { 1 };
        self.texts.insert(name.to_owned(), expected);
        self.ids.push(id);
    }

    /// Fails unless the model was asked exactly as often as the calls need, and exactly the
    /// acknowledged results are saved.
    pub(crate) fn assert_exact(&self, asked: &BTreeMap<String, usize>, saved: &[String]) {
        let differ = asked
            .iter()
            .filter(|(name, times)| self.texts.get(*name) != Some(times));
        let differ: Vec<_> = differ.take(5).collect();
        assert!(differ.is_empty(), "asked otherwise than once: {differ:?}");
        assert_eq!(asked.len(), self.texts.len(), "texts that were asked about");
        let acknowledged: BTreeSet<&String> = self.ids.iter().collect();
        assert_eq!(
            acknowledged.len(),
            self.ids.len(),
            "two calls have one result"
        );
        assert_eq!(
            saved.len(),
            self.ids.len(),
            "results saved and acknowledged"
        );
        assert!(saved.iter().all(|id| acknowledged.contains(id)));
    }

    /// The latency within which this share of the calls was answered.
    pub(crate) fn within(&self, part: f64) -> Duration {
        let mut sorted = self.durations.clone();
        sorted.sort();
        let rank = sorted.len().saturating_sub(1);
        #[expect(
            clippy::as_conversions,
            clippy::cast_possible_truncation,
            clippy::cast_precision_loss,
            clippy::cast_sign_loss,
            reason = "a rank among some 100,000 calls"
        )]
        let rank = (rank as f64 * part) as usize;
        sorted[rank]
    }
}
