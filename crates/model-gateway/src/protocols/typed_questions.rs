//! The protocols `systemone`, `decisions` and `gemini`: a request asks many questions at once and gets a
//! typed answer with probabilities for each. The formats are separate modules: [`TypedFormat`] has what
//! distinguishes them.

pub(crate) mod format;
pub(crate) mod reply;
pub(crate) mod request_limits;
mod split;

use std::ops::Range;

use refract_domain::answer::{Answer, Answers};
use refract_domain::key::QuestionKey;
use refract_domain::prism::PrismVersion;
use refract_domain::submission::Submission;

use self::format::TypedFormat;
use self::reply::TypedReply;
use self::request_limits::LearnedLimits;
use self::split::WrittenQuestions;
use crate::attempts::CallSender;
use crate::error::ModelError;
use crate::error::size_refusal::Excess;
use crate::protocols::concurrent::{all_answers, all_or_first_failure};
use crate::report::ReportedUsage;

/// Asks servers with a format of typed questions.
#[derive(Debug)]
pub(crate) struct TypedProtocol {
    pub(crate) format: &'static TypedFormat,
    /// Sent as `model`.
    pub(crate) model: String,
    /// Upper bounds on one request.
    pub(crate) limits: LearnedLimits,
}

impl TypedProtocol {
    /// Asks all questions, split into concurrent requests if one would be too large.
    pub(crate) async fn ask(
        &self,
        call: &CallSender<'_>,
        version: &PrismVersion,
        submission: &Submission,
    ) -> Result<Answers, ModelError> {
        let written = &self.format.write(&self.model, version, submission);
        let groups = written.groups(self.limits.now()).into_iter();
        all_answers(groups.map(|group| self.answers(call, written, group))).await
    }

    /// Asks a group of questions. A request that the server refuses for its size is halved.
    async fn answers(
        &self,
        call: &CallSender<'_>,
        written: &WrittenQuestions<'_>,
        group: Range<usize>,
    ) -> Result<Vec<(QuestionKey, Answer)>, ModelError> {
        let answered = self.ask_group(call, written, &group).await;
        match answered.as_ref().err().and_then(ModelError::excess) {
            Some(excess) if group.len() > 1 => {
                // boxed, so that a request that is not refused needs no memory for halves
                Box::pin(self.halves(call, written, group, excess)).await
            }
            Some(_) | None => answered,
        }
    }

    /// Asks a refused group in two halves, or in as many parts as the refusal asks for. The first
    /// part is asked alone: a text that is too long by itself then costs few requests. What the parts
    /// show is learned once they are answered, so that such a text teaches nothing.
    async fn halves(
        &self,
        call: &CallSender<'_>,
        written: &WrittenQuestions<'_>,
        group: Range<usize>,
        excess: Excess,
    ) -> Result<Vec<(QuestionKey, Answer)>, ModelError> {
        let half = group.len().div_ceil(2);
        let most = match excess {
            Excess::Questions(Some(most)) => most.min(half),
            Excess::Questions(None) | Excess::Tokens | Excess::Options => half,
        };
        let starts = group.clone().step_by(most);
        let parts: Vec<Range<usize>> = starts
            .map(|start| start..group.end.min(start + most))
            .collect();
        let mut answers = parts
            .iter()
            .map(|part| self.answers(call, written, part.clone()));
        let first = all_or_first_failure(answers.next()).await?;
        let others = all_or_first_failure(answers).await?;
        match excess {
            Excess::Questions(_) => self.limits.learn_questions(most),
            Excess::Tokens | Excess::Options => {
                let tokens = parts.iter().map(|part| written.tokens(part));
                self.limits.learn_tokens(tokens.max().unwrap_or(usize::MAX));
            }
        }
        Ok(first.into_iter().chain(others).flatten().collect())
    }

    /// Asks a group of questions in one request.
    async fn ask_group(
        &self,
        call: &CallSender<'_>,
        written: &WrittenQuestions<'_>,
        group: &Range<usize>,
    ) -> Result<Vec<(QuestionKey, Answer)>, ModelError> {
        let mut series = call.series();
        let body = written.body(group);
        let body = call.post(|_| body.clone(), &mut series).await?;
        let malformed = || self.format.malformed.clone();
        let reply = TypedReply::read(&body).ok_or_else(malformed)?;
        let usage = ReportedUsage::read(reply.model, reply.usage);
        call.recorder.add_usage(&usage);
        if reply.is_error {
            return Err(ModelError::ReportedError);
        }
        if let Some(reason) = reply.block_reason {
            return Err(ModelError::Blocked(reason));
        }
        let answers = reply.answers.ok_or_else(malformed)?;
        let read = (self.format.read)(answers, written.questions(group))?;
        call.recorder.add_parsed(read.parsed);
        Ok(read.answers)
    }
}
