//! The drawn texts of a retest, and which of their questions are compared. The sample is random and
//! repeats.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use refract_domain::answer::Answers;
use refract_domain::ids::ResultId;
use refract_domain::key::QuestionKey;
use refract_domain::prism::{PrismVersion, Question, VersionNumber};
use refract_domain::result::mark::MarksFrom;
use refract_domain::result::{DrawnTexts, TextOrigin};
use refract_persistence::{Database, Prism, ResultFilter, ResultOrder, SearchCandidate};
use serde::{Deserialize, Serialize};

use super::report::{AskedWords, NotAsked, RetestReport, RetestText};
use crate::InternalError;
use crate::asking::AskingPace;
use crate::lenses::PrismLens;
use crate::results::read::ReadableResult;

/// Most newest results among which a sample is drawn if the index of the sample has too few.
pub const SAMPLED_NEWEST: usize = 20_000;
/// Results that one query reads.
const PAGE: u32 = 1_000;
/// Marked results that one query checks.
const CHECKED_AT_ONCE: usize = 200;
/// The most results of the index that are read for each result of the sample: a filter that matches
/// fewer than one in ten is searched by its own index.
const READ_FOR_EACH: usize = 10;

/// Which results the texts of a retest are drawn from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DrawnFrom {
    /// All answered results.
    #[default]
    Answered,
    /// Those with a mark that counts in measures, which says whether a new answer is right.
    Marked,
}

impl From<DrawnFrom> for TextOrigin {
    fn from(from: DrawnFrom) -> Self {
        match from {
            DrawnFrom::Answered => Self::Answered,
            DrawnFrom::Marked => Self::Marked,
        }
    }
}

/// A retest that is ready to begin: its texts are drawn and loaded.
pub struct Retest {
    asked: AskedWords,
    lens: Arc<PrismLens>,
    pub(super) texts: Vec<RetestText>,
    /// Number of drawn texts that lack a field of the version.
    pub lacking_fields: u64,
    /// Number of drawn texts that are too large for the version.
    pub too_large: u64,
    /// Questions of the asked version that are not compared on some drawn texts, each with the
    /// number of these texts: the version that answered lacks the question or has other outcomes.
    pub not_compared: Vec<(QuestionKey, u64)>,
    /// Number of marks that do not count.
    pub marks_left_out: u64,
    /// Whether the texts are drawn from the newest [`SAMPLED_NEWEST`](super::SAMPLED_NEWEST) results only.
    pub is_of_newest: bool,
}

impl Retest {
    /// A retest without texts.
    pub(crate) fn new(
        asked: impl Into<AskedWords>,
        lens: &Arc<PrismLens>,
        is_of_newest: bool,
    ) -> Self {
        Self {
            asked: asked.into(),
            lens: Arc::clone(lens),
            texts: Vec::new(),
            lacking_fields: 0,
            too_large: 0,
            not_compared: Vec::new(),
            marks_left_out: 0,
            is_of_newest,
        }
    }

    /// Number of texts to ask about.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there is no text to ask about.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Number of texts whose new answers are among the known ones.
    pub fn count_known(&self, known: &HashMap<ResultId, Answers>) -> usize {
        let texts = self.texts.iter();
        texts
            .filter(|text| self.known_answers(text, known).is_some())
            .count()
    }

    /// The prism's lens, which has the cutoffs.
    pub(super) fn lens(&self) -> Arc<PrismLens> {
        Arc::clone(&self.lens)
    }

    /// The results of the texts.
    pub(crate) fn results(&self) -> impl Iterator<Item = ResultId> {
        self.texts.iter().map(|text| text.stored.id())
    }

    /// The version that is asked about all texts; `None` for the one that answered each.
    pub(super) fn version(&self) -> Option<&PrismVersion> {
        self.asked.version()
    }

