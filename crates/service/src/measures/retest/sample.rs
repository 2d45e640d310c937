//! A random sample of a prism's answered results, which repeats: the last bits of a result's id are
//! random, so their order is a random order of the results.

use refract_domain::ids::ResultId;
use refract_persistence::{Database, Prism, ResultFilter, ResultOrder, SearchCandidate};

use crate::InternalError;

/// Most newest results among which a sample is drawn if the index of the sample has too few.
pub const SAMPLED_NEWEST: usize = 20_000;
/// Results that one query reads.
const PAGE: u32 = 1_000;
/// The most results of the index that are read for each result of the sample: a filter that matches
/// fewer than one in ten is searched by its own index.
const READ_FOR_EACH: usize = 10;

/// A random sample of results.
pub(crate) struct SampledResults {
    /// The ids in the order of the sample.
    pub(crate) ids: Vec<ResultId>,
    /// Whether only the [`SAMPLED_NEWEST`] results were looked at.
    pub(crate) is_of_newest: bool,
}

impl SampledResults {
    /// Draws up to `size` results that a filter selects.
    pub(crate) async fn draw(
        database: &Database,
        prism: &Prism,
        filter: &ResultFilter,
        size: usize,
    ) -> Result<Self, InternalError> {
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
