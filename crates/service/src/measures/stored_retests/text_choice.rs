//! Which stored texts a retest asks about: a sample, wrong answers, what a search finds, or the texts
//! of an earlier retest.

use refract_domain::ids::{ResultId, RetestId};
use refract_domain::key::QuestionKey;
use refract_domain::lens::cutoffs_of;
use refract_domain::result::mark::MarksFrom;
use refract_evaluation::marked::predicted;
use refract_persistence::ResultFilter;

use super::{DrawnTexts, Retests, TextOrigin};
use crate::InternalError;
use crate::lenses::prism_lens::PrismLens;
use crate::measures::retest::{LOADED_AT_ONCE, SampledResults};
use crate::measures::{DrawnFrom, SAMPLED_NEWEST};
use crate::prisms::find_saved_version;
use crate::results::{MatchCount, ResultSearch, SearchError, SearchLimits};

/// Which stored texts are asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextChoice {
    /// A random sample.
    Drawn(DrawnFrom),
    /// A random sample of those whose answer to this question a mark that counts in measures calls
    /// wrong.
    Wrong(QuestionKey),
    /// The newest that a search finds, or the least sure.
    Found {
        /// What is searched for.
        search: Box<ResultSearch>,
        /// Whether the least sure ones are taken.
        is_least_sure_first: bool,
    },
    /// The texts of another retest of the prism.
    Again(RetestId),
}

impl From<DrawnFrom> for TextChoice {
    fn from(from: DrawnFrom) -> Self {
        Self::Drawn(from)
    }
}

impl Retests<'_> {
    /// The results of a choice, at most `most`, with what is known of how they were chosen; `None` if
    /// the retest is gone whose texts are chosen again.
    pub(super) async fn choose(
        self,
        lens: &PrismLens,
        choice: &TextChoice,
        most: usize,
    ) -> Result<Option<(Vec<ResultId>, DrawnTexts)>, SearchError> {
        let (mut ids, from, is_of_newest) = match choice {
            TextChoice::Drawn(from) => self.draw(lens, *from, most).await?,
            TextChoice::Wrong(question) => {
                let wrong = self.wrongly_answered(lens, question).await?;
                (wrong, TextOrigin::Wrong, false)
            }
            TextChoice::Found {
                search,
                is_least_sure_first,
            } => self.search(lens, search, *is_least_sure_first).await?,
            TextChoice::Again(retest) => {
                let found = self.find(lens.prism.account, *retest).await?;
                let Some(found) = found.filter(|found| found.prism == lens.prism.id) else {
                    return Ok(None);
                };
                let ids = self.texts_of(*retest).await?;
                (ids, found.drawn.from, found.drawn.is_of_newest)
            }
        };
        ids.truncate(most);
        let drawn = DrawnTexts {
            from,
            is_of_newest,
            ..DrawnTexts::default()
        };
        Ok(Some((ids, drawn)))
    }

    async fn draw(
        self,
        lens: &PrismLens,
        from: DrawnFrom,
        most: usize,
    ) -> Result<(Vec<ResultId>, TextOrigin, bool), InternalError> {
        let (database, filter) = (&self.refract.database, answered());
        let marks = MarksFrom::default();
        let drawing = SampledResults::draw(database, &lens.prism, &filter, most, (from, marks));
        let sample = drawing.await?;
        Ok((sample.ids, from.into(), sample.is_of_newest))
    }

    /// The wrong answers to a question, in the order of the sample.
    async fn wrongly_answered(
        self,
        lens: &PrismLens,
        question: &QuestionKey,
    ) -> Result<Vec<ResultId>, InternalError> {
        let (database, prism) = (&self.refract.database, lens.prism.id);
        let cutoffs = cutoffs_of(lens.columns().lens, question);
        let mut pages = database.marked_answers(prism, answered(), question);
        let mut wrong = Vec::new();
        while let Some(page) = pages.next().await? {
            for result in &page {
                let version = find_saved_version(database, prism, result.version).await?;
                let asked = version.question(question);
                if let Some((asked, answer)) = asked.zip(result.answer.as_ref())
                    && MarksFrom::default().counts(result.source)
                    && predicted(asked, answer, cutoffs).is_some_and(|it| it != result.mark)
                {
                    wrong.push(result.id);
                }
            }
        }
        wrong.sort_unstable_by_key(|id| (id.random_bits(), *id));
        Ok(wrong)
    }

    async fn search(
        self,
        lens: &PrismLens,
        search: &ResultSearch,
        is_least_sure_first: bool,
    ) -> Result<(Vec<ResultId>, TextOrigin, bool), SearchError> {
        let results = self.refract.results();
        let mut search = search.clone();
        if search.filter.is_ok == Some(false) {
            return Ok((Vec::new(), TextOrigin::Found, false));
        }
        search.filter.is_ok = Some(true);
        let limits = SearchLimits {
            results: 1,
            candidates: u32::try_from(SAMPLED_NEWEST).unwrap_or(u32::MAX),
            counted: 0,
        };
        if is_least_sure_first {
            let (ids, count) = results.rank(lens, &search, limits).await?;
            let is_of_newest = !matches!(count, MatchCount::All(_));
            return Ok((ids, TextOrigin::LeastSure, is_of_newest));
        }
        let (found, is_of_newest) = results
            .newest_matches(lens, &search, limits.candidates)
            .await?;
        let ids = found.into_iter().map(|candidate| candidate.id).collect();
        Ok((ids, TextOrigin::Found, is_of_newest))
    }

    /// The results of the texts of a retest.
    async fn texts_of(self, retest: RetestId) -> Result<Vec<ResultId>, InternalError> {
        let limit = u32::try_from(LOADED_AT_ONCE).unwrap_or(u32::MAX);
        let (mut ids, mut after) = (Vec::new(), ResultId::LOWEST);
        loop {
            let database = &self.refract.database;
            let rows = database.list_retest_texts(retest, after, limit).await?;
            let Some(last) = rows.last() else {
                return Ok(ids);
            };
            after = last.result;
            ids.extend(rows.iter().map(|row| row.result));
        }
    }
}

fn answered() -> ResultFilter {
    ResultFilter {
        is_ok: Some(true),
        ..ResultFilter::default()
    }
}
