//! The protocol `stated`: a chat model without log-probabilities answers with percentages.
//!
//! Several questions share a request, and a schema constrains the answer. The stated numbers are
//! the model's opinion of its own certainty: proper distributions, but coarser than
//! log-probabilities.

mod parameters;
mod reading;
pub(crate) mod request;

use refract_domain::answer::{Answer, Answers};
use refract_domain::key::QuestionKey;
use refract_domain::prism::PrismVersion;
use refract_domain::submission::Submission;

use self::parameters::RefusedParameters;
use self::request::StatedRequest;
use crate::attempts::CallSender;
use crate::error::ModelError;
use crate::protocols::chat::complete::complete;
use crate::protocols::chat::opening::ChatOpening;
use crate::protocols::concurrent::{all_answers, all_or_first_failure};
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
    ) -> Result<Answers, ModelError> {
        let requests = request::split(&self.opening, version, submission);
        let answers = requests.into_iter();
        all_answers(answers.map(|request| self.answers(call, request))).await
    }

    /// Asks the questions of a request. A request that is too long for the server is halved.
    async fn answers(
        &self,
        call: &CallSender<'_>,
        request: StatedRequest<'_>,
    ) -> Result<Vec<(QuestionKey, Answer)>, ModelError> {
        let answered = self.ask_once(call, &request).await;
        match answered.as_ref().err().and_then(ModelError::excess) {
            Some(_) if request.questions.len() > 1 => {
                let halves = request.halves().map(|half| self.answers(call, half));
                let answers = Box::pin(all_or_first_failure(halves)).await?;
                Ok(answers.into_iter().flatten().collect())
            }
            Some(_) | None => answered,
        }
    }

    async fn ask_once(
        &self,
        call: &CallSender<'_>,
        request: &StatedRequest<'_>,
    ) -> Result<Vec<(QuestionKey, Answer)>, ModelError> {
        let write = |server| {
            let parameters = self.refused.of(server).parameters();
            (request.body(parameters), parameters)
        };
        let can_do_without = |server, parameter: &str, _, sent| {
            let refused = self.refused.of(server);
            refused.can_do_without(parameter, sent)
        };
        let completion = complete(call, &mut call.series(), write, can_do_without).await;
        let completion = completion.map_err(parameters::about_holder)?;
        if let (true, Some(question)) = (completion.is_thinking, request.questions.first()) {
            return Err(ModelError::StillThinking(question.key.clone()));
        }
        let content = completion.content.unwrap_or_default();
        let read = reading::read(&content, request.questions)?;
        call.recorder.add_parsed(read.parsed);
        Ok(read.answers)
    }
}
