//! The quality of one question as a page shows it: its measures, how they differ by version, model
//! and time, and which results were answered wrongly.

use refract_boxed_futures::boxed;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use refract_domain::ids::{AccountId, ResultId};
use refract_domain::key::OutcomeKey;
use refract_domain::lens::{Cutoffs, cutoffs_of};
use refract_domain::prism::{PrismVersion, Question, VersionNumber};
use refract_domain::result::mark::MarksFrom;
use refract_domain::submission::Submission;
use refract_evaluation::marked::{MarkedAnswer, NotComparable, predicted};
use refract_evaluation::measures::{AnswersOfPeriod, AnswersOverTime, RightAnswers};
use refract_persistence::{
    EventFilter, EventRange, Prism, PrismHistory, ResultFilter, SavedMarkedAnswer,
};

use crate::InternalError;
use crate::measures::Measures;
use crate::measures::evaluation::{EvaluatedQuestion, EvaluationError};
use crate::prisms::find_saved_version;

/// Most wrong results that are listed for each outcome.
pub const MOST_WRONG_RESULTS: usize = 20;

/// The measures of one question, by version, model and time, and its wrong results.
#[derive(Clone, Debug)]
pub struct QuestionQuality {
    /// The marked answers, which all measures are made of.
    pub evaluated: EvaluatedQuestion,
    /// The cutoffs of the question in the lens, by which a Yes / No is predicted.
    pub cutoffs: Cutoffs,
    /// Right answers of each version that has marked answers, oldest first.
    pub by_version: BTreeMap<VersionNumber, RightAnswers>,
    /// Right answers of each model that has marked answers; `None` for a server that reported no
    /// model.
    pub by_model: BTreeMap<Option<String>, RightAnswers>,
    /// Right answers over time, oldest first.
    pub over_time: Vec<AnswersOfPeriod>,
    /// The wrong results, by the marked outcome.
    pub wrong: WrongResults,
}

/// Reads the marked answers of one question, in the order of the result ids.
struct QualityReader {
    quality: QuestionQuality,
    over_time: AnswersOverTime,
}

#[boxed]
impl Measures<'_> {
    /// The quality of one question over the marked results of its prism that match a filter, by the
    /// marks that `from` counts. The newest wrong results are listed, or with `before` the newest that are older than that one.
    /// No text is read.
    ///
    /// # Errors
    /// When the question has more outcomes than can be numbered, the database fails, or an answer
    /// does not fit its mark.
    pub async fn quality(
        self,
        history: &PrismHistory,
        question: &Question,
        filter: ResultFilter,
        from: MarksFrom,
        before: Option<ResultId>,
    ) -> Result<QuestionQuality, EvaluationError> {
        let database = &self.refract.database;
        let prism = history.prism.id;
        let mut reader = QualityReader::new(history, question, before)?;
        let mut pages = database.marked_answers(prism, filter, &question.key);
        while let Some(page) = pages.next().await? {
            for result in &page {
                let version = find_saved_version(database, prism, result.version).await?;
                reader.add(result, &version, from)?;
            }
        }
        Ok(reader.finish())
    }

    /// The keys of a prism's questions that have marks.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn marked_questions(self, prism: &Prism) -> Result<HashSet<String>, InternalError> {
        let marked = self.refract.database.list_marked_questions(prism.id);
        Ok(marked.await?.into_iter().collect())
    }

    /// A watermark of the marks of a prism, and of its results if asked: while it stays, so does the
    /// quality of every question. Other changes that matter are of the prism itself.
    pub async fn quality_watermark(
        self,
        prism: &Prism,
        with_results: bool,
    ) -> Result<String, InternalError> {
        let database = &self.refract.database;
        let (marks, moments) = database.find_marks_watermark(prism.id).await?;
        if !with_results {
            return Ok(format!("{marks} {moments}"));
        }
        // new results have no event, and deletions have one
        let newest = database.find_newest_result(prism.id).await?;
        let listing =
            database.list_events(prism.account, EventFilter::default(), EventRange::Newest, 1);
        let event = listing.await?.first().map(|event| event.stamp.id);
        Ok(format!("{marks} {moments} {newest:?} {event:?}"))
    }

    /// The texts of some results of the account, by result; a few hundred ids at most. A result
    /// that was deleted meanwhile is left out.
    pub async fn texts(
        self,
        account: AccountId,
        results: Vec<ResultId>,
    ) -> Result<HashMap<ResultId, Submission>, InternalError> {
        if results.is_empty() {
            return Ok(HashMap::new());
        }
        let found = self.refract.database.find_results(account, results).await?;
        let found = found.into_iter();
        Ok(found.map(|result| (result.id, result.submission)).collect())
    }
}

impl QualityReader {
    fn new(
        history: &PrismHistory,
        question: &Question,
        before: Option<ResultId>,
    ) -> Result<Self, NotComparable> {
        let latest = history.versions.last();
        let columns = latest.map_or(&[][..], |latest| latest.columns(&history.lens));
        Ok(Self {
            quality: QuestionQuality {
                evaluated: EvaluatedQuestion::new(question.clone(), columns)?,
                cutoffs: cutoffs_of(columns, &question.key),
                by_version: BTreeMap::new(),
                by_model: BTreeMap::new(),
                over_time: Vec::new(),
                wrong: WrongResults::new(before),
            },
            over_time: AnswersOverTime::default(),
        })
    }

