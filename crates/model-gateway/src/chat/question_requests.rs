//! The requests about one question.

use refract_domain::question::Question;

use super::capabilities::ServerCapabilities;
use super::codes::CodeShape;
use super::completion::{self, Completion};
use super::request::{Prompts, WantedCode};
use crate::attempts::{RequestSender, TimeLeft};
use crate::failure::ModelFailure;
use crate::report::ReportRecorder;

/// Sends the requests about one question and one submission.
#[derive(Clone, Copy)]
pub(super) struct QuestionRequests<'a> {
    pub(super) question: &'a Question,
    /// Index of the question in the version.
    pub(super) index: usize,
    pub(super) prompts: &'a Prompts,
    pub(super) sender: &'a RequestSender,
    pub(super) recorder: &'a ReportRecorder,
    pub(super) capabilities: &'a ServerCapabilities,
}

impl QuestionRequests<'_> {
    /// The shape of the question's codes.
    pub(super) fn shape(self) -> CodeShape {
        CodeShape::of(self.question)
    }

    /// How many outcomes the question has.
    pub(super) fn outcomes(self) -> usize {
        self.shape().outcomes(self.question)
    }

    /// Asks for a code, with this many alternatives to each token where the server lists them. The
    /// request is repeated without each parameter that the server refuses and that it can do
    /// without.
    pub(super) async fn complete(
        self,
        wanted: &WantedCode,
        alternatives: u16,
        left: &mut TimeLeft,
    ) -> Result<Completion, ModelFailure> {
        loop {
            let parameters = self.capabilities.parameters(alternatives);
            let body = self.prompts.body(self.index, wanted, parameters);
            match self.sender.post(body, self.recorder, left).await {
                Ok(body) => {
                    let completion = completion::read(&body)?;
                    self.recorder.add_usage(&completion.usage);
                    return Ok(completion);
                }
                // each refusal takes a parameter away, so this ends
                Err(ModelFailure::ParameterRefused {
                    parameter,
                    is_over_limit,
                    ..
                }) if self.capabilities.can_do_without(parameter, parameters) => {
                    if is_over_limit {
                        self.capabilities.has_limit();
                    }
                }
                Err(failure) => return Err(failure),
            }
        }
    }
}
