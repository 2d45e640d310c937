//! Reads the body of an answer as far as all formats of typed questions agree.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json::{count, is_error, nested, object, string};
use crate::report::ReportedUsage;

/// The body of an answer with status 200.
pub(super) struct TypedReply<'a> {
    /// The value of `answers`.
    pub(super) answers: Option<&'a RawValue>,
    /// Whether the server reports an error instead of answers.
    pub(super) is_error: bool,
    pub(super) usage: ReportedUsage,
}

/// Reads a body; `None` where it is not a JSON object.
pub(super) fn read(body: &[u8]) -> Option<TypedReply<'_>> {
    let reply: TypedReplyJson<'_> = object(body)?;
    let usage: TypedUsageJson<'_> = reply.usage.and_then(nested).unwrap_or_default();
    Some(TypedReply {
        answers: reply.answers,
        is_error: reply.error.is_some_and(is_error),
        usage: ReportedUsage {
            model: reply.model.and_then(string).map(Cow::into_owned),
            input_tokens: usage.input_tokens.and_then(count),
            output_tokens: usage.output_tokens.and_then(count),
        },
    })
}

#[derive(Deserialize)]
struct TypedReplyJson<'a> {
    #[serde(borrow)]
    answers: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    model: Option<&'a RawValue>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
struct TypedUsageJson<'a> {
    #[serde(borrow)]
    input_tokens: Option<&'a RawValue>,
    #[serde(borrow)]
    output_tokens: Option<&'a RawValue>,
}
