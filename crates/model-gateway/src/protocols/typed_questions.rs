//! The protocols `systemone`, `decisions` and `gemini`: a request asks many questions at once and gets a
//! typed answer with probabilities for each. The formats are separate modules.

pub(crate) mod answers;
pub(crate) mod format;
mod reply;
mod split;

use refract_domain::answer::{Answer, Answers};
use refract_domain::key::QuestionKey;
use refract_domain::prism::PrismVersion;
use refract_domain::submission::Submission;

use self::format::TypedFormat;
use self::reply::TypedReply;
use self::split::SplitRequest;
use crate::attempts::CallSender;
use crate::error::ModelError;
use crate::protocols::concurrent::all_answers;
use crate::report::ReportedUsage;

/// Asks servers with a format of typed questions.
#[derive(Debug)]
pub(crate) struct TypedProtocol {
    pub(crate) format: &'static TypedFormat,
    /// Sent as `model`.
    pub(crate) model: String,
    /// Estimated tokens above which a request is split.
    pub(crate) request_tokens: usize,
}

impl TypedProtocol {
    /// Asks all questions, split into concurrent requests if one would be too large.
    pub(crate) async fn ask(
        &self,
        call: &CallSender<'_>,
        version: &PrismVersion,
        submission: &Submission,
    ) -> Result<Answers, ModelError> {
        let format = self.format;
        let requests = format.split(&self.model, version, submission, self.request_tokens);
        let answers = requests.into_iter();
        all_answers(answers.map(|request| self.answers(call, request))).await
    }

    async fn answers(
        &self,
        call: &CallSender<'_>,
        request: SplitRequest<'_>,
    ) -> Result<Vec<(QuestionKey, Answer)>, ModelError> {
        let mut series = call.series();
        let body = call.post(|_| request.body.clone(), &mut series).await?;
        let malformed = || self.format.malformed.clone();
        let reply = TypedReply::read(&body).ok_or_else(malformed)?;
        if reply.is_error {
            return Err(ModelError::ReportedError);
        }
        let usage = ReportedUsage::read(reply.model, reply.usage);
        call.recorder.add_usage(&usage);
        if let Some(reason) = reply.block_reason {
            return Err(ModelError::Blocked(reason));
        }
        let answers = reply.answers.ok_or_else(malformed)?;
        let read = (self.format.read)(answers, request.questions)?;
        call.recorder.add_parsed(read.parsed);
        Ok(read.answers)
    }
}