    /// Adds the marked answer of a result that `version` gave.
    fn add(
        &mut self,
        result: &SavedMarkedAnswer,
        version: &PrismVersion,
        from: MarksFrom,
    ) -> Result<(), NotComparable> {
        let key = &self.quality.evaluated.question.key;
        let answered = version.question(key).zip(result.answer.as_ref());
        let Some((question, answer)) = answered else {
            return Ok(());
        };
        let quality = &mut self.quality;
        if !from.counts(result.source) {
            quality.evaluated.left_out += 1;
            return Ok(());
        }
        let marked = MarkedAnswer {
            question,
            answer,
            mark: &result.mark,
            model: result.model.as_deref(),
        };
        quality.evaluated.add(&marked, result.version)?;
        let predicted = predicted(question, answer, quality.cutoffs);
        let predicted = predicted.as_ref();
        let of_version = quality.by_version.entry(result.version).or_default();
        of_version.add(predicted, &result.mark);
        if !quality.by_model.contains_key(&result.model) {
            let first = RightAnswers::default();
            quality.by_model.insert(result.model.clone(), first);
        }
        if let Some(of_model) = quality.by_model.get_mut(&result.model) {
            of_model.add(predicted, &result.mark);
        }
        self.over_time.add(result.id, predicted, &result.mark);
        quality.wrong.add(result.id, predicted, &result.mark);
        Ok(())
    }

    fn finish(self) -> QuestionQuality {
        QuestionQuality {
            over_time: self.over_time.parts(),
            ..self.quality
        }
    }
}

/// A marked result that was answered with another outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongResult {
    /// The result.
    pub result: ResultId,
    /// The outcome that the answer predicts.
    pub predicted: OutcomeKey,
}

/// The newest wrong results by their marked outcome. An answer that predicts nothing is not wrong.
#[derive(Clone, Debug)]
pub struct WrongResults {
    before: Option<ResultId>,
    /// Newest first, and one more than is listed if there are older ones.
    newest: HashMap<OutcomeKey, VecDeque<WrongResult>>,
}

impl WrongResults {
    /// Lists the newest results, or the newest that are older than `before`.
    fn new(before: Option<ResultId>) -> Self {
        Self {
            before,
            newest: HashMap::new(),
        }
    }

    /// Adds a marked result that is newer than all results before, if it is wrong.
    fn add(&mut self, result: ResultId, predicted: Option<&OutcomeKey>, mark: &OutcomeKey) {
        let Some(predicted) = predicted.filter(|predicted| *predicted != mark) else {
            return;
        };
        if self.before.is_some_and(|before| result >= before) {
            return;
        }
        let wrong = WrongResult {
            result,
            predicted: predicted.clone(),
        };
        match self.newest.get_mut(mark) {
            Some(newest) => {
                newest.push_front(wrong);
                newest.truncate(MOST_WRONG_RESULTS + 1);
            }
            None => {
                self.newest.insert(mark.clone(), VecDeque::from([wrong]));
            }
        }
    }

    /// The newest wrong results that are marked with an outcome, newest first: at most
    /// [`MOST_WRONG_RESULTS`].
    pub fn of(&self, mark: &OutcomeKey) -> impl Iterator<Item = &WrongResult> {
        let newest = self.newest.get(mark).into_iter().flatten();
        newest.take(MOST_WRONG_RESULTS)
    }

    /// The last listed result of an outcome if older ones are wrong too: the `before` of the next
    /// list.
    pub fn last_before_older(&self, mark: &OutcomeKey) -> Option<ResultId> {
        let newest = self.newest.get(mark)?;
        let has_older = newest.len() > MOST_WRONG_RESULTS;
        let last = newest.get(MOST_WRONG_RESULTS.checked_sub(1)?)?;
        has_older.then_some(last.result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> OutcomeKey {
        OutcomeKey::parse(text).unwrap()
    }

    fn ids() -> Vec<ResultId> {
        let first = ResultId::LOWEST.just_after();
        std::iter::successors(Some(first), |id| Some(id.just_after()))
            .take(45)
            .collect()
    }

    fn listed(before: Option<ResultId>) -> (Vec<ResultId>, Option<ResultId>) {
        let mut wrong = WrongResults::new(before);
        for id in ids() {
            wrong.add(id, Some(&key("b")), &key("a"));
            wrong.add(id, Some(&key("b")), &key("b"));
            wrong.add(id, None, &key("a"));
        }
        assert_eq!(wrong.of(&key("b")).count(), 0);
        let a = key("a");
        let listed = wrong.of(&a).map(|wrong| wrong.result);
        (listed.collect(), wrong.last_before_older(&a))
    }

    #[test]
    fn wrong_results_are_listed_newest_first_and_page_by_page() {
        let newest_first: Vec<_> = ids().into_iter().rev().collect();
        let (first, next) = listed(None);
        assert_eq!(first, newest_first[..20]);
        let (second, next) = listed(next);
        assert_eq!(second, newest_first[20..40]);
        let (third, next) = listed(next);
        assert_eq!((third.as_slice(), next), (&newest_first[40..], None));
    }
}
