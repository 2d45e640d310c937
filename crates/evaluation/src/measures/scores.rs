//! Scores of probabilities, summed answer by answer: the Brier score, the log loss, and the area under
//! the ROC curve.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use refract_domain::answer::probability::{ONE, Probability};
use refract_domain::key::OutcomeKey;

use crate::measures::proportion::{Forecast, to_f64};
use crate::measures::rounding::RoundedProbabilities;

/// Squared errors, summed over answers.
#[derive(Clone, Debug, Default)]
pub(crate) struct SquaredErrors {
    answers: u64,
    /// The sum in units of 10^-12, so that it is exact.
    sum: u128,
}

impl SquaredErrors {
    /// Adds an answer to a choice or scale, with its probability of the marked outcome.
    pub(crate) fn add_outcomes(
        &mut self,
        probabilities: &[(OutcomeKey, Probability)],
        marked: Probability,
    ) {
        let of_all = probabilities.iter();
        let squares = of_all.map(|(_, probability)| squared(probability.millionths()));
        let marked = marked.millionths();
        self.add(squares.sum::<u64>() - squared(marked) + squared(ONE - marked));
    }

    /// Adds a Yes / No answer, with its probability of the marked outcome.
    pub(crate) fn add_yes_no(&mut self, marked: Probability) {
        self.add(squared(ONE - marked.millionths()));
    }

    fn add(&mut self, squared_error: u64) {
        self.answers += 1;
        self.sum += u128::from(squared_error);
    }

    /// The mean squared error of the probabilities; for choices and scales the mean of the sum over
    /// outcomes. `None` without answers.
    ///
    /// Source: G. W. Brier, "Verification of forecasts expressed in terms of probability", Monthly
    /// Weather Review 78 (1950).
    #[expect(
        clippy::as_conversions,
        clippy::cast_precision_loss,
        reason = "the nearest double of the sum is meant"
    )]
    pub(crate) fn mean(&self) -> Option<f64> {
        let one = f64::from(ONE);
        let sum = self.sum as f64 / (one * one);
        (self.answers > 0).then(|| sum / to_f64(self.answers))
    }
}

fn squared(millionths: u32) -> u64 {
    u64::from(millionths) * u64::from(millionths)
}

/// Units in a loss of 1: 2^52.
const UNITS: f64 = 4_503_599_627_370_496.0;

/// The logarithms of the marked outcomes' probabilities, summed.
///
/// A stored 0 has no logarithm. What it stands for depends on all answers of its model, so zeros
/// are counted by model until the mean is asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct LogLosses {
    answers: u64,
    /// The sum over answers whose marked outcome has a probability above 0, in units of 2^-52: whole
    /// numbers add up to the same in every order of the answers.
    sum: u128,
    /// By the name that the server reports; answers without a name are under the empty name.
    models: BTreeMap<String, ModelZeros>,
}

/// The answers of one model.
#[derive(Clone, Debug, Default)]
struct ModelZeros {
    rounded: RoundedProbabilities,
    /// Answers whose marked outcome has probability 0.
    zeros: u64,
}

impl LogLosses {
    /// Adds an answer: its model, its stored probabilities, and the probability of the marked
    /// outcome.
    pub(crate) fn add(
        &mut self,
        model: Option<&str>,
        probabilities: impl IntoIterator<Item = Probability>,
        marked: Probability,
    ) {
        let model = model.unwrap_or_default();
        if !self.models.contains_key(model) {
            let new = ModelZeros::default();
            self.models.insert(model.to_owned(), new);
        }
        if let Some(model) = self.models.get_mut(model) {
            model.rounded.add(probabilities);
            model.zeros += u64::from(marked == Probability::ZERO);
        }
        self.answers += 1;
        if marked > Probability::ZERO {
            self.sum += in_units(-marked.to_f64().ln());
        }
    }

    /// The mean negative natural logarithm of the marked outcomes' probabilities, where a stored 0
    /// counts as the least that is stored, 10^-6. `None` without answers.
    ///
    /// Source: I. J. Good, "Rational decisions", Journal of the Royal Statistical Society B 14
    /// (1952).
    pub(crate) fn mean(&self) -> Option<f64> {
        self.mean_with(|_| Probability::LEAST)
    }

    /// The same mean, where a stored 0 counts as what it stands for in the answers of its model.
    pub(crate) fn floored_mean(&self) -> Option<f64> {
        self.mean_with(ModelZeros::floor)
    }

