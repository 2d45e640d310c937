//! Model settings that cannot be used.

/// A setting that cannot be used. The text is for an operator and never repeats the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// Neither the built-in scorer nor the address of a server.
    #[error(
        "the model URL must be `builtin:lexical` or the address of a model server up to and \
         including its `/v1`, such as `http://127.0.0.1:8000/v1`"
    )]
    Endpoint,
    /// The address holds a user name or a password.
    #[error("the model URL must not hold credentials: set the model API key instead")]
    EndpointCredentials,
    /// The address goes on to the path that the protocol `chat` appends.
    #[error("the model URL must end before `/chat/completions`, which Refract appends")]
    EndpointCompletions,
    /// The whole address of an endpoint that the protocol does not ask.
    #[error(
        "the model URL is the whole address of an endpoint of another protocol than \
         REFRACT_MODEL_PROTOCOL: change one of them"
    )]
    EndpointProtocol,
    /// One of several addresses cannot be used.
    #[error("address {number} of the model URL's list {error}")]
    EndpointOfList {
        /// Place of the address in the list, from 1.
        number: usize,
        /// What is wrong with it.
        error: AddressError,
    },
    /// More addresses than a list may have.
    #[error("the model URL must name 64 model servers at most")]
    EndpointCount,
    /// An unknown protocol.
    #[error("the model protocol must be `systemone`, `decisions`, `gemini`, `chat` or `stated`")]
    Protocol,
    /// No number of a prompt of the protocol `chat`.
    #[error("the model prompt must be `4` or `3`")]
    Prompt,
    /// A key with characters that no header allows.
    #[error("the model API key must be made of visible ASCII characters")]
    ApiKey,
    /// No header's name, or that of a header that Refract or HTTP needs.
    #[error(
        "the header of the model API key must be `Authorization` or a name such as `x-api-key`, \
         and none that HTTP itself uses"
    )]
    KeyHeader,
    /// A concurrency limit of 0, which would never send a request.
    #[error("the number of model requests in flight must be at least 1")]
    Concurrency,
    /// The variable with this name holds no address of an HTTP proxy.
    #[error("{0} must be the address of an HTTP proxy, such as `http://proxy.example:3128`")]
    Proxy(&'static str),
    /// TLS cannot be set up on this machine.
    #[error("TLS could not be set up for the model server")]
    Tls,
    /// Not three prices.
    #[error(
        "the model prices must be three decimals for a thousand tokens read, cached and written, \
         such as `0.00015,0.000075,0.0006`"
    )]
    Prices,
    /// A timeout of 0, which would end every attempt.
    #[error("the model timeout must be longer than 0")]
    Timeout,
}

/// Why an address in a list cannot be used. The text continues the sentence of
/// [`SettingError::EndpointOfList`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// Not the address of a server.
    #[error(
        "is not that of a model server up to and including its `/v1`, such as \
         `http://127.0.0.1:8000/v1`"
    )]
    Malformed,
    /// The address goes on to the path that the protocol `chat` appends.
    #[error("must end before `/chat/completions`, which Refract appends")]
    Completions,
    /// The address holds a user name or a password.
    #[error("holds credentials: set the model API key instead")]
    Credentials,
    /// An empty entry in the list: two commas in a row, or a comma at the beginning or the end.
    #[error("is empty")]
    Empty,
    /// The built-in scorer, which cannot be in a list with servers.
    #[error("is `builtin:lexical`, which stands alone")]
    BuiltIn,
    /// The same server as the earlier address with this number, from 1.
    #[error("is the same as address {0}")]
    SameAs(usize),
}
