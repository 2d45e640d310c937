//! Converts a new result to a row of its table, and a row to a saved result.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use refract_domain::answer::Answers;
use refract_domain::ids::{AccountId, ApiKeyId, PrismId, ResultId};
use refract_domain::prism::VersionNumber;
use refract_domain::result::{ResultStatus, SavedResult};
use refract_domain::submission::reference::{IdempotencyKey, Ref};
use refract_domain::submission::{CallContext, Submission};

use crate::connections::GroupRow;
use crate::error::PersistenceError;
use crate::queries::results::actor::ActorColumns;
use crate::queries::results::new_result::NewResult;
use crate::queries::results::provenance::ProvenanceColumns;
use crate::schema::results;

/// Bytes of the JSON of a few answers.
const BYTES_OF_ANSWERS: usize = 1024;

/// Every column of a result.
pub(crate) struct ResultRow {
    pub(crate) columns: ResultColumns,
    pub(crate) provenance: ProvenanceColumns,
    pub(crate) actor: ActorColumns,
}

impl TryFrom<&NewResult> for ResultRow {
    type Error = PersistenceError;

    fn try_from(new: &NewResult) -> Result<Self, PersistenceError> {
        Ok(Self {
            columns: new.try_into()?,
            provenance: (&new.provenance).into(),
            actor: ActorColumns {
                made_by: new.made_by,
                file_run_id: new.file_run,
            },
        })
    }
}

impl GroupRow for ResultRow {
    fn bytes(&self) -> usize {
        let columns = &self.columns;
        let texts =
            [&columns.answers, &columns.context].map(|text| text.as_ref().map_or(0, String::len));
        columns.fields.len() + texts.iter().sum::<usize>()
    }

    fn contended(&self) -> impl Ord + '_ {
        let columns = &self.columns;
        (
            columns.account_id,
            columns.idempotency_key.as_deref(),
            columns.retry_of,
        )
    }
}

/// The columns of a result that its readers need: all but its [`Provenance`](crate::Provenance) and
/// the person who made it.
#[derive(Queryable, Selectable)]
#[diesel(table_name = results)]
pub(crate) struct ResultColumns {
    pub(crate) id: ResultId,
    pub(crate) account_id: AccountId,
    pub(crate) prism_id: PrismId,
    pub(crate) version: i32,
    pub(crate) api_key_id: Option<ApiKeyId>,
    pub(crate) reference: Option<String>,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) status: String,
    pub(crate) answers: Option<String>,
    pub(crate) error: Option<String>,
    pub(crate) fields: String,
    pub(crate) context: Option<String>,
    pub(crate) took_ms: i64,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) retry_of: Option<ResultId>,
}

impl TryFrom<&NewResult> for ResultColumns {
    type Error = PersistenceError;

    fn try_from(new: &NewResult) -> Result<Self, PersistenceError> {
        let result = &new.result;
        let answers = result.status.answers();
        let answers = answers.map(|answers| to_json(answers, BYTES_OF_ANSWERS));
        let field_values = result.submission.field_values();
        let bytes = field_values.unescaped_bytes();
        // escaped characters take more
        let room = bytes + bytes / 16;
        Ok(Self {
            id: result.id,
            account_id: new.account,
            prism_id: result.prism,
            version: result.version.get(),
            api_key_id: new.api_key,
            reference: result
                .reference
                .as_ref()
                .map(|reference| reference.as_str().to_owned()),
            idempotency_key: result
                .idempotency_key
                .as_ref()
                .map(|key| key.as_str().to_owned()),
            status: result.status.name().to_owned(),
            answers: answers.transpose()?,
            error: result.status.error().map(str::to_owned),
            fields: to_json(field_values, room)?,
            context: result.submission.context().map(str::to_owned),
            took_ms: i64::try_from(result.took_ms).unwrap_or(i64::MAX),
            created_at: result.created_at,
            retry_of: new.retry_of,
        })
    }
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

/// Writes JSON that takes about this many bytes.
fn to_json(value: &impl serde::Serialize, bytes: usize) -> Result<String, PersistenceError> {
    let mut json = Vec::with_capacity(bytes);
    let written = serde_json::to_writer(&mut json, value).ok();
    written
        .and_then(|()| String::from_utf8(json).ok())
        .ok_or_else(|| PersistenceError::Refused("a result has no JSON".to_owned()))
}
