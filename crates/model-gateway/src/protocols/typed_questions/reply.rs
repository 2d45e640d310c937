//! The body of an answer with status 200, as far as the formats of typed questions share it, what
//! hosts put around it, and the typed answers in it. Every number of an answer comes from the model,
//! or its question is unanswered.
//!
//! Sources: Cloudflare's Workers AI answers `{"result": …, "success": …, "errors": […]}`,
//! Databricks' `ai_decide` `{"response": …}`; Google's format has `prompt_feedback`.

use refract_domain::answer::{Answer, Distribution, Probability};
use refract_domain::key::OutcomeKey;
use refract_domain::prism::{Question, QuestionKind};
use refract_domain::submission::model_input::State;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::error::ModelError;
use crate::json::{JsonObject, is_error, nested, number, object, string};
use crate::protocols::answers::{self, ReadAnswers};
use crate::report::ParsedOutcomes;

/// The reasons of Google's content filter, and the one for any other.
const BLOCK_REASONS: [&str; 4] = ["safety", "blocklist", "prohibited_content", "image_safety"];
const OTHER_REASON: &str = "other";

/// An answer without the host's wrapping.
pub(super) struct TypedReply<'a> {
    pub(super) answers: Option<&'a RawValue>,
    pub(super) model: Option<&'a RawValue>,
    pub(super) usage: Option<&'a RawValue>,
    /// Whether the body reports an error instead of answers.
    pub(super) is_error: bool,
    /// Why a content filter left the answers out.
    pub(super) block_reason: Option<&'static str>,
}

impl<'a> TypedReply<'a> {
    /// Reads a body; `None` if it is no object.
    pub(super) fn read(body: &'a [u8]) -> Option<Self> {
        let outer: TypedReplyJson<'a> = object(body)?;
        if outer.answers.is_some() {
            let is_error = outer.has_error();
            return Some(outer.without_wrapping(is_error));
        }
        let is_error = outer.has_error() || outer.is_unsuccessful();
        let wrapped = outer.result.or(outer.response);
        let inner: Option<TypedReplyJson<'a>> = wrapped.and_then(nested);
        let Some(inner) = inner else {
            return Some(outer.without_wrapping(is_error));
        };
        let is_error = is_error || inner.has_error();
        let inner = TypedReplyJson {
            model: inner.model.or(outer.model),
            usage: inner.usage.or(outer.usage),
            ..inner
        };
        Some(inner.without_wrapping(is_error))
    }
}

/// One level of a body.
#[derive(Deserialize)]
struct TypedReplyJson<'a> {
    #[serde(borrow)]
    answers: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    errors: Option<&'a RawValue>,
    #[serde(borrow)]
    model: Option<&'a RawValue>,
    #[serde(borrow)]
    prompt_feedback: Option<&'a RawValue>,
    #[serde(borrow)]
    response: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    success: Option<&'a RawValue>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
}

impl<'a> TypedReplyJson<'a> {
    fn has_error(&self) -> bool {
        self.error.is_some_and(is_error)
    }

    /// Whether a wrapping without answers reports a failure.
    fn is_unsuccessful(&self) -> bool {
        let has_failed = self.success.is_some_and(|raw| raw.get() == "false");
        has_failed
            || self
                .errors
                .is_some_and(|raw| !is_empty(raw) && is_error(raw))
    }

    fn without_wrapping(self, is_error: bool) -> TypedReply<'a> {
        let has_answers = self.answers.is_some_and(|raw| !is_empty(raw));
        let feedback = self.prompt_feedback.filter(|_| !has_answers);
        TypedReply {
            answers: self.answers,
            model: self.model,
            usage: self.usage,
            is_error,
            block_reason: feedback.and_then(block_reason),
        }
    }
}

/// Whether a list or an object has no entries.
fn is_empty(raw: &RawValue) -> bool {
    let inside = |open: char, close: char| raw.get().strip_prefix(open)?.strip_suffix(close);
    let inside = inside('[', ']').or_else(|| inside('{', '}'));
    inside.is_some_and(|inside| inside.trim_ascii().is_empty())
}

/// The reason of a content filter, as the format names it; the filter's own text may repeat the
/// caller's and is not read.
fn block_reason(feedback: &RawValue) -> Option<&'static str> {
    let feedback: PromptFeedbackJson<'_> = nested(feedback)?;
    let reason = feedback.block_reason.and_then(string)?;
    let known = BLOCK_REASONS.into_iter();
    let mut known = known.filter(|known| known.eq_ignore_ascii_case(&reason));
    (!reason.is_empty()).then(|| known.next().unwrap_or(OTHER_REASON))
}

