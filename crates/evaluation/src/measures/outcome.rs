//! Measures of single outcomes: the confusion table, precision, recall and F1. And measures over
//! level numbers: the distance of a scale's answers from the marks.

use std::collections::BTreeMap;

use refract_domain::key::OutcomeKey;
use refract_domain::limits;
use serde::Serialize;

use crate::measures::proportion::{mean, ratio, to_f64};

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

/// The most levels of a scale.
const LEVELS: usize = *limits::LEVELS.end();

/// The distance between the answered and the marked levels of a scale, over the answered rows.
///
/// A level's number is its position in the version that answered, so the distance between two
/// levels is a number of steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ScaleMeasures {
    /// Mean number of levels between answer and mark; `None` without answered rows.
    pub mean_absolute_error: Option<f64>,
    /// Share of rows whose answer is at most one level from the marked one; `None` without answered
    /// rows.
    pub within_one: Option<f64>,
    /// Cohen's kappa with quadratic weights: 1 is full agreement, 0 is agreement by chance. `None`
    /// when all answers and marks are the same level.
    ///
    /// Source: J. Cohen, "Weighted kappa", Psychological Bulletin 70 (1968).
    pub quadratic_kappa: Option<f64>,
}

/// Counts of rows by the positions of their marked and their predicted level.
#[derive(Clone, Debug, Default)]
pub(crate) struct LevelTable([[u64; LEVELS]; LEVELS]);

impl LevelTable {
    /// Counts a row by the positions of its levels, which begin at 0.
    pub(crate) fn add(&mut self, marked: usize, predicted: usize) {
        let cell = self
            .0
            .get_mut(marked)
            .and_then(|row| row.get_mut(predicted));
        if let Some(count) = cell {
            *count += 1;
        }
    }

    /// The measures over the counted rows.
    pub(crate) fn measures(&self) -> ScaleMeasures {
        let (mut rows, mut distances, mut near, mut squares) = (0, 0, 0, 0);
        let mut marked = [0_u64; LEVELS];
        let mut predicted = [0_u64; LEVELS];
        for (of_mark, (row, marked)) in (0_u64..).zip(self.0.iter().zip(&mut marked)) {
            for (of_prediction, (count, predicted)) in (0_u64..).zip(row.iter().zip(&mut predicted))
            {
                let distance = of_mark.abs_diff(of_prediction);
                rows += count;
                distances += count * distance;
                near += if distance <= 1 { *count } else { 0 };
                squares += count * distance * distance;
                *marked += count;
                *predicted += count;
            }
        }
        ScaleMeasures {
            mean_absolute_error: ratio(distances, rows),
            within_one: ratio(near, rows),
            quadratic_kappa: quadratic_kappa(squares, rows, &marked, &predicted),
        }
    }
}

/// One minus the ratio of the observed squared distances to those expected by chance: answers and
/// marks with the same counts of levels, but drawn independently.
fn quadratic_kappa(
    squares: u64,
    rows: u64,
    marked: &[u64; LEVELS],
    predicted: &[u64; LEVELS],
) -> Option<f64> {
    let mut by_chance: u128 = 0;
    for (of_mark, marked) in (0_u64..).zip(marked) {
        for (of_prediction, predicted) in (0_u64..).zip(predicted) {
            let distance = of_mark.abs_diff(of_prediction);
            by_chance += u128::from(*marked) * u128::from(*predicted * distance * distance);
        }
    }
    #[expect(
        clippy::as_conversions,
        clippy::cast_precision_loss,
        reason = "the nearest double of the sum is meant"
    )]
    let by_chance = by_chance as f64;
    (by_chance > 0.0).then(|| 1.0 - to_f64(squares) * to_f64(rows) / by_chance)
}
