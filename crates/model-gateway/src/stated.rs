//! The protocol `stated`: a chat model without log-probabilities states its probabilities itself.
//!
//! Several questions share a request, whose answer is bound to a schema. What the model states is
//! its opinion of its own certainty: proper distributions, but coarser than log-probabilities.

mod parameters;
mod reading;
pub(crate) mod request;

use std::cell::Cell;

use bytes::Bytes;
use refract_domain::answer::{Answer, Answers};
use refract_domain::key::QuestionKey;
use refract_domain::prism::PrismVersion;
use refract_domain::submission::Submission;

use self::parameters::RefusedParameters;
use self::request::StatedRequest;
use crate::attempts::CallSender;
use crate::chat::completion;
use crate::chat::opening::ChatOpening;
use crate::concurrent::all_answers;
use crate::failure::ModelFailure;
use crate::servers::address::ServerAddress;
use crate::servers::each_server::EachServer;

/// Asks servers that speak chat completions with schemas.
#[derive(Debug)]
pub(crate) struct StatedProtocol {
    opening: ChatOpening,
    refused: EachServer<RefusedParameters>,
}

impl StatedProtocol {
    pub(crate) fn new(model: &str, addresses: &EachServer<ServerAddress>) -> Self {
        Self {
            opening: ChatOpening::new(model, request::SYSTEM),
            refused: addresses.map(|_| RefusedParameters::default()),
        }
    }

    /// Asks all questions, in concurrent requests of up to ten questions.
    pub(crate) async fn ask(
        &self,
        call: &CallSender<'_>,
        version: &PrismVersion,
        submission: &Submission,
    ) -> Result<Answers, ModelFailure> {
        let requests = request::split(&self.opening, version, submission);
        let answers = requests.into_iter();
        all_answers(answers.map(|request| self.answers(call, request))).await
    }

    async fn answers(
        &self,
        call: &CallSender<'_>,
        request: StatedRequest<'_>,
    ) -> Result<Vec<(QuestionKey, Answer)>, ModelFailure> {
        let body = self.post(call, &request).await?;
        let completion = completion::read(&body)?;
        call.recorder.add_usage(&completion.usage);
        if let (true, Some(question)) = (completion.is_thinking, request.questions.first()) {
            return Err(ModelFailure::StillThinking(question.key.clone()));
        }
        let content = completion.content.unwrap_or_default();
        let read = reading::read(&content, request.questions)?;
        call.recorder.add_coverage(read.coverage);
        Ok(read.answers)
    }

    /// Sends a request, and sends it again without each parameter that the server refuses and that
    /// the request can do without.
    async fn post(
        &self,
        call: &CallSender<'_>,
        request: &StatedRequest<'_>,
    ) -> Result<Bytes, ModelFailure> {
        let mut series = call.series();
        loop {
            let sent = Cell::new(None);
            let write = |server| {
                let parameters = self.refused.of(server).parameters();
                sent.set(Some(parameters));
                request.body(parameters)
            };
            let can_do_without = |parameter, server| {
                let sent = sent.get();
                sent.is_some_and(|sent| self.refused.of(server).can_do_without(parameter, sent))
            };
            match call.post(write, &mut series).await {
                // each refusal takes a parameter away, so this ends
                Err(ModelFailure::ParameterRefused { parameter, .. })
                    if can_do_without(parameter, series.server()) => {}
                Err(ModelFailure::ParameterRefused {
                    parameter,
                    status,
                    is_over_limit,
                }) => {
                    return Err(ModelFailure::ParameterRefused {
                        parameter: parameters::holder(parameter),
                        status,
                        is_over_limit,
                    });
                }
                answered => return answered,
            }
        }
    }
}
