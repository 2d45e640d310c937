//! The protocol `chat`: one request per question to an OpenAI-compatible model, whose answer is
//! read from its log-probabilities.
//!
//! [`prompt`] and [`request`] write, [`completion`], [`reading`] and [`answer`] read, [`llama_cpp`]
//! and [`named_tokens`] do both for servers' own ways; none of them knows connections.
//! [`question_requests`] sends. [`follow_ups`], [`batch`] and [`naming`] ask again where an answer did
//! not show every code, and [`dialogue`] joins them.

mod answer;
mod batch;
mod capabilities;
mod code_probabilities;
pub(crate) mod codes;
pub(crate) mod completion;
mod dialogue;
mod digits;
mod follow_ups;
mod llama_cpp;
mod named_tokens;
mod naming;
pub(crate) mod opening;
pub(crate) mod prompt;
mod question_requests;
mod reading;
pub(crate) mod request;
#[cfg(test)]
mod tests;
mod thinking;
mod token_text;
mod unlisted;

use refract_domain::answer::Answers;
use refract_domain::prism::PrismVersion;
use refract_domain::submission::Submission;

use self::capabilities::ServerCapabilities;
use self::dialogue::QuestionDialogue;
use self::llama_cpp::LlamaCppRequests;
use self::named_tokens::TokenizeRequest;
use self::opening::ChatOpening;
use self::question_requests::QuestionRequests;
use self::request::Prompts;
use crate::attempts::RequestSender;
use crate::concurrent::all_or_first_failure;
use crate::endpoint::ModelEndpoint;
use crate::failure::ModelFailure;
use crate::report::ReportRecorder;

/// Asks servers that speak chat completions with log-probabilities.
#[derive(Debug)]
pub(crate) struct ChatProtocol {
    opening: ChatOpening,
    /// Most follow-up requests for one question.
    follow_ups: usize,
    capabilities: ServerCapabilities,
    /// `None` where the server's address does not tell where these endpoints would be.
    llama_cpp: Option<LlamaCppRequests>,
    /// `None` where the server's address does not tell where this endpoint would be.
    tokenize: Option<TokenizeRequest>,
}

impl ChatProtocol {
    /// A protocol that asks for this model with up to this many follow-up requests a question.
    pub(crate) fn new(model: &str, follow_ups: usize, endpoint: &ModelEndpoint) -> Self {
        Self {
            opening: ChatOpening::new(model, prompt::SYSTEM),
            llama_cpp: LlamaCppRequests::new(model, endpoint),
            tokenize: TokenizeRequest::new(model, endpoint),
            follow_ups,
            capabilities: ServerCapabilities::default(),
        }
    }

    /// Asks all questions concurrently.
    pub(crate) async fn ask(
        &self,
        sender: &RequestSender,
        version: &PrismVersion,
        submission: &Submission,
        recorder: &ReportRecorder,
    ) -> Result<Answers, ModelFailure> {
        let prompts = &Prompts::new(&self.opening, version, submission);
        let questions = version.questions().iter().enumerate();
        let answers = questions.map(|(index, question)| {
            let dialogue = QuestionDialogue {
                requests: QuestionRequests {
                    question,
                    index,
                    prompts,
                    sender,
                    recorder,
                    capabilities: &self.capabilities,
                },
                follow_ups: self.follow_ups,
                llama_cpp: self.llama_cpp.as_ref(),
                tokenize: self.tokenize.as_ref(),
            };
            dialogue.ask()
        });
        Ok(Answers::new(all_or_first_failure(answers).await?))
    }
}
