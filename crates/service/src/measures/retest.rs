//! Retest: asks stored texts again, of another model or another version, saves nothing, and
//! compares the new answers with the stored ones.
//!
//! Where the new answers are stored, the report is made from a part of the texts at a time, so that
//! they are never all in memory.

mod drawn;
mod report;

use refract_boxed_futures::boxed;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::Arc;

use futures_util::stream;
use refract_domain::answer::Answers;
use refract_domain::event::{Event, EventAction, EventDetail, EventTarget};
use refract_domain::ids::{PrismId, ResultId};
use refract_domain::prism::{PrismVersion, VersionNumber};
use refract_domain::result::mark::MarksFrom;
use refract_domain::result::{RetestState, TextOrigin};
use refract_identity::people::AccountActor;
use refract_model_gateway::{CostEstimate, ModelError, ModelSettings};
use refract_persistence::ResultFilter;

pub(crate) use self::drawn::SampledResults;
use self::drawn::{AnsweringVersions, compared_questions};
pub use self::drawn::{DrawnFrom, Retest, SAMPLED_NEWEST};
pub(crate) use self::report::AskedWords;
use self::report::RetestText;
pub use self::report::{FlippedAnswer, PredictedOutcome, RetestReport, RetestedQuestion};
use crate::InternalError;
use crate::asking::{
    AskingPace, EarlyEnd, Next, PacedModel, add_cost, ask_each, failure_threshold,
};
use crate::lenses::PrismLens;
use crate::measures::Measures;
use crate::prisms::TextHash;
use crate::results::read::ReadableResult;

/// Results that one query loads with their texts.
pub(crate) const LOADED_AT_ONCE: usize = 200;

/// What is asked again.
pub struct RetestOrder<'a> {
    /// The version that is asked, saved or not; `None` for the version that answered each text.
    pub version: Option<Arc<PrismVersion>>,
    /// The results to draw from; failed ones are ignored.
    pub filter: ResultFilter,
    /// The most texts.
    pub sample: usize,
    /// Which of these results the texts are drawn from.
    pub from: DrawnFrom,
    /// The marks that count.
    pub marks: MarksFrom,
    /// The prism's lens, which has the cutoffs.
    pub lens: &'a Arc<PrismLens>,
}

/// Progress of a retest.
pub struct RetestProgress<'a> {
    /// What was found so far.
    pub report: &'a RetestReport,
    /// Requests a minute that the model's servers are seen to take; `None` if they refuse none.
    pub learned_per_minute: Option<u64>,
}

/// Why a retest cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum RetestError {
    /// There is no model to ask.
    #[error(transparent)]
    Internal(#[from] InternalError),
    /// The caller could not keep an answer.
    #[error(transparent)]
    Keep(io::Error),
}

