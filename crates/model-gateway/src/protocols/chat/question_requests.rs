//! The requests about one question.

use refract_domain::prism::question::Question;

use super::chat_server::ChatServer;
use super::codes::CodeShape;
use super::complete::complete;
use super::completion::Completion;
use super::request::{Prompts, WantedCode};
use crate::attempts::CallSender;
use crate::attempts::request_series::RequestSeries;
use crate::error::ModelError;
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

    /// Number of the question's outcomes.
    pub(super) fn outcomes(self) -> usize {
        self.shape().outcomes(self.question)
    }

    /// The server that answered last.
    pub(super) fn server(self, series: RequestSeries) -> &'a ChatServer {
        self.servers.of(series.server())
    }

    /// Asks for a code, and for this many alternatives to each token if the server lists them.
    /// Repeats the request without each refused parameter that it can do without.
    pub(super) async fn complete(
        self,
        wanted: &WantedCode,
        alternatives: u16,
        series: &mut RequestSeries,
    ) -> Result<Completion, ModelError> {
        let write = |server| {
            let capabilities = &self.servers.of(server).capabilities;
            let parameters = capabilities.parameters(alternatives);
            let body = self.prompts.body(self.index, wanted, parameters);
            (body, parameters)
        };
        let can_do_without = |server, parameter: &str, is_over_limit, sent| {
            let capabilities = &self.servers.of(server).capabilities;
            let can_do_without = capabilities.can_do_without(parameter, sent);
            if can_do_without && is_over_limit {
                capabilities.has_limit();
            }
            can_do_without
        };
        complete(self.call, series, write, can_do_without).await
    }
}
