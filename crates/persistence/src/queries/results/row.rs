//! Converts a row of the table of results to a saved result.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use refract_domain::answer::Answers;
use refract_domain::ids::{PrismId, ResultId};
use refract_domain::prism::VersionNumber;
use refract_domain::result::{ResultStatus, SavedResult};
use refract_domain::submission::reference::{IdempotencyKey, Ref};
use refract_domain::submission::{CallContext, Submission};

use crate::error::PersistenceError;
use crate::schema::results;

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
