//! The compact form in which marked answers are collected: 12 bytes each.

use refract_domain::answer::confidence;
use refract_domain::answer::probability::{ONE, Probability};

use crate::measures::forecast::Forecast;

/// Index of yes among the outcomes of a Yes / No question.
pub(crate) const YES: u16 = 0;
/// Index of no among the outcomes of a Yes / No question.
pub(crate) const NO: u16 = 1;

/// A marked answer without its distribution. Outcomes are indexes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MarkedRow {
    /// The marked outcome.
    pub(crate) marked: u16,
    /// The predicted outcome, if the answer predicts one.
    pub(crate) predicted: Option<u16>,
    /// Number of outcomes of the question in the version that answered: 2 for Yes / No.
    pub(crate) outcomes: u16,
    /// Probability of yes for Yes / No, otherwise of the predicted outcome.
    pub(crate) probability: Probability,
}

// a million rows take 12 MB
const _: () = assert!(size_of::<MarkedRow>() == 12);

impl MarkedRow {
    /// Whether the predicted outcome is the marked one.
    pub(crate) fn is_right(&self) -> bool {
        self.predicted == Some(self.marked)
    }

    /// The predicted outcome of a choice or scale, with its probability; `None` if there is none.
    pub(crate) fn prediction(&self) -> Option<Forecast> {
        self.predicted.map(|_| Forecast {
            probability: self.probability,
            came_true: self.is_right(),
        })
    }

    /// The predicted outcome of a choice or scale, with the confidence in it; `None` if there is
    /// none.
    pub(crate) fn confident_prediction(&self) -> Option<Forecast> {
        Some(self.with_confidence(self.prediction()?))
    }

    /// The predicted outcome of a Yes / No, with the confidence in it; `None` if there is none.
    pub(crate) fn confident_yes_or_no(&self) -> Option<Forecast> {
        Some(self.with_confidence(self.yes_or_no()?))
    }

    /// A prediction with Refract's own confidence in place of its probability.
    fn with_confidence(&self, prediction: Forecast) -> Forecast {
        let probability = prediction.probability.to_f64();
        Forecast {
            probability: confidence(probability, self.outcomes.into()),
            ..prediction
        }
    }

    /// The predicted outcome of a Yes / No, with its probability; `None` if there is none.
    fn yes_or_no(&self) -> Option<Forecast> {
        let mut forecast = self.prediction()?;
        if self.predicted == Some(NO) {
            let of_no = ONE - self.probability.millionths();
            forecast.probability = Probability::from_millionths(of_no)?;
        }
        Some(forecast)
    }

    /// The probability of yes, and whether yes was marked.
    pub(crate) fn of_yes(&self) -> Forecast {
        Forecast {
            probability: self.probability,
            came_true: self.marked == YES,
        }
    }
}
