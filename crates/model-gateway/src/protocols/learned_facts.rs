//! What was learned about model servers, in the form in which it outlives a process.

use serde::Deserialize;

use super::chat::capabilities::ServerCapabilities;
use super::stated::request::RefusedParameters;
use super::typed_questions::request_limits::LearnedLimits;
use crate::servers::PrefixCache;

/// The facts of a protocol's servers, in the order of the list. Each protocol has some of them, and
/// facts that another release kept are left out.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct LearnedFacts {
    /// Of `chat`.
    pub(crate) capabilities: Vec<ServerCapabilities>,
    /// Of `stated`.
    pub(crate) refused: Vec<RefusedParameters>,
    /// Of `chat` and `stated`.
    pub(crate) prefix_caches: Vec<PrefixCache>,
    /// Of `systemone`, `decisions` and `gemini`.
    pub(crate) limits: Option<LearnedLimits>,
}
