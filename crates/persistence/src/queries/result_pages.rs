//! The results of a prism page by page (keyset pagination), with one page in memory at a time.

use refract_domain::answer::{Answer, Answers};
use refract_domain::ids::{AccountId, PrismId, ResultId};
use refract_domain::result::SavedResult;

use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::result_filter::ResultFilter;
use crate::queries::result_lists::ResultOrder;

/// Results of the first page, when their size is not known yet.
const FIRST_PAGE: u32 = 32;
/// Most results of a page: large results may follow small ones.
const LARGEST_PAGE: u32 = 256;
/// Bytes of memory that the results of a page should take.
const PAGE_BYTES: usize = 2 * 1024 * 1024;
/// Bytes of memory of an outcome with its key and probability.
const OUTCOME_BYTES: usize = 64;

/// The results of a prism, one page after the other.
///
/// Each page is one query that goes on where the last one ended, so that the database holds nothing
/// between them. The smaller the results, the more of them a page has.
pub struct ResultPages {
    database: Database,
    account: AccountId,
    prism: PrismId,
    filter: ResultFilter,
    order: ResultOrder,
    last: Option<ResultId>,
    size: u32,
}

impl Database {
    /// The results of a prism that a filter lets through, before the first page is read.
    pub fn result_pages(
        &self,
        account: AccountId,
        prism: PrismId,
        filter: ResultFilter,
        order: ResultOrder,
    ) -> ResultPages {
        ResultPages {
            database: self.clone(),
            account,
            prism,
            filter,
            order,
            last: None,
            size: FIRST_PAGE,
        }
    }
}

impl ResultPages {
    /// The next page; an empty one is the end.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn next(&mut self) -> Result<Vec<SavedResult>, PersistenceError> {
        let Self {
            account,
            prism,
            order,
            last,
            size,
            ..
        } = *self;
        let page = self
            .database
            .list_results(account, prism, self.filter.clone(), order, last, size)
            .await?;
        self.last = page.last().map(|result| result.id).or(self.last);
        self.size = next_size(self.size, &page);
        Ok(page)
    }
}

/// Results of the next page: as many as fit if they are like those of this page, and at most twice
/// as many.
fn next_size(size: u32, page: &[SavedResult]) -> u32 {
    let bytes: usize = page.iter().map(approximate_bytes).sum();
    let fitting = PAGE_BYTES.saturating_mul(page.len()) / bytes.max(1);
    let largest = size.saturating_mul(2).min(LARGEST_PAGE);
    u32::try_from(fitting).unwrap_or(u32::MAX).clamp(1, largest)
}

fn approximate_bytes(result: &SavedResult) -> usize {
    let fields = result.submission.field_values().0.iter();
    let texts: usize = fields.map(|(_, value)| value.len()).sum();
    let context = result.submission.context().map_or(0, str::len);
    let answers = result.status.answers().map_or(&[][..], Answers::as_slice);
    let outcomes: usize = answers
        .iter()
        .map(|(_, answer)| match answer {
            Answer::YesNo { .. } => 1,
            Answer::Choice { probabilities, .. } | Answer::Scale { probabilities, .. } => {
                probabilities.len()
            }
        })
        .sum();
    texts + context + OUTCOME_BYTES * (outcomes + answers.len() + 1)
}
