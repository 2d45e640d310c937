//! What a server accepts, learned from its refusals.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::named_tokens::NamedTokens;
use super::prompt::CodeShape;
use super::token_limit::{self, LimitForm, TokenLimits};
use crate::error::SYSTEM_MESSAGE;

/// Number of alternatives to each token that a question requests first.
pub(super) const USUAL_ALTERNATIVES: u16 = 100;
/// Number of alternatives that a question requests when some codes were not among the usual ones.
pub(super) const MOST_ALTERNATIVES: u16 = 1_000;
/// Number of alternatives that every server with log-probabilities can list.
const FEWEST_ALTERNATIVES: u16 = 20;

/// Request parameters that only some servers accept.
#[derive(Clone, Copy, Debug)]
pub(super) struct OptionalParameters<'a> {
    /// `top_logprobs`: the number of alternatives to list for each token.
    pub(super) alternatives: u16,
    /// The name of the limit on tokens, and its least value.
    pub(super) limit: LimitForm,
    /// Whether to send `chat_template_kwargs`, which turns thinking off on servers that fill a
    /// template.
    pub(super) template_kwargs: bool,
    /// Whether to send a system message; otherwise its words are part of the user message.
    pub(super) system_message: bool,
    /// Whether an answer that names its question by a key is begun with the key; otherwise the user
    /// message ends with it.
    pub(super) begun_answer: bool,
    /// `logprob_token_ids`: the tokens to list instead of the most probable ones.
    pub(super) named_tokens: Option<&'a NamedTokens>,
}

/// How to make a server continue an answer from a given letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FollowUpMethod {
    /// The request ends with an unfinished message of the model that consists of the letter.
    ContinuedMessage,
    /// A schema in the request allows only codes of the letter.
    Schema,
}

/// What is known so far about one server, shared by all threads.
#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ServerCapabilities {
    /// The smallest number of alternatives that the server has refused.
    refused_alternatives: AtomicU16,
    no_template_kwargs: AtomicBool,
    no_system_message: AtomicBool,
    /// Answers that begin with a question's key, for codes of each shape: after `key = `, a model
    /// whose tokens begin with a space may write digits only.
    begun_answers: [NativeExtension; CodeShape::ALL.len()],
    hides_spellings: AtomicBool,
    /// Token limits of answers.
    pub(super) token_limits: TokenLimits,
    /// llama.cpp's batches of first tokens in one request.
    pub(super) batch: NativeExtension,
    /// Whether the server has refused a number of alternatives with vLLM's message.
    has_limit: AtomicBool,
    asked_for_tokens: AtomicBool,
    #[serde(serialize_with = "write_once", deserialize_with = "read_once")]
    named_tokens: OnceLock<NamedTokens>,
    /// vLLM's requests that name the tokens to list.
    pub(super) naming: NativeExtension,
    /// Follow-up requests with a continued message.
    message: NativeExtension,
    /// Follow-up requests with a schema, for servers that cannot continue a message.
    schema: NativeExtension,
}

impl Default for ServerCapabilities {
    fn default() -> Self {
        Self {
            refused_alternatives: AtomicU16::new(u16::MAX),
            no_template_kwargs: AtomicBool::default(),
            no_system_message: AtomicBool::default(),
            begun_answers: Default::default(),
            hides_spellings: AtomicBool::default(),
            token_limits: TokenLimits::default(),
            batch: NativeExtension::default(),
            has_limit: AtomicBool::default(),
            asked_for_tokens: AtomicBool::default(),
            named_tokens: OnceLock::new(),
            naming: NativeExtension::default(),
            message: NativeExtension::default(),
            schema: NativeExtension::default(),
        }
    }
}

