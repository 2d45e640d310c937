//! All results of a prism, page by page, with little of them in memory at once.

use refract_domain::answer::{Answer, Answers};
use refract_domain::ids::{AccountId, PrismId, ResultId};
use refract_domain::result::SavedResult;

use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::result_lists::{ResultFilter, ResultOrder};

/// The first page, when nothing is known of the size of results.
const FIRST_PAGE: u32 = 32;
/// No page has more results, so that large ones after small ones do not come all at once.
const LARGEST_PAGE: u32 = 256;
/// What the results of a page should take in memory, in bytes.
const PAGE_BYTES: usize = 2 * 1024 * 1024;
/// An outcome with its key and probability, in bytes.
const OUTCOME_BYTES: usize = 64;

/// The results of a prism, one page after the other.
///
/// Each page is one query that goes on where the last one ended, so that nothing is held in the
/// database between them. Pages are as large as the results are small.
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
    /// The results of a prism that a filter lets through; nothing is read yet.
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
            filter,
            order,
            last,
            size,
            ..
        } = *self;
        let page = self
            .database
            .list_results(account, prism, filter, order, last, size)
            .await?;
        self.last = page.last().map(|result| result.id).or(self.last);
        self.size = next_size(self.size, &page);
        Ok(page)
    }
}

/// As many results as fit, if the next ones are like these; at most twice as many as before.
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
