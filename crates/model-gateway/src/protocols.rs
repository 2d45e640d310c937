//! The protocols for asking a model. Each one writes requests and reads answers, and knows no
//! connection. The built-in scorer is a protocol that sends nothing.
//!
//! A new protocol needs a variant of [`ServerProtocol`] and of [`Protocol`], an arm in
//! [`crate::estimate`], and a module.

pub(crate) mod answers;
pub(crate) mod chat;
pub(crate) mod concurrent;
pub(crate) mod decisions;
pub(crate) mod demo_scorer;
mod learned_facts;
pub(crate) mod stated;
pub(crate) mod system_one;
pub(crate) mod typed_questions;

use std::sync::Arc;

use refract_domain::answer::Answers;
use refract_domain::prism::PrismVersion;
use refract_domain::submission::Submission;
use serde_json::{Value, json};

use self::chat::ChatProtocol;
use self::learned_facts::LearnedFacts;
use self::stated::StatedProtocol;
use self::typed_questions::TypedProtocol;
use self::typed_questions::request_limits::LearnedLimits;
use crate::attempts::CallSender;
use crate::error::ModelError;
use crate::servers::{EachServer, ServerAddress};
use crate::settings::{ModelSettings, Protocol};

/// A protocol, with the known capabilities of each server. Clones share them.
#[derive(Clone, Debug)]
pub(crate) enum ServerProtocol {
    Typed(Arc<TypedProtocol>),
    Chat(Arc<ChatProtocol>),
    Stated(Arc<StatedProtocol>),
}

impl ServerProtocol {
    pub(crate) fn new(settings: &ModelSettings, addresses: &EachServer<ServerAddress>) -> Self {
        let model = &settings.name;
        let typed = |format| {
            Self::Typed(Arc::new(TypedProtocol {
                format,
                model: model.clone(),
                limits: LearnedLimits::new(settings.request_limits()),
            }))
        };
        match settings.protocol {
            Protocol::SystemOne => typed(&system_one::FORMAT),
            Protocol::Decisions => typed(&decisions::FORMAT),
            Protocol::Gemini => typed(&system_one::GEMINI_FORMAT),
            Protocol::Chat => Self::Chat(Arc::new(ChatProtocol::new(settings, addresses))),
            Protocol::Stated => Self::Stated(Arc::new(StatedProtocol::new(model, addresses))),
        }
    }

    /// What was learned about the servers so far, in a form that [`Self::recall`] takes.
    pub(crate) fn learned(&self) -> Value {
        match self {
            Self::Typed(protocol) => json!({"limits": protocol.limits}),
            Self::Chat(protocol) => protocol.learned(),
            Self::Stated(protocol) => protocol.learned(),
        }
    }

    /// Begins with what a process has learned about the same servers. It has no effect on a protocol
    /// that already has clones, or on facts that cannot be read.
    pub(crate) fn recall(&mut self, learned: &str) {
        let facts: LearnedFacts = serde_json::from_str(learned).unwrap_or_default();
        match self {
            Self::Typed(protocol) => {
                if let Some(limits) = &facts.limits {
                    protocol.limits.recall(limits);
                }
            }
            Self::Chat(protocol) => {
                if let Some(protocol) = Arc::get_mut(protocol) {
                    protocol.recall(facts);
                }
            }
            Self::Stated(protocol) => {
                if let Some(protocol) = Arc::get_mut(protocol) {
                    protocol.recall(facts);
                }
            }
        }
    }

    /// Asks all questions of a version about one submission. The first failing request fails the
    /// call; the others are dropped.
    pub(crate) async fn ask(
        &self,
        call: &CallSender<'_>,
        version: &PrismVersion,
        submission: &Submission,
    ) -> Result<Answers, ModelError> {
        match self {
            Self::Typed(protocol) => protocol.ask(call, version, submission).await,
            Self::Chat(protocol) => protocol.ask(call, version, submission).await,
            Self::Stated(protocol) => protocol.ask(call, version, submission).await,
        }
    }
}
