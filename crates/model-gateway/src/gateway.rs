//! What all threads of a process share of the model.

use std::sync::Arc;

use refract_domain::prism::PrismVersion;

use crate::attempts::RequestSender;
use crate::concurrency_limit::ConcurrencyLimit;
use crate::connection::{ModelConnections, ServerAccess};
use crate::endpoint::ModelEndpoint;
use crate::estimate::Estimator;
use crate::model::{Model, ServerModel};
use crate::server_protocol::ServerProtocol;
use crate::setting_fault::SettingFault;
use crate::settings::ModelSettings;

/// The model of a whole process: settings, concurrency limit and TLS configuration.
#[derive(Clone, Debug)]
pub struct ModelGateway {
    settings: Arc<ModelSettings>,
    limit: Arc<ConcurrencyLimit>,
    /// `None` is the built-in scorer.
    server: Option<SharedServer>,
}

/// What all threads share of a model server.
#[derive(Clone, Debug)]
struct SharedServer {
    protocol: ServerProtocol,
    access: Arc<ServerAccess>,
}

impl ModelGateway {
    /// Checks the settings; nothing is sent yet.
    ///
    /// # Errors
    /// The setting that cannot be used.
    pub fn new(settings: ModelSettings) -> Result<Self, SettingFault> {
        if settings.concurrency == 0 {
            return Err(SettingFault::Concurrency);
        }
        if settings.timeout.is_zero() {
            return Err(SettingFault::Timeout);
        }
        let server = match &settings.endpoint {
            ModelEndpoint::Lexical => None,
            ModelEndpoint::Server(address) => {
                let uri = address.endpoint(settings.protocol.path())?;
                let access = ServerAccess::new(uri, settings.api_key.as_ref())?;
                Some(SharedServer {
                    protocol: ServerProtocol::new(&settings),
                    access: Arc::new(access),
                })
            }
        };
        let limit = ConcurrencyLimit::new(settings.concurrency, settings.timeout);
        Ok(Self {
            settings: Arc::new(settings),
            limit: Arc::new(limit),
            server,
        })
    }

    /// A model for the calling thread, with connections of its own. Clones share them.
    pub fn model(&self) -> Model {
        let server = self.server.as_ref().map(|server| ServerModel {
            protocol: server.protocol.clone(),
            sender: RequestSender {
                connections: ModelConnections::new(Arc::clone(&server.access)),
                limit: Arc::clone(&self.limit),
                timeout: self.settings.timeout,
            },
        });
        Model {
            server,
            settings: Arc::clone(&self.settings),
        }
    }

    /// Estimates what asking this version's questions will cost.
    pub fn estimator(&self, version: &PrismVersion) -> Estimator {
        Estimator::new(&self.settings, version)
    }

    /// Whether the built-in scorer answers. Every surface that shows its answers says so.
    pub fn is_for_trying_only(&self) -> bool {
        self.server.is_none()
    }

    /// Where the model is and how it is asked, for a log line or a greeting; no credentials.
    pub fn describe(&self) -> String {
        let endpoint = &self.settings.endpoint;
        match endpoint {
            ModelEndpoint::Lexical => format!("{endpoint} (for trying only)"),
            ModelEndpoint::Server(_) => format!("{endpoint} ({})", self.settings.protocol.name()),
        }
    }

    /// Model requests in flight now.
    pub fn in_flight(&self) -> usize {
        self.limit.in_flight()
    }

    /// Model requests that wait for a permit of the concurrency limit now.
    pub fn waiting(&self) -> usize {
        self.limit.waiting()
    }
}
