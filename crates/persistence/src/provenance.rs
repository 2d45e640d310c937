//! Where a result's answers came from: kept beside each result, shown to operators alone.
//!
//! No query that serves a call selects these columns.

use diesel::prelude::*;
use refract_domain::ids::{AccountId, ResultId};

use crate::database::Database;
use crate::error::PersistenceError;
use crate::schema::results;
use crate::sql_types::Bind;

/// What is known of the model call that a result was saved from. Everything is `None` for a result
/// that was saved before provenance was kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    /// What the model server was asked in: `systemone`, `chat` or `stated`; `lexical` for the
    /// embedded scorer.
    pub protocol: Option<String>,
    /// The model that the server said it asked, which need not be the one that was configured;
    /// `None` when it did not tell.
    pub model: Option<String>,
    /// Which version of the gateway's prompts asked; `None` where nothing is prompted.
    pub prompt_version: Option<i32>,
    /// Tokens read, over all requests, when the server told.
    pub input_tokens: Option<u64>,
    /// Tokens written, over all requests, when the server told.
    pub output_tokens: Option<u64>,
    /// Requests that the call was split into and that were begun.
    pub requests: Option<u32>,
    /// Attempts over all requests.
    pub attempts: Option<u32>,
}

impl Database {
    /// Where a result of the account came from; `None` when the account has no such result.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn find_provenance(
        &self,
        account: AccountId,
        result: ResultId,
    ) -> Result<Option<Provenance>, PersistenceError> {
        let database = self.clone();
        self.run(async move {
            let mut connection = database.reader().await?;
            let query = results::table
                .filter(results::id.eq(Bind(result)))
                .filter(results::account_id.eq(Bind(account)));
            let found: Option<ProvenanceColumns> = on!(
                connection,
                get_result(query.select(ProvenanceColumns::as_select()))
            )
            .optional()?;
            found.map(Provenance::try_from).transpose()
        })
        .await
    }
}

/// The columns of a result that hold its provenance.
#[derive(Insertable, Queryable, Selectable)]
#[diesel(table_name = results)]
#[diesel(treat_none_as_default_value = false)]
pub(crate) struct ProvenanceColumns {
    pub(crate) model_protocol: Option<String>,
    pub(crate) model_name: Option<String>,
    pub(crate) prompt_version: Option<i32>,
    pub(crate) input_tokens: Option<i64>,
    pub(crate) output_tokens: Option<i64>,
    pub(crate) model_requests: Option<i64>,
    pub(crate) model_attempts: Option<i64>,
}

impl From<&Provenance> for ProvenanceColumns {
    fn from(provenance: &Provenance) -> Self {
        let tokens = |count| i64::try_from(count).unwrap_or(i64::MAX);
        Self {
            model_protocol: provenance.protocol.clone(),
            model_name: provenance.model.clone(),
            prompt_version: provenance.prompt_version,
            input_tokens: provenance.input_tokens.map(tokens),
            output_tokens: provenance.output_tokens.map(tokens),
            model_requests: provenance.requests.map(i64::from),
            model_attempts: provenance.attempts.map(i64::from),
        }
    }
}

impl TryFrom<ProvenanceColumns> for Provenance {
    type Error = PersistenceError;

    fn try_from(columns: ProvenanceColumns) -> Result<Self, PersistenceError> {
        Ok(Self {
            protocol: columns.model_protocol,
            model: columns.model_name,
            prompt_version: columns.prompt_version,
            input_tokens: whole(columns.input_tokens, "results.input_tokens")?,
            output_tokens: whole(columns.output_tokens, "results.output_tokens")?,
            requests: whole(columns.model_requests, "results.model_requests")?,
            attempts: whole(columns.model_attempts, "results.model_attempts")?,
        })
    }
}

fn whole<T: TryFrom<i64>>(
    count: Option<i64>,
    column: &'static str,
) -> Result<Option<T>, PersistenceError> {
    let count = count.map(T::try_from).transpose();
    count.map_err(|_| PersistenceError::Unreadable { column })
}
