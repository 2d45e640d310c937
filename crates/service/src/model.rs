//! The model that is asked: its settings, what it reports, and what it costs.

pub use refract_model_gateway::{
    CodeCoverage, CostEstimate, Estimator, Model, ModelApiKey, ModelEndpoint, ModelFailure,
    ModelGateway, ModelReply, ModelReport, ModelSettings, OutcomeCoverage, Protocol, ServerMessage,
    ServerUse, SettingFault,
};
