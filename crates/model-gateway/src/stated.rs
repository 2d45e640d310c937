//! The protocol `stated`: a chat model without log-probabilities states its probabilities itself.
//!
//! Several questions share a request, whose answer is bound to a schema. What the model states is
//! its opinion of its own certainty: proper distributions, but coarser than log-probabilities.

mod reading;
pub(crate) mod request;

use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use refract_domain::answer::{Answer, Answers};
use refract_domain::key::QuestionKey;
use refract_domain::prism::PrismVersion;
use refract_domain::submission::Submission;

use self::request::StatedRequest;
use crate::attempts::RequestSender;
use crate::chat::completion;
use crate::concurrent::all_or_first_failure;
use crate::failure::ModelFailure;
use crate::report::ReportRecorder;

/// Asks servers that speak chat completions with schemas.
#[derive(Debug)]
pub(crate) struct StatedProtocol {
    /// Sent as `model`.
    model: String,
    /// Whether the server has refused a temperature; kept until the process ends.
    refuses_temperature: AtomicBool,
}

impl StatedProtocol {
    pub(crate) fn new(model: String) -> Self {
        Self {
            model,
            refuses_temperature: AtomicBool::new(false),
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
        let requests = request::split(&self.model, version, submission);
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
        let content = completion.content.unwrap_or_default();
        let read = reading::read(&content, request.questions)?;
        recorder.add_coverage(read.coverage);
        Ok(read.answers)
    }

    /// Sends a request, and sends it again without a temperature where the model refuses one.
    async fn post(
        &self,
        sender: &RequestSender,
        request: &StatedRequest<'_>,
        recorder: &ReportRecorder,
    ) -> Result<Bytes, ModelFailure> {
        let mut left = sender.time();
        let has_temperature = !self.refuses_temperature.load(Ordering::Relaxed);
        let body = request.body(has_temperature);
        match sender.post(body, recorder, &mut left).await {
            Err(ModelFailure::ParameterRefused {
                parameter: "temperature",
                ..
            }) if has_temperature => {
                self.refuses_temperature.store(true, Ordering::Relaxed);
                sender.post(request.body(false), recorder, &mut left).await
            }
            answered => answered,
        }
    }
}
