//! One server of the protocol `chat`: its known capabilities, and its native endpoints.

use super::capabilities::ServerCapabilities;
use super::llama_cpp::LlamaCppRequests;
use super::named_tokens::TokenizeRequest;
use crate::servers::address::ServerAddress;

/// What requests to one server depend on, apart from the questions.
#[derive(Debug)]
pub(super) struct ChatServer {
    pub(super) capabilities: ServerCapabilities,
    /// `None` if the paths of these endpoints cannot be derived from the server's address.
    pub(super) llama_cpp: Option<LlamaCppRequests>,
    /// `None` if the path of this endpoint cannot be derived from the server's address.
    pub(super) tokenize: Option<TokenizeRequest>,
}

impl ChatServer {
    /// A server without known capabilities that serves this model.
    pub(super) fn new(model: &str, address: &ServerAddress) -> Self {
        Self {
            capabilities: ServerCapabilities::default(),
            llama_cpp: LlamaCppRequests::new(model, address),
            tokenize: TokenizeRequest::new(model, address),
        }
    }
}
