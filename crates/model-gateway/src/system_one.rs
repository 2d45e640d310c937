//! The protocol `systemone`: typed questions in, probabilities out, all questions in one request.
//!
//! Source: the System One format of decision models. [`request`] writes it, [`reading`]
//! reads it; neither knows connections.

mod reading;
pub(crate) mod request;

use refract_domain::answer::{Answer, Answers};
use refract_domain::key::QuestionKey;
use refract_domain::prism::PrismVersion;
use refract_domain::submission::Submission;

use self::request::SystemOneRequest;
use crate::attempts::RequestSender;
use crate::concurrent::all_or_first_failure;
use crate::failure::ModelFailure;
use crate::report::ReportRecorder;

/// Asks servers that speak System One.
#[derive(Debug)]
pub(crate) struct SystemOneProtocol {
    /// Sent as `model`.
    pub(crate) model: String,
    /// Estimated tokens above which a request is split.
    pub(crate) request_tokens: usize,
}

impl SystemOneProtocol {
    /// Asks all questions, in concurrent requests where one would be too large.
    pub(crate) async fn ask(
        &self,
        sender: &RequestSender,
        version: &PrismVersion,
        submission: &Submission,
        recorder: &ReportRecorder,
    ) -> Result<Answers, ModelFailure> {
        let requests = request::split(&self.model, version, submission, self.request_tokens);
        let answers = requests
            .into_iter()
            .map(|request| post(sender, request, recorder));
        let answers = all_or_first_failure(answers).await?;
        Ok(Answers::new(answers.into_iter().flatten().collect()))
    }
}

async fn post(
    sender: &RequestSender,
    request: SystemOneRequest<'_>,
    recorder: &ReportRecorder,
) -> Result<Vec<(QuestionKey, Answer)>, ModelFailure> {
    let mut left = sender.time();
    let body = sender.post(request.body, recorder, &mut left).await?;
    let reply = reading::read(&body)?;
    recorder.add_usage(&reply.usage);
    let read = reply.read_answers(request.questions)?;
    recorder.add_coverage(read.coverage);
    Ok(read.answers)
}
