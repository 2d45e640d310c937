//! What a server was found to take, learned from its refusals and remembered by the process.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// What is sent, beyond what every server takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manners {
    /// `max_tokens`; else `max_completion_tokens`, as newer hosted models want it.
    pub(super) max_tokens: bool,
    /// `chat_template_kwargs`, which switches thinking off where the server fills a template.
    pub(super) template_kwargs: bool,
}

/// How a server is brought to go on from a given letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Continuing {
    /// By continuing a message of the model.
    Message,
    /// By a schema.
    Schema,
}

/// The way to try now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Way {
    pub(super) by: Continuing,
    /// It has worked before.
    pub(super) works: bool,
}

const MESSAGE_UNTRIED: u8 = 0;
const MESSAGE_WORKS: u8 = 1;
const SCHEMA_UNTRIED: u8 = 2;
const SCHEMA_WORKS: u8 = 3;
const NOTHING_WORKS: u8 = 4;

/// What was learned so far.
#[derive(Debug, Default)]
pub(super) struct Learned {
    no_max_tokens: AtomicBool,
    no_template_kwargs: AtomicBool,
    /// One of the steps below.
    continuing: AtomicU8,
}

impl Learned {
    pub(super) fn manners(&self) -> Manners {
        Manners {
            max_tokens: !self.no_max_tokens.load(Ordering::Relaxed),
            template_kwargs: !self.no_template_kwargs.load(Ordering::Relaxed),
        }
    }

    /// Whether a request that was refused for this parameter can do without it.
    pub(super) fn can_do_without(&self, parameter: &str, sent: Manners) -> bool {
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

    /// How to go on from a letter; `None` where nothing works.
    pub(super) fn way(&self) -> Option<Way> {
        let (by, works) = match self.continuing.load(Ordering::Relaxed) {
            MESSAGE_UNTRIED => (Continuing::Message, false),
            MESSAGE_WORKS => (Continuing::Message, true),
            SCHEMA_UNTRIED => (Continuing::Schema, false),
            SCHEMA_WORKS => (Continuing::Schema, true),
            _ => return None,
        };
        Some(Way { by, works })
    }

    pub(super) fn works(&self, by: Continuing) {
        match by {
            Continuing::Message => self.step(MESSAGE_UNTRIED, MESSAGE_WORKS),
            Continuing::Schema => self.step(SCHEMA_UNTRIED, SCHEMA_WORKS),
        }
    }

    pub(super) fn fails(&self, by: Continuing) {
        match by {
            Continuing::Message => self.step(MESSAGE_UNTRIED, SCHEMA_UNTRIED),
            Continuing::Schema => self.step(SCHEMA_UNTRIED, NOTHING_WORKS),
        }
    }

    fn step(&self, from: u8, to: u8) {
        // another question may have found out the same or more
        let order = Ordering::Relaxed;
        let _ = self.continuing.compare_exchange(from, to, order, order);
    }
}
