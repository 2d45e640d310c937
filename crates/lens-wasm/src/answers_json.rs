//! Stored answers, read with the path of what is wrong: an error never shows a value.

use refract_domain::answer::probability::Probability;
use refract_domain::answer::{Answer, Answers, Distribution};
use refract_domain::json::{Json, Object};
use refract_domain::key::{OutcomeKey, QuestionKey};
use refract_domain::prism::question::QuestionType;
use refract_domain::problem::ValidationError;

use crate::input_error::StoredResultError;

/// Reads the answers of the format `raw`, in the order in which they stand.
pub(crate) fn read(json: Json<'_>) -> Result<Answers, StoredResultError> {
    let object = object_of(json, "answers")?;
    let mut answers = Vec::new();
    for (key, answer) in object.iter() {
        let path = format!("answers.{}", key.text);
        let key = QuestionKey::parse(&key.text).map_err(|error| wrong("answers", "", error))?;
        answers.push((key, read_answer(answer, &path)?));
    }
    Ok(Answers::new(answers))
}

fn read_answer(json: Json<'_>, path: &str) -> Result<Answer, StoredResultError> {
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

fn distribution(answer: &Object<'_>, path: &str) -> Result<Distribution, StoredResultError> {
    let object = object_of(required(answer, path, "probabilities")?, path)?;
    let mut distribution = Distribution::new();
    for (key, _) in object.iter() {
        let of_outcome = probability(&object, path, &key.text)?;
        distribution.push((outcome(&key.text, path)?, of_outcome));
    }
    Ok(distribution)
}

fn outcome(key: &str, path: &str) -> Result<OutcomeKey, StoredResultError> {
    OutcomeKey::parse(key).map_err(|error| wrong(path, "", error))
}

fn probability(
    object: &Object<'_>,
    path: &str,
    key: &str,
) -> Result<Probability, StoredResultError> {
    let number = required(object, path, key)?.into_number();
    let number = number.map_err(|error| wrong(path, key, error))?;
    let beyond = || wrong(path, key, ValidationError::rule("must be from 0 to 1"));
    Probability::from_f64(number).ok_or_else(beyond)
}

/// The value under a key.
pub(crate) fn required<'a>(
    object: &Object<'a>,
    path: &str,
    key: &str,
) -> Result<Json<'a>, StoredResultError> {
    let value = object.get(key);
    value.ok_or_else(|| wrong(path, key, ValidationError::Required))
}

/// The text under a key.
pub(crate) fn string(
    object: &Object<'_>,
    path: &str,
    key: &str,
) -> Result<String, StoredResultError> {
    let string = required(object, path, key)?.into_string();
    match string {
        Ok(string) if !string.has_unpaired_surrogate => Ok(string.text),
        Ok(_) => Err(wrong(path, key, ValidationError::ForbiddenCharacters)),
        Err(error) => Err(wrong(path, key, error)),
    }
}

/// The text under a key that must be there and may be null.
pub(crate) fn optional_string(
    object: &Object<'_>,
    path: &str,
    key: &str,
) -> Result<Option<String>, StoredResultError> {
    if matches!(required(object, path, key)?, Json::Null) {
        return Ok(None);
    }
    string(object, path, key).map(Some)
}

/// The value as an object.
pub(crate) fn object_of<'a>(json: Json<'a>, path: &str) -> Result<Object<'a>, StoredResultError> {
    json.into_object().map_err(|error| wrong(path, "", error))
}

fn wrong(path: &str, key: &str, error: ValidationError) -> StoredResultError {
    let dot = if path.is_empty() || key.is_empty() {
        ""
    } else {
        "."
    };
    StoredResultError::Value {
        path: format!("{path}{dot}{key}"),
        error,
    }
}
