//! The protocol `chat`: one request per question to an OpenAI-compatible model, whose answer is
//! read from its log-probabilities.
//!
//! [`prompt`] and [`request`] write, [`completion`], [`reading`] and [`answer`] read; neither side
//! knows connections. [`dialogue`] joins both.

mod answer;
mod capabilities;
mod code_probabilities;
pub(crate) mod codes;
pub(crate) mod completion;
mod dialogue;
mod digits;
pub(crate) mod prompt;
mod reading;
pub(crate) mod request;
#[cfg(test)]
mod tests;
mod token_text;
mod unlisted;

use refract_domain::answer::Answers;
use refract_domain::prism::PrismVersion;
use refract_domain::submission::Submission;

use self::capabilities::ServerCapabilities;
use self::dialogue::QuestionDialogue;
use self::request::Prompts;
use crate::attempts::RequestSender;
use crate::concurrent::all_or_first_failure;
use crate::failure::ModelFailure;
use crate::report::ReportRecorder;

/// Asks servers that speak chat completions with log-probabilities.
#[derive(Debug)]
pub(crate) struct ChatProtocol {
    /// Sent as `model`.
    model: String,
    capabilities: ServerCapabilities,
}

impl ChatProtocol {
    pub(crate) fn new(model: String) -> Self {
        Self {
            model,
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
        let prompts = &Prompts::new(&self.model, version, submission);
        let questions = version.questions().iter().enumerate();
        let answers = questions.map(|(index, question)| {
            let dialogue = QuestionDialogue {
                question,
                index,
                prompts,
                sender,
                recorder,
                capabilities: &self.capabilities,
            };
            dialogue.ask()
        });
        Ok(Answers::new(all_or_first_failure(answers).await?))
    }
}