#[boxed]
impl Measures<'_> {
    /// Draws the texts of a retest at random, the same ones from the same results, and loads them
    /// with their marks.
    pub async fn draw_retest(self, order: RetestOrder<'_>) -> Result<Retest, InternalError> {
        let database = &self.refract.database;
        let prism = &order.lens.prism;
        let filter = ResultFilter {
            is_ok: Some(true),
            ..order.filter
        };
        let from = (order.from, order.marks);
        let drawn = SampledResults::draw(database, prism, &filter, order.sample, from).await?;
        let mut retest = Retest::new(order.version, order.lens, drawn.is_of_newest);
        for ids in drawn.ids.chunks(LOADED_AT_ONCE) {
            self.load_retest_texts(&mut retest, ids).await?;
        }
        for ids in drawn.ids.chunks(LOADED_AT_ONCE) {
            self.load_retest_marks(&mut retest, ids, order.marks)
                .await?;
        }
        Ok(retest)
    }

    /// Saves the event that a retest begins whose new answers are not stored. `version` is the saved
    /// version that is asked about all texts, if it is one.
    pub async fn save_retest_started(
        self,
        actor: &AccountActor,
        retest: &Retest,
        from: DrawnFrom,
        version: Option<VersionNumber>,
    ) -> Result<(), InternalError> {
        let texts = u64::try_from(retest.len()).unwrap_or(u64::MAX);
        let mut about = vec![EventDetail::counted(texts, TextOrigin::from(from).noun())];
        match (version, retest.version()) {
            (Some(number), _) => about.push(EventDetail::version(number)),
            (None, Some(_)) => about.push("a draft".into()),
            (None, None) => {}
        }
        let stamp = actor.event_stamp().noted(EventDetail::list(&about));
        let prism = EventTarget::Prism(retest.lens().prism.id);
        let event = Event {
            to: Some(RetestState::Asking.into()),
            ..stamp.event(EventAction::RetestStarted, prism)
        };
        Ok(self.refract.database.save_event(event).await?)
    }

    /// Adds the texts of stored results of the prism.
    pub(crate) async fn load_retest_texts(
        self,
        retest: &mut Retest,
        ids: &[ResultId],
    ) -> Result<(), InternalError> {
        let database = &self.refract.database;
        let lens = retest.lens();
        let found = database.find_results(lens.prism.account, ids.to_vec());
        for result in found.await? {
            let stored = ReadableResult::through_lens(database, result, &lens);
            retest.add(stored.await?);
        }
        Ok(())
    }

    /// Adds the marks of texts that were added before.
    pub(crate) async fn load_retest_marks(
        self,
        retest: &mut Retest,
        ids: &[ResultId],
        from: MarksFrom,
    ) -> Result<(), InternalError> {
        let database = &self.refract.database;
        let texts = || retest.texts.iter().map(|text| text.stored.id());
        let places: HashMap<_, _> = texts().zip(0_usize..).collect();
        for mark in database.list_marks_of(ids.to_vec()).await? {
            let place = places.get(&mark.result);
            let text = place.and_then(|place| retest.texts.get_mut(*place));
            match text {
                Some(text) if from.counts(mark.source) => text.add_mark(mark),
                Some(_) => retest.marks_left_out += 1,
                None => {}
            }
        }
        Ok(())
    }

    /// Estimated cost of asking about the texts whose new answers are not known.
    ///
    /// # Errors
    /// When there is no model to ask.
    pub fn retest_cost(
        self,
        retest: &Retest,
        known: &HashMap<ResultId, Answers>,
    ) -> Result<CostEstimate, InternalError> {
        let model = self.refract.model()?;
        let asked = retest.version();
        let of_asked = asked.map(|version| model.estimator(version));
        let mut cost = CostEstimate::default();
        for text in &retest.texts {
            if known.contains_key(&text.stored.id()) {
                continue;
            }
            let version = text.version(asked);
            let submission = &text.submission;
            match &of_asked {
                Some(estimator) => add_cost(&mut cost, estimator, version, submission),
                None => add_cost(&mut cost, &model.estimator(version), version, submission),
            }
        }
        Ok(cost)
    }

    /// Asks about the texts whose new answers are not `known`, compares all new answers with the
    /// stored ones, and saves nothing. Requests have the priority of file rows, and a text that is
    /// refused for the rate is asked again. After `stop`, or when the model is away, no further text
    /// is asked about, and those in flight are awaited. `keep` gets the outcome of each text before
    /// another text takes its place in flight; `progress` is called afterwards.
    ///
    /// # Errors
    /// When there is no model to ask, or `keep` returns an error.
    pub async fn retest(
        self,
        retest: &Retest,
        known: &HashMap<ResultId, Answers>,
        pace: AskingPace,
        stop: impl Future<Output = ()>,
        keep: impl AsyncFn(ResultId, Result<&Answers, &ModelError>) -> io::Result<()>,
        mut progress: impl FnMut(&RetestProgress<'_>),
    ) -> Result<RetestReport, RetestError> {
        let threshold = failure_threshold(pace.concurrency);
        let model = PacedModel::new(self.refract.model()?, threshold);
        let mut report = retest.report(pace);
        let mut unanswered = Vec::new();
        for text in &retest.texts {
            match retest.known_answers(text, known) {
                Some(answers) => {
                    report.known += 1;
                    report.compare(text, text.version(retest.version()), &answers);
                }
                None => unanswered.push(text),
            }
        }
        let begun = report.asked.begun();
        let asked = unanswered.into_iter().map(async |text: &RetestText| {
            let begun = begun.begin();
            let version = text.version(retest.version());
            let outcome = model.answer(version, &text.submission).await;
            let kept = keep(text.stored.id(), outcome.as_ref()).await;
            (begun, text, outcome, kept)
        });
        let mut all_kept = Ok(());
        let asking = ask_each(stream::iter(asked), pace.concurrency, stop, |reply| {
            let Some((begun, text, outcome, kept)) = reply else {
                report.asked.end = Some(EarlyEnd::Asked);
                return Next::Await;
            };
            all_kept = kept.map_err(RetestError::Keep);
            if all_kept.is_err() {
                return Next::Drop;
            }
            if let Ok(answers) = &outcome {
                report.compare(text, text.version(retest.version()), answers);
            }
            let counted = outcome.as_ref().map(|_| ()).map_err(ToString::to_string);
            report.asked.count(begun, counted);
            progress(&RetestProgress {
                report: &report,
                learned_per_minute: model.learned_per_minute(),
            });
            Next::begin_if(report.asked.end.is_none())
        });
        asking.await;
        all_kept.map(|()| report)
    }
}