impl ServerCapabilities {
    /// The parameters to send now if `alternatives` are wanted.
    pub(super) fn parameters(&self, alternatives: u16) -> OptionalParameters<'static> {
        OptionalParameters {
            alternatives: self.alternatives(alternatives),
            limit: self.token_limits.form(),
            template_kwargs: !self.no_template_kwargs.load(Ordering::Relaxed),
            system_message: !self.no_system_message.load(Ordering::Relaxed),
            begun_answer: false,
            named_tokens: None,
        }
    }

    /// The parameters to send now for an answer with a code of this shape that may begin with its
    /// question's key.
    pub(super) fn parameters_to_begin(
        &self,
        shape: CodeShape,
        alternatives: u16,
    ) -> OptionalParameters<'static> {
        OptionalParameters {
            // a server that does not go on after a letter does not go on after a key
            begun_answer: self.message.is_open() && self.begun_answers(shape).is_open(),
            ..self.parameters(alternatives)
        }
    }

    /// Answers with a code of this shape that begin with a question's key.
    pub(super) fn begun_answers(&self, shape: CodeShape) -> &NativeExtension {
        let [words, digits, letters, pairs] = &self.begun_answers;
        match shape {
            CodeShape::YesNo => words,
            CodeShape::Digit => digits,
            CodeShape::Letter => letters,
            CodeShape::LetterDigit => pairs,
        }
    }

    /// Records that the server refuses begun answers.
    pub(super) fn refuses_begun_answers(&self) {
        for begun in &self.begun_answers {
            begun.fails(true);
        }
    }

    /// The number of alternatives to request now if `wanted` are wanted.
    pub(super) fn alternatives(&self, wanted: u16) -> u16 {
        let refused = self.refused_alternatives.load(Ordering::Relaxed);
        let steps = [wanted, USUAL_ALTERNATIVES];
        let accepted = steps.into_iter().find(|step| *step < refused);
        accepted.unwrap_or(FEWEST_ALTERNATIVES)
    }

    /// Whether a request that was refused for `parameter` can be sent without it, or with a lower
    /// number. If so, later requests to the server are sent like this too.
    pub(super) fn can_do_without(&self, parameter: &str, sent: OptionalParameters<'_>) -> bool {
        let (was_sent, refused) = match parameter {
            // a server may name either parameter when the number of alternatives is too large
            "top_logprobs" | "logprobs" if sent.alternatives > FEWEST_ALTERNATIVES => {
                let refused = &self.refused_alternatives;
                refused.fetch_min(sent.alternatives, Ordering::Relaxed);
                return true;
            }
            name if token_limit::NAMES.contains(&name) => {
                self.token_limits.refuses(sent.limit);
                return true;
            }
            "chat_template_kwargs" => (sent.template_kwargs, &self.no_template_kwargs),
            SYSTEM_MESSAGE => (sent.system_message, &self.no_system_message),
            "continue_final_message" | "add_generation_prompt" if sent.begun_answer => {
                self.refuses_begun_answers();
                return true;
            }
            _ => return false,
        };
        refused.fetch_or(was_sent, Ordering::Relaxed);
        was_sent
    }

    /// Records that the model was still thinking: the next request asks for none, also of a server that
    /// has refused the parameter for that. Another model may serve since then.
    pub(super) fn still_thinks(&self) {
        self.no_template_kwargs.store(false, Ordering::Relaxed);
    }

    /// Records that spellings of `yes` and `no` were not among the usual alternatives: the model puts
    /// much of its probability on other words.
    pub(super) fn hides_spellings(&self) {
        self.hides_spellings.store(true, Ordering::Relaxed);
    }

    /// The number of alternatives that a Yes / No question requests first.
    pub(super) fn yes_no_alternatives(&self) -> u16 {
        if self.hides_spellings.load(Ordering::Relaxed) {
            MOST_ALTERNATIVES
        } else {
            USUAL_ALTERNATIVES
        }
    }

    /// Records that the server refused a number of alternatives with vLLM's message.
    pub(super) fn has_limit(&self) {
        self.has_limit.store(true, Ordering::Relaxed);
    }

    /// Whether to ask the server now for the tokens that spell codes: once, and only after it
    /// refused a number of alternatives with vLLM's message.
    pub(super) fn asks_for_tokens(&self) -> bool {
        self.has_limit.load(Ordering::Relaxed)
            && !self.asked_for_tokens.swap(true, Ordering::Relaxed)
    }

    pub(super) fn learn_tokens(&self, tokens: NamedTokens) {
        // the server is asked once, so the cell is empty
        let _ = self.named_tokens.set(tokens);
    }

    /// The tokens that a request can name.
    pub(super) fn named_tokens(&self) -> Option<&NamedTokens> {
        self.named_tokens.get().filter(|_| self.naming.is_open())
    }

    /// The method for the next follow-up request, and whether it has worked before. `None` if no
    /// method works.
    pub(super) fn follow_up(&self) -> Option<FollowUp> {
        let methods = [FollowUpMethod::ContinuedMessage, FollowUpMethod::Schema];
        let mut open = methods
            .into_iter()
            .filter(|method| self.way(*method).is_open());
        open.next().map(|method| FollowUp {
            method,
            is_proven: self.way(method).has_worked(),
        })
    }

    pub(super) fn works(&self, method: FollowUpMethod) {
        self.way(method).works();
    }

    /// Gives up a method that has not worked yet. Meanwhile a request about another question may
    /// have shown that it works; then it stays.
    pub(super) fn fails(&self, method: FollowUpMethod) {
        self.way(method).fails(false);
    }

    fn way(&self, method: FollowUpMethod) -> &NativeExtension {
        match method {
            FollowUpMethod::ContinuedMessage => &self.message,
            FollowUpMethod::Schema => &self.schema,
        }
    }
}

