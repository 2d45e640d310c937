//! The measures of one question. And how many marked answers are right: of a group, and over time.

pub mod agreement;
pub mod coverage;
pub mod outcome;
pub mod proportion;
pub mod rounding;
pub(crate) mod scores;

use refract_domain::answer::Probability;
use refract_domain::ids::ResultId;
use refract_domain::key::OutcomeKey;

use crate::cutoffs::FEW_MARKS;
use crate::measures::coverage::CoverageCurve;

pub use self::agreement::{Agreement, AgreementCounts, AlphaLevel, UndefinedAgreement};
pub use self::coverage::{Automation, AutomationAdvice, CoveragePoint};
pub(crate) use self::outcome::{Confusion, LevelTable};
pub use self::outcome::{ConfusionCell, MacroAverage, OutcomeMeasures, ScaleMeasures};
pub(crate) use self::proportion::{Forecast, mean, ratio, to_f64};
pub use self::proportion::{HistogramBar, Interval, Proportion, ReliabilityBin, STEP};
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

/// The most parts into which marked answers are divided by time.
const MOST_PARTS: usize = 10;

/// How many marked answers are right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RightAnswers {
    /// All marked answers.
    pub marks: u64,
    /// Correct answers among those that predict an outcome.
    pub accuracy: Proportion,
}

impl RightAnswers {
    /// Adds a marked answer; `predicted` is the outcome that it
    /// [predicts](crate::marked::predicted), if any.
    pub fn add(&mut self, predicted: Option<&OutcomeKey>, mark: &OutcomeKey) {
        self.marks += 1;
        if let Some(predicted) = predicted {
            self.accuracy.add(predicted == mark);
        }
    }
}

/// Collects marked answers in the order of their results, which is that of their creation.
#[derive(Clone, Debug, Default)]
pub struct AnswersOverTime(Vec<(ResultId, RightAnswers)>);

/// The marked answers of consecutive results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AnswersOfPeriod {
    /// The first result.
    pub first: ResultId,
    /// The last result.
    pub last: ResultId,
    /// How many of the answers are right.
    pub right: RightAnswers,
}

impl AnswersOverTime {
    /// Adds a marked answer of a result that is newer than all results before.
    pub fn add(&mut self, result: ResultId, predicted: Option<&OutcomeKey>, mark: &OutcomeKey) {
        let mut right = RightAnswers::default();
        right.add(predicted, mark);
        self.0.push((result, right));
    }

    /// Up to ten parts of equal count, oldest first, each of at least
    /// [`FEW_MARKS`] marks; earlier parts take the remainder. None without as
    /// many marks as two parts need.
    ///
    /// Parts of equal count have intervals of equal width, and none is empty, unlike weeks.
    pub fn parts(&self) -> Vec<AnswersOfPeriod> {
        let few = usize::try_from(FEW_MARKS).unwrap_or(usize::MAX);
        let count = (self.0.len() / few).min(MOST_PARTS);
        if count < 2 {
            return Vec::new();
        }
        let (size, remainder) = (self.0.len() / count, self.0.len() % count);
        let mut rest = self.0.as_slice();
        let parts = (0..count).filter_map(|number| {
            let size = size + usize::from(number < remainder);
            let (of_part, after) = rest.split_at_checked(size)?;
            rest = after;
            period(of_part)
        });
        parts.collect()
    }
}

fn period(answers: &[(ResultId, RightAnswers)]) -> Option<AnswersOfPeriod> {
    let ((first, _), (last, _)) = (answers.first()?, answers.last()?);
    let mut right = RightAnswers::default();
    for (_, answer) in answers {
        right.marks += answer.marks;
        right.accuracy += answer.accuracy;
    }
    Some(AnswersOfPeriod {
        first: *first,
        last: *last,
        right,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> OutcomeKey {
        OutcomeKey::parse(text).unwrap()
    }

    fn over_time(marks: usize) -> AnswersOverTime {
        let mut answers = AnswersOverTime::default();
        let mut id = ResultId::LOWEST;
        for number in 0..marks {
            id = id.just_after();
            let predicted = [None, Some(key("a")), Some(key("b"))];
            answers.add(id, predicted[number % 3].as_ref(), &key("a"));
        }
        answers
    }

    #[test]
    fn an_answer_without_a_prediction_is_marked_but_not_wrong() {
        let mut right = RightAnswers::default();
        right.add(Some(&key("a")), &key("a"));
        right.add(Some(&key("b")), &key("a"));
        right.add(None, &key("a"));
        let expected = RightAnswers {
            marks: 3,
            accuracy: Proportion { count: 1, of: 2 },
        };
        assert_eq!(right, expected);
    }

    #[test]
    fn parts_have_equal_counts_and_enough_marks() {
        let sizes = |marks| {
            let parts = over_time(marks).parts();
            let sizes = parts.iter().map(|part| part.right.marks);
            sizes.collect::<Vec<_>>()
        };
        assert!(sizes(0).is_empty() && sizes(59).is_empty());
        assert_eq!(sizes(60), [30, 30]);
        assert_eq!(sizes(92), [31, 31, 30]);
        assert_eq!(
            sizes(3_004),
            [301, 301, 301, 301, 300, 300, 300, 300, 300, 300]
        );
        let parts = over_time(60).parts();
        assert_eq!(parts[0].right.accuracy, Proportion { count: 10, of: 20 });
        assert_eq!(parts[1].first, parts[0].last.just_after());
    }
}
