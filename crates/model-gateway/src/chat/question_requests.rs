//! The requests about one question.

use std::cell::Cell;

use refract_domain::question::Question;

use super::chat_server::ChatServer;
use super::codes::CodeShape;
use super::completion::{self, Completion};
use super::request::{Prompts, WantedCode};
use crate::attempts::CallSender;
use crate::failure::ModelFailure;
use crate::request_series::RequestSeries;
use crate::servers::each_server::EachServer;

/// Sends the requests about one question and one submission.
#[derive(Clone, Copy)]
pub(super) struct QuestionRequests<'a> {
    pub(super) question: &'a Question,
    /// Index of the question in the version.
    pub(super) index: usize,
    pub(super) prompts: &'a Prompts,
    pub(super) call: &'a CallSender<'a>,
    pub(super) servers: &'a EachServer<ChatServer>,
}

impl<'a> QuestionRequests<'a> {
    /// The shape of the question's codes.
    pub(super) fn shape(self) -> CodeShape {
        CodeShape::of(self.question)
    }

    /// How many outcomes the question has.
    pub(super) fn outcomes(self) -> usize {
        self.shape().outcomes(self.question)
    }

    /// The server that answered last.
    pub(super) fn server(self, series: RequestSeries) -> &'a ChatServer {
        self.servers.of(series.server())
    }

    /// Asks for a code, with this many alternatives to each token where the server lists them. The
    /// request is repeated without each parameter that the server refuses and that it can do
    /// without.
    pub(super) async fn complete(
        self,
        wanted: &WantedCode,
        alternatives: u16,
        series: &mut RequestSeries,
    ) -> Result<Completion, ModelFailure> {
        loop {
            let sent = Cell::new(None);
            let write = |server| {
                let capabilities = &self.servers.of(server).capabilities;
                let parameters = capabilities.parameters(alternatives);
                sent.set(Some(parameters));
                self.prompts.body(self.index, wanted, parameters)
            };
            let answered = self.call.post(write, series).await;
            let capabilities = &self.server(*series).capabilities;
            let can_do_without = |parameter| {
                let sent = sent.get();
                sent.is_some_and(|sent| capabilities.can_do_without(parameter, sent))
            };
            match answered {
                Ok(body) => {
                    let completion = completion::read(&body)?;
                    self.call.recorder.add_usage(&completion.usage);
                    return Ok(completion);
                }
                // each refusal takes a parameter away, so this ends
                Err(ModelFailure::ParameterRefused {
                    parameter,
                    is_over_limit,
                    ..
                }) if can_do_without(parameter) => {
                    if is_over_limit {
                        capabilities.has_limit();
                    }
                }
                Err(failure) => return Err(failure),
            }
        }
    }
}
