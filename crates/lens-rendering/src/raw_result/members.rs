//! Members of JSON objects and the answers of a raw result, read with the path of what is wrong;
//! and why a raw result is refused. An error has the place and the keys there, and never a text or
//! a value.

use std::str::FromStr;

use refract_domain::answer::{Answer, Answers, AnswersMismatch, Distribution, Probability};
use refract_domain::json::{Json, Malformed, Object};
use refract_domain::key::{OutcomeKey, QuestionKey};
use refract_domain::prism::{QuestionType, VersionNumber};
use refract_domain::problem::ValidationError;
use refract_domain::submission::FieldMismatch;

/// The value under a key.
pub(super) fn required<'a>(
    object: &Object<'a>,
    path: &str,
    key: &str,
) -> Result<Json<'a>, RawResultError> {
    let value = object.get(key);
    value.ok_or_else(|| wrong(path, key, ValidationError::Required))
}

/// The text under a key.
pub(super) fn string(object: &Object<'_>, path: &str, key: &str) -> Result<String, RawResultError> {
    let string = required(object, path, key)?.into_string();
    match string {
        Ok(string) if !string.has_unpaired_surrogate => Ok(string.text),
        Ok(_) => Err(wrong(path, key, ValidationError::ForbiddenCharacters)),
        Err(error) => Err(wrong(path, key, error)),
    }
}

/// The text under a key that must be there and may be null.
pub(super) fn optional_string(
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
pub(super) fn object_of<'a>(json: Json<'a>, path: &str) -> Result<Object<'a>, RawResultError> {
    json.into_object().map_err(|error| wrong(path, "", error))
}

/// The fault of the value under a key, or of the value at the path where the key is empty.
pub(super) fn wrong(path: &str, key: &str, error: ValidationError) -> RawResultError {
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
pub(super) fn whole_number<N: FromStr>(
    object: &Object<'_>,
    key: &str,
) -> Result<N, RawResultError> {
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
pub(super) fn read(json: Json<'_>) -> Result<Answers, RawResultError> {
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
