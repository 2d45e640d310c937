//! One stored result in the form of the API's format `raw`, with the field values beside it.

use chrono::{DateTime, NaiveDate, Utc};
use refract_domain::answer::Answers;
use refract_domain::ids::ResultId;
use refract_domain::json::{Json, Object};
use refract_domain::key::FieldKey;
use refract_domain::prism::{PrismVersion, VersionNumber};
use refract_domain::problem::ValidationError;
use refract_domain::result::ResultStatus;
use refract_domain::result::view::ResultView;
use refract_domain::submission::FieldValues;

use crate::answers_json::{self, object_of, optional_string, required, string};
use crate::input_error::StoredResultError;
use crate::versions_json::PrismVersions;

/// A result whose answers belong to its version.
pub(crate) struct MatchedResult {
    id: ResultId,
    reference: Option<String>,
    prism: String,
    version: VersionNumber,
    status: ResultStatus,
    took_ms: u64,
    created_at: DateTime<Utc>,
    fields: FieldValues,
}

impl MatchedResult {
    /// Reads a result, and matches its answers with their version by key.
    pub(crate) fn read(
        json: Json<'_>,
        versions: &PrismVersions,
    ) -> Result<Self, StoredResultError> {
        let result = json.into_object().map_err(|error| wrong("result", error))?;
        let written: i32 = whole_number(&result, "version")?;
        let number = VersionNumber::new(written);
        let found = number.and_then(|number| Some((number, versions.get(number)?)));
        let (version, of_version) = found.ok_or(StoredResultError::NoSuchVersion(written))?;
        let created_at = string(&result, "", "created_at")?;
        Ok(Self {
            id: ResultId::parse(&string(&result, "", "id")?).ok_or(StoredResultError::Id)?,
            reference: optional_string(&result, "", "ref")?,
            prism: string(&result, "", "prism")?,
            version,
            status: status(&result, of_version)?,
            took_ms: whole_number(&result, "took_ms")?,
            created_at: moment(&created_at).ok_or(StoredResultError::Moment)?,
            fields: fields(&result)?,
        })
    }

    /// The number of the version that answered.
    pub(crate) fn version(&self) -> VersionNumber {
        self.version
    }

    /// Everything that a format shows; `version` is the one that answered.
    pub(crate) fn view<'a>(&'a self, version: &'a PrismVersion) -> ResultView<'a> {
        ResultView {
            id: self.id,
            reference: self.reference.as_deref(),
            prism: &self.prism,
            version: self.version,
            questions: version.questions(),
            status: &self.status,
            took_ms: self.took_ms,
            created_at: self.created_at,
            fields: &self.fields,
        }
    }
}

fn wrong(path: &str, error: ValidationError) -> StoredResultError {
    StoredResultError::Value {
        path: path.to_owned(),
        error,
    }
}

fn whole_number<N: std::str::FromStr>(
    object: &Object<'_>,
    key: &str,
) -> Result<N, StoredResultError> {
    required(object, "", key)?;
    let written = object.written(key).and_then(|text| text.parse().ok());
    written.ok_or_else(|| wrong(key, ValidationError::NotAnInteger))
}

/// The answers of an ok result, matched with its version, or the error of a failed one.
fn status(result: &Object<'_>, version: &PrismVersion) -> Result<ResultStatus, StoredResultError> {
    let answers = required(result, "", "answers")?;
    let answers: Option<Answers> = if matches!(answers, Json::Null) {
        None
    } else {
        Some(answers_json::read(answers)?)
    };
    let error = optional_string(result, "", "error")?;
    match (string(result, "", "status")?.as_str(), answers, error) {
        ("ok", Some(answers), None) => {
            Ok(ResultStatus::Ok(answers.matched_to(version.questions())?))
        }
        ("failed", None, Some(error)) => Ok(ResultStatus::Failed { error }),
        _ => Err(StoredResultError::Status),
    }
}

/// The field values, which the format `raw` does not have: none where the key is absent.
fn fields(result: &Object<'_>) -> Result<FieldValues, StoredResultError> {
    let Some(json) = result.get("fields") else {
        return Ok(FieldValues::new(Vec::new()));
    };
    let object = object_of(json, "fields")?;
    let mut values = Vec::new();
    for (key, _) in object.iter() {
        let value = string(&object, "fields", &key.text)?;
        let key = FieldKey::parse(&key.text).map_err(|error| wrong("fields", error))?;
        values.push((key, value));
    }
    Ok(FieldValues::new(values))
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
