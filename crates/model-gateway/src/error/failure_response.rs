//! What follows from a failure: its kind in logs, and whether to ask again, or for less.

use super::host_refusal::Excess;
use super::{CREDIT_USED_UP, ModelError};

/// The most times that a row of a batch is repeated for slowness.
const MOST_REPETITIONS: u32 = 3;

impl ModelError {
    /// The kind of failure in one word, for logs and metrics.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::TooBusy(_) => "too_busy",
            Self::TimedOut(_) | Self::HeldUp(_) | Self::TimedOutBehind(_) => "timeout",
            Self::Unreachable(_) => "unreachable",
            Self::Disconnected => "disconnected",
            Self::NotHttp => "not_http",
            Self::Status(_) => "status",
            Self::CreditUsedUp(_) => "credit_used_up",
            Self::KeyRefused(_) => "key_refused",
            Self::Resting(_) => "resting",
            Self::ContextTooSmall(_) => "context_too_small",
            Self::TooManyQuestions { .. } => "too_many_questions",
            Self::TooManyOptions(_) => "too_many_options",
            Self::RefusedInFront(_) => "refused_in_front",
            Self::Loading(_) => "loading",
            Self::ParameterRefused { .. } => "parameter_refused",
            Self::Redirect(_) => "redirect",
            Self::TooLarge => "too_large",
            Self::Compressed
            | Self::NotSystemOne
            | Self::NotDecisions
            | Self::NotGemini
            | Self::NotChat => "malformed",
            Self::ReportedError => "reported_error",
            Self::StillThinking(_) => "thinking",
            Self::Withheld | Self::Blocked(_) | Self::Refused(_) => "withheld",
            Self::Unanswered(_)
            | Self::OffCodes { .. }
            | Self::OtherTokens(_)
            | Self::NoLogProbabilities(_) => "unanswered",
        }
    }

    /// Whether the server takes fewer requests at a time: it refused both attempts for that reason, or
    /// was still busy with an earlier request.
    pub fn is_for_the_rate(&self) -> bool {
        matches!(
            self,
            Self::Status(429 | 529) | Self::Resting(_) | Self::TimedOutBehind(_)
        )
    }

    /// Whether to ask again for a row of a batch that has been `repeated` so many times: without end
    /// where the server takes fewer requests at a time, and a few times where it or a gateway in front
    /// of it was too slow, since the row's own text may be what takes so long.
    pub fn deserves_repetition(&self, repeated: u32) -> bool {
        if let Self::HeldUp(_) | Self::Status(408 | 504 | 524) = self {
            return repeated < MOST_REPETITIONS;
        }
        self.is_for_the_rate()
    }

    /// Whether the error of a saved result says that the host's credit or quota is used up: every
    /// further request would fail alike.
    pub fn is_about_used_up_credit(error: &str) -> bool {
        error.starts_with(CREDIT_USED_UP)
    }

    /// What the request has too much of for the server. Halves of it may be answered, if it asks
    /// several questions.
    pub(crate) fn excess(&self) -> Option<Excess> {
        if let Self::ContextTooSmall(_) = self {
            Some(Excess::Tokens)
        } else if let Self::TooManyQuestions { most, .. } = self {
            Some(Excess::Questions(*most))
        } else {
            None
        }
    }

    /// Whether the body of the server's answer may explain the failure.
    pub(crate) fn is_reported_by_server(&self) -> bool {
        match self {
            Self::Status(_)
            | Self::CreditUsedUp(_)
            | Self::Withheld
            | Self::KeyRefused(_)
            | Self::Resting(_)
            | Self::ContextTooSmall(_)
            | Self::TooManyQuestions { .. }
            | Self::TooManyOptions(_)
            | Self::RefusedInFront(_)
            | Self::Loading(_)
            | Self::ParameterRefused { .. }
            | Self::Redirect(_)
            | Self::NotSystemOne
            | Self::NotDecisions
            | Self::NotGemini
            | Self::NotChat
            | Self::ReportedError => true,
            Self::TooBusy(_)
            | Self::TimedOut(_)
            | Self::HeldUp(_)
            | Self::TimedOutBehind(_)
            | Self::Unreachable(_)
            | Self::Disconnected
            | Self::NotHttp
            | Self::TooLarge
            | Self::Compressed
            | Self::Unanswered(_)
            | Self::OffCodes { .. }
            | Self::Refused(_)
            | Self::Blocked(_)
            | Self::StillThinking(_)
            | Self::OtherTokens(_)
            | Self::NoLogProbabilities(_) => false,
        }
    }
}
