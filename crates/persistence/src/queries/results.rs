//! Results: saved once, found by id or key, and listed.
//!
//! Rows of the table of results: the result itself, who made it, and where its answers came from.
//!
//! The queries of API calls never select the person or the provenance, which is shown only to
//! operators.

pub(super) mod find;
pub(super) mod insert;
pub(super) mod lists;
mod save;

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use refract_domain::answer::{Answers, Probability};
use refract_domain::ids::{AccountId, ApiKeyId, FileRunId, PersonId, PrismId, ResultId};
use refract_domain::prism::VersionNumber;
use refract_domain::result::{Cost, ResultActor, ResultStatus, SavedResult};
use refract_domain::submission::{CallContext, IdempotencyKey, Ref, Submission};

use crate::error::PersistenceError;
use crate::schema::results;
use crate::schema::stored::{NamedColumn, Stored, UnreadableColumn};

pub use self::find::FoundResult;
pub use self::lists::*;
pub use self::save::SaveOutcome;

/// The columns of a result that its readers need: all but its [`Provenance`](crate::Provenance) and
/// the person who made it.
#[derive(Queryable, Selectable)]
#[diesel(table_name = results)]
pub(crate) struct ResultColumns {
    id: ResultId,
    prism_id: PrismId,
    version: i32,
    reference: Option<String>,
    idempotency_key: Option<String>,
    status: String,
    answers: Option<String>,
    error: Option<String>,
    fields: String,
    context: Option<String>,
    took_ms: i64,
    created_at: DateTime<Utc>,
}

impl TryFrom<ResultColumns> for SavedResult {
    type Error = PersistenceError;

    fn try_from(columns: ResultColumns) -> Result<Self, PersistenceError> {
        let unreadable = |column| PersistenceError::Unreadable { column };
        let status = match (columns.status.as_str(), columns.answers, columns.error) {
            ("ok", Some(answers), None) => ResultStatus::Ok(saved_answers(Some(&answers))?),
            ("failed", None, Some(error)) => ResultStatus::Failed { error },
            _ => return Err(unreadable("results.status")),
        };
        let fields = serde_json::from_str(&columns.fields);
        let fields = fields.map_err(|_| unreadable("results.fields"))?;
        let context = columns.context.and_then(CallContext::saved);
        Ok(Self {
            id: columns.id,
            prism: columns.prism_id,
            version: saved_version(columns.version)?,
            reference: columns.reference.map(Ref::saved),
            submission: Submission::saved(fields, context),
            status,
            took_ms: u64::try_from(columns.took_ms).map_err(|_| unreadable("results.took_ms"))?,
            created_at: columns.created_at,
            idempotency_key: columns.idempotency_key.map(IdempotencyKey::saved),
        })
    }
}

/// The version that a row names.
pub(crate) fn saved_version(number: i32) -> Result<VersionNumber, PersistenceError> {
    let column = "results.version";
    VersionNumber::new(number).ok_or(PersistenceError::Unreadable { column })
}

/// The answers of a row; a row without any cannot be read.
pub(crate) fn saved_answers(json: Option<&str>) -> Result<Answers, PersistenceError> {
    let answers = json.and_then(|json| serde_json::from_str(json).ok());
    let column = "results.answers";
    answers.ok_or(PersistenceError::Unreadable { column })
}

/// Who made a result. Both are `None` for a result of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Queryable)]
pub struct ResultActorRow {
    /// The key that made the result.
    pub api_key: Option<ApiKeyId>,
    /// The person who made the result in the app.
    pub person: Option<PersonId>,
}

impl From<ResultActorRow> for ResultActor {
    fn from(actor: ResultActorRow) -> Self {
        match (actor.person, actor.api_key) {
            (Some(person), _) => Self::Person(person),
            (None, Some(key)) => Self::Key(key),
            (None, None) => Self::Operator,
        }
    }
}

/// A result to be saved.
#[derive(Clone, Debug)]
pub struct NewResult {
    /// The account that the result belongs to.
    pub account: AccountId,
    /// The key that made the result; `None` for a command and for a person.
    pub api_key: Option<ApiKeyId>,
    /// The person who made the result in the app.
    pub made_by: Option<PersonId>,
    /// The stored file run that made the result.
    pub file_run: Option<FileRunId>,
    /// The failed result that this one retries. An idempotency key that the failed result holds
    /// moves to this one: `result` must carry it.
    pub retry_of: Option<ResultId>,
    /// The result.
    pub result: SavedResult,
    /// The provenance of the answers, or of the failure.
    pub provenance: Provenance,
}

/// Billionths of a billionth in a billionth.
const ATTOS_IN_NANO: u128 = 1_000_000_000;

