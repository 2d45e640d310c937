//! Where a result's answers came from: stored with each result, shown only to operators.
//!
//! The queries of API calls never select these columns.

use diesel::prelude::*;
use refract_domain::answer::probability::Probability;
use refract_domain::ids::{FileRunId, ResultId};
use refract_domain::result::cost::Cost;

use crate::error::PersistenceError;
use crate::schema::results;
use crate::schema::stored::{NamedColumn, Stored, UnreadableColumn};

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
pub(crate) fn cost_columns(cost: Cost) -> (i64, i64) {
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
