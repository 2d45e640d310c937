//! How deleting results changes the stored counts.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use refract_domain::ids::{ApiKeyId, PrismId, ResultId};

/// A result that is about to be deleted, with the columns that its counts depend on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeletedResult {
    pub(crate) id: ResultId,
    pub(crate) prism: PrismId,
    pub(crate) api_key: Option<ApiKeyId>,
    pub(crate) is_failed: bool,
}

/// Numbers to subtract from the counts of a day and a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DeletedCount {
    pub(crate) ok: i64,
    pub(crate) failed: i64,
}

/// What to subtract from the counts of a prism.
#[derive(Debug)]
pub(crate) struct DeletedCounts {
    /// The results up to the watermark, by day and key.
    pub(crate) counted: BTreeMap<(NaiveDate, Option<ApiKeyId>), DeletedCount>,
    /// Whether there are later results: a concurrent count of them must not be stored.
    pub(crate) has_uncounted: bool,
}

/// Groups results by prism, in the order of the prisms' ids.
pub(crate) fn by_prism(deleted: Vec<DeletedResult>) -> BTreeMap<PrismId, Vec<DeletedResult>> {
    let mut by_prism: BTreeMap<PrismId, Vec<DeletedResult>> = BTreeMap::new();
    for result in deleted {
        by_prism.entry(result.prism).or_default().push(result);
    }
    by_prism
}

impl DeletedCounts {
    /// Sums up the results of a prism whose watermark is `up_to`.
    pub(crate) fn of(results: &[DeletedResult], up_to: ResultId) -> Self {
        let mut counts = Self {
            counted: BTreeMap::new(),
            has_uncounted: false,
        };
        for result in results {
            if result.id > up_to {
                counts.has_uncounted = true;
                continue;
            }
            // the day of the counts, which is that of the id
            let day = result.id.moment().date_naive();
            let count = counts.counted.entry((day, result.api_key)).or_default();
            if result.is_failed {
                count.failed += 1;
            } else {
                count.ok += 1;
            }
        }
        counts
    }
}