#[derive(Deserialize)]
struct PromptFeedbackJson<'a> {
    #[serde(borrow)]
    block_reason: Option<&'a RawValue>,
}

/// How far outside of 0 to 1 a probability may lie.
const ROUNDING_ERROR: f64 = 0.000_001;

/// An answer from the server. Missing members are `None`.
pub(crate) struct SentAnswer<'a> {
    /// The type of the answer.
    pub(crate) kind: &'a str,
    /// The name of the chosen outcome.
    pub(crate) choice: Option<&'a RawValue>,
    /// The probability of yes.
    pub(crate) yes: Option<&'a RawValue>,
    pub(crate) confidence: Option<&'a RawValue>,
    /// Probabilities by the name of the outcome or the index of the level; `None` if they are
    /// unreadable.
    pub(crate) probabilities: Option<JsonObject<'a>>,
}

impl SentAnswer<'_> {
    /// Reads the answer to a question. `yes_no` is the format's type of answers to Yes / No
    /// questions.
    pub(crate) fn read(
        &self,
        question: &Question,
        yes_no: &str,
        parsed: &mut ParsedOutcomes,
    ) -> Option<Answer> {
        match question.kind {
            QuestionKind::Choice { .. } if self.kind == "choice" => self.choice(question, parsed),
            QuestionKind::YesNo if self.kind == yes_no => {
                let probability = probability(self.yes?)?;
                parsed.outcomes += 2;
                parsed.listed += 2;
                Some(Answer::YesNo { probability })
            }
            QuestionKind::Scale { .. } if self.kind == "score" => self.scale(question, parsed),
            QuestionKind::Choice { .. } | QuestionKind::YesNo | QuestionKind::Scale { .. } => None,
        }
    }

    /// Reads a choice. If the prism lacks the chosen name, the answer's value is null; without a
    /// name there is no answer.
    fn choice(&self, question: &Question, parsed: &mut ParsedOutcomes) -> Option<Answer> {
        let named = string(self.choice?)?;
        let mut distribution = Distribution::new();
        for outcome in question.outcomes() {
            let probability = self.one_of(outcome.key, parsed)?;
            distribution.push((OutcomeKey::parse(outcome.key).ok()?, probability));
        }
        let mut keys = distribution.iter().map(|(key, _)| key);
        let value = keys.find(|key| key.as_str() == named).cloned();
        if value.is_some() && is_all_zero(&distribution) {
            return None;
        }
        // a number outside 0 to 1 is another measure than ours
        let confidence = self.confidence.and_then(probability);
        answers::choice(value, distribution, confidence)
    }

    /// Reads the probabilities of levels, keyed by the level's index. They determine the level; a
    /// score from the server does not.
    fn scale(&self, question: &Question, parsed: &mut ParsedOutcomes) -> Option<Answer> {
        let mut distribution = Distribution::new();
        for (index, level) in question.own_outcomes().iter().enumerate() {
            let probability = self.one_of(&index.to_string(), parsed)?;
            distribution.push((level.key.clone(), probability));
        }
        if is_all_zero(&distribution) {
            return None;
        }
        Answer::scale(distribution)
    }

    /// The probability of an outcome; 0 if the server sent none.
    fn one_of(&self, name: &str, parsed: &mut ParsedOutcomes) -> Option<Probability> {
        parsed.outcomes += 1;
        let Some(raw) = self.probabilities.as_ref()?.get(name) else {
            return Some(Probability::ZERO);
        };
        parsed.listed += 1;
        probability(raw)
    }
}

fn is_all_zero(distribution: &Distribution) -> bool {
    distribution
        .iter()
        .all(|(_, probability)| *probability == Probability::ZERO)
}

/// Reads a probability. A rounding error of a server is rounded into 0 to 1 (readings).
fn probability(raw: &RawValue) -> Option<Probability> {
    let number = number(raw)?;
    let is_near = (-ROUNDING_ERROR..=1.0 + ROUNDING_ERROR).contains(&number);
    Probability::from_f64(if is_near {
        number.clamp(0.0, 1.0)
    } else {
        number
    })
}

