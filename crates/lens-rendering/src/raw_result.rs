//! Results of the API's format `raw`, read back.

mod members;

use std::sync::Arc;

use chrono::{DateTime, NaiveDate, Utc};
use refract_domain::ids::ResultId;
use refract_domain::json::{Json, Malformed, Object};
use refract_domain::key::{OutcomeKey, QuestionKey};
use refract_domain::prism::{PrismVersion, QuestionType, VersionNumber};
use refract_domain::problem::ValidationError;
use refract_domain::result::{ResultStatus, ResultView};
use refract_domain::submission::{FieldMismatch, FieldValues, SentFields};

pub use self::members::RawResultError;
use self::members::{object_of, optional_string, required, string, whole_number, wrong};

/// A result of the API's format `raw`, read back together with the version that answered.
///
/// Its answers belong to that version: there is one to each question, of its type, with a probability for
/// each outcome, from 0 to 1. The rest is taken as it is written: neither that probabilities add up to 1,
/// nor that a value is the most probable one. A key that stands twice in an object has its last value.
#[derive(Clone)]
pub struct RawResult {
    id: ResultId,
    reference: Option<String>,
    prism: String,
    number: VersionNumber,
    version: Arc<PrismVersion>,
    status: ResultStatus,
    took_ms: u64,
    created_at: DateTime<Utc>,
    fields: FieldValues,
}

impl RawResult {
    /// Reads the body of an answer with `format=raw`. `find_version` returns the version with a number:
    /// `refract prism show SLUG --version N` prints its file, without the number.
    ///
    /// The format has no field values: keep those of the call, and pass them to
    /// [`RawResult::with_fields`]. A member `fields` beside the others is read as those too. Without
    /// them the cells of fields are empty.
    ///
    /// # Errors
    /// When the text is not such a body, when the version is not found, and when answers or fields do
    /// not belong to it. An error shows the place and keys, and no text.
    pub fn read(
        json: &str,
        find_version: impl FnOnce(VersionNumber) -> Option<Arc<PrismVersion>>,
    ) -> Result<Self, RawResultError> {
        let result = object_of(Json::parse(json.as_bytes())?, "result")?;
        let number = VersionNumber::try_from(whole_number::<i32>(&result, "version")?);
        let number = number
            .map_err(|error| wrong("", "version", ValidationError::rule(error.to_string())))?;
        let version = find_version(number).ok_or(RawResultError::NoSuchVersion(number))?;
        let created_at = string(&result, "", "created_at")?;
        let read = Self {
            id: ResultId::parse(&string(&result, "", "id")?).ok_or(RawResultError::Id)?,
            reference: optional_string(&result, "", "ref")?,
            prism: string(&result, "", "prism")?,
            number,
            status: status(&result, &version)?,
            version,
            took_ms: whole_number(&result, "took_ms")?,
            created_at: moment(&created_at).ok_or(RawResultError::Moment)?,
            fields: FieldValues::new(Vec::new()),
        };
        match result.get("fields") {
            Some(fields) => read.with_fields(sent_fields(fields)?),
            None => Ok(read),
        }
    }

    /// The result with the field values that were sent, by field key in any order.
    ///
    /// # Errors
    /// The keys that the version lacks; when there are none, the missing ones.
    pub fn with_fields(self, sent: SentFields) -> Result<Self, RawResultError> {
        let is_known = |key: &str| {
            let mut fields = self.version.fields().iter();
            fields.any(|field| field.key.as_str() == key)
        };
        // a key that is unknown may be the missing one, misspelt
        let unknown = sent.as_slice().iter().map(|(key, _)| key);
        let unknown: Vec<_> = unknown.filter(|key| !is_known(key)).cloned().collect();
        if !unknown.is_empty() {
            return Err(FieldMismatch::Unknown(unknown).into());
        }
        let fields = FieldValues::matched(sent, self.version.fields())?;
        Ok(Self { fields, ..self })
    }

    /// The version that answered.
    pub fn version(&self) -> &PrismVersion {
        &self.version
    }

    /// Everything that a format shows, for [`render`](crate::render) and
    /// [`RowWriter`](crate::RowWriter).
    pub fn view(&self) -> ResultView<'_> {
        ResultView {
            id: self.id,
            reference: self.reference.as_deref(),
            prism: &self.prism,
            version: self.number,
            questions: self.version.questions(),
            status: &self.status,
            took_ms: self.took_ms,
            created_at: self.created_at,
            fields: &self.fields,
        }
    }
}

/// The answers of an ok result, matched with its version, or the error of a failed one.
fn status(result: &Object<'_>, version: &PrismVersion) -> Result<ResultStatus, RawResultError> {
    let answers = required(result, "", "answers")?;
    let answers = if matches!(answers, Json::Null) {
        None
    } else {
        Some(members::read(answers)?)
    };
    let error = optional_string(result, "", "error")?;
    match (string(result, "", "status")?.as_str(), answers, error) {
        ("ok", Some(answers), None) => {
            Ok(ResultStatus::Ok(answers.matched_to(version.questions())?))
        }
        ("failed", None, Some(error)) => Ok(ResultStatus::Failed { error }),
        ("ok" | "failed", _, _) => Err(RawResultError::Status),
        _ => Err(wrong(
            "",
            "status",
            ValidationError::NotOneOf(&["ok", "failed"]),
        )),
    }
}

fn sent_fields(json: Json<'_>) -> Result<SentFields, RawResultError> {
    let object = object_of(json, "fields")?;
    let values = object.iter().map(|(key, _)| {
        let value = string(&object, "fields", &key.text)?;
        Ok((key.text.clone(), value))
    });
    Ok(SentFields::new(
        values.collect::<Result<_, RawResultError>>()?,
    ))
}

/// A moment as the API writes it, such as `2026-05-04T09:08:07.060Z`.
fn moment(text: &str) -> Option<DateTime<Utc>> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let mut date = date.splitn(3, '-');
    let (year, month, day) = (date.next()?, date.next()?, date.next()?);
    let date = NaiveDate::from_ymd_opt(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?)?;
    let (time, milliseconds) = time.split_once('.')?;
    let mut time = time.splitn(3, ':');
    let (hour, minute, second) = (time.next()?, time.next()?, time.next()?);
    let milliseconds = Some(milliseconds).filter(|it| it.len() == 3)?;
    let moment = date.and_hms_milli_opt(
        hour.parse().ok()?,
        minute.parse().ok()?,
        second.parse().ok()?,
        milliseconds.parse().ok()?,
    );
    Some(moment?.and_utc())
}
