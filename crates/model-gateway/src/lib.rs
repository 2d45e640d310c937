//! Asks a language model a prism's questions and reads its probabilities.
//!
//! One [`ModelGateway`] per process holds what all share: the settings, the turns of requests in
//! flight, the TLS roots. Each worker thread takes a [`Model`] from it, which owns that thread's
//! connections. [`Model::answer`] is the whole of it: a version's questions about one submission
//! go in, answers or a [`ModelFailure`] in words come out.
//!
//! What every protocol shares (connections, attempts, turns) knows no protocol; each protocol is a
//! module that writes requests and reads answers and knows no connection. Nothing here knows of
//! results, databases or callers, and no text, prompt, model answer or key reaches a log or an
//! error.

mod attempts;
mod chat;
mod connection;
mod estimate;
mod failure;
mod gateway;
mod json;
mod lexical;
mod meter;
mod model;
mod refusal;
mod request_body;
mod retry_after;
mod seen;
mod settings;
mod shares;
mod stated;
mod system_one;
mod tls;
mod turns;

pub use estimate::{CallEstimate, Estimator};
pub use failure::{ModelFailure, Unreachable};
pub use gateway::ModelGateway;
pub use meter::CallReport;
pub use model::{Model, ModelCall, PROMPT_VERSION};
pub use seen::{CodesSeen, Seen};
pub use settings::{ModelApiKey, ModelEndpoint, ModelSettings, Protocol, SettingFault};
