//! One server of the protocol `chat`: what was learned about it, and its own endpoints.

use super::capabilities::ServerCapabilities;
use super::llama_cpp::LlamaCppRequests;
use super::named_tokens::TokenizeRequest;
use crate::servers::address::ServerAddress;

/// What the requests to one server depend on besides the questions.
#[derive(Debug)]
pub(super) struct ChatServer {
    pub(super) capabilities: ServerCapabilities,
    /// `None` where the server's address does not tell where these endpoints would be.
    pub(super) llama_cpp: Option<LlamaCppRequests>,
    /// `None` where the server's address does not tell where this endpoint would be.
    pub(super) tokenize: Option<TokenizeRequest>,
}

impl ChatServer {
    /// A server about which nothing is known yet, and which is asked for this model.
    pub(super) fn new(model: &str, address: &ServerAddress) -> Self {
        Self {
            capabilities: ServerCapabilities::default(),
            llama_cpp: LlamaCppRequests::new(model, address),
            tokenize: TokenizeRequest::new(model, address),
        }
    }
}
