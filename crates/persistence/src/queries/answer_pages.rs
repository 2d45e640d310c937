//! The answers of a prism's newest results, page by page (keyset pagination), without their texts.

use diesel::prelude::*;
use refract_domain::answer::Answers;
use refract_domain::ids::{AccountId, PrismId, ResultId};
use refract_domain::prism::VersionNumber;
use uuid::Uuid;

use crate::connections::on;
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::schema::results;
use crate::schema::sql_types::Bind;

/// Results of the first page, when their size is not known yet.
const FIRST_PAGE: usize = 64;
/// Most results of a page.
const LARGEST_PAGE: usize = 2048;
/// Bytes of JSON that the answers of a page should have.
const PAGE_BYTES: usize = 1024 * 1024;

/// The version and the answers of a result that is `ok`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredAnswers {
    /// Number of the version that answered.
    pub version: VersionNumber,
    /// The answers to all questions of that version.
    pub answers: Answers,
}

/// The `ok` results of a prism, the newest first, one page after the other.
pub struct AnswerPages {
    database: Database,
    account: AccountId,
    prism: PrismId,
    /// Only results before this one.
    before: ResultId,
    size: usize,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = results)]
struct AnswerColumns {
    id: ResultId,
    version: i32,
    answers: Option<String>,
}

impl Database {
    /// The `ok` results of a prism, before the first page is read.
    pub fn answer_pages(&self, account: AccountId, prism: PrismId) -> AnswerPages {
        AnswerPages {
            database: self.clone(),
            account,
            prism,
            before: ResultId(Uuid::max()),
            size: FIRST_PAGE,
        }
    }
}

impl AnswerPages {
    /// The next page, of `most` results at most; an empty one is the end. Pages are as large as fits
    /// into little memory.
    ///
    /// # Errors
    /// When the database fails, or an answer cannot be read.
    pub async fn next(&mut self, most: usize) -> Result<Vec<StoredAnswers>, PersistenceError> {
        let Self {
            account,
            prism,
            before,
            ..
        } = *self;
        let limit = i64::try_from(self.size.min(most)).unwrap_or(i64::MAX);
        let read = self.database.read(async move |mut connection| {
            let found: Vec<AnswerColumns> = on!(
                connection,
                load(
                    results::table
                        .filter(results::account_id.eq(Bind(account)))
                        .filter(results::prism_id.eq(Bind(prism)))
                        .filter(results::id.gt(Bind(ResultId(Uuid::nil()))))
                        .filter(results::id.lt(Bind(before)))
                        .filter(results::error.is_null())
                        .order(results::id.desc())
                        .limit(limit)
                        .select(AnswerColumns::as_select())
                )
            )?;
            Ok(found)
        });
        let page = read.await?;
        self.before = page.last().map_or(before, |result| result.id);
        self.size = next_size(self.size, &page);
        page.into_iter().map(StoredAnswers::try_from).collect()
    }
}

/// Results of the next page: as many as fit if they are like those of this page, and at most eight
/// times as many.
fn next_size(size: usize, page: &[AnswerColumns]) -> usize {
    let answers = page.iter().filter_map(|result| result.answers.as_ref());
    let bytes: usize = answers.map(String::len).sum();
    let fitting = PAGE_BYTES.saturating_mul(page.len()) / bytes.max(1);
    fitting.clamp(1, size.saturating_mul(8).min(LARGEST_PAGE))
}

impl TryFrom<AnswerColumns> for StoredAnswers {
    type Error = PersistenceError;

    fn try_from(columns: AnswerColumns) -> Result<Self, PersistenceError> {
        let unreadable = |column| PersistenceError::Unreadable { column };
        let answers = columns.answers.as_deref().map(serde_json::from_str);
        let answers = answers.and_then(Result::ok);
        let version = VersionNumber::new(columns.version);
        Ok(Self {
            version: version.ok_or(unreadable("results.version"))?,
            answers: answers.ok_or(unreadable("results.answers"))?,
        })
    }
}
