//! One call to the model, whatever it is and speaks.

use std::sync::Arc;
use std::time::Duration;

use refract_domain::answer::Answers;
use refract_domain::prism::PrismVersion;
use refract_domain::submission::Submission;

use crate::attempts::Requests;
use crate::chat::Chat;
use crate::failure::ModelFailure;
use crate::lexical;
use crate::meter::{CallReport, Meter, Told};
use crate::settings::Protocol;
use crate::stated::Stated;
use crate::system_one::SystemOne;

/// Which version of the prompts this is. It rises with every change of what a model is sent besides
/// a prism's and a caller's own words: answers to different prompts are different measurements.
/// Tests that spell the requests out hold the two together.
pub const PROMPT_VERSION: i32 = 1;

/// A model as one thread asks it. Clones share the thread's connections.
#[derive(Clone)]
pub struct Model {
    pub(crate) backend: Backend,
}

#[derive(Clone)]
pub(crate) enum Backend {
    Lexical,
    SystemOne {
        protocol: Arc<SystemOne>,
        requests: Requests,
    },
    Chat {
        protocol: Arc<Chat>,
        requests: Requests,
    },
    Stated {
        protocol: Arc<Stated>,
        requests: Requests,
    },
}

impl Backend {
    /// What its server speaks; `None` for the embedded scorer.
    fn protocol(&self) -> Option<Protocol> {
        match self {
            Self::Lexical => None,
            Self::SystemOne { .. } => Some(Protocol::SystemOne),
            Self::Chat { .. } => Some(Protocol::Chat),
            Self::Stated { .. } => Some(Protocol::Stated),
        }
    }
}

/// How a call to the model ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelCall {
    /// An answer to every question, in the version's order, or why there is none.
    pub outcome: Result<Answers, ModelFailure>,
    /// From the start of the first attempt to the last answer, pauses included (readings).
    pub took: Duration,
    /// What else is known.
    pub report: CallReport,
}

impl Model {
    /// Asks all of a version's questions about one submission.
    ///
    /// It ends within two attempts and the pause between them, however many questions, once its
    /// requests have their turns. Dropping the future abandons what is under way.
    pub async fn answer(&self, version: &PrismVersion, submission: &Submission) -> ModelCall {
        let meter = match self.backend.protocol() {
            Some(protocol) => Meter::new(protocol.name(), Some(PROMPT_VERSION)),
            None => Meter::new(lexical::PROTOCOL, None),
        };
        let outcome = match &self.backend {
            Backend::Lexical => {
                meter.clock_starts();
                let model = Some(lexical::NAME.to_owned());
                meter.told(&Told {
                    model,
                    ..Told::default()
                });
                lexical::answer(version, submission)
            }
            Backend::SystemOne { protocol, requests } => {
                protocol.ask(requests, version, submission, &meter).await
            }
            Backend::Chat { protocol, requests } => {
                protocol.ask(requests, version, submission, &meter).await
            }
            Backend::Stated { protocol, requests } => {
                protocol.ask(requests, version, submission, &meter).await
            }
        };
        let took = meter.took();
        let report = meter.into_report();
        if let Err(failure) = &outcome {
            tracing::warn!(
                kind = failure.kind(),
                protocol = report.protocol,
                model = report.model,
                requests = report.requests,
                attempts = report.attempts,
                ?took,
                %failure,
                "a call to the model failed"
            );
        }
        ModelCall {
            outcome,
            took,
            report,
        }
    }
}
