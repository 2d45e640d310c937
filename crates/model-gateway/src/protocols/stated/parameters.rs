//! Parameters of a request that a server was found to refuse, kept until the process ends.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::ModelError;
use crate::failure::server_refusal::SYSTEM_MESSAGE;

/// Parameters that not every server takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct StatedParameters {
    /// `temperature`, which models that think may refuse.
    pub(super) temperature: bool,
    /// `minimum` and `maximum` of every percentage in the schema, which hosted models may refuse.
    pub(super) bounds: bool,
    /// A system message; else its words stand in the user message.
    pub(super) system_message: bool,
}

/// What was refused so far, shared by all threads.
#[derive(Debug, Default)]
pub(super) struct RefusedParameters {
    temperature: AtomicBool,
    bounds: AtomicBool,
    system_message: AtomicBool,
}

impl RefusedParameters {
    /// The parameters to send now.
    pub(super) fn parameters(&self) -> StatedParameters {
        StatedParameters {
            temperature: !self.temperature.load(Ordering::Relaxed),
            bounds: !self.bounds.load(Ordering::Relaxed),
            system_message: !self.system_message.load(Ordering::Relaxed),
        }
    }

    /// Whether a request that was refused for this parameter can be sent without it. If so, later
    /// requests are sent without it too.
    pub(super) fn can_do_without(&self, parameter: &str, sent: StatedParameters) -> bool {
        let (was_sent, refused) = match parameter {
            "temperature" => (sent.temperature, &self.temperature),
            "minimum" | "maximum" => (sent.bounds, &self.bounds),
            SYSTEM_MESSAGE => (sent.system_message, &self.system_message),
            _ => return false,
        };
        refused.fetch_or(was_sent, Ordering::Relaxed);
        was_sent
    }
}

/// The failure where nothing can be left out: a schema without bounds that is refused for its bounds
/// is refused as a whole.
pub(super) fn about_holder(mut failure: ModelError) -> ModelError {
    if let ModelError::ParameterRefused { parameter, .. } = &mut failure
        && matches!(*parameter, "minimum" | "maximum")
    {
        *parameter = "response_format";
    }
    failure
}
