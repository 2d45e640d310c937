//! The results of a prism page by page (keyset pagination), with one page in memory at a time.

use diesel::prelude::*;
use refract_domain::answer::{Answer, Answers};
use refract_domain::ids::{AccountId, PrismId};
use refract_domain::result::SavedResult;

use crate::connections::load_as;
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::results::lists::filter::ResultFilter;
use crate::queries::results::lists::paging::{PageLimits, Paging};
use crate::queries::results::lists::query::{ResultOrder, ResultQuery};
use crate::queries::results::row::ResultColumns;

const LIMITS: PageLimits = PageLimits {
    first: 32,
    most: 256,
    growth: 2,
    bytes: 2 * 1024 * 1024,
};
/// Memory of an outcome with its key and probability, in bytes.
const OUTCOME_BYTES: usize = 64;

/// The results of a prism, one page after the other.
pub struct ResultPages {
    database: Database,
    paging: Paging,
}

impl Database {
    /// The results of a prism that match a filter, before the first page is read.
    pub fn result_pages(
        &self,
        account: AccountId,
        prism: PrismId,
        filter: ResultFilter,
        order: ResultOrder,
    ) -> ResultPages {
        let query = ResultQuery::of_prism(account, prism, filter);
        ResultPages {
            database: self.clone(),
            paging: Paging::new(query, order, LIMITS),
        }
    }
}

impl ResultPages {
    /// The next page; an empty page is the end.
    pub async fn next(&mut self) -> Result<Vec<SavedResult>, PersistenceError> {
        let query = self.paging.next_page(LIMITS.most);
        let page: Vec<SavedResult> =
            load_as!(self.database, query.statement(), ResultColumns).await?;
        let sizes = page.iter().map(|it| (it.id, approximate_bytes(it)));
        self.paging.go_on_after(sizes);
        Ok(page)
    }
}

fn approximate_bytes(result: &SavedResult) -> usize {
    let fields = result.submission.field_values().as_slice().iter();
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
