//! Request parameters that a server has refused, kept until the process ends.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::ModelError;
use crate::error::refusal::SCHEMA_KEYWORDS;
use crate::error::server_error::SYSTEM_MESSAGE;

/// Request parameters that only some servers accept.
#[derive(Clone, Copy, Debug)]
pub(super) struct StatedParameters {
    /// Whether to send `temperature`; models that think may refuse it.
    pub(super) temperature: bool,
    pub(super) schema: SchemaParts,
    /// Whether to send a system message; otherwise its words are part of the user message.
    pub(super) system_message: bool,
}

/// Parts of the schema that only some servers accept.
#[derive(Clone, Copy, Debug)]
pub(super) struct SchemaParts {
    /// Whether to send `minimum` and `maximum` for each percentage; hosted models may refuse them.
    pub(super) bounds: bool,
    /// Whether to list the codes that the model may name; a server may refuse so many.
    pub(super) codes: bool,
}

/// The parameters refused so far, shared by all threads.
#[derive(Debug, Default)]
pub(super) struct RefusedParameters {
    temperature: AtomicBool,
    bounds: AtomicBool,
    codes: AtomicBool,
    system_message: AtomicBool,
}

impl RefusedParameters {
    /// The parameters to send now.
    pub(super) fn parameters(&self) -> StatedParameters {
        StatedParameters {
            temperature: !self.temperature.load(Ordering::Relaxed),
            schema: SchemaParts {
                bounds: !self.bounds.load(Ordering::Relaxed),
                codes: !self.codes.load(Ordering::Relaxed),
            },
            system_message: !self.system_message.load(Ordering::Relaxed),
        }
    }

    /// Whether a request that was refused for `parameter` can be sent without it. If so, later
    /// requests omit it too. `names_codes`: the request asks the model to name codes.
    pub(super) fn can_do_without(
        &self,
        parameter: &str,
        sent: StatedParameters,
        names_codes: bool,
    ) -> bool {
        let (was_sent, refused) = match parameter {
            "temperature" => (sent.temperature, &self.temperature),
            "minimum" | "maximum" => (sent.schema.bounds, &self.bounds),
            "enum" | "defs" | "ref" | "response_format" => {
                (sent.schema.codes && names_codes, &self.codes)
            }
            SYSTEM_MESSAGE => (sent.system_message, &self.system_message),
            _ => return false,
        };
        refused.fetch_or(was_sent, Ordering::Relaxed);
        was_sent
    }
}

/// The failure to report once no refused parameter can be left out. A refusal of a keyword then
/// concerns a schema without it, so the failure names the parameter that holds the schema.
pub(super) fn about_holder(mut failure: ModelError) -> ModelError {
    if let ModelError::ParameterRefused { parameter, .. } = &mut failure
        && SCHEMA_KEYWORDS.contains(parameter)
    {
        *parameter = "response_format";
    }
    failure
}
