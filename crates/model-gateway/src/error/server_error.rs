//! A model server's refusal: an answer with a status other than 200, and its reason.
//!
//! Only the server's message is searched for the reason: the rest of a body may repeat the request.

use std::time::Duration;

use bytes::Bytes;

use crate::error::host_refusal::{Excess, HostRefusal};
use crate::error::refusal::{self, GatewayRefusal, RefusalReason};
use crate::error::retry_after::named_wait;
use crate::error::{ModelError, server_message};

/// The name of the system message, which counts as an optional parameter of a request.
pub(crate) const SYSTEM_MESSAGE: &str = "system message";

/// An answer with a status other than 200.
pub(crate) struct ServerError {
    pub(crate) status: u16,
    /// How long the server asks to wait before the next request, in a header or in its message.
    pub(crate) retry_after: Option<Duration>,
    /// Empty if the body was too large or unreadable.
    pub(crate) body: Bytes,
    reason: RefusalReason,
}

impl ServerError {
    pub(crate) fn new(status: u16, retry_after: Option<Duration>, body: Bytes) -> Self {
        let subject = server_message::subject(&body).unwrap_or_default();
        let retry_after = retry_after.or_else(|| named_wait(&subject));
        let reason = RefusalReason::of(status, &subject, retry_after, &body);
        Self {
            status,
            retry_after,
            body,
            reason,
        }
    }

    /// A refusal inside an answer with status 200, which counts as one with the status that it
    /// names. `None` for a refusal of another kind than a rate, a failing server, used-up credit, a
    /// filter or too long a text.
    pub(crate) fn inside_answer(
        status: Option<u16>,
        retry_after: Option<Duration>,
        body: Bytes,
    ) -> Option<Self> {
        // only the statuses of refusals allow a reason
        let refusal = Self::new(status.unwrap_or(400), retry_after, body);
        let is_known = match refusal.reason {
            RefusalReason::Host(_) | RefusalReason::Excess(Excess::Tokens) => true,
            RefusalReason::Excess(_)
            | RefusalReason::Gateway(_)
            | RefusalReason::Loading
            | RefusalReason::SystemMessage
            | RefusalReason::Parameter(_)
            | RefusalReason::Page
            | RefusalReason::Unsaid => matches!(refusal.status, 429 | 500..600),
        };
        let status = status.unwrap_or(200);
        is_known.then_some(Self { status, ..refusal })
    }

    /// Whether the server refuses the API key, or the lack of one.
    pub(crate) fn is_about_the_key(&self) -> bool {
        let is_named = self.reason == RefusalReason::Gateway(GatewayRefusal::Key);
        is_named || matches!(self.status, 401 | 403)
    }

    /// Whether to send this request again: after a 429 or any 5xx, unless waiting does not mend it
    /// or the server rejects the system message and the request can be sent without it.
    pub(crate) fn deserves_second_attempt(&self, has_system_message: bool) -> bool {
        let is_final = match self.reason {
            RefusalReason::Host(_)
            | RefusalReason::Excess(_)
            | RefusalReason::Gateway(GatewayRefusal::Key) => true,
            RefusalReason::SystemMessage => has_system_message,
            RefusalReason::Gateway(GatewayRefusal::Resting | GatewayRefusal::NoServer)
            | RefusalReason::Loading
            | RefusalReason::Parameter(_)
            | RefusalReason::Page
            | RefusalReason::Unsaid => false,
        };
        matches!(self.status, 429 | 500..600) && !is_final
    }

    /// Whether the server refuses the request because it takes fewer at a time: a 429 or a 529, but
    /// not for used-up credit or for a text that is too long at any rate.
    pub(crate) fn is_for_the_rate(&self) -> bool {
        let is_mended_by_waiting = match self.reason {
            RefusalReason::Host(_)
            | RefusalReason::Excess(_)
            | RefusalReason::Gateway(GatewayRefusal::Key) => false,
            RefusalReason::Gateway(GatewayRefusal::Resting | GatewayRefusal::NoServer)
            | RefusalReason::Loading
            | RefusalReason::SystemMessage
            | RefusalReason::Parameter(_)
            | RefusalReason::Page
            | RefusalReason::Unsaid => true,
        };
        matches!(self.status, 429 | 529) && is_mended_by_waiting
    }

    /// Whether the refusal shows an overloaded or failing server: a 429 or any 5xx, unless the
    /// message blames the request, the account or the text.
    pub(crate) fn is_by_failing_server(&self) -> bool {
        let is_about_request = match self.reason {
            RefusalReason::Host(_)
            | RefusalReason::Excess(_)
            | RefusalReason::SystemMessage
            | RefusalReason::Gateway(GatewayRefusal::Key)
            | RefusalReason::Parameter(_) => true,
            RefusalReason::Gateway(GatewayRefusal::Resting | GatewayRefusal::NoServer)
            | RefusalReason::Loading
            | RefusalReason::Page
            | RefusalReason::Unsaid => false,
        };
        matches!(self.status, 429 | 500..600) && !is_about_request
    }

    /// The failure of a request that gets no further attempt.
    pub(crate) fn failure(&self, has_system_message: bool) -> ModelError {
        let status = self.status;
        match self.reason {
            RefusalReason::Host(HostRefusal::CreditUsedUp) => ModelError::CreditUsedUp(status),
            RefusalReason::Host(HostRefusal::Withheld) => ModelError::Withheld,
            RefusalReason::Excess(Excess::Tokens) => ModelError::ContextTooSmall(status),
            RefusalReason::Excess(Excess::Questions(most)) => {
                ModelError::TooManyQuestions { status, most }
            }
            RefusalReason::Excess(Excess::Options) => ModelError::TooManyOptions(status),
            RefusalReason::Gateway(GatewayRefusal::Key) => ModelError::KeyRefused(status),
            RefusalReason::Gateway(GatewayRefusal::Resting) => ModelError::Resting(status),
            RefusalReason::Gateway(GatewayRefusal::NoServer) | RefusalReason::Page => {
                ModelError::RefusedInFront(status)
            }
            RefusalReason::Loading => ModelError::Loading(status),
            RefusalReason::SystemMessage if has_system_message => ModelError::ParameterRefused {
                parameter: SYSTEM_MESSAGE,
                status,
                is_over_limit: false,
            },
            RefusalReason::Parameter(parameter) => ModelError::ParameterRefused {
                parameter,
                status,
                is_over_limit: refusal::is_over_limit(&self.body),
            },
            RefusalReason::SystemMessage | RefusalReason::Unsaid => match status {
                300..400 => ModelError::Redirect(status),
                _ => ModelError::Status(status),
            },
        }
    }
}

#[cfg(test)]
mod tests;
