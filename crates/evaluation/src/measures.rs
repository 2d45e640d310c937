//! The measures of one question.

pub mod automation;
pub(crate) mod count;
pub mod coverage;
pub(crate) mod forecast;
pub mod outcome;
pub mod proportion;
pub mod reliability;
pub mod scale;
pub(crate) mod scores;

use crate::measures::coverage::CoverageCurve;
use crate::measures::outcome::{ConfusionCell, MacroAverage, OutcomeMeasures};
use crate::measures::proportion::Proportion;
use crate::measures::reliability::ReliabilityBin;
use crate::measures::scale::ScaleMeasures;

/// How often the answers of one question are right, and how far their probabilities can be
/// believed.
///
/// A row is a marked answer. It is answered when the answer predicts an outcome: a choice without a
/// value and a Yes / No that the cutoffs leave unsure do not.
#[derive(Clone, Debug, PartialEq)]
pub struct QuestionMeasures {
    /// All rows.
    pub marks: u64,
    /// Rows that are answered.
    pub answered: u64,
    /// Right rows of the answered ones.
    pub accuracy: Proportion,
    /// Brier score over all rows: for choices and scales the sum over outcomes of squared
    /// differences, 0 to 2; for Yes / No the squared difference of the probability of yes, 0 to 1.
    pub brier: Option<f64>,
    /// Log loss over all rows: the mean negative natural logarithm of the marked outcome's
    /// probability, of which at least 10^-6 is taken.
    pub log_loss: Option<f64>,
    /// Expected calibration error: the mean difference between probability and share over
    /// `reliability`, weighted by count.
    pub ece: Option<f64>,
    /// Each outcome's measures over the answered rows: those of the expected questions in order,
    /// then others as they appeared.
    pub outcomes: Vec<OutcomeMeasures>,
    /// Means over the outcomes that are marked or predicted in an answered row.
    pub macro_average: MacroAverage,
    /// Answered rows by marked and predicted outcome, in the order of `outcomes`; without empty
    /// cells.
    pub confusion: Vec<ConfusionCell>,
    /// Bins of equal count, lowest probability first.
    pub reliability: Vec<ReliabilityBin>,
    /// What could be left to the model, by its confidence.
    pub coverage: CoverageCurve,
    /// Measures over the numbers of levels, for scales.
    pub scale: Option<ScaleMeasures>,
}
