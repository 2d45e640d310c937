//! Evaluation: the marked answers of a prism, question by question, ready to be measured.

use refract_domain::key::QuestionKey;
use refract_domain::lens::{Column, cutoffs_of};
use refract_domain::prism::{PrismVersion, Question, VersionNumber};
use refract_domain::result::mark::MarksFrom;
use refract_evaluation::marked::{MarkedAnswer, MarkedAnswers, NotComparable};
use refract_persistence::{MarkedResult, PersistenceError, PrismHistory, ResultFilter};

use crate::InternalError;
use crate::measures::Measures;
use crate::prisms::find_saved_version;

/// Why marked answers cannot be measured or compared.
#[derive(Debug, thiserror::Error)]
pub enum EvaluationError {
    /// Reading the results failed.
    #[error(transparent)]
    Read(#[from] InternalError),
    /// An answer does not fit its mark.
    #[error(transparent)]
    NotComparable(#[from] NotComparable),
}

impl From<PersistenceError> for EvaluationError {
    fn from(error: PersistenceError) -> Self {
        Self::Read(InternalError::Persistence(error))
    }
}

/// The marked answers of one question.
#[derive(Clone, Debug)]
pub struct EvaluatedQuestion {
    /// The question, in the wording of the newest version that has it.
    pub question: Question,
    /// The marked answers. The predicted outcome of a Yes / No follows from its cutoffs in the
    /// lens.
    pub marked: MarkedAnswers,
    /// Number of marks that are left out, since their results are no fair sample.
    pub left_out: u64,
    versions: OneOrSeveral<VersionNumber>,
    models: OneOrSeveral<Option<String>>,
}

impl EvaluatedQuestion {
    /// A question without marked answers. `columns` is the lens, which has the cutoffs.
    ///
    /// # Errors
    /// When the question has more outcomes than can be numbered.
    pub fn new(question: Question, columns: &[Column]) -> Result<Self, NotComparable> {
        let cutoffs = cutoffs_of(columns, &question.key);
        let mut marked = MarkedAnswers::new(question.question_type(), cutoffs);
        marked.expect_outcomes(&question)?;
        Ok(Self {
            question,
            marked,
            left_out: 0,
            versions: OneOrSeveral::default(),
            models: OneOrSeveral::default(),
        })
    }

    /// Adds a marked answer, in the order of the result ids.
    ///
    /// # Errors
    /// When the answer does not fit the mark.
    pub fn add(
        &mut self,
        marked: &MarkedAnswer<'_>,
        version: VersionNumber,
    ) -> Result<(), NotComparable> {
        self.marked.add(marked)?;
        self.versions.add(|one| *one == version, || version);
        self.models.add(
            |one| one.as_deref() == marked.model,
            || marked.model.map(ToOwned::to_owned),
        );
        Ok(())
    }

    /// The version that gave all answers; `None` when there are several versions or no answers.
    pub fn version(&self) -> Option<VersionNumber> {
        self.versions.one().copied()
    }

    /// The model that gave all answers; `None` when there are several models, no answers, or
    /// answers whose server reported no model.
    pub fn model(&self) -> Option<&str> {
        self.models.one()?.as_deref()
    }
}

impl Measures<'_> {
    /// Evaluates the marked results of a prism that match a filter, over all questions of its
    /// history or over `only` one, by the marks that `from` counts; `progress` gets the number of results read after each page. No
    /// text is read, and a marked answer takes a few bytes, so that a million of them fit in
    /// memory.
    ///
    /// # Errors
    /// When a question has more outcomes than can be numbered, the database fails, or an answer
    /// does not fit its mark.
    pub async fn evaluate(
        self,
        history: &PrismHistory,
        only: Option<&QuestionKey>,
        filter: ResultFilter,
        from: MarksFrom,
        mut progress: impl FnMut(u64),
    ) -> Result<Vec<EvaluatedQuestion>, EvaluationError> {
        let database = &self.refract.database;
        let prism = history.prism.id;
        let mut evaluated = empty(history, only)?;
        let mut pages = database.marked_pages(prism, filter);
        let mut read = 0;
        while let Some(page) = pages.next().await? {
            for result in page {
                let version = find_saved_version(database, prism, result.version).await?;
                add(&mut evaluated, &result, &version, from)?;
                read += 1;
            }
            progress(read);
        }
        Ok(evaluated)
    }
}

/// The questions without marked answers: those of the latest version in its order, then those that
/// only older versions have. With `only`, just that question.
fn empty(
    history: &PrismHistory,
    only: Option<&QuestionKey>,
) -> Result<Vec<EvaluatedQuestion>, NotComparable> {
    let latest = history.versions.last();
    let columns = latest.map_or(&[][..], |latest| latest.columns(&history.lens));
    let questions = questions(&history.versions).into_iter();
    let questions = questions.filter(|question| only.is_none_or(|only| question.key == *only));
    let questions = questions.map(|it| EvaluatedQuestion::new(it.clone(), columns));
    questions.collect()
}

/// Adds the marked answers of a result that `version` gave.
fn add(
    questions: &mut [EvaluatedQuestion],
    result: &MarkedResult,
    version: &PrismVersion,
    from: MarksFrom,
) -> Result<(), NotComparable> {
    for mark in &result.marks {
        let mut questions = questions.iter_mut();
        let evaluated = questions.find(|it| it.question.key == mark.question);
        let question = version.question(&mark.question);
        let answered = question.zip(result.answers.get(&mark.question));
        if let Some((evaluated, (question, answer))) = evaluated.zip(answered) {
            if !from.counts(mark.source) {
                evaluated.left_out += 1;
                continue;
            }
            let marked = MarkedAnswer {
                question,
                answer,
                mark: &mark.outcome,
                model: result.model.as_deref(),
            };
            evaluated.add(&marked, result.version)?;
        }
    }
    Ok(())
}

/// The questions of all versions, each in the wording of the newest version that has it: those of
/// the latest version in its order, then those that only older versions have. `versions` is oldest
/// first.
pub fn questions(versions: &[PrismVersion]) -> Vec<&Question> {
    let mut questions: Vec<&Question> = Vec::new();
    for version in versions.iter().rev() {
        for question in version.questions() {
            if questions.iter().all(|known| known.key != question.key) {
                questions.push(question);
            }
        }
    }
    questions
}

/// The single value seen so far, or the fact that there were several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum OneOrSeveral<T> {
    /// No value was seen.
    #[default]
    None,
    /// Every value was this one.
    One(T),
    /// There were different values.
    Several,
}

impl<T> OneOrSeveral<T> {
    /// Adds a value, which is made only if it is the first.
    fn add(&mut self, is_value: impl FnOnce(&T) -> bool, value: impl FnOnce() -> T) {
        match self {
            Self::None => *self = Self::One(value()),
            Self::One(one) if is_value(one) => {}
            Self::One(_) | Self::Several => *self = Self::Several,
        }
    }

    /// The only value; `None` when there are several or none.
    fn one(&self) -> Option<&T> {
        match self {
            Self::One(one) => Some(one),
            Self::None | Self::Several => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_equal_values_are_one() {
        let mut seen = OneOrSeveral::default();
        assert_eq!(seen.one(), None);
        let add = |seen: &mut OneOrSeveral<i32>, value| seen.add(|one| *one == value, || value);
        add(&mut seen, 1);
        add(&mut seen, 1);
        assert_eq!(seen.one(), Some(&1));
        add(&mut seen, 2);
        assert_eq!(seen.one(), None);
        add(&mut seen, 1);
        assert_eq!(seen.one(), None);
    }
}
