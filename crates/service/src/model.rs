//! The model: its settings, its reports, its cost, and trials of it.

mod distance;
mod long_text;
mod trial_error;
mod trial_report;
mod trials;

pub use refract_model_gateway::{
    CallPriority, CostEstimate, Estimator, Model, ModelApiKey, ModelEndpoint, ModelError,
    ModelGateway, ModelReply, ModelReport, ModelSettings, ParsedCodes, ParsedOutcomes, Protocol,
    ServerMessage, ServerUse, SettingError,
};

pub use self::distance::DistanceBound;
pub use self::long_text::{LongText, LongTextOutcome};
pub use self::trial_error::ModelTrialError;
pub use self::trial_report::TrialReport;
pub use self::trials::{FailedTrial, ModelTrials};
