//! Results of the API's format `raw`, read back.
//!
//! Members of JSON objects and the answers of a raw result, read with the path of what is wrong;
//! and why a raw result is refused. An error has the place and the keys there, and never a text or
//! a value.

use std::str::FromStr;
use std::sync::Arc;

use chrono::{DateTime, NaiveDate, Utc};
use refract_domain::answer::{Answer, Answers, AnswersMismatch, Distribution, Probability};
use refract_domain::ids::ResultId;
use refract_domain::json::{Json, Malformed, Object};
use refract_domain::key::{OutcomeKey, QuestionKey};
use refract_domain::prism::{PrismVersion, QuestionType, VersionNumber};
use refract_domain::problem::ValidationError;
use refract_domain::result::{ResultStatus, ResultView};
use refract_domain::submission::{FieldMismatch, FieldValues, SentFields};

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
        Some(read(answers)?)
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

/// The value under a key.
fn required<'a>(object: &Object<'a>, path: &str, key: &str) -> Result<Json<'a>, RawResultError> {
    let value = object.get(key);
    value.ok_or_else(|| wrong(path, key, ValidationError::Required))
}

/// The text under a key.
fn string(object: &Object<'_>, path: &str, key: &str) -> Result<String, RawResultError> {
    let string = required(object, path, key)?.into_string();
    match string {
        Ok(string) if !string.has_unpaired_surrogate => Ok(string.text),
        Ok(_) => Err(wrong(path, key, ValidationError::ForbiddenCharacters)),
        Err(error) => Err(wrong(path, key, error)),
    }
}

/// The text under a key that must be there and may be null.
fn optional_string(
    object: &Object<'_>,
    path: &str,
    key: &str,
) -> Result<Option<String>, RawResultError> {
    if matches!(required(object, path, key)?, Json::Null) {
        return Ok(None);
    }
    string(object, path, key).map(Some)
}

/// The value as an object.
fn object_of<'a>(json: Json<'a>, path: &str) -> Result<Object<'a>, RawResultError> {
    json.into_object().map_err(|error| wrong(path, "", error))
}

/// The fault of the value under a key, or of the value at the path where the key is empty.
fn wrong(path: &str, key: &str, error: ValidationError) -> RawResultError {
    let dot = if path.is_empty() || key.is_empty() {
        ""
    } else {
        "."
    };
    RawResultError::Value {
        path: format!("{path}{dot}{key}"),
        error,
    }
}

/// The whole number under a key, in the range of its type.
fn whole_number<N: FromStr>(object: &Object<'_>, key: &str) -> Result<N, RawResultError> {
    let number = required(object, "", key)?.into_number();
    let number = number.map_err(|error| wrong("", key, error))?;
    let written = object.written(key).and_then(|text| text.parse().ok());
    written.ok_or_else(|| {
        let error = if number.fract() == 0.0 {
            ValidationError::rule("must not be negative or so large")
        } else {
            ValidationError::NotAnInteger
        };
        wrong("", key, error)
    })
}

/// Reads the answers in the order in which they stand.
fn read(json: Json<'_>) -> Result<Answers, RawResultError> {
    let object = object_of(json, "answers")?;
    let mut answers = Vec::new();
    for (key, answer) in object.iter() {
        let path = format!("answers.{}", key.text);
        let key = QuestionKey::parse(&key.text).map_err(|error| wrong("answers", "", error))?;
        answers.push((key, read_answer(answer, &path)?));
    }
    Ok(Answers::new(answers))
}

fn read_answer(json: Json<'_>, path: &str) -> Result<Answer, RawResultError> {
    let answer = object_of(json, path)?;
    let of_type = QuestionType::parse(&string(&answer, path, "type")?);
    let not_one = || {
        wrong(
            path,
            "type",
            ValidationError::NotOneOf(&QuestionType::NAMES),
        )
    };
    match of_type.ok_or_else(not_one)? {
        QuestionType::Choice => {
            let value = optional_string(&answer, path, "value")?;
            let value = value.map(|key| outcome(&key, path)).transpose()?;
            Ok(Answer::Choice {
                value,
                probabilities: distribution(&answer, path)?,
                confidence: probability(&answer, path, "confidence")?,
            })
        }
        QuestionType::YesNo => Ok(Answer::YesNo {
            probability: probability(&answer, path, "probability")?,
        }),
        QuestionType::Scale => Ok(Answer::Scale {
            level: outcome(&string(&answer, path, "level")?, path)?,
            probabilities: distribution(&answer, path)?,
        }),
    }
}

fn distribution(answer: &Object<'_>, path: &str) -> Result<Distribution, RawResultError> {
    let probabilities = required(answer, path, "probabilities")?;
    let path = format!("{path}.probabilities");
    let object = object_of(probabilities, &path)?;
    let mut distribution = Distribution::new();
    for (key, _) in object.iter() {
        let of_outcome = probability(&object, &path, &key.text)?;
        distribution.push((outcome(&key.text, &path)?, of_outcome));
    }
    Ok(distribution)
}

fn outcome(key: &str, path: &str) -> Result<OutcomeKey, RawResultError> {
    OutcomeKey::parse(key).map_err(|error| wrong(path, "", error))
}

fn probability(object: &Object<'_>, path: &str, key: &str) -> Result<Probability, RawResultError> {
    let number = required(object, path, key)?.into_number();
    let number = number.map_err(|error| wrong(path, key, error))?;
    let beyond = || wrong(path, key, ValidationError::rule("must be from 0 to 1"));
    Probability::from_f64(number).ok_or_else(beyond)
}

/// Why a [`RawResult`](crate::RawResult) cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RawResultError {
    /// The text is no JSON.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// A value is absent or of another kind.
    #[error("{path}: {error}")]
    Value {
        /// Keys, joined with dots; `result` for the whole.
        path: String,
        /// What is wrong with the value.
        error: ValidationError,
    },
    /// The id is no UUID.
    #[error("id: not a UUID")]
    Id,
    /// The moment is not in the form in which the API writes it.
    #[error("created_at: not a moment such as 2026-05-04T09:08:07.060Z")]
    Moment,
    /// An ok result has answers and no error, a failed one an error and no answers.
    #[error("an ok result has answers and no error, a failed one has an error and no answers")]
    Status,
    /// The version that answered was not found.
    #[error("answered by version {0}, which is not among the versions")]
    NoSuchVersion(VersionNumber),
    /// The answers are not to the questions of the version.
    #[error("the answers do not match the version: {0}")]
    Answers(#[from] AnswersMismatch),
    /// The field values are not those of the version.
    #[error("fields: {0}")]
    Fields(#[from] FieldMismatch),
}
