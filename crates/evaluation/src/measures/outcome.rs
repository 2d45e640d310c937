//! Measures of single outcomes: the confusion table, precision, recall and F1.

use std::collections::BTreeMap;

use refract_domain::key::OutcomeKey;
use serde::Serialize;

use crate::measures::proportion::{mean, ratio};

/// Precision, recall and F1 of one outcome, over the answered rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct OutcomeMeasures {
    /// The outcome.
    pub key: OutcomeKey,
    /// Answered rows that are marked with the outcome.
    pub marked: u64,
    /// Rows that predict the outcome.
    pub predicted: u64,
    /// Share of correct rows among those that predict the outcome; `None` when no row does.
    pub precision: Option<f64>,
    /// Share of correct rows among those marked with the outcome; `None` when no row is.
    pub recall: Option<f64>,
    /// Harmonic mean of precision and recall, `2tp / (2tp + fp + fn)`; `None` when the outcome is
    /// neither marked nor predicted.
    pub f1: Option<f64>,
}

/// Unweighted means over the outcomes that are marked or predicted at least once.
///
/// An undefined precision or recall of such an outcome counts as 0. The means are `None` without
/// answered rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct MacroAverage {
    /// Mean precision.
    pub precision: Option<f64>,
    /// Mean recall.
    pub recall: Option<f64>,
    /// Mean F1.
    pub f1: Option<f64>,
}

/// Answered rows with one marked and one predicted outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ConfusionCell {
    /// The marked outcome.
    pub marked: OutcomeKey,
    /// The predicted outcome.
    pub predicted: OutcomeKey,
    /// Number of rows, at least 1.
    pub count: u64,
}

/// Counts of answered rows by the indexes of their marked and predicted outcomes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Confusion(BTreeMap<(u16, u16), u64>);

impl Confusion {
    /// Counts pairs of a marked and a predicted outcome.
    pub(crate) fn new(pairs: impl Iterator<Item = (u16, u16)>) -> Self {
        let mut cells = BTreeMap::new();
        for pair in pairs {
            *cells.entry(pair).or_default() += 1;
        }
        Self(cells)
    }

    /// The cells by outcome; `key_of` returns the key of an index.
    pub(crate) fn cells<'a>(
        &self,
        key_of: impl Fn(u16) -> Option<&'a OutcomeKey>,
    ) -> Vec<ConfusionCell> {
        let cell = |(&(marked, predicted), &count): (&(u16, u16), &u64)| {
            Some(ConfusionCell {
                marked: key_of(marked)?.clone(),
                predicted: key_of(predicted)?.clone(),
                count,
            })
        };
        self.0.iter().filter_map(cell).collect()
    }

    /// The measures of each outcome; `outcomes` is in the order of the indexes.
    pub(crate) fn outcomes<'a>(
        &self,
        outcomes: impl Iterator<Item = &'a OutcomeKey>,
    ) -> Vec<OutcomeMeasures> {
        let mut marked: BTreeMap<u16, u64> = BTreeMap::new();
        let mut predicted: BTreeMap<u16, u64> = BTreeMap::new();
        for (&(of_mark, of_prediction), &count) in &self.0 {
            *marked.entry(of_mark).or_default() += count;
            *predicted.entry(of_prediction).or_default() += count;
        }
        let count = |counts: &BTreeMap<u16, u64>, index| counts.get(&index).copied().unwrap_or(0);
        (0..=u16::MAX)
            .zip(outcomes)
            .map(|(index, key)| {
                let right = self.0.get(&(index, index)).copied().unwrap_or(0);
                let (marked, predicted) = (count(&marked, index), count(&predicted, index));
                OutcomeMeasures {
                    key: key.clone(),
                    marked,
                    predicted,
                    precision: ratio(right, predicted),
                    recall: ratio(right, marked),
                    f1: ratio(2 * right, marked + predicted),
                }
            })
            .collect()
    }
}

impl MacroAverage {
    /// The means over the outcomes' measures.
    pub(crate) fn new(outcomes: &[OutcomeMeasures]) -> Self {
        let mean = |measure: fn(&OutcomeMeasures) -> Option<f64>| {
            let occurs = |outcome: &&OutcomeMeasures| outcome.marked + outcome.predicted > 0;
            let occurring = outcomes.iter().filter(occurs);
            mean(occurring.map(|outcome| measure(outcome).unwrap_or(0.0)))
        };
        Self {
            precision: mean(|outcome| outcome.precision),
            recall: mean(|outcome| outcome.recall),
            f1: mean(|outcome| outcome.f1),
        }
    }
}
