//! The protocols `systemone` and `decisions`: requests that ask many questions at once, and answers
//! of a type and with probabilities for each question. Their formats are modules of their own.

pub(crate) mod answers;
mod split;

use refract_domain::answer::{Answer, Answers};
use refract_domain::key::QuestionKey;
use refract_domain::model_input::State;
use refract_domain::prism::PrismVersion;
use refract_domain::question::Question;
use refract_domain::submission::Submission;
use serde::Deserialize;
use serde_json::value::RawValue;

use self::split::SplitRequest;
pub(crate) use self::split::write_json;
use crate::attempts::CallSender;
use crate::failure::ModelFailure;
use crate::json::{is_error, object};
use crate::protocols::answers::ReadAnswers;
use crate::protocols::concurrent::all_answers;
use crate::report::ReportedUsage;

/// Asks servers that speak a format of typed questions.
#[derive(Debug)]
pub(crate) struct TypedProtocol {
    pub(crate) format: &'static TypedFormat,
    /// Sent as `model`.
    pub(crate) model: String,
    /// Estimated tokens above which a request is split.
    pub(crate) request_tokens: usize,
}

/// How the requests of a format are written and its answers are read.
#[derive(Debug)]
pub(crate) struct TypedFormat {
    /// The JSON between the model's name and the text to judge.
    pub(crate) before_state: &'static str,
    /// The JSON between the text to judge and the first question.
    pub(crate) before_questions: &'static str,
    /// The JSON behind the last question.
    pub(crate) end: &'static str,
    /// Writes the text to judge, and reserves this many bytes more for what comes behind it.
    pub(crate) write_state: fn(&mut Vec<u8>, &State<'_>, usize),
    /// Writes a question.
    pub(crate) write_question: fn(&mut Vec<u8>, &Question),
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
        let format = self.format;
        let requests = format.split(&self.model, version, submission, self.request_tokens);
        let answers = requests.into_iter();
        all_answers(answers.map(|request| self.answers(call, request))).await
    }

    async fn answers(
        &self,
        call: &CallSender<'_>,
        request: SplitRequest<'_>,
    ) -> Result<Vec<(QuestionKey, Answer)>, ModelFailure> {
        let mut series = call.series();
        let body = call.post(|_| request.body.clone(), &mut series).await?;
        let malformed = || self.format.malformed.clone();
        let reply: TypedReplyJson<'_> = object(&body).ok_or_else(malformed)?;
        if reply.error.is_some_and(is_error) {
            return Err(ModelFailure::ReportedError);
        }
        let usage = ReportedUsage::read(reply.model, reply.usage);
        call.recorder.add_usage(&usage);
        let answers = reply.answers.ok_or_else(malformed)?;
        let read = (self.format.read)(answers, request.questions)?;
        call.recorder.add_coverage(read.coverage);
        Ok(read.answers)
    }
}

/// The body of an answer with status 200, as far as all formats agree.
#[derive(Deserialize)]
struct TypedReplyJson<'a> {
    #[serde(borrow)]
    answers: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    model: Option<&'a RawValue>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
}
