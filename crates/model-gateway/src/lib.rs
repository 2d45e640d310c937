//! Asks a language model a prism's questions and reads its probabilities.
//!
//! A process has one [`ModelGateway`], which holds what all threads share: settings, the
//! concurrency limit and the TLS configuration. Each worker thread takes a [`Model`] from it, which
//! owns that thread's connections. [`Model::answer`] takes a version's questions and one submission
//! and returns answers, or a [`ModelFailure`] in words.
//!
//! Connections, attempts and the concurrency limit know no protocol. Each protocol is a module that
//! writes requests and reads answers and knows no connection. Nothing in this crate knows of
//! results, databases or callers, and no text, prompt, model answer or key reaches a log or an
//! error.

mod answers;
mod attempt_end;
mod attempts;
mod chat;
mod concurrency_limit;
mod concurrent;
mod connection;
mod coverage;
mod decisions;
mod endpoint;
mod estimate;
mod failure;
mod gateway;
mod json;
mod lexical;
mod model;
mod protocol;
mod refusal;
mod renewable_key;
mod report;
mod request_body;
mod request_series;
mod retry_after;
mod server_message;
mod server_protocol;
mod server_refusal;
mod servers;
mod setting_fault;
mod settings;
mod stated;
mod system_one;
mod tls;
mod typed_questions;

pub use coverage::{CodeCoverage, OutcomeCoverage};
pub use endpoint::ModelEndpoint;
pub use estimate::{CostEstimate, Estimator};
pub use failure::{ModelFailure, Unreachable};
pub use gateway::ModelGateway;
pub use model::{Model, ModelReply, PROMPT_VERSION};
pub use protocol::Protocol;
pub use report::ModelReport;
pub use server_message::ServerMessage;
pub use servers::load::ServerUse;
pub use setting_fault::{AddressFault, SettingFault};
pub use settings::{ModelApiKey, ModelKeyFileError, ModelSettings};
pub use tls::client_config as tls_client_config;