fn write_once<S: Serializer>(
    cell: &OnceLock<NamedTokens>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    cell.get().serialize(serializer)
}

fn read_once<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<OnceLock<NamedTokens>, D::Error> {
    let known: Option<NamedTokens> = Option::deserialize(deserializer)?;
    Ok(known.map_or_else(OnceLock::new, OnceLock::from))
}

/// Whether we use a native extension of a server. Until it has worked, any failure ends its use;
/// afterwards, only an answer that shows a changed server does.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct NativeExtension {
    has_worked: AtomicBool,
    is_given_up: AtomicBool,
}

impl NativeExtension {
    pub(super) fn is_open(&self) -> bool {
        !self.is_given_up.load(Ordering::Relaxed)
    }

    pub(super) fn has_worked(&self) -> bool {
        self.has_worked.load(Ordering::Relaxed)
    }

    pub(super) fn works(&self) {
        self.has_worked.store(true, Ordering::Relaxed);
    }

    pub(super) fn fails(&self, has_changed: bool) {
        if has_changed || !self.has_worked() {
            self.is_given_up.store(true, Ordering::Relaxed);
        }
    }
}

/// The method of the next follow-up request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FollowUp {
    pub(super) method: FollowUpMethod,
    /// Whether the method has worked before.
    pub(super) is_proven: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_alternatives_are_not_asked_for_again() {
        let capabilities = ServerCapabilities::default();
        let refuse = |alternatives| {
            let sent = capabilities.parameters(alternatives);
            capabilities.can_do_without("top_logprobs", sent)
        };
        assert_eq!(capabilities.alternatives(MOST_ALTERNATIVES), 1_000);
        assert!(refuse(MOST_ALTERNATIVES));
        assert_eq!(capabilities.alternatives(MOST_ALTERNATIVES), 100);
        assert!(refuse(USUAL_ALTERNATIVES));
        assert_eq!(capabilities.alternatives(MOST_ALTERNATIVES), 20);
        assert_eq!(capabilities.alternatives(USUAL_ALTERNATIVES), 20);
        assert!(!refuse(USUAL_ALTERNATIVES));
    }
}
