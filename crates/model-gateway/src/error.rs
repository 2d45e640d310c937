//! Why a model gave no usable answer. Each reason reads as the one sentence that becomes a result's
//! `error`.
//!
//! A sentence says what happened, with the server's status and the question's key if there are any.
//! It never holds a text, a prompt, the server's message or an API key. What a model wrote is named
//! by its kind: its words may be those of the text.

mod failure_response;
mod host_refusal;
pub(crate) mod inside_answer;
pub(crate) mod refusal;
pub(crate) mod retry_after;
mod server_error;
mod server_message;

use std::fmt;
use std::time::Duration;

use refract_domain::key::QuestionKey;

pub(crate) use self::host_refusal::Excess;
pub(crate) use self::refusal::SCHEMA_KEYWORDS;
pub(crate) use self::server_error::{SYSTEM_MESSAGE, ServerError};
pub use self::server_message::ServerMessage;

/// How the sentence about used-up credit begins. A saved result has only its sentence.
const CREDIT_USED_UP: &str = "The host's credit or quota is used up";

/// Why asking the model failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// No permit of the concurrency limit became free in time.
    #[error("The model is too busy: the call waited {} for its turn.", SpelledDuration(*.0))]
    TooBusy(Duration),
    /// An attempt took too long.
    #[error("The model did not answer within {}.", SpelledDuration(*.0))]
    TimedOut(Duration),
    /// An attempt of a batch took too long at a server that had answered others.
    #[error(
        "The model did not answer within {}, although it had answered others: it may be busy, or \
         a gateway in front of it waits for a rate limit.",
        SpelledDuration(*.0)
    )]
    HeldUp(Duration),
    /// An attempt took too long while the server was busy with a request that had timed out before.
    #[error(
        "The model did not answer within {}: its server was busy with an earlier request.",
        SpelledDuration(*.0)
    )]
    TimedOutBehind(Duration),
    /// No connection could be opened.
    #[error("The model server could not be reached: {0}.")]
    Unreachable(Unreachable),
    /// The connection ended before the answer did.
    #[error("The model server closed the connection before its answer was complete.")]
    Disconnected,
    /// The answer was not HTTP.
    #[error("The model server answered with something that is not HTTP.")]
    NotHttp,
    /// A status other than 200; that of the second attempt if there was one.
    #[error("The model server answered with status {0}.")]
    Status(u16),
    /// A refusal because the account has no credit or quota left, which no waiting mends.
    #[error("{begin} (status {0}).", begin = CREDIT_USED_UP)]
    CreditUsedUp(u16),
    /// A refusal of the key with another status than 401 or 403.
    #[error(
        "The model server refused the API key, or wants one (status {0}): check \
         REFRACT_MODEL_API_KEY, and the key with which a gateway asks the server behind it."
    )]
    KeyRefused(u16),
    /// A gateway asks no server for a while.
    #[error(
        "The gateway in front of the model rests after an error of the server behind it (status \
         {0})."
    )]
    Resting(u16),
    /// A refusal because the request has more tokens than the model's context.
    #[error("The text is too long for the model's context (status {0}).")]
    ContextTooSmall(u16),
    /// A refusal because the request has more questions than the server takes at once.
    #[error("The model server takes fewer questions in one request (status {status}).")]
    TooManyQuestions {
        /// 400, 413 or 422.
        status: u16,
        /// The number that the server takes, if it says so.
        most: Option<usize>,
    },
    /// A refusal because a question has more options or levels than the server takes.
    #[error("The model server takes fewer options in one question (status {0}).")]
    TooManyOptions(u16),
    /// A refusal with a page for people: by a firewall or proxy in front of the server.
    #[error("Something in front of the model server refused the request (status {0}).")]
    RefusedInFront(u16),
    /// A 503 with the message that the server is loading its model.
    #[error("The model server is still loading its model (status {0}).")]
    Loading(u16),
    /// A refusal that names a parameter, or the request's system message.
    #[error(
        "The model server refused the parameter `{parameter}` (status {status}): check \
         REFRACT_MODEL_PROTOCOL and the model."
    )]
    ParameterRefused {
        /// The parameter's name.
        parameter: &'static str,
        /// 400 or 422; also 500 for the system message.
        status: u16,
        /// Whether the message is vLLM's for a number over its limit.
        is_over_limit: bool,
    },
    /// A redirect.
    #[error("The model server answered with a redirect (status {0}), which is not followed.")]
    Redirect(u16),
    /// The answer has more than 4 MiB.
    #[error("The model server's answer is too large.")]
    TooLarge,
    /// Status 200 with a compressed body, though a request asks for none.
    #[error(
        "The model server's answer is compressed, which was not asked for: switch compression off in the \
         server or the proxy in front of it."
    )]
    Compressed,
    /// Status 200 with a body that is not System One JSON.
    #[error("The model server answered with something that is not System One JSON.")]
    NotSystemOne,
    /// Status 200 with a body that is not Decisions JSON.
    #[error("The model server answered with something that is not Decisions JSON.")]
    NotDecisions,
    /// Status 200 with a body that is not Google's Decisions JSON.
    #[error("The model server answered with something that is not Gemini Decisions JSON.")]
    NotGemini,
    /// Status 200 with a body that is not a chat completion.
    #[error("The model server answered with something that is not a chat completion.")]
    NotChat,
    /// Status 200 with an error in the body.
    #[error("The model server reported an error instead of answers.")]
    ReportedError,
    /// A question without a usable answer.
    #[error("The model gave no usable answer to the question {0}.")]
    Unanswered(QuestionKey),
    /// An answer with less than 5 % of its probability on the codes of the protocol `chat`.
    #[error(
        "The model gave no usable answer to the question {question}: {percent} % of its \
         probability is on the codes, and {wrote}."
    )]
    OffCodes {
        /// The question's key.
        question: QuestionKey,
        /// Whole percent of the probability on the codes: 0 to 5.
        percent: u8,
        /// The kind of what it wrote.
        wrote: WrittenInstead,
    },
    /// An answer that ended while the model was still thinking.
    #[error(
        "The model gave no usable answer to the question {0}: it was still thinking when its \
         answer ended."
    )]
    StillThinking(QuestionKey),
    /// A question that the model refused to answer.
    #[error("The model refused to answer the question {0}.")]
    Refused(QuestionKey),
    /// A content filter of the host blocked the text; the reason is one of the format's names.
    #[error("The model server's content filter blocked the text ({0}).")]
    Blocked(&'static str),
    /// A content filter of the host withheld the answer to this text.
    #[error("The host's filter withheld the answer.")]
    Withheld,
    /// Log-probabilities of other tokens than those of the answer.
    #[error(
        "The model gave no usable answer to the question {0}: the tokens that its server lists are \
         not those of its answer."
    )]
    OtherTokens(QuestionKey),
    /// An answer without the log-probabilities that the protocol `chat` reads.
    #[error(
        "The model gave no usable answer to the question {0}: its server sent no \
         log-probabilities, which REFRACT_MODEL_PROTOCOL `chat` needs."
    )]
    NoLogProbabilities(QuestionKey),
}

