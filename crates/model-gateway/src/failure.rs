//! Why a model gave no usable answer, each reason as the one sentence that a result's `error` is.
//!
//! A sentence names what happened, the question's key when it is one question, and the server's
//! status; never a text, a prompt, what the server wrote, or a key.

use std::fmt;
use std::time::Duration;

use refract_domain::key::QuestionKey;

/// Why a call to the model failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelFailure {
    /// The call never got its turn among the requests in flight.
    #[error("The model is too busy: the call waited {} for its turn.", Spelled(*.0))]
    TooBusy(Duration),
    /// An attempt took too long.
    #[error("The model did not answer within {}.", Spelled(*.0))]
    TimedOut(Duration),
    /// No connection came about.
    #[error("The model server could not be reached: {0}.")]
    Unreachable(Unreachable),
    /// The connection ended before the answer did.
    #[error("The model server closed the connection before its answer was complete.")]
    Disconnected,
    /// What came back was not HTTP.
    #[error("The model server answered with something that is not HTTP.")]
    NotHttp,
    /// A status other than 200, on the second attempt where there was one.
    #[error("The model server answered with status {0}.")]
    Status(u16),
    /// A status that refuses what was sent, naming a parameter.
    #[error(
        "The model server refused the parameter `{parameter}` (status {status}): check \
         REFRACT_MODEL_PROTOCOL and the model."
    )]
    ParameterRefused {
        /// As it was sent.
        parameter: &'static str,
        /// 400 or 422.
        status: u16,
    },
    /// A status that points elsewhere.
    #[error("The model server answered with a redirect (status {0}), which is not followed.")]
    Redirect(u16),
    /// The answer is over the bound.
    #[error("The model server's answer is too large.")]
    TooLarge,
    /// Status 200 with a body that the protocol does not know.
    #[error("The model server answered with something that is not System One JSON.")]
    NotSystemOne,
    /// Status 200 with a body that is no chat completion.
    #[error("The model server answered with something that is not a chat completion.")]
    NotChat,
    /// Status 200 with an error in the body.
    #[error("The model server reported an error instead of answers.")]
    ReportedError,
    /// A question without a usable answer.
    #[error("The model gave no usable answer to the question {0}.")]
    Unanswered(QuestionKey),
    /// An answer without the probabilities that the protocol reads.
    #[error(
        "The model gave no usable answer to the question {0}: its server sent no \
         log-probabilities, which REFRACT_MODEL_PROTOCOL `chat` needs."
    )]
    NoLogProbabilities(QuestionKey),
}

impl ModelFailure {
    /// One word for logs and metrics, the same for every failure of its kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::TooBusy(_) => "too_busy",
            Self::TimedOut(_) => "timeout",
            Self::Unreachable(_) => "unreachable",
            Self::Disconnected => "disconnected",
            Self::NotHttp => "not_http",
            Self::Status(_) => "status",
            Self::ParameterRefused { .. } => "parameter_refused",
            Self::Redirect(_) => "redirect",
            Self::TooLarge => "too_large",
            Self::NotSystemOne | Self::NotChat => "malformed",
            Self::ReportedError => "reported_error",
            Self::Unanswered(_) | Self::NoLogProbabilities(_) => "unanswered",
        }
    }
}

/// Why no connection came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreachable {
    /// The name has no address.
    UnknownHost,
    /// Nobody listens there.
    Refused,
    /// The server's certificate or its TLS cannot be trusted.
    Tls,
    /// Anything else that the network said.
    Network,
}

impl fmt::Display for Unreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnknownHost => "its host name has no address",
            Self::Refused => "the connection was refused",
            Self::Tls => "no trusted TLS connection could be made",
            Self::Network => "the network failed",
        })
    }
}

/// A duration in words: whole seconds where it is whole seconds, else milliseconds.
struct Spelled(Duration);

impl fmt::Display for Spelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.subsec_nanos() == 0 {
            write!(f, "{} s", self.0.as_secs())
        } else {
            write!(f, "{} ms", self.0.as_millis())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_one_sentence() {
        let key = QuestionKey::parse("angry").unwrap();
        for (failure, sentence) in [
            (
                ModelFailure::TimedOut(Duration::from_secs(15)),
                "The model did not answer within 15 s.",
            ),
            (
                ModelFailure::TooBusy(Duration::from_millis(1500)),
                "The model is too busy: the call waited 1500 ms for its turn.",
            ),
            (
                ModelFailure::Unanswered(key),
                "The model gave no usable answer to the question angry.",
            ),
            (
                ModelFailure::Status(529),
                "The model server answered with status 529.",
            ),
        ] {
            assert_eq!(failure.to_string(), sentence);
        }
    }
}
