//! The answers of a raw result, read with the path of what is wrong: an error never shows a value.

use refract_domain::answer::probability::Probability;
use refract_domain::answer::{Answer, Answers, Distribution};
use refract_domain::json::{Json, Object};
use refract_domain::key::{OutcomeKey, QuestionKey};
use refract_domain::prism::question::QuestionType;
use refract_domain::problem::ValidationError;

use super::error::RawResultError;
use super::members::{object_of, optional_string, required, string, wrong};

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