/// The report of the parts that were added so far. Its figures are those of one report of all texts.
pub(crate) struct ReportParts {
    asked: AskedWords,
    lens: Arc<PrismLens>,
    report: RetestReport,
    /// The versions that answered the texts before.
    versions: BTreeMap<VersionNumber, PrismVersion>,
}

impl ReportParts {
    /// The report before the first part.
    pub(crate) fn new(asked: AskedWords, lens: &Arc<PrismLens>, pace: AskingPace) -> Self {
        let comparable = asked.comparable();
        Self {
            asked,
            lens: Arc::clone(lens),
            report: RetestReport::new([], (lens.columns().lens, comparable), pace),
            versions: BTreeMap::new(),
        }
    }

    /// Adds texts, those without known new answers as not compared, and the reasons of failures.
    pub(crate) fn add(
        &mut self,
        retest: &Retest,
        known: &HashMap<ResultId, Answers>,
        failures: Vec<String>,
    ) {
        let asked = self.asked.version();
        let answering = retest.answering_versions();
        let questions = compared_questions(&self.asked, &answering);
        let columns = self.lens.columns();
        self.report.add_questions(questions, columns.lens);
        for text in &retest.texts {
            if let Some(answers) = retest.known_answers(text, known) {
                self.report.known += 1;
                self.report.compare(text, text.version(asked), &answers);
            }
        }
        for failure in failures {
            *self.report.asked.failed.entry(failure).or_default() += 1;
        }
        for (number, version) in answering {
            let add = || PrismVersion::clone(version);
            self.versions.entry(number).or_insert_with(add);
        }
    }

    /// The report of all parts.
    pub(crate) fn report(mut self) -> RetestReport {
        let versions: AnsweringVersions<'_> = self
            .versions
            .iter()
            .map(|(number, it)| (*number, it))
            .collect();
        let questions = compared_questions(&self.asked, &versions);
        self.report.order_questions(&questions);
        self.report
    }
}

/// A fingerprint of the prism, the version that is asked (`None` for the version that answered each
/// text) and the model: its servers, protocol and name. Answers of another fingerprint answer
/// another question.
pub fn retest_fingerprint(
    prism: PrismId,
    version: Option<&PrismVersion>,
    model: &ModelSettings,
) -> String {
    let version = version.and_then(|version| serde_json::to_string(version).ok());
    let version = version.unwrap_or_default();
    let (prism, servers) = (prism.to_string(), model.endpoint.to_string());
    TextHash::of_parts([
        prism.as_str(),
        &version,
        &servers,
        model.protocol.name(),
        &model.name,
    ])
    .hex()
}
