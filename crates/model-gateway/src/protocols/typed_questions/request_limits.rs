//! How much one request may hold: by setting, and as learned from refusals.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};

/// Upper bounds on one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestLimits {
    /// Estimated tokens.
    pub(crate) tokens: usize,
    /// Questions, at least 1.
    pub(crate) questions: usize,
}

/// The limits of one process: the operator's, or lower ones that servers were found to have. They
/// are those of the strictest server, since the second attempt of a request may go to any.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct LearnedLimits {
    tokens: AtomicUsize,
    questions: AtomicUsize,
}

impl LearnedLimits {
    pub(crate) fn new(set: RequestLimits) -> Self {
        Self {
            tokens: AtomicUsize::new(set.tokens),
            questions: AtomicUsize::new(set.questions),
        }
    }

    pub(super) fn now(&self) -> RequestLimits {
        RequestLimits {
            tokens: self.tokens.load(Ordering::Relaxed),
            questions: self.questions.load(Ordering::Relaxed),
        }
    }

    /// Takes over what a process has learned.
    pub(crate) fn recall(&self, learned: &Self) {
        let RequestLimits { tokens, questions } = learned.now();
        self.tokens.fetch_min(tokens, Ordering::Relaxed);
        self.questions
            .fetch_min(questions.max(1), Ordering::Relaxed);
    }

    pub(super) fn learn_tokens(&self, most: usize) {
        if self.tokens.fetch_min(most, Ordering::Relaxed) > most {
            tracing::info!(tokens = most, "a model server takes smaller requests");
        }
    }

    pub(super) fn learn_questions(&self, most: usize) {
        let most = most.max(1);
        if self.questions.fetch_min(most, Ordering::Relaxed) > most {
            tracing::info!(
                questions = most,
                "a model server takes fewer questions in one request"
            );
        }
    }
}
