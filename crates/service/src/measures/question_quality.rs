//! The quality of one question as a page shows it: its measures, how they differ by version, model
//! and time, and which results were answered wrongly.

mod wrong_results;

use std::collections::{BTreeMap, HashMap};

use refract_domain::ids::{AccountId, ResultId};
use refract_domain::lens::cutoffs::Cutoffs;
use refract_domain::lens::cutoffs_of;
use refract_domain::prism::question::Question;
use refract_domain::prism::{PrismVersion, VersionNumber};
use refract_domain::result::mark::source::MarksFrom;
use refract_domain::submission::Submission;
use refract_evaluation::marked::answer::{MarkedAnswer, NotComparable};
use refract_evaluation::measures::right_answers::{AnswersOfPeriod, AnswersOverTime, RightAnswers};
use refract_evaluation::prediction::predicted;
use refract_persistence::{
    EventFilter, EventRange, MarkedResult, Prism, PrismHistory, ResultFilter,
};

pub use self::wrong_results::{MOST_WRONG_RESULTS, WrongResult, WrongResults};
use crate::InternalError;
use crate::measures::Measures;
use crate::measures::evaluation::{EvaluatedQuestion, EvaluationError};
use crate::prisms::versions::find_saved_version;

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
        let pages = database.marked_pages(prism, filter);
        let mut pages = pages.of_question(&question.key);
        while let Some(page) = pages.next().await? {
            for result in &page {
                let version = find_saved_version(database, prism, result.version).await?;
                reader.add(result, &version, from)?;
            }
        }
        Ok(reader.finish())
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
        result: &MarkedResult,
        version: &PrismVersion,
        from: MarksFrom,
    ) -> Result<(), NotComparable> {
        let key = &self.quality.evaluated.question.key;
        let mark = result.marks.iter().find(|mark| mark.question == *key);
        let answered = version.question(key).zip(result.answers.get(key));
        let Some((mark, (question, answer))) = mark.zip(answered) else {
            return Ok(());
        };
        let quality = &mut self.quality;
        if !from.counts(mark.source) {
            quality.evaluated.left_out += 1;
            return Ok(());
        }
        let marked = MarkedAnswer {
            question,
            answer,
            mark: &mark.outcome,
            model: result.model.as_deref(),
        };
        quality.evaluated.add(&marked, result.version)?;
        let predicted = predicted(question, answer, quality.cutoffs);
        let predicted = predicted.as_ref();
        let of_version = quality.by_version.entry(result.version).or_default();
        of_version.add(predicted, &mark.outcome);
        if !quality.by_model.contains_key(&result.model) {
            let first = RightAnswers::default();
            quality.by_model.insert(result.model.clone(), first);
        }
        if let Some(of_model) = quality.by_model.get_mut(&result.model) {
            of_model.add(predicted, &mark.outcome);
        }
        self.over_time.add(result.id, predicted, &mark.outcome);
        quality.wrong.add(result.id, predicted, &mark.outcome);
        Ok(())
    }

    fn finish(self) -> QuestionQuality {
        QuestionQuality {
            over_time: self.over_time.parts(),
            ..self.quality
        }
    }
}