    /// Adds a drawn result, or counts why it is not asked about.
    pub(super) fn add(&mut self, stored: ReadableResult) {
        let asked = self.asked.clone();
        let comparable = asked.comparable();
        for question in asked.version().iter().flat_map(|asked| asked.questions()) {
            if !comparable.are_compared(stored.version(), question) {
                self.count_not_compared(&question.key);
            }
        }
        match RetestText::new(stored, &asked) {
            Ok(text) => self.texts.push(text),
            Err(NotAsked::LacksField) => self.lacking_fields += 1,
            Err(NotAsked::TooLarge) => self.too_large += 1,
            Err(NotAsked::NothingToCompare) => {}
        }
    }

    /// Adds what was found about these texts.
    pub(crate) fn add_to(&self, drawn: &mut DrawnTexts) {
        drawn.lacking_fields += self.lacking_fields;
        drawn.too_large += self.too_large;
        for (question, texts) in &self.not_compared {
            let mut counted = drawn.not_compared.iter_mut();
            match counted.find(|(key, _)| key == question.as_str()) {
                Some((_, counted)) => *counted += texts,
                None => drawn.not_compared.push((question.to_string(), *texts)),
            }
        }
    }

    fn count_not_compared(&mut self, question: &QuestionKey) {
        let mut counted = self.not_compared.iter_mut();
        match counted.find(|(key, _)| key == question) {
            Some((_, texts)) => *texts += 1,
            None => self.not_compared.push((question.clone(), 1)),
        }
    }

    /// The known new answers to a text, if they belong to the version that is asked.
    pub(super) fn known_answers(
        &self,
        text: &RetestText,
        known: &HashMap<ResultId, Answers>,
    ) -> Option<Answers> {
        let answers = known.get(&text.stored.id())?.clone();
        let questions = text.version(self.version()).questions();
        answers.matched_to(questions).ok()
    }

    /// The report before the first answer.
    pub(super) fn report(&self, pace: AskingPace) -> RetestReport {
        let lens = self.lens.columns().lens;
        let versions = self.answering_versions();
        let questions = compared_questions(&self.asked, &versions);
        RetestReport::new(questions, (lens, self.asked.comparable()), pace)
    }

    /// The versions that answered the texts before.
    pub(super) fn answering_versions(&self) -> AnsweringVersions<'_> {
        let texts = self.texts.iter();
        texts
            .map(|text| (text.stored.view().version, text.stored.version()))
            .collect()
    }
}

/// Versions that answered texts, by number.
pub(super) type AnsweringVersions<'a> = BTreeMap<VersionNumber, &'a PrismVersion>;

/// The questions that are compared on some text: in the order of the asked version, or of the newest
/// version that answered, then those that only older ones have.
pub(super) fn compared_questions<'a>(
    asked: &'a AskedWords,
    versions: &AnsweringVersions<'a>,
) -> Vec<&'a Question> {
    let comparable = asked.comparable();
    let Some(asked) = asked.version() else {
        let mut questions: Vec<&Question> = Vec::new();
        for version in versions.values().rev() {
            for question in version.questions() {
                if questions.iter().all(|known| known.key != question.key) {
                    questions.push(question);
                }
            }
        }
        return questions;
    };
    let asked = asked.questions().iter();
    let is_compared = |question: &&Question| {
        let mut answered = versions.values();
        answered.any(|before| comparable.are_compared(before, question))
    };
    asked.filter(is_compared).collect()
}

/// A random sample of results.
pub(crate) struct SampledResults {
    /// The ids in the order of the sample.
    pub(crate) ids: Vec<ResultId>,
    /// Whether only the [`SAMPLED_NEWEST`] results were looked at.
    pub(crate) is_of_newest: bool,
}