/// How a model came to the answers of a result. Every field is `None` for a result that was saved
/// before provenance was kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = results)]
pub struct Provenance {
    /// The protocol that the model server was asked in: `systemone`, `decisions`, `chat` or
    /// `stated`; `lexical` for the embedded scorer.
    #[diesel(column_name = model_protocol)]
    pub protocol: Option<String>,
    /// The model that the server reported, which may differ from the configured one; `None` when
    /// the server reported none.
    #[diesel(column_name = model_name)]
    pub model: Option<String>,
    /// Version of the gateway's prompts; `None` for a model that gets no prompt.
    pub prompt_version: Option<i32>,
    /// Tokens that the model read, over all requests; `None` when the server does not report them.
    #[diesel(deserialize_as = Stored<results::input_tokens>)]
    pub input_tokens: Option<u64>,
    /// Tokens that the server had in its cache, over all requests; most servers count them among
    /// those that the model read. `None` when the server does not report them.
    #[diesel(deserialize_as = Stored<results::cached_tokens>)]
    pub cached_tokens: Option<u64>,
    /// Tokens that the model wrote, over all requests; `None` when the server does not report them.
    #[diesel(deserialize_as = Stored<results::output_tokens>)]
    pub output_tokens: Option<u64>,
    /// The cost of all requests, in the currency of the host; `None` when the host reports none.
    #[diesel(select_expression = (results::cost_nanos, results::cost_attos))]
    #[diesel(deserialize_as = Stored<(results::cost_nanos, results::cost_attos)>)]
    pub cost: Option<Cost>,
    /// The host's id of the last request, or of the one that failed.
    pub host_request_id: Option<String>,
    /// Requests to the model that were begun.
    #[diesel(column_name = model_requests, deserialize_as = Stored<results::model_requests>)]
    pub requests: Option<u32>,
    /// Attempts over all requests to the model.
    #[diesel(column_name = model_attempts, deserialize_as = Stored<results::model_attempts>)]
    pub attempts: Option<u32>,
    /// Probability on the codes of a question before normalisation, for the question with the
    /// least; `None` where the model does not answer with codes.
    #[diesel(column_name = on_codes_millionths, deserialize_as = Stored<results::on_codes_millionths>)]
    pub on_codes: Option<Probability>,
    /// Part of the probability on the codes that could not be read and was split evenly, for the
    /// question with the largest. The stored probabilities are off by at most this total variation
    /// distance, if the model treats the spellings of a code alike. `None` where the model does not
    /// answer with codes.
    #[diesel(column_name = unread_millionths, deserialize_as = Stored<results::unread_millionths>)]
    pub unread: Option<Probability>,
    /// The tokens that the server read of a text with far more, which it cut without an error;
    /// `None` if no text is known to have been cut.
    #[diesel(deserialize_as = Stored<results::truncated_to>)]
    pub truncated_to: Option<u64>,
}

/// The part of a result's provenance that an export adds to its row.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = results)]
pub struct ResultOrigin {
    /// The result.
    pub id: ResultId,
    /// The model that the server reported.
    #[diesel(column_name = model_name)]
    pub model: Option<String>,
    /// The cost of all requests, as [`Provenance::cost`].
    #[diesel(select_expression = (results::cost_nanos, results::cost_attos))]
    #[diesel(deserialize_as = Stored<(results::cost_nanos, results::cost_attos)>)]
    pub cost: Option<Cost>,
    /// The stored file run that made the result.
    #[diesel(column_name = file_run_id)]
    pub run: Option<FileRunId>,
}

/// A cost as it is stored: whole billionths, and the rest in billionths of these. Both databases add
/// up whole numbers exactly, and one such number cannot hold 18 decimals.
fn cost_columns(cost: Cost) -> (i64, i64) {
    let part = |attos| i64::try_from(attos).unwrap_or(i64::MAX);
    let attos = cost.attos();
    (part(attos / ATTOS_IN_NANO), part(attos % ATTOS_IN_NANO))
}

impl<C> TryFrom<Stored<C>> for Option<Cost>
where
    C: NamedColumn<Form = (Option<i64>, Option<i64>)>,
{
    type Error = UnreadableColumn;

    fn try_from(Stored((nanos, attos)): Stored<C>) -> Result<Self, UnreadableColumn> {
        saved_cost(nanos, attos).map_err(|_| UnreadableColumn(C::NAME))
    }
}

/// A cost, or a sum of costs, from its columns.
pub(crate) fn saved_cost(
    nanos: Option<i64>,
    attos: Option<i64>,
) -> Result<Option<Cost>, PersistenceError> {
    let column = "results.cost_nanos";
    let part = |part| u128::try_from(part).map_err(|_| PersistenceError::Unreadable { column });
    let (Some(nanos), Some(attos)) = (nanos, attos) else {
        return Ok(None);
    };
    let attos = part(nanos)? * ATTOS_IN_NANO + part(attos)?;
    Ok(Some(Cost::from_attos(attos)))
}
