//! Estimates the cost of asking the model before anything is sent, for files of many rows.

use refract_domain::limits::CHARS_PER_TOKEN;
use refract_domain::prism::PrismVersion;

use crate::protocols::chat::prompt;
use crate::protocols::typed_questions::reply::TypedFormat;
use crate::protocols::typed_questions::request_limits::RequestLimits;
use crate::protocols::{decisions, stated, system_one};
use crate::settings::{ChatPrompt, ModelEndpoint, ModelSettings, Protocol};

/// Estimated cost of asking about one submission.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CostEstimate {
    /// Requests to the model server, without second attempts.
    pub requests: usize,
    /// Tokens that the model reads, four characters of JSON each.
    pub tokens: usize,
}

/// Estimates for one prism version, whose questions it measures once.
#[derive(Clone, Debug)]
pub struct Estimator {
    /// `None` for the built-in scorer, which sends nothing.
    protocol: Option<Protocol>,
    /// The format of typed questions that measures questions and splits requests.
    format: &'static TypedFormat,
    limits: RequestLimits,
    /// Characters of each question.
    questions: Vec<usize>,
    /// Characters of all questions as every `chat` request lists them; 0 if it asks only its own.
    listed: usize,
}

impl Estimator {
    pub(crate) fn new(settings: &ModelSettings, version: &PrismVersion) -> Self {
        let protocol = match settings.endpoint {
            ModelEndpoint::DemoScorer => None,
            ModelEndpoint::Servers(_) => Some(settings.protocol),
        };
        let format = match protocol {
            Some(Protocol::Decisions) => &decisions::FORMAT,
            Some(Protocol::Gemini) => &system_one::GEMINI_FORMAT,
            Some(Protocol::SystemOne | Protocol::Chat | Protocol::Stated) | None => {
                &system_one::FORMAT
            }
        };
        let listing = match (protocol, settings.prompt) {
            (Some(Protocol::Chat), ChatPrompt::QuestionsFirst) => prompt::listing(version),
            _ => None,
        };
        Self {
            protocol,
            format,
            limits: settings.request_limits(),
            questions: format.question_chars(version),
            listed: listing.map_or(0, |listing| listing.chars().count()),
        }
    }

    /// The cost of a submission whose state has `state_chars` characters of JSON. Every request
    /// holds the whole state and some of the questions.
    pub fn estimate(&self, state_chars: usize) -> CostEstimate {
        let questions = &self.questions;
        let requests = match self.protocol {
            None => return CostEstimate::default(),
            Some(Protocol::SystemOne | Protocol::Decisions | Protocol::Gemini) => {
                self.format.requests(questions, state_chars, self.limits)
            }
            Some(Protocol::Chat) => questions.len(),
            Some(Protocol::Stated) => questions
                .len()
                .div_ceil(stated::request::QUESTIONS_PER_REQUEST),
        };
        let asked = match self.listed {
            0 => questions.iter().sum::<usize>(),
            listed => requests * listed,
        };
        let chars = requests * state_chars + asked;
        CostEstimate {
            requests,
            tokens: chars.div_ceil(CHARS_PER_TOKEN),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimator(protocol: Option<Protocol>) -> Estimator {
        Estimator {
            protocol,
            format: &system_one::FORMAT,
            limits: RequestLimits {
                tokens: 1_000,
                questions: 100,
            },
            questions: vec![400; 12],
            listed: 0,
        }
    }

    #[test]
    fn a_text_is_sent_once_for_each_request() {
        let of = |protocol, state| estimator(protocol).estimate(state);
        let cost = |requests, tokens| CostEstimate { requests, tokens };
        assert_eq!(of(Some(Protocol::Chat), 800), cost(12, 12 * 200 + 1_200));
        assert_eq!(of(Some(Protocol::Stated), 800), cost(2, 2 * 200 + 1_200));
        // each request has 3,200 characters left for questions of 401
        assert_eq!(of(Some(Protocol::SystemOne), 770), cost(2, 385 + 1_200));
        assert_eq!(of(Some(Protocol::Decisions), 770), cost(2, 385 + 1_200));
        assert_eq!(of(Some(Protocol::Gemini), 770), cost(2, 385 + 1_200));
        assert_eq!(of(None, 800), cost(0, 0));
        // every request lists all questions
        let listing = Estimator {
            listed: 4_000,
            ..estimator(Some(Protocol::Chat))
        };
        assert_eq!(listing.estimate(800), cost(12, 12 * 200 + 12 * 1_000));
    }
}