/// How a format writes requests and reads answers.
#[derive(Debug)]
pub(crate) struct TypedFormat {
    /// The JSON between the model's name and the text to judge.
    pub(crate) before_state: &'static str,
    /// The JSON between the text to judge and the first question.
    pub(crate) before_questions: &'static str,
    /// The JSON after the last question.
    pub(crate) end: &'static str,
    /// Writes the text to judge, and reserves this many bytes for what follows it.
    pub(crate) write_state: fn(&mut Vec<u8>, &State<'_>, usize),
    /// Writes a question, which also comes as System One JSON.
    pub(crate) write_question: fn(&mut Vec<u8>, &Question, &str),
    /// Reads the value of `answers` as answers to the questions of a request.
    pub(crate) read: fn(&RawValue, &[Question]) -> Result<ReadAnswers, ModelError>,
    /// The error for a body in another format.
    pub(crate) malformed: ModelError,
}

/// Appends a value as JSON.
pub(crate) fn write_json(json: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    // writing these values into a vector cannot fail
    let _ = serde_json::to_writer(json, value);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> TypedReply<'_> {
        TypedReply::read(body.as_bytes()).unwrap()
    }

    fn answers(body: &str) -> Option<&str> {
        read(body).answers.map(RawValue::get)
    }

    #[test]
    fn answers_are_found_at_the_top_or_one_level_below() {
        for body in [
            r#"{"answers":{"a":1}}"#,
            r#"{"result":{"answers":{"a":1}},"success":true,"errors":[],"messages":[]}"#,
            r#"{"response":{"answers":{"a":1}}}"#,
            r#"{"result":null,"response":{"answers":{"a":1}}}"#,
            r#"{"answers":{"a":1},"result":{"answers":{"b":2}},"response":7}"#,
        ] {
            assert_eq!(answers(body), Some(r#"{"a":1}"#), "{body}");
            assert!(!read(body).is_error, "{body}");
        }
        for body in [
            "{}",
            r#"{"result":[{"answers":{}}]}"#,
            r#"{"result":{"result":{"answers":{}}}}"#,
            r#"{"response":"text"}"#,
        ] {
            assert_eq!(answers(body), None, "{body}");
        }
        assert!(TypedReply::read(b"[]").is_none());
    }

    #[test]
    fn model_and_usage_are_the_wrapped_ones_where_there_are_any() {
        let reply = read(r#"{"model":"outer","usage":1,"response":{"answers":{},"model":"m"}}"#);
        assert_eq!(reply.model.map(RawValue::get), Some(r#""m""#));
        assert_eq!(reply.usage.map(RawValue::get), Some("1"));
    }

    #[test]
    fn a_wrapping_may_report_an_error() {
        for (body, is_error) in [
            (r#"{"success":false,"errors":[],"result":null}"#, true),
            (r#"{"success":true,"errors":[{"code":3040}]}"#, true),
            (r#"{"errors":["no"],"result":{"answers":{}}}"#, true),
            (r#"{"errors":"no"}"#, true),
            (r#"{"result":{"answers":{},"error":"no"}}"#, true),
            (r#"{"errors":[ ],"result":{"answers":{}}}"#, false),
            (r#"{"errors":{},"success":null}"#, false),
            (r#"{"errors":null,"success":true,"error":""}"#, false),
            // beside answers these names mean nothing
            (r#"{"answers":{},"success":false,"errors":[1]}"#, false),
        ] {
            assert_eq!(read(body).is_error, is_error, "{body}");
        }
    }

    #[test]
    fn a_blocked_text_is_known_by_its_reason_where_there_are_no_answers() {
        for (reason, named) in [
            ("safety", Some("safety")),
            ("PROHIBITED_CONTENT", Some("prohibited_content")),
            ("other", Some("other")),
            ("a text of the caller", Some("other")),
            ("", None),
        ] {
            for answers in ["", r#""answers":{ },"#, r#""answers":null,"#] {
                let body =
                    format!(r#"{{{answers}"prompt_feedback":{{"block_reason":"{reason}"}}}}"#);
                assert_eq!(read(&body).block_reason, named, "{body}");
            }
        }
        for body in [
            r#"{"prompt_feedback":{}}"#,
            r#"{"prompt_feedback":null}"#,
            r#"{"prompt_feedback":{"block_reason":7}}"#,
            r#"{"answers":{"a":1},"prompt_feedback":{"block_reason":"safety"}}"#,
        ] {
            assert_eq!(read(body).block_reason, None, "{body}");
        }
    }
}
