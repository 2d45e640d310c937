//! The protocols `systemone` and `decisions`: requests that ask many questions at once, and answers
//! of a type and with probabilities for each question. Their formats are modules of their own.

pub(crate) mod answers;
mod reply;
pub(crate) mod split;

use refract_domain::answer::{Answer, Answers};
use refract_domain::key::QuestionKey;
use refract_domain::prism::PrismVersion;
use refract_domain::question::Question;
use refract_domain::submission::Submission;
use serde_json::value::RawValue;

use self::split::SplitRequest;
use crate::answers::ReadAnswers;
use crate::attempts::CallSender;
use crate::concurrent::all_or_first_failure;
use crate::failure::ModelFailure;

/// Asks servers that speak a format of typed questions.
#[derive(Debug)]
pub(crate) struct TypedProtocol {
    pub(crate) format: TypedFormat,
    /// Sent as `model`.
    pub(crate) model: String,
    /// Estimated tokens above which a request is split.
    pub(crate) request_tokens: usize,
}

/// How the requests of a format are written and its answers are read.
#[derive(Debug)]
pub(crate) struct TypedFormat {
    /// Writes the questions about a submission to the model of this name, in requests of up to so
    /// many estimated tokens.
    pub(crate) split:
        for<'a> fn(&str, &'a PrismVersion, &Submission, usize) -> Vec<SplitRequest<'a>>,
    /// Reads the value of `answers` as answers to the questions of a request.
    pub(crate) read: fn(&RawValue, &[Question]) -> Result<ReadAnswers, ModelFailure>,
    /// The failure of a body that is not of the format.
    pub(crate) malformed: ModelFailure,
}

impl TypedProtocol {
    /// Asks all questions, in concurrent requests where one would be too large.
    pub(crate) async fn ask(
        &self,
        call: &CallSender<'_>,
        version: &PrismVersion,
        submission: &Submission,
    ) -> Result<Answers, ModelFailure> {
        let requests = (self.format.split)(&self.model, version, submission, self.request_tokens);
        let answers = requests
            .into_iter()
            .map(|request| self.answers(call, request));
        let answers = all_or_first_failure(answers).await?;
        Ok(Answers::new(answers.into_iter().flatten().collect()))
    }

    async fn answers(
        &self,
        call: &CallSender<'_>,
        request: SplitRequest<'_>,
    ) -> Result<Vec<(QuestionKey, Answer)>, ModelFailure> {
        let mut series = call.series();
        let body = call.post(|_| request.body.clone(), &mut series).await?;
        let malformed = || self.format.malformed.clone();
        let reply = reply::read(&body).ok_or_else(malformed)?;
        if reply.is_error {
            return Err(ModelFailure::ReportedError);
        }
        call.recorder.add_usage(&reply.usage);
        let answers = reply.answers.ok_or_else(malformed)?;
        let read = (self.format.read)(answers, request.questions)?;
        call.recorder.add_coverage(read.coverage);
        Ok(read.answers)
    }
}
