//! Proper scores: the Brier score and log loss, summed answer by answer.

use refract_domain::answer::probability::{ONE, Probability};
use refract_domain::key::OutcomeKey;

use crate::measures::count::to_f64;

/// Lower bound on probabilities in log loss, so that one confident mistake does not outweigh all
/// other rows: one millionth, the smallest probability above 0 that is stored.
const LEAST_MILLIONTHS: u32 = 1;

/// Sums of scores over answers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scores {
    answers: u64,
    /// Squared errors in units of 10^-12, so that the sum is exact.
    squared_errors: u128,
    log_losses: f64,
}

impl Scores {
    /// Adds an answer to a choice or scale, with its probability of the marked outcome.
    pub(crate) fn add_outcomes(
        &mut self,
        probabilities: &[(OutcomeKey, Probability)],
        marked: Probability,
    ) {
        let of_all = probabilities.iter();
        let squares = of_all.map(|(_, probability)| squared(probability.millionths()));
        let marked = marked.millionths();
        let squared_errors = squares.sum::<u64>() - squared(marked) + squared(ONE - marked);
        self.add(squared_errors, marked);
    }

    /// Adds a Yes / No answer's probability of yes, and whether yes was marked.
    pub(crate) fn add_yes_no(&mut self, probability: Probability, is_yes: bool) {
        let yes = probability.millionths();
        let marked = if is_yes { yes } else { ONE - yes };
        self.add(squared(ONE - marked), marked);
    }

    fn add(&mut self, squared_errors: u64, marked_millionths: u32) {
        self.answers += 1;
        self.squared_errors += u128::from(squared_errors);
        let probability = f64::from(marked_millionths.max(LEAST_MILLIONTHS)) / f64::from(ONE);
        self.log_losses -= probability.ln();
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
    pub(crate) fn brier(&self) -> Option<f64> {
        let one = f64::from(ONE);
        let sum = self.squared_errors as f64 / (one * one);
        (self.answers > 0).then(|| sum / to_f64(self.answers))
    }

    /// The mean negative natural logarithm of the marked outcomes' probabilities. `None` without
    /// answers.
    ///
    /// Source: I. J. Good, "Rational decisions", Journal of the Royal Statistical Society B 14
    /// (1952).
    pub(crate) fn log_loss(&self) -> Option<f64> {
        (self.answers > 0).then(|| self.log_losses / to_f64(self.answers))
    }
}

fn squared(millionths: u32) -> u64 {
    u64::from(millionths) * u64::from(millionths)
}
