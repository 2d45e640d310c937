//! The protocol `stated`: a chat model without log-probabilities states its probabilities itself.
//!
//! Several questions share a request, whose answer is bound to a schema. What the model states is
//! its opinion of its own certainty: proper distributions, but coarser than log-probabilities.

mod parameters;
mod reading;
pub(crate) mod request;

use bytes::Bytes;
use refract_domain::answer::{Answer, Answers};
use refract_domain::key::QuestionKey;
use refract_domain::prism::PrismVersion;
use refract_domain::submission::Submission;

use self::parameters::RefusedParameters;
use self::request::StatedRequest;
use crate::attempts::RequestSender;
use crate::chat::completion;
use crate::chat::opening::ChatOpening;
use crate::concurrent::all_or_first_failure;
use crate::failure::ModelFailure;
use crate::report::ReportRecorder;

/// Asks servers that speak chat completions with schemas.
#[derive(Debug)]
pub(crate) struct StatedProtocol {
    opening: ChatOpening,
    refused: RefusedParameters,
}

impl StatedProtocol {
    pub(crate) fn new(model: &str) -> Self {
        Self {
            opening: ChatOpening::new(model, request::SYSTEM),
            refused: RefusedParameters::default(),
        }
    }

    /// Asks all questions, in concurrent requests of up to ten questions.
    pub(crate) async fn ask(
        &self,
        sender: &RequestSender,
        version: &PrismVersion,
        submission: &Submission,
        recorder: &ReportRecorder,
    ) -> Result<Answers, ModelFailure> {
        let requests = request::split(&self.opening, version, submission);
        let answers = requests
            .into_iter()
            .map(|request| self.answers(sender, request, recorder));
        let answers = all_or_first_failure(answers).await?;
        Ok(Answers::new(answers.into_iter().flatten().collect()))
    }

    async fn answers(
        &self,
        sender: &RequestSender,
        request: StatedRequest<'_>,
        recorder: &ReportRecorder,
    ) -> Result<Vec<(QuestionKey, Answer)>, ModelFailure> {
        let body = self.post(sender, &request, recorder).await?;
        let completion = completion::read(&body)?;
        recorder.add_usage(&completion.usage);
        if let (true, Some(question)) = (completion.is_thinking, request.questions.first()) {
            return Err(ModelFailure::StillThinking(question.key.clone()));
        }
        let content = completion.content.unwrap_or_default();
        let read = reading::read(&content, request.questions)?;
        recorder.add_coverage(read.coverage);
        Ok(read.answers)
    }

    /// Sends a request, and sends it again without each parameter that the server refuses and that
    /// the request can do without.
    async fn post(
        &self,
        sender: &RequestSender,
        request: &StatedRequest<'_>,
        recorder: &ReportRecorder,
    ) -> Result<Bytes, ModelFailure> {
        let mut left = sender.time();
        loop {
            let sent = self.refused.parameters();
            let body = request.body(sent);
            match sender.post(body, recorder, &mut left).await {
                // each refusal takes a parameter away, so this ends
                Err(ModelFailure::ParameterRefused { parameter, .. })
                    if self.refused.can_do_without(parameter, sent) => {}
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
