//! The Brier score, summed answer by answer.

use refract_domain::answer::probability::{ONE, Probability};
use refract_domain::key::OutcomeKey;

use crate::measures::count::to_f64;

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
