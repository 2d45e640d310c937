//! What a server was found to accept, learned from its refusals and kept until the process ends.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// Parameters of a request that not every server accepts.
#[derive(Clone, Copy, Debug)]
pub(super) struct OptionalParameters {
    /// `max_tokens`; else `max_completion_tokens`, which newer hosted models want.
    pub(super) max_tokens: bool,
    /// `chat_template_kwargs`, which switches thinking off where the server fills a template.
    pub(super) template_kwargs: bool,
}

/// How a server is made to go on from a given letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FollowUpMethod {
    /// The request ends with a message of the model that has begun with the letter.
    ContinuedMessage,
    /// The request has a schema that allows only codes of the letter.
    Schema,
}

const MESSAGE_UNTRIED: u8 = 0;
const MESSAGE_WORKS: u8 = 1;
const SCHEMA_UNTRIED: u8 = 2;
const SCHEMA_WORKS: u8 = 3;
const NOTHING_WORKS: u8 = 4;

/// What was learned so far about the server, shared by all threads.
#[derive(Debug, Default)]
pub(super) struct ServerCapabilities {
    no_max_tokens: AtomicBool,
    no_template_kwargs: AtomicBool,
    /// One of the five constants above.
    follow_up: AtomicU8,
}

impl ServerCapabilities {
    /// The parameters to send now.
    pub(super) fn parameters(&self) -> OptionalParameters {
        OptionalParameters {
            max_tokens: !self.no_max_tokens.load(Ordering::Relaxed),
            template_kwargs: !self.no_template_kwargs.load(Ordering::Relaxed),
        }
    }

    /// Whether a request that was refused for this parameter can be sent without it. If so, later
    /// requests are sent without it too.
    pub(super) fn can_do_without(&self, parameter: &str, sent: OptionalParameters) -> bool {
        match parameter {
            "max_tokens" if sent.max_tokens => {
                self.no_max_tokens.store(true, Ordering::Relaxed);
                true
            }
            "chat_template_kwargs" if sent.template_kwargs => {
                self.no_template_kwargs.store(true, Ordering::Relaxed);
                true
            }
            _ => false,
        }
    }

    /// The method for follow-up requests to use now, and whether it has worked before. `None` where
    /// no method works.
    pub(super) fn follow_up(&self) -> Option<FollowUp> {
        let (method, is_proven) = match self.follow_up.load(Ordering::Relaxed) {
            MESSAGE_UNTRIED => (FollowUpMethod::ContinuedMessage, false),
            MESSAGE_WORKS => (FollowUpMethod::ContinuedMessage, true),
            SCHEMA_UNTRIED => (FollowUpMethod::Schema, false),
            SCHEMA_WORKS => (FollowUpMethod::Schema, true),
            _ => return None,
        };
        Some(FollowUp { method, is_proven })
    }

    pub(super) fn works(&self, method: FollowUpMethod) {
        match method {
            FollowUpMethod::ContinuedMessage => self.step(MESSAGE_UNTRIED, MESSAGE_WORKS),
            FollowUpMethod::Schema => self.step(SCHEMA_UNTRIED, SCHEMA_WORKS),
        }
    }

    pub(super) fn fails(&self, method: FollowUpMethod) {
        match method {
            FollowUpMethod::ContinuedMessage => self.step(MESSAGE_UNTRIED, SCHEMA_UNTRIED),
            FollowUpMethod::Schema => self.step(SCHEMA_UNTRIED, NOTHING_WORKS),
        }
    }

    fn step(&self, from: u8, to: u8) {
        // a request about another question may have learned as much or more meanwhile
        let order = Ordering::Relaxed;
        let _ = self.follow_up.compare_exchange(from, to, order, order);
    }
}

/// The method of the next follow-up request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FollowUp {
    pub(super) method: FollowUpMethod,
    /// Whether the method has worked before.
    pub(super) is_proven: bool,
}
