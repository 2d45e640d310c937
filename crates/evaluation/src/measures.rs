//! The measures of one question.

pub mod agreement;
pub mod coverage;
pub mod outcome;
pub mod proportion;
pub mod reliability;
pub mod right_answers;
pub mod rounding;
pub(crate) mod scores;

use refract_domain::answer::Probability;

use crate::measures::coverage::CoverageCurve;

pub use self::agreement::{Agreement, AgreementCounts, AlphaLevel, UndefinedAgreement};
pub use self::coverage::{Automation, AutomationAdvice, CoveragePoint};
pub(crate) use self::outcome::{Confusion, LevelTable};
pub use self::outcome::{ConfusionCell, MacroAverage, OutcomeMeasures, ScaleMeasures};
pub use self::proportion::{Interval, Proportion};
pub(crate) use self::proportion::{mean, ratio, to_f64};
pub(crate) use self::reliability::Forecast;
pub use self::reliability::{HistogramBar, ReliabilityBin, STEP};
pub use self::right_answers::{AnswersOfPeriod, AnswersOverTime, RightAnswers};
pub use self::rounding::ROUNDED_ANSWERS;

/// The accuracy of one question's answers, and the calibration of their probabilities.
///
/// A row is a marked answer. It counts as answered when the answer predicts an outcome; a choice
/// without a value and a Yes / No labelled unsure predict none.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct QuestionMeasures {
    /// All rows.
    pub marks: u64,
    /// Answered rows.
    pub answered: u64,
    /// Correct rows among the answered ones.
    pub accuracy: Proportion,
    /// Rows that are marked with the most frequent mark, among the answered ones: the accuracy of
    /// always giving this answer.
    pub majority: Proportion,
    /// The area under the ROC curve over all rows: the probability that a row marked with an
    /// outcome has a higher probability of it than a row marked with another, where equal ones
    /// count half. 0.5 is no knowledge, 1 full order. For Yes / No that of yes; for choices and
    /// scales the mean over the outcomes that are marked, each against all others. `None` when all
    /// rows have one mark.
    pub auc: Option<f64>,
    /// Brier score over all rows: for choices and scales the sum over outcomes of squared
    /// differences, 0 to 2; for Yes / No the squared difference of the probability of yes, 0 to 1.
    pub brier: Option<f64>,
    /// Log loss over all rows: the mean negative natural logarithm of the marked outcome's
    /// probability, where a stored 0 counts as 10^-6 (contract).
    pub log_loss: Option<f64>,
    /// Log loss where a stored 0 counts as `log_loss_floor`.
    pub floored_log_loss: Option<f64>,
    /// What stands for a probability of 0 in the floored log loss, so that one confident mistake does not
    /// outweigh all other rows: half of the step to which the model's server rounds, as its rows
    /// show it ([`RoundedProbabilities`](crate::measures::rounding::RoundedProbabilities)), else 10^-6. It
    /// is found for each model; `None` when models differ in it, and without rows.
    pub log_loss_floor: Option<Probability>,
    /// Expected calibration error: the mean difference between probability and share over the bins
    /// of `reliability`, weighted by count.
    pub ece: Option<f64>,
    /// Each outcome's measures over the answered rows: first the expected outcomes in order, then
    /// others in order of appearance.
    pub outcomes: Vec<OutcomeMeasures>,
    /// Means over the outcomes that are marked or predicted in an answered row.
    pub macro_average: MacroAverage,
    /// Answered rows by marked and predicted outcome, in the order of `outcomes`; without empty
    /// cells.
    pub confusion: Vec<ConfusionCell>,
    /// Bins of equal count, lowest probability first.
    pub reliability: Vec<ReliabilityBin>,
    /// The share of rows that could be automated, by Refract's own confidence.
    pub coverage: CoverageCurve,
    /// Measures over level numbers, for scales.
    pub scale: Option<ScaleMeasures>,
}
