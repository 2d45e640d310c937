//! The requests about one question, with the parameters that the server accepts; and a server of the
//! protocol `chat`: its known capabilities, and its native endpoints.

use std::cell::Cell;

use refract_domain::prism::Question;

use super::capabilities::{OptionalParameters, ServerCapabilities, USUAL_ALTERNATIVES};
use super::completion::{self, Completion};
use super::llama_cpp::LlamaCppRequests;
use super::named_tokens::TokenizeRequest;
use super::prompt::CodeShape;
use super::request::{Prompts, WantedCode};
use super::token_limit::{self, LimitForm, TokenLimits};
use crate::attempts::CallSender;
use crate::attempts::admission::RequestSeries;
use crate::connection::request_body::RequestBody;
use crate::error::ModelError;
use crate::report::ReportedUsage;
use crate::servers::{EachServer, PrefixCache, ServerAddress, ServerPlace};

/// Sends the requests about one question and one submission.
#[derive(Clone, Copy)]
pub(super) struct QuestionRequests<'a> {
    pub(super) question: &'a Question,
    pub(super) prompts: &'a Prompts,
    pub(super) call: &'a CallSender<'a>,
    pub(super) servers: &'a EachServer<ChatServer>,
    pub(super) prefix_caches: &'a EachServer<PrefixCache>,
}

impl<'a> QuestionRequests<'a> {
    /// The shape of the question's codes.
    pub(super) fn shape(self) -> CodeShape {
        CodeShape::of(self.question)
    }

    /// Number of the question's outcomes.
    pub(super) fn outcomes(self) -> usize {
        self.shape().outcomes(self.question)
    }

    /// The server that answered last.
    pub(super) fn server(self, series: RequestSeries) -> &'a ChatServer {
        self.servers.of(series.server())
    }

    /// The number of alternatives to ask for first.
    pub(super) fn usual_alternatives(self, series: RequestSeries) -> u16 {
        let capabilities = &self.server(series).capabilities;
        match self.shape() {
            CodeShape::YesNo => capabilities.yes_no_alternatives(),
            CodeShape::Digit | CodeShape::Letter | CodeShape::LetterDigit => USUAL_ALTERNATIVES,
        }
    }

    /// The parameters of a request for any code, or the rest of one.
    pub(super) fn parameters_to_begin(
        self,
        capabilities: &ServerCapabilities,
        alternatives: u16,
    ) -> OptionalParameters<'static> {
        if self.prompts.name_keys() {
            capabilities.parameters_to_begin(self.shape(), alternatives)
        } else {
            capabilities.parameters(alternatives)
        }
    }

    /// What is known about the prefix cache of the server that answered last.
    pub(super) fn prefix_cache(self, series: RequestSeries) -> &'a PrefixCache {
        self.prefix_caches.of(series.server())
    }

    /// Asks for a code, and for this many alternatives to each token if the server lists them.
    /// Repeats the request without each refused parameter that it can do without. `tokens` limits
    /// the answer; its argument is the server's limits. Sets `is_begun` to whether the last request
    /// began the answer with the question's key.
    pub(super) async fn complete(
        self,
        wanted: &WantedCode,
        alternatives: u16,
        tokens: impl Fn(&TokenLimits) -> u8,
        is_begun: &Cell<bool>,
        series: &mut RequestSeries,
    ) -> Result<Completion, ModelError> {
        let write = |server| {
            let capabilities = &self.servers.of(server).capabilities;
            let parameters = match wanted {
                // a code goes on as its answer was asked for
                WantedCode::Any | WantedCode::Continued { .. } => {
                    self.parameters_to_begin(capabilities, alternatives)
                }
                WantedCode::Unbegun | WantedCode::OneOf { .. } => {
                    capabilities.parameters(alternatives)
                }
            };
            is_begun.set(parameters.begun_answer);
            let tokens = tokens(&capabilities.token_limits);
            let body = self.prompts.body(self.question, wanted, tokens, parameters);
            (body, parameters)
        };
        let limits_refused = Cell::new(0);
        let can_do_without = |server, parameter: &str, is_over_limit, sent| {
            let capabilities = &self.servers.of(server).capabilities;
            limits_refused
                .update(|refused| refused + u8::from(token_limit::NAMES.contains(&parameter)));
            if limits_refused.get() == LimitForm::COUNT {
                return false;
            }
            let can_do_without = capabilities.can_do_without(parameter, sent);
            if can_do_without && is_over_limit {
                capabilities.has_limit();
            }
            can_do_without
        };
        complete(self.call, series, write, can_do_without).await
    }
}

/// Sends a request. Each time the server refuses a parameter that the request can do without, sends
/// the request again without it.
///
/// `write` makes the body for a server, and returns it with the parameters in it. `can_do_without`
/// decides whether to send it again without the refused parameter. Its arguments are the server,
/// the refused parameter's name, whether a number was over the server's limit, and the parameters
/// that were sent.
pub(crate) async fn complete<P: Copy>(
    call: &CallSender<'_>,
    series: &mut RequestSeries,
    write: impl Fn(ServerPlace) -> (RequestBody, P),
    can_do_without: impl Fn(ServerPlace, &str, bool, P) -> bool,
) -> Result<Completion, ModelError> {
    loop {
        let sent = Cell::new(None);
        let write = |server| {
            let (body, parameters) = write(server);
            sent.set(Some(parameters));
            body
        };
        match (call.post(write, series).await, sent.get()) {
            (Ok(body), _) => {
                let completion = completion::read(&body);
                match &completion {
                    Ok(completion) => call.recorder.add_usage(&completion.usage),
                    // an answer without a completion may have cost something
                    Err(_) => call.recorder.add_usage(&ReportedUsage::in_body(&body)),
                }
                return completion;
            }
            // every refusal removes a parameter, or is one of a few of the limit: so the loop ends
            (
                Err(ModelError::ParameterRefused {
                    parameter,
                    is_over_limit,
                    ..
                }),
                Some(sent),
            ) if can_do_without(series.server(), parameter, is_over_limit, sent) => {}
            (Err(failure), _) => return Err(failure),
        }
    }
}

/// What requests to one server depend on, apart from the questions.
#[derive(Debug)]
pub(super) struct ChatServer {
    pub(super) capabilities: ServerCapabilities,
    /// `None` if the paths of these endpoints cannot be derived from the server's address.
    pub(super) llama_cpp: Option<LlamaCppRequests>,
    /// `None` if the path of this endpoint cannot be derived from the server's address.
    pub(super) tokenize: Option<TokenizeRequest>,
}

impl ChatServer {
    /// A server without known capabilities that serves this model.
    pub(super) fn new(model: &str, address: &ServerAddress) -> Self {
        Self {
            capabilities: ServerCapabilities::default(),
            llama_cpp: LlamaCppRequests::new(model, address),
            tokenize: TokenizeRequest::new(model, address),
        }
    }
}
