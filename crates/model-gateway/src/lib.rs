//! Asks a language model a prism's questions and reads its probabilities.
//!
//! A process has one [`ModelGateway`], which holds what all threads share: settings, the
//! concurrency limit and the TLS configuration. Each worker thread takes a [`Model`] from it, which
//! owns that thread's connections. [`Model::answer`] takes a version's questions and one submission
//! and returns answers, or a [`ModelError`], which reads as one sentence.
//!
//! Connections, attempts, pace and the concurrency limit know no protocol. Each protocol is a module of
//! `protocols` that writes requests and reads answers, and knows no connection. This crate knows
//! nothing of results, databases or callers, and no text, prompt, model answer or key reaches a log
//! or an error.

mod attempts;
mod connection;
mod error;
mod estimate;
mod gateway;
mod json;
mod model;
mod priority_queue;
mod protocols;
mod report;
mod servers;
mod settings;

pub use connection::transport::client_config as tls_client_config;
pub use error::{CertificateFault, ModelError, ServerMessage, Unreachable, WrittenInstead};
pub use estimate::{CostEstimate, Estimator};
pub use gateway::ModelGateway;
pub use model::{Model, ModelReply};
pub use priority_queue::CallPriority;
pub use refract_tls_files::{CertificateFileError, ClientCertificate, TrustedCertificates};
pub use report::{ModelReport, ParsedCodes, ParsedOutcomes};
pub use servers::ServerUse;
pub use settings::{
    AddressError, ChatPrompt, ConnectionSettings, ModelApiKey, ModelEndpoint, ModelKeyFileError,
    ModelKeyHeader, ModelPrices, ModelSettings, PROMPT_VERSION, Protocol, ProxyVariables,
    SettingError,
};