    fn mean_with(&self, least: impl Fn(&ModelZeros) -> Probability) -> Option<f64> {
        let of_zeros = |model: &ModelZeros| to_f64(model.zeros) * -least(model).to_f64().ln();
        let of_zeros: f64 = self.models.values().map(of_zeros).sum();
        (self.answers > 0).then(|| (from_units(self.sum) + of_zeros) / to_f64(self.answers))
    }

    /// The probability that stands for a stored 0; `None` without answers, and when it differs
    /// between the models.
    pub(crate) fn floor(&self) -> Option<Probability> {
        let mut floors = self.models.values().map(ModelZeros::floor);
        let first = floors.next()?;
        floors.all(|floor| floor == first).then_some(first)
    }
}

impl ModelZeros {
    fn floor(&self) -> Probability {
        self.rounded.floor()
    }
}

/// A loss, at most that of a millionth, in units of 2^-52.
#[expect(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a loss is 0 to 14, and the nearest whole unit is meant"
)]
fn in_units(loss: f64) -> u128 {
    (loss * UNITS).round() as u128
}

#[expect(
    clippy::as_conversions,
    clippy::cast_precision_loss,
    reason = "the nearest double of the sum is meant"
)]
fn from_units(sum: u128) -> f64 {
    sum as f64 / UNITS
}

/// The probability of each outcome in each row: 4 bytes each.
#[derive(Clone, Debug, Default)]
pub(crate) struct OutcomeColumns {
    rows: usize,
    /// By outcome, also those that nobody predicted or marked yet. A column ends at the last row
    /// that lists the outcome.
    columns: IndexMap<OutcomeKey, Vec<Probability>>,
}

impl OutcomeColumns {
    /// Adds the distribution of a row.
    pub(crate) fn add(&mut self, probabilities: &[(OutcomeKey, Probability)]) {
        for (place, (key, probability)) in probabilities.iter().enumerate() {
            // most rows list their outcomes as the first one does: that saves a hash of each key
            let in_place = self.columns.get_index(place);
            let is_in_place = in_place.is_some_and(|(known, _)| known == key);
            let index = if is_in_place {
                place
            } else if let Some(index) = self.columns.get_index_of(key) {
                index
            } else {
                self.columns.insert_full(key.clone(), Vec::new()).0
            };
            if let Some((_, column)) = self.columns.get_index_mut(index) {
                column.resize(self.rows, Probability::ZERO);
                column.push(*probability);
            }
        }
        self.rows += 1;
    }

    /// The area for one outcome against all others; `is_marked` has a value for each row. `None`
    /// when all rows are marked with the outcome, or none is.
    pub(crate) fn area(
        &self,
        outcome: &OutcomeKey,
        is_marked: impl Iterator<Item = bool>,
    ) -> Option<f64> {
        let column = self.columns.get(outcome).map_or(&[][..], Vec::as_slice);
        let column = column.iter().copied();
        let forecast = |(probability, came_true)| Forecast {
            probability,
            came_true,
        };
        let column = column.chain(std::iter::repeat(Probability::ZERO));
        area(column.zip(is_marked).map(forecast).collect())
    }
}

/// The share of pairs of a forecast that came true and one that did not in which the first is the
/// higher one; equal ones count half (mid-ranks). `None` without such pairs.
///
/// Source: J. A. Hanley, B. J. McNeil, "The meaning and use of the area under a receiver operating
/// characteristic (ROC) curve", Radiology 143 (1982).
pub(crate) fn area(mut forecasts: Vec<Forecast>) -> Option<f64> {
    forecasts.sort_unstable_by_key(|forecast| forecast.probability);
    let (mut all_true, mut all_false, mut half_pairs) = (0_u64, 0_u64, 0_u64);
    for tied in forecasts.chunk_by(|a, b| a.probability == b.probability) {
        let (mut came_true, mut others) = (0, 0);
        for forecast in tied {
            came_true += u64::from(forecast.came_true);
            others += u64::from(!forecast.came_true);
        }
        half_pairs += came_true * (2 * all_false + others);
        all_true += came_true;
        all_false += others;
    }
    let pairs = all_true * all_false;
    (pairs > 0).then(|| to_f64(half_pairs) / (2.0 * to_f64(pairs)))
}
