//! Log loss, summed answer by answer.

use std::collections::BTreeMap;

use refract_domain::answer::probability::Probability;

use crate::measures::count::to_f64;
use crate::measures::rounding::RoundedProbabilities;

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

    /// The mean negative natural logarithm of the marked outcomes' probabilities. `None` without
    /// answers.
    ///
    /// Source: I. J. Good, "Rational decisions", Journal of the Royal Statistical Society B 14
    /// (1952).
    pub(crate) fn mean(&self) -> Option<f64> {
        let of_zeros = |model: &ModelZeros| to_f64(model.zeros) * -model.floor().to_f64().ln();
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
