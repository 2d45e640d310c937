//! The model: its settings, its reports, its cost, and trials of it.

mod distance;
mod trial_report;
mod trials;

pub use refract_model_gateway::{
    CertificateFileError, ConnectionSettings, CostEstimate, Estimator, Model, ModelApiKey,
    ModelEndpoint, ModelError, ModelGateway, ModelReply, ModelReport, ModelSettings, ParsedCodes,
    ParsedOutcomes, Protocol, ProxyVariables, ServerMessage, ServerUse, SettingError,
    TrustedCertificates,
};

pub use self::distance::DistanceBound;
pub use self::trial_report::TrialReport;
pub use self::trials::{FailedTrial, ModelTrialError, ModelTrials};
