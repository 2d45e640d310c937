//! The model: its settings, its reports, its cost, and trials of it.

mod detection;
mod long_text;
mod server_facts;
mod token_price;
mod trial;
mod trials;

pub use refract_model_gateway::{
    CallPriority, CertificateFileError, ChatPrompt, ClientCertificate, ConnectionSettings,
    CostEstimate, Estimator, Model, ModelApiKey, ModelEndpoint, ModelError, ModelGateway,
    ModelKeyHeader, ModelPrices, ModelReply, ModelReport, ModelSettings, ParsedCodes,
    ParsedOutcomes, Protocol, ProxyVariables, ServerMessage, ServerUse, SettingError,
    TrustedCertificates, WrittenInstead, tls_client_config,
};

pub use self::detection::{DetectedModel, DetectionTry, ModelDetection, other_address};
pub use self::long_text::{LongText, LongTextOutcome};
pub use self::token_price::TokenPrice;
pub use self::trial::{FailedTrial, ModelTrialError, TrialReport};
pub use self::trials::{
    DistanceBound, ModelTrials, SizeUnit, TakenSize, TrialEnd, TrialRun, TrialScope,
};
