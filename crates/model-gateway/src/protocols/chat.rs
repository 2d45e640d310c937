//! The protocol `chat`: one request per question to an OpenAI-compatible model. The answer is read
//! from its log-probabilities.
//!
//! [`prompt`] and [`request`] write requests. [`completion`] and [`reading`] read answers;
//! [`written_answer`] finds the answer among the tokens, and names the kind of one without a code.
//! [`llama_cpp`] and [`named_tokens`] do both for native extensions of servers. None of these knows
//! connections. [`capabilities`] and [`token_limit`] hold what is learned about a server.
//! [`question_requests`] sends requests. [`dialogue`] runs all requests about one question, with
//! [`follow_ups`] if an answer did not show every code.

pub(crate) mod capabilities;
mod code_probabilities;
pub(crate) mod completion;
mod dialogue;
mod event_stream;
mod follow_ups;
mod llama_cpp;
mod named_tokens;
pub(crate) mod prompt;
pub(crate) mod question_requests;
mod reading;
pub(crate) mod request;
mod token_limit;
mod unlisted;
mod written_answer;

use refract_domain::answer::Answers;
use refract_domain::prism::PrismVersion;
use refract_domain::submission::Submission;
use serde_json::{Value, json};

use self::dialogue::QuestionDialogue;
use self::question_requests::{ChatServer, QuestionRequests};
use self::request::{ChatOpening, Prompts};
use crate::attempts::CallSender;
use crate::error::ModelError;
use crate::protocols::concurrent::{ReadingOrder, all_or_first_failure};
use crate::protocols::learned_facts::LearnedFacts;
use crate::servers::{EachServer, PrefixCache, ServerAddress};
use crate::settings::{ChatPrompt, ModelSettings};

/// Asks servers that speak chat completions with log-probabilities.
#[derive(Debug)]
pub(crate) struct ChatProtocol {
    model: String,
    prompt: ChatPrompt,
    /// The beginning of requests with prompt 3.
    opening: ChatOpening,
    /// Upper bound on the follow-up requests for one question.
    follow_ups: usize,
    servers: EachServer<ChatServer>,
    prefix_caches: EachServer<PrefixCache>,
}

impl ChatProtocol {
    /// A protocol for the model, the prompt and the follow-up requests of these settings.
    pub(crate) fn new(settings: &ModelSettings, addresses: &EachServer<ServerAddress>) -> Self {
        let model = settings.name.as_str();
        Self {
            model: model.to_owned(),
            prompt: settings.prompt,
            opening: ChatOpening::new(model, prompt::SYSTEM),
            follow_ups: settings.follow_ups,
            servers: addresses.map(|address| ChatServer::new(model, address)),
            prefix_caches: addresses.map(|_| PrefixCache::default()),
        }
    }

    pub(crate) fn learned(&self) -> Value {
        let capabilities = self.servers.iter().map(|server| &server.capabilities);
        json!({
            "capabilities": capabilities.collect::<Vec<_>>(),
            "prefix_caches": self.prefix_caches.iter().collect::<Vec<_>>(),
        })
    }

    pub(crate) fn recall(&mut self, facts: LearnedFacts) {
        for (server, capabilities) in self.servers.iter_mut().zip(facts.capabilities) {
            server.capabilities = capabilities;
        }
        self.prefix_caches.recall(facts.prefix_caches);
    }

    /// Asks all questions: concurrently, after the first has made the server read a long text.
    pub(crate) async fn ask(
        &self,
        call: &CallSender<'_>,
        version: &PrismVersion,
        submission: &Submission,
    ) -> Result<Answers, ModelError> {
        let prompts = &self.prompts(version, submission);
        if prompts.name_keys() {
            call.recorder.asks_by(ChatPrompt::QuestionsFirst.version());
        }
        let order = &ReadingOrder::new(
            &self.prefix_caches,
            prompts.shared(),
            version.questions().len(),
            call.is_for_row(),
        );
        let questions = version.questions().iter();
        let answers = questions.map(|question| {
            let dialogue = QuestionDialogue {
                requests: QuestionRequests {
                    question,
                    prompts,
                    call,
                    servers: &self.servers,
                    prefix_caches: &self.prefix_caches,
                },
                order,
                follow_ups: self.follow_ups,
            };
            dialogue.ask()
        });
        Ok(Answers::new(all_or_first_failure(answers).await?))
    }

    /// The prompts of the version's questions. Which prompt they are depends on the version alone.
    fn prompts(&self, version: &PrismVersion, submission: &Submission) -> Prompts {
        let listing = match self.prompt {
            ChatPrompt::MaterialFirst => None,
            ChatPrompt::QuestionsFirst => prompt::listing(version),
        };
        match listing {
            None => Prompts::material_first(&self.opening, version, submission),
            Some(listing) => Prompts::questions_first(&self.model, &listing, version, submission),
        }
    }
}

#[cfg(test)]
mod tests;
