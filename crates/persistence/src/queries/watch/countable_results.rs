//! The results that are not in the counts by hour yet.

use diesel::prelude::*;
use refract_domain::answer::Answers;
use refract_domain::ids::{PrismId, ResultId};
use refract_domain::prism::VersionNumber;

use crate::connections::on;
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::results::row::{saved_answers, saved_version};
use crate::schema::results;
use crate::schema::sql_types::Bind;

/// What is counted of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountableResult {
    /// The result's id.
    pub id: ResultId,
    /// Number of the version that answered.
    pub version: VersionNumber,
    /// The model that the server reported, if it reported one.
    pub model: Option<String>,
    /// Version of the gateway's prompts; `None` for a model that gets no prompt.
    pub prompt_version: Option<i32>,
    /// The answers; `None` for a failed result.
    pub answers: Option<Answers>,
    /// Milliseconds that the result took.
    pub took_ms: u64,
    /// Tokens that the model read, if its server reports them.
    pub input_tokens: Option<u64>,
    /// Tokens that the model wrote, if its server reports them.
    pub output_tokens: Option<u64>,
    /// Whether the server cut the text.
    pub is_truncated: bool,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = results)]
struct CountableColumns {
    id: ResultId,
    version: i32,
    model_name: Option<String>,
    prompt_version: Option<i32>,
    answers: Option<String>,
    took_ms: i64,
    input_tokens: Option<i64>,
    output_tokens: Option<i64>,
    truncated_to: Option<i64>,
}

impl Database {
    /// The first results of a prism after one id and up to another, at most `limit`, in the order of
    /// their ids.
    ///
    /// # Errors
    /// When the database fails, or an answer cannot be read.
    pub async fn list_countable_results(
        &self,
        prism: PrismId,
        after: ResultId,
        up_to: ResultId,
        limit: u32,
    ) -> Result<Vec<CountableResult>, PersistenceError> {
        let database = self.without_lanes();
        let reading = database.read(async move |mut connection| {
            let query = results::table
                // ordered like the prism's index, as in `find_first_result`
                .filter(results::prism_id.eq_any(vec![Bind(prism)]))
                .filter(results::id.gt(Bind(after)))
                .filter(results::id.le(Bind(up_to)))
                .order((results::prism_id, results::id))
                .limit(limit.into());
            let found: Vec<CountableColumns> = on!(connection, load(query) as CountableColumns)?;
            Ok(found)
        });
        let found = reading.await?;
        found.into_iter().map(CountableResult::try_from).collect()
    }
}

impl TryFrom<CountableColumns> for CountableResult {
    type Error = PersistenceError;

    fn try_from(columns: CountableColumns) -> Result<Self, PersistenceError> {
        let answers = columns.answers.as_deref();
        // numbers that are never negative
        let whole = |number| u64::try_from(number).unwrap_or_default();
        Ok(Self {
            id: columns.id,
            version: saved_version(columns.version)?,
            model: columns.model_name,
            prompt_version: columns.prompt_version,
            answers: answers.map(|json| saved_answers(Some(json))).transpose()?,
            took_ms: whole(columns.took_ms),
            input_tokens: columns.input_tokens.map(whole),
            output_tokens: columns.output_tokens.map(whole),
            is_truncated: columns.truncated_to.is_some(),
        })
    }
}
