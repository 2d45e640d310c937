//! The results of a prism page by page (keyset pagination), whole or as answers without their texts.
//!
//! Each page is one query that continues after the previous page, so that the database holds nothing
//! between them. The smaller the results, the more a page has. Who needs all pages has the next one
//! read while the last one is in use.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use refract_boxed_futures::boxed;
use refract_domain::answer::{Answer, Answers};
use refract_domain::ids::{AccountId, PrismId, ResultId};
use refract_domain::prism::VersionNumber;
use refract_domain::result::SavedResult;

use crate::connections::{BoxFuture, StartedWork, load_as, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::results::lists::query::{ResultFilter, ResultOrder, ResultQuery};
use crate::queries::results::{ResultColumns, saved_answers, saved_version};
use crate::schema::results;

const OF_RESULTS: PageLimits = PageLimits {
    first: 32,
    most: 256,
    growth: 2,
    bytes: 2 * 1024 * 1024,
};
const OF_ANSWERS: PageLimits = PageLimits {
    first: 64,
    most: 2048,
    growth: 8,
    bytes: 1024 * 1024,
};
/// Memory of an outcome with its key and probability, in bytes.
const OUTCOME_BYTES: usize = 64;

/// The results of a prism, one page after the other.
pub struct ResultPages {
    database: Database,
    paging: Paging,
    reads_ahead: bool,
    /// The next page, if it is being read.
    ahead: Option<StartedWork<Vec<SavedResult>>>,
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
            paging: Paging::new(query, order, OF_RESULTS),
            reads_ahead: false,
            ahead: None,
        }
    }
}

impl ResultPages {
    /// From now on, begins to read the page after each page at once.
    pub fn read_ahead(&mut self) {
        self.reads_ahead = true;
    }

    fn read(&self) -> BoxFuture<'static, Result<Vec<SavedResult>, PersistenceError>> {
        let query = self.paging.next_page(OF_RESULTS.most);
        let database = self.database.clone();
        Box::pin(async move { load_as!(database, query.statement(), ResultColumns).await })
    }
}

#[boxed]
impl ResultPages {
    /// The next page; an empty page is the end.
    ///
    /// # Errors
    /// When the database fails, or a result cannot be read. The next call reads the page again.
    pub async fn next(&mut self) -> Result<Vec<SavedResult>, PersistenceError> {
        let page = match self.ahead.take() {
            Some(reading) => reading.end().await?,
            None => self.read().await?,
        };
        let sizes = page.iter().map(|it| (it.id, approximate_bytes(it)));
        self.paging.go_on_after(sizes);
        if self.reads_ahead && !page.is_empty() {
            self.ahead = Some(self.database.connections.start(self.read()));
        }
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

/// How large pages are.
#[derive(Clone, Copy)]
pub(crate) struct PageLimits {
    /// Results of the first page, when their size is not known yet.
    pub(crate) first: u32,
    /// Most results of a page: large results may follow small ones.
    pub(crate) most: u32,
    /// A page has at most this many times the results of the previous page.
    pub(crate) growth: u32,
    /// Bytes that the results of a page should take.
    pub(crate) bytes: usize,
}

/// The pages of a query: the end of the last page and the size of the next.
pub(crate) struct Paging {
    query: ResultQuery,
    order: ResultOrder,
    limits: PageLimits,
    last: Option<ResultId>,
    size: u32,
}

impl Paging {
    /// All results of a query in this order, before the first page.
    pub(crate) fn new(query: ResultQuery, order: ResultOrder, limits: PageLimits) -> Self {
        Self {
            query,
            order,
            limits,
            last: None,
            size: limits.first,
        }
    }

    /// The query for the next page, with `most` results at most.
    pub(crate) fn next_page(&self, most: u32) -> ResultQuery {
        let size = self.size.min(most);
        self.query.clone().page(self.order, self.last, size)
    }

    /// Continues after a page, given the ids and bytes of its results.
    pub(crate) fn go_on_after(&mut self, page: impl Iterator<Item = (ResultId, usize)>) {
        let (mut results, mut bytes) = (0_usize, 0_usize);
        for (id, size) in page {
            self.last = Some(id);
            results += 1;
            bytes += size;
        }
        self.size = self.next_size(results, bytes);
    }

    /// Results of the next page: as many as fit if they are like those of the last page, up to the
    /// limit on growth.
    fn next_size(&self, results: usize, bytes: usize) -> u32 {
        let fitting = self.limits.bytes.saturating_mul(results) / bytes.max(1);
        let grown = self.size.saturating_mul(self.limits.growth);
        let largest = grown.min(self.limits.most);
        u32::try_from(fitting).unwrap_or(u32::MAX).clamp(1, largest)
    }
}

/// The id, the version and the answers of a result that is `ok`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredAnswers {
    /// The result's id.
    pub id: ResultId,
    /// Number of the version that answered.
    pub version: VersionNumber,
    /// The model that the server reported; `None` if it reported none.
    pub model: Option<String>,
    /// The answers to all questions of that version.
    pub answers: Answers,
}

/// The `ok` results of a prism, the newest first, one page after the other.
pub struct AnswerPages {
    database: Database,
    paging: Paging,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = results)]
struct AnswerColumns {
    id: ResultId,
    version: i32,
    model_name: Option<String>,
    answers: Option<String>,
}

impl Database {
    /// The `ok` results of a prism, from a moment on if one is given, before the first page is read.
    pub fn answer_pages(
        &self,
        account: AccountId,
        prism: PrismId,
        since: Option<DateTime<Utc>>,
    ) -> AnswerPages {
        let ok = ResultFilter {
            is_ok: Some(true),
            since,
            ..ResultFilter::default()
        };
        let query = ResultQuery::of_prism(account, prism, ok);
        AnswerPages {
            database: self.clone(),
            paging: Paging::new(query, ResultOrder::NewestFirst, OF_ANSWERS),
        }
    }
}

#[boxed]
impl AnswerPages {
    /// The next page, with at most `most` results; an empty page is the end. Pages are sized to
    /// take little memory.
    ///
    /// # Errors
    /// When the database fails, or an answer cannot be read.
    pub async fn next(&mut self, most: usize) -> Result<Vec<StoredAnswers>, PersistenceError> {
        let query = self
            .paging
            .next_page(u32::try_from(most).unwrap_or(u32::MAX));
        let read = self.database.read(async move |mut connection| {
            let found: Vec<AnswerColumns> =
                on!(connection, load(query.statement()) as AnswerColumns)?;
            Ok(found)
        });
        let page = read.await?;
        let bytes = |columns: &AnswerColumns| columns.answers.as_ref().map_or(0, String::len);
        let sizes = page.iter().map(|columns| (columns.id, bytes(columns)));
        self.paging.go_on_after(sizes);
        page.into_iter().map(StoredAnswers::try_from).collect()
    }
}

impl TryFrom<AnswerColumns> for StoredAnswers {
    type Error = PersistenceError;

    fn try_from(columns: AnswerColumns) -> Result<Self, PersistenceError> {
        Ok(Self {
            id: columns.id,
            version: saved_version(columns.version)?,
            model: columns.model_name,
            answers: saved_answers(columns.answers.as_deref())?,
        })
    }
}
