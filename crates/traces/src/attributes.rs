//! What the spans of an attempt and of a statement say.

/// The request to a model server, and the server's address.
#[derive(Clone, Copy, Debug)]
pub struct ModelAttempt<'a> {
    /// `gen_ai.operation.name`.
    pub operation: &'static str,
    /// `gen_ai.provider.name`: the provider whose format the server speaks.
    pub provider: &'static str,
    /// The model's name in the request.
    pub model: &'a str,
    /// The server's host name or address.
    pub host: &'a str,
    /// The server's port.
    pub port: u16,
    /// Number of earlier attempts.
    pub resends: u32,
}

/// The end of an attempt.
#[derive(Clone, Debug, Default)]
pub struct AttemptEnd {
    /// The status of the server's answer; `None` without an answer.
    pub status: Option<u16>,
    /// The kind of failure; `None` when a usable answer came.
    pub failure: Option<&'static str>,
    /// The model's name as the server sent it.
    pub model: Option<String>,
    /// Tokens read; `None` if the server did not report them.
    pub input_tokens: Option<u64>,
    /// Tokens written; `None` if the server did not report them.
    pub output_tokens: Option<u64>,
}

/// The name of a statement, without values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatementName {
    /// The operation, such as `SELECT`.
    pub operation: &'static str,
    /// The operation and its tables, such as `SELECT api_keys prisms`.
    pub summary: &'static str,
}
