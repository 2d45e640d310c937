//! The requests about one question, in order: the first one, then others if it did not show the
//! probability of every code.

use refract_domain::answer::Answer;
use refract_domain::key::QuestionKey;

use super::answer;
use super::batch::{BATCH_REQUESTS, follow_up_at_once};
use super::capabilities::{MOST_ALTERNATIVES, USUAL_ALTERNATIVES};
use super::code_probabilities::CodeProbabilities;
use super::follow_ups::follow_up;
use super::naming::ask_named;
use super::question_requests::QuestionRequests;
use super::reading;
use super::request::WantedCode;
use crate::attempts::request_series::RequestSeries;
use crate::error::ModelError;

/// One question about one submission.
#[derive(Clone, Copy)]
pub(super) struct QuestionDialogue<'a> {
    pub(super) requests: QuestionRequests<'a>,
    /// Upper bound on the follow-up requests.
    pub(super) follow_ups: usize,
}

/// The probabilities from the first request, and whether llama.cpp answered it.
struct FirstReading {
    probabilities: CodeProbabilities,
    is_from_llama_cpp: bool,
}

impl QuestionDialogue<'_> {
    /// Asks the question and returns its key with the answer.
    pub(super) async fn ask(self) -> Result<(QuestionKey, Answer), ModelError> {
        let requests = self.requests;
        let mut series = requests.call.series();
        let first = self.ask_codes(USUAL_ALTERNATIVES, &mut series).await?;
        let first = self.ask_for_hidden(first, &mut series).await?;
        let mut probabilities = first.probabilities;
        let is_followed_up = first.is_from_llama_cpp
            && self.follow_ups >= BATCH_REQUESTS
            && follow_up_at_once(requests, &mut probabilities, &mut series).await?;
        if !is_followed_up {
            follow_up(requests, &mut probabilities, self.follow_ups, series).await?;
        }
        requests.call.recorder.add_parsed(probabilities.parsed());
        let key = requests.question.key.clone();
        match answer::answer(requests.question, probabilities) {
            Some(answer) => Ok((key, answer)),
            None => Err(ModelError::Unanswered(key)),
        }
    }

    /// Asks the question again if codes are missing from the listed alternatives: for more
    /// alternatives, or for the tokens of codes by name.
    async fn ask_for_hidden(
        self,
        mut first: FirstReading,
        series: &mut RequestSeries,
    ) -> Result<FirstReading, ModelError> {
        let capabilities = &self.requests.server(*series).capabilities;
        let asked = capabilities.alternatives(USUAL_ALTERNATIVES);
        if !first.probabilities.hides_codes(asked) {
            return Ok(first);
        }
        if capabilities.alternatives(MOST_ALTERNATIVES) == MOST_ALTERNATIVES {
            return self.ask_codes(MOST_ALTERNATIVES, series).await;
        }
        let named = ask_named(self.requests, series).await;
        if let Some(named) = named.filter(|named| named.mass >= first.probabilities.mass) {
            first.probabilities = named;
        }
        Ok(first)
    }

    /// Asks for any code, and for this many alternatives to each token if the server lists them.
    async fn ask_codes(
        self,
        alternatives: u16,
        series: &mut RequestSeries,
    ) -> Result<FirstReading, ModelError> {
        let requests = self.requests;
        let completion = requests
            .complete(&WantedCode::Any, alternatives, series)
            .await?;
        let key = || requests.question.key.clone();
        if completion.is_thinking {
            return Err(ModelError::StillThinking(key()));
        }
        if completion.positions.is_empty() {
            return Err(ModelError::NoLogProbabilities(key()));
        }
        let (shape, outcomes) = (requests.shape(), requests.outcomes());
        Ok(FirstReading {
            probabilities: reading::read(shape, outcomes, &completion.positions),
            is_from_llama_cpp: completion.is_from_llama_cpp,
        })
    }
}
