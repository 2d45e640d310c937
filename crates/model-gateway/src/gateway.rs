//! What all workers of a process share of the model.

use std::sync::Arc;

use refract_domain::prism::PrismVersion;

use crate::attempts::Requests;
use crate::chat::Chat;
use crate::connection::{ModelConnections, ServerAccess};
use crate::estimate::Estimator;
use crate::model::{Backend, Model};
use crate::settings::{ModelEndpoint, ModelSettings, Protocol, SettingFault};
use crate::stated::Stated;
use crate::system_one::SystemOne;
use crate::turns::Turns;

/// The way to the model, for a whole process: settings, turns and TLS roots.
#[derive(Clone, Debug)]
pub struct ModelGateway {
    settings: Arc<ModelSettings>,
    turns: Arc<Turns>,
    way: Way,
}

/// What a [`Model`] is made of.
#[derive(Clone, Debug)]
enum Way {
    Lexical,
    SystemOne {
        protocol: Arc<SystemOne>,
        access: Arc<ServerAccess>,
    },
    Chat {
        protocol: Arc<Chat>,
        access: Arc<ServerAccess>,
    },
    Stated {
        protocol: Arc<Stated>,
        access: Arc<ServerAccess>,
    },
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
        let way = match (&settings.endpoint, settings.protocol) {
            (ModelEndpoint::Lexical, _) => Way::Lexical,
            (ModelEndpoint::Server(address), Protocol::SystemOne) => {
                let uri = address.endpoint("systemone")?;
                let access = ServerAccess::new(uri, settings.api_key.as_ref())?;
                let protocol = SystemOne {
                    model: settings.name.clone(),
                    request_tokens: settings.request_tokens,
                };
                Way::SystemOne {
                    protocol: Arc::new(protocol),
                    access: Arc::new(access),
                }
            }
            (ModelEndpoint::Server(address), Protocol::Chat) => {
                let uri = address.endpoint("chat/completions")?;
                let access = ServerAccess::new(uri, settings.api_key.as_ref())?;
                Way::Chat {
                    protocol: Arc::new(Chat::new(settings.name.clone())),
                    access: Arc::new(access),
                }
            }
            (ModelEndpoint::Server(address), Protocol::Stated) => {
                let uri = address.endpoint("chat/completions")?;
                let access = ServerAccess::new(uri, settings.api_key.as_ref())?;
                Way::Stated {
                    protocol: Arc::new(Stated::new(settings.name.clone())),
                    access: Arc::new(access),
                }
            }
        };
        let turns = Arc::new(Turns::new(settings.concurrency, settings.timeout));
        Ok(Self {
            settings: Arc::new(settings),
            turns,
            way,
        })
    }

    /// A model for the calling thread, with connections of its own. Clones share them.
    pub fn model(&self) -> Model {
        let backend = match &self.way {
            Way::Lexical => Backend::Lexical,
            Way::SystemOne { protocol, access } => Backend::SystemOne {
                protocol: Arc::clone(protocol),
                requests: self.requests(access),
            },
            Way::Chat { protocol, access } => Backend::Chat {
                protocol: Arc::clone(protocol),
                requests: self.requests(access),
            },
            Way::Stated { protocol, access } => Backend::Stated {
                protocol: Arc::clone(protocol),
                requests: self.requests(access),
            },
        };
        Model { backend }
    }

    /// Estimates what calls for this version will cost.
    pub fn estimator(&self, version: &PrismVersion) -> Estimator {
        let protocol = match &self.way {
            Way::Lexical => None,
            Way::SystemOne { .. } => Some(Protocol::SystemOne),
            Way::Chat { .. } => Some(Protocol::Chat),
            Way::Stated { .. } => Some(Protocol::Stated),
        };
        Estimator::new(protocol, self.settings.request_tokens, version)
    }

    fn requests(&self, access: &Arc<ServerAccess>) -> Requests {
        Requests {
            connections: ModelConnections::new(Arc::clone(access)),
            turns: Arc::clone(&self.turns),
            timeout: self.settings.timeout,
        }
    }

    /// Whether its answers are the embedded scorer's, which every surface that shows them says.
    pub fn is_for_trying_only(&self) -> bool {
        match self.settings.endpoint {
            ModelEndpoint::Lexical => true,
            ModelEndpoint::Server(_) => false,
        }
    }

    /// Where the model is and how it is asked, for a log line or a greeting; no credentials.
    pub fn describe(&self) -> String {
        let endpoint = &self.settings.endpoint;
        match endpoint {
            ModelEndpoint::Lexical => format!("{endpoint} (for trying only)"),
            ModelEndpoint::Server(_) => format!("{endpoint} ({})", self.settings.protocol.name()),
        }
    }

    /// Requests in flight now.
    pub fn in_flight(&self) -> usize {
        self.turns.in_flight()
    }

    /// Requests that wait for their turn now.
    pub fn waiting(&self) -> usize {
        self.turns.waiting()
    }
}
