//! How many marked answers are right: of a group, and over time.

use refract_domain::ids::ResultId;
use refract_domain::key::OutcomeKey;

use crate::cutoffs::FEW_MARKS;
use crate::measures::proportion::Proportion;

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
    /// [predicts](crate::marked::answer::predicted), if any.
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