/// Why no connection could be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreachable {
    /// The host name has no address.
    UnknownHost,
    /// No server listens at the address.
    Refused,
    /// The TLS handshake failed.
    Tls,
    /// The server's certificate is refused.
    Certificate(CertificateFault),
    /// The server demands a client certificate, or refuses ours.
    ClientCertificate,
    /// Any other network error.
    Network,
    /// The proxy on the way to the server cannot be reached, or closed the connection.
    Proxy,
    /// The proxy refused to connect, with this status.
    ProxyStatus(u16),
}

/// Why a server's certificate is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CertificateFault {
    /// No trusted authority has signed it.
    #[error("is by no authority that is trusted here")]
    UnknownAuthority,
    /// It is for other names, or has none but the common one.
    #[error("is not for the host of the address")]
    OtherName,
    /// It has expired, or is not valid yet.
    #[error("has expired or is not valid yet")]
    Time,
    /// It is the certificate of an authority.
    #[error("is that of an authority (CA:TRUE): the server needs one of its own")]
    OfAuthority,
    /// Anything else.
    #[error("cannot be trusted")]
    Other,
}

impl fmt::Display for Unreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownHost => f.write_str("its host name has no address"),
            Self::Refused => f.write_str("the connection was refused"),
            Self::Tls => f.write_str("no TLS connection could be made"),
            Self::Certificate(fault) => write!(f, "its certificate {fault}"),
            Self::ClientCertificate => {
                f.write_str("it refused the client certificate, or demands one")
            }
            Self::Network => f.write_str("the network failed"),
            Self::Proxy => f.write_str("the proxy could not be reached"),
            Self::ProxyStatus(status) => write!(f, "the proxy answered with status {status}"),
        }
    }
}

/// Displays a duration in whole seconds if possible, else in milliseconds.
struct SpelledDuration(Duration);

impl fmt::Display for SpelledDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.subsec_nanos() == 0 {
            write!(f, "{} s", self.0.as_secs())
        } else {
            write!(f, "{} ms", self.0.as_millis())
        }
    }
}

/// The kind of an answer that does not begin with a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrittenInstead {
    /// Nothing, or only white space.
    Nothing,
    /// A marker such as `<|im_end|>`: the server fills another template than the model's.
    TemplateMarker,
    /// The words of an answer, such as `Billing`.
    AnswerWords,
    /// A code in another form, such as `a` or `Option A`.
    OtherForm,
    /// Anything else.
    Prose,
}

impl fmt::Display for WrittenInstead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nothing => "it wrote nothing",
            Self::TemplateMarker => "it wrote a marker of a chat template",
            Self::AnswerWords => "it wrote the words of an answer",
            Self::OtherForm => "it wrote a code in another form",
            Self::Prose => "it wrote prose",
        })
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
                ModelError::TimedOut(Duration::from_secs(15)),
                "The model did not answer within 15 s.",
            ),
            (
                ModelError::TooBusy(Duration::from_millis(1500)),
                "The model is too busy: the call waited 1500 ms for its turn.",
            ),
            (
                ModelError::Unanswered(key.clone()),
                "The model gave no usable answer to the question angry.",
            ),
            (
                ModelError::OffCodes {
                    question: key.clone(),
                    percent: 2,
                    wrote: WrittenInstead::OtherForm,
                },
                "The model gave no usable answer to the question angry: 2 % of its probability is \
                 on the codes, and it wrote a code in another form.",
            ),
            (
                ModelError::StillThinking(key),
                "The model gave no usable answer to the question angry: it was still thinking \
                 when its answer ended.",
            ),
            (
                ModelError::ContextTooSmall(400),
                "The text is too long for the model's context (status 400).",
            ),
            (
                ModelError::CreditUsedUp(429),
                "The host's credit or quota is used up (status 429).",
            ),
            (
                ModelError::Loading(503),
                "The model server is still loading its model (status 503).",
            ),
            (
                ModelError::Status(529),
                "The model server answered with status 529.",
            ),
        ] {
            assert_eq!(failure.to_string(), sentence);
        }
    }
}
