//! Where a result's answers came from: stored with each result, shown only to operators.
//!
//! The queries of API calls never select these columns.

use diesel::prelude::*;
use refract_domain::answer::probability::Probability;
use refract_domain::result::cost::Cost;

use crate::error::PersistenceError;
use crate::schema::results;

/// Billionths of a billionth in a billionth.
const ATTOS_IN_NANO: u128 = 1_000_000_000;

/// How a model came to the answers of a result. Every field is `None` for a result that was saved
/// before provenance was kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    /// The protocol that the model server was asked in: `systemone`, `decisions`, `chat` or
    /// `stated`; `lexical` for the embedded scorer.
    pub protocol: Option<String>,
    /// The model that the server reported, which may differ from the configured one; `None` when
    /// the server reported none.
    pub model: Option<String>,
    /// Version of the gateway's prompts; `None` for a model that gets no prompt.
    pub prompt_version: Option<i32>,
    /// Tokens that the model read, over all requests; `None` when the server does not report them.
    pub input_tokens: Option<u64>,
    /// Tokens that the server had in its cache, over all requests; most servers count them among
    /// those that the model read. `None` when the server does not report them.
    pub cached_tokens: Option<u64>,
    /// Tokens that the model wrote, over all requests; `None` when the server does not report them.
    pub output_tokens: Option<u64>,
    /// The cost of all requests, in the currency of the host; `None` when the host reports none.
    pub cost: Option<Cost>,
    /// The host's id of the last request, or of the one that failed.
    pub host_request_id: Option<String>,
    /// Requests to the model that were begun.
    pub requests: Option<u32>,
    /// Attempts over all requests to the model.
    pub attempts: Option<u32>,
    /// Probability on the codes of a question before normalisation, for the question with the
    /// least; `None` where the model does not answer with codes.
    pub on_codes: Option<Probability>,
    /// Part of the probability on the codes that could not be read and was split evenly, for the
    /// question with the largest. The stored probabilities are off by at most this total variation
    /// distance, if the model treats the spellings of a code alike. `None` where the model does not
    /// answer with codes.
    pub unread: Option<Probability>,
    /// The tokens that the server read of a text with far more, which it cut without an error;
    /// `None` if no text is known to have been cut.
    pub truncated_to: Option<u64>,
}

/// The columns of a result that hold its provenance.
#[derive(Queryable, Selectable)]
#[diesel(table_name = results)]
pub(crate) struct ProvenanceColumns {
    pub(crate) model_protocol: Option<String>,
    pub(crate) model_name: Option<String>,
    pub(crate) prompt_version: Option<i32>,
    pub(crate) input_tokens: Option<i64>,
    pub(crate) output_tokens: Option<i64>,
    pub(crate) model_requests: Option<i64>,
    pub(crate) model_attempts: Option<i64>,
    pub(crate) on_codes_millionths: Option<i32>,
    pub(crate) unread_millionths: Option<i32>,
    pub(crate) host_request_id: Option<String>,
    pub(crate) cached_tokens: Option<i64>,
    pub(crate) cost_nanos: Option<i64>,
    pub(crate) cost_attos: Option<i64>,
    pub(crate) truncated_to: Option<i64>,
}

impl From<&Provenance> for ProvenanceColumns {
    fn from(provenance: &Provenance) -> Self {
        let tokens = |count| i64::try_from(count).unwrap_or(i64::MAX);
        let cost = provenance.cost.map(cost_columns);
        Self {
            model_protocol: provenance.protocol.clone(),
            model_name: provenance.model.clone(),
            prompt_version: provenance.prompt_version,
            input_tokens: provenance.input_tokens.map(tokens),
            output_tokens: provenance.output_tokens.map(tokens),
            model_requests: provenance.requests.map(i64::from),
            model_attempts: provenance.attempts.map(i64::from),
            on_codes_millionths: provenance.on_codes.and_then(millionths),
            unread_millionths: provenance.unread.and_then(millionths),
            host_request_id: provenance.host_request_id.clone(),
            cached_tokens: provenance.cached_tokens.map(tokens),
            cost_nanos: cost.map(|(nanos, _)| nanos),
            cost_attos: cost.map(|(_, attos)| attos),
            truncated_to: provenance.truncated_to.map(tokens),
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
            cached_tokens: whole(columns.cached_tokens, "results.cached_tokens")?,
            output_tokens: whole(columns.output_tokens, "results.output_tokens")?,
            cost: saved_cost(columns.cost_nanos, columns.cost_attos)?,
            host_request_id: columns.host_request_id,
            requests: whole(columns.model_requests, "results.model_requests")?,
            attempts: whole(columns.model_attempts, "results.model_attempts")?,
            on_codes: probability(columns.on_codes_millionths, "results.on_codes_millionths")?,
            unread: probability(columns.unread_millionths, "results.unread_millionths")?,
            truncated_to: whole(columns.truncated_to, "results.truncated_to")?,
        })
    }
}

/// A cost as it is stored: whole billionths, and the rest in billionths of these. Both databases add
/// up whole numbers exactly, and one such number cannot hold 18 decimals.
pub(crate) fn cost_columns(cost: Cost) -> (i64, i64) {
    let part = |attos| i64::try_from(attos).unwrap_or(i64::MAX);
    let attos = cost.attos();
    (part(attos / ATTOS_IN_NANO), part(attos % ATTOS_IN_NANO))
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

fn whole<T: TryFrom<i64>>(
    count: Option<i64>,
    column: &'static str,
) -> Result<Option<T>, PersistenceError> {
    let count = count.map(T::try_from).transpose();
    count.map_err(|_| PersistenceError::Unreadable { column })
}

/// A probability as it is stored. A million fits the column, so this is never `None`.
fn millionths(probability: Probability) -> Option<i32> {
    i32::try_from(probability.millionths()).ok()
}

fn probability(
    millionths: Option<i32>,
    column: &'static str,
) -> Result<Option<Probability>, PersistenceError> {
    let read = |millionths| {
        let millionths = u32::try_from(millionths).ok();
        let probability = millionths.and_then(Probability::from_millionths);
        probability.ok_or(PersistenceError::Unreadable { column })
    };
    millionths.map(read).transpose()
}