impl SampledResults {
    /// Draws up to `size` results that a filter selects. Where they are drawn from marked ones,
    /// `marks` says which marks count.
    pub(crate) async fn draw(
        database: &Database,
        prism: &Prism,
        filter: &ResultFilter,
        size: usize,
        (from, marks): (DrawnFrom, MarksFrom),
    ) -> Result<Self, InternalError> {
        if from == DrawnFrom::Marked {
            return Ok(Self {
                ids: marked(database, prism, filter, size, marks).await?,
                is_of_newest: false,
            });
        }
        if let Some(ids) = of_index(database, prism, filter, size).await? {
            return Ok(Self {
                ids,
                is_of_newest: false,
            });
        }
        let (mut ids, is_of_newest) = newest(database, prism, filter).await?;
        ids.sort_unstable_by_key(|id| (id.random_bits(), *id));
        ids.truncate(size);
        Ok(Self { ids, is_of_newest })
    }
}

/// The first results of the sample's index; `None` if it has too few.
async fn of_index(
    database: &Database,
    prism: &Prism,
    filter: &ResultFilter,
    size: usize,
) -> Result<Option<Vec<ResultId>>, InternalError> {
    let (mut ids, mut last, mut read) = (Vec::new(), None, 0);
    while read < size.saturating_mul(READ_FOR_EACH) {
        let page = database.list_sample(prism.account, prism.id, last, PAGE);
        let page = page.await?;
        let Some(end) = page.last() else {
            return Ok(None);
        };
        last = Some(end.id);
        read += page.len();
        ids.extend(matching(&page, filter));
        if ids.len() >= size {
            ids.truncate(size);
            return Ok(Some(ids));
        }
    }
    Ok(None)
}

/// The first results of the sample with a mark that counts.
async fn marked(
    database: &Database,
    prism: &Prism,
    filter: &ResultFilter,
    size: usize,
    marks: MarksFrom,
) -> Result<Vec<ResultId>, InternalError> {
    let order = ResultOrder::OldestFirst;
    let (mut marked, mut last) = (Vec::new(), None);
    loop {
        let page = database.list_marked_ids(prism.id, filter, order, last, PAGE);
        let page = page.await?;
        let Some(end) = page.last() else {
            break;
        };
        last = Some(*end);
        marked.extend(page);
    }
    marked.sort_unstable_by_key(|id| (id.random_bits(), *id));
    let mut ids = Vec::new();
    for part in marked.chunks(CHECKED_AT_ONCE) {
        let found = database
            .find_candidates(prism.account, part.to_vec(), filter.clone(), order)
            .await?;
        let of_part = database.list_marks_of(matching(&found, filter).collect());
        let of_part = of_part.await?.into_iter();
        let counting = of_part.filter(|mark| marks.counts(mark.source));
        let counting: HashSet<_> = counting.map(|mark| mark.result).collect();
        ids.extend(part.iter().filter(|id| counting.contains(id)));
        if ids.len() >= size {
            break;
        }
    }
    ids.truncate(size);
    Ok(ids)
}

/// The newest results that match, and whether there may be more.
async fn newest(
    database: &Database,
    prism: &Prism,
    filter: &ResultFilter,
) -> Result<(Vec<ResultId>, bool), InternalError> {
    let (mut ids, mut last, mut read) = (Vec::new(), None, 0);
    while read < SAMPLED_NEWEST {
        let newest_first = ResultOrder::NewestFirst;
        let page =
            database.list_candidates(prism.account, prism.id, filter, newest_first, last, PAGE);
        let page = page.await?;
        let Some(end) = page.last() else {
            return Ok((ids, false));
        };
        last = Some(end.id);
        read += page.len();
        ids.extend(matching(&page, filter));
    }
    Ok((ids, true))
}

fn matching(page: &[SearchCandidate], filter: &ResultFilter) -> impl Iterator<Item = ResultId> {
    let matching = page.iter().filter(|candidate| {
        let at = candidate.created_at;
        candidate.meets(filter)
            && filter.since.is_none_or(|since| at >= since)
            && filter.until.is_none_or(|until| at < until)
    });
    matching.map(|candidate| candidate.id)
}
