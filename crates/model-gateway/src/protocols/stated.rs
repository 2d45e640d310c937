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
use crate::protocols::reading_order::ReadingOrder;
use crate::servers::address::ServerAddress;
use crate::servers::each_server::EachServer;
use crate::servers::prefix_cache::PrefixCache;

/// Asks servers that speak chat completions with schemas.
#[derive(Debug)]
pub(crate) struct StatedProtocol {
    opening: ChatOpening,
    refused: EachServer<RefusedParameters>,
    prefix_caches: EachServer<PrefixCache>,
}

impl StatedProtocol {
    pub(crate) fn new(model: &str, addresses: &EachServer<ServerAddress>) -> Self {
        Self {
            opening: ChatOpening::new(model, request::SYSTEM),
            refused: addresses.map(|_| RefusedParameters::default()),
            prefix_caches: addresses.map(|_| PrefixCache::default()),
        }
    }

    /// Asks all questions, in requests of up to ten questions: concurrent ones, after the first has
    /// made the server read a long text.
    pub(crate) async fn ask(
        &self,
        call: &CallSender<'_>,
        version: &PrismVersion,
        submission: &Submission,
    ) -> Result<Answers, ModelError> {
        let requests = request::split(&self.opening, version, submission);
        let shared_bytes = requests.first().map_or(0, StatedRequest::shared_bytes);
        let order = &ReadingOrder::new(&self.prefix_caches, shared_bytes, requests.len());
        let answers = requests.into_iter();
        all_answers(answers.map(|request| self.answers(call, order, request))).await
    }

    /// Asks the questions of a request. A request that is too long for the server is halved.
    async fn answers(
        &self,
        call: &CallSender<'_>,
        order: &ReadingOrder<'_>,
        request: StatedRequest<'_>,
    ) -> Result<Vec<(QuestionKey, Answer)>, ModelError> {
        let answered = self.ask_once(call, order, &request).await;
        match answered.as_ref().err().and_then(ModelError::excess) {
            Some(_) if request.questions.len() > 1 => {
                let halves = request.halves().map(|half| self.answers(call, order, half));
                let answers = Box::pin(all_or_first_failure(halves)).await?;
                Ok(answers.into_iter().flatten().collect())
            }
            Some(_) | None => answered,
        }
    }

    async fn ask_once(
        &self,
        call: &CallSender<'_>,
        order: &ReadingOrder<'_>,
        request: &StatedRequest<'_>,
    ) -> Result<Vec<(QuestionKey, Answer)>, ModelError> {
        let write = |server| {
            let parameters = self.refused.of(server).parameters();
            (request.body(parameters), parameters)
        };
        let can_do_without = |server, parameter: &str, _, sent| {
            let refused = self.refused.of(server);
            refused.can_do_without(parameter, sent, request.names_codes())
        };
        let turn = order.turn().await;
        let mut series = turn.series(call);
        let completion = complete(call, &mut series, write, can_do_without).await;
        let completion = completion.map_err(parameters::about_holder)?;
        if completion.is_from_llama_cpp {
            self.prefix_caches.of(series.server()).has_slots();
        }
        turn.answered(series, &completion.usage);
        let key = request.questions.first().map(|question| &question.key);
        if let (true, None, Some(key)) = (completion.is_thinking, completion.withheld, key) {
            return Err(ModelError::StillThinking(key.clone()));
        }
        let content = completion.content.unwrap_or_default();
        let read = reading::read(&content, request.questions);
        let read = read.map_err(|unread| match completion.withheld.zip(key) {
            Some((by, key)) => by.failure(key),
            None => unread,
        })?;
        call.recorder.add_parsed(read.parsed);
        Ok(read.answers)
    }
}
