//! The answers of a prism's newest results, page by page (keyset pagination), without their texts.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use refract_domain::answer::Answers;
use refract_domain::ids::{AccountId, PrismId, ResultId};
use refract_domain::prism::VersionNumber;

use crate::connections::on;
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::results::lists::filter::ResultFilter;
use crate::queries::results::lists::paging::{PageLimits, Paging};
use crate::queries::results::lists::query::{ResultOrder, ResultQuery};
use crate::queries::results::row::{saved_answers, saved_version};
use crate::schema::results;

const LIMITS: PageLimits = PageLimits {
    first: 64,
    most: 2048,
    growth: 8,
    bytes: 1024 * 1024,
};

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
    /// The `ok` results of a prism, before the first page is read.
    pub fn answer_pages(&self, account: AccountId, prism: PrismId) -> AnswerPages {
        self.answer_pages_since(account, prism, None)
    }

    /// The `ok` results of a prism from a moment on, before the first page is read.
    pub fn answer_pages_since(
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
            paging: Paging::new(query, ResultOrder::NewestFirst, LIMITS),
        }
    }
}

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
