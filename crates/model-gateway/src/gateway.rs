//! The part of the model that all threads of a process share.

use std::sync::Arc;

use refract_domain::prism::PrismVersion;
use refract_traces::CallTrace;

use crate::attempts::RequestSender;
use crate::attempts::admission::ConcurrencyLimit;
use crate::connection::renewable_key::RenewableKey;
use crate::connection::transport::Transport;
use crate::connection::{ModelConnections, ServerAccess};
use crate::estimate::Estimator;
use crate::model::{Model, ServerModel};
use crate::priority_queue::CallPriority;
use crate::protocols::ServerProtocol;
use crate::servers::{EachServer, ServerPool, ServerUse};
use crate::settings::{ModelEndpoint, ModelSettings, SettingError};

/// The model of a whole process: settings, concurrency limit and TLS configuration.
#[derive(Clone, Debug)]
pub struct ModelGateway {
    settings: Arc<ModelSettings>,
    limit: Arc<ConcurrencyLimit>,
    /// `None` for the built-in scorer.
    servers: Option<SharedServers>,
}

/// The part of the model servers that all threads share.
#[derive(Clone, Debug)]
struct SharedServers {
    renewable_key: Option<Arc<RenewableKey>>,
    protocol: ServerProtocol,
    access: EachServer<Arc<ServerAccess>>,
    pool: Arc<ServerPool>,
}

impl ModelGateway {
    /// Checks the settings; sends nothing.
    ///
    /// # Errors
    /// When a setting cannot be used.
    pub fn new(settings: ModelSettings) -> Result<Self, SettingError> {
        if settings.concurrency == 0 {
            return Err(SettingError::Concurrency);
        }
        if settings.timeout.is_zero() {
            return Err(SettingError::Timeout);
        }
        let servers = match &settings.endpoint {
            ModelEndpoint::DemoScorer => None,
            ModelEndpoint::Servers(addresses) => {
                let path = settings.protocol.path();
                let api_key = settings.api_key.as_ref();
                let api_key = api_key.map(|key| key.for_protocol(settings.protocol));
                let api_key = api_key.as_ref();
                let renewable_key = api_key.map(RenewableKey::of).transpose()?.flatten();
                if settings.endpoint.contradicts(settings.protocol) {
                    return Err(SettingError::EndpointProtocol);
                }
                let transport = Transport::new(&settings.connections);
                let access = addresses.try_map(|address| {
                    let uri = address.endpoint(path)?;
                    let access = ServerAccess::new(uri, api_key, &transport)?;
                    Ok(Arc::new(access.with_renewable_key(renewable_key.clone())))
                })?;
                Some(SharedServers {
                    renewable_key,
                    protocol: ServerProtocol::new(&settings, addresses),
                    access,
                    pool: Arc::new(ServerPool::new(addresses, settings.host_limits())),
                })
            }
        };
        let limit = ConcurrencyLimit::new(settings.concurrency, settings.timeout);
        Ok(Self {
            settings: Arc::new(settings),
            limit: Arc::new(limit),
            servers,
        })
    }

    /// Begins with what a process has learned about the same servers: [`Model::learned`] of settings
    /// with this [name](Self::servers_name). It has no effect after the first
    /// [`Self::model`], or on facts that cannot be read.
    pub fn recall(&mut self, learned: &str) {
        if let Some(servers) = &mut self.servers {
            servers.protocol.recall(learned);
        }
    }

    /// The name of the servers and of their model under which what is learned about them is kept;
    /// `None` for the built-in scorer.
    pub fn servers_name(&self) -> Option<String> {
        self.servers.as_ref().map(|_| self.settings.servers_name())
    }

    /// A model for the calling thread; only its clones share its connections.
    pub fn model(&self) -> Model {
        let server = self.servers.as_ref().map(|servers| ServerModel {
            protocol: servers.protocol.clone(),
            sender: RequestSender {
                connections: servers
                    .access
                    .map(|access| ModelConnections::new(Arc::clone(access))),
                pool: Arc::clone(&servers.pool),
                limit: Arc::clone(&self.limit),
                settings: Arc::clone(&self.settings),
                renewable_key: servers.renewable_key.clone(),
            },
        });
        Model {
            server,
            settings: Arc::clone(&self.settings),
            trace: CallTrace::default(),
            priority: CallPriority::default(),
        }
    }

    /// An estimator for the cost of asking this version's questions.
    pub fn estimator(&self, version: &PrismVersion) -> Estimator {
        Estimator::new(&self.settings, version)
    }

    /// Whether the built-in scorer answers. Every surface that shows its answers must say so.
    pub fn is_for_trying_only(&self) -> bool {
        self.servers.is_none()
    }

    /// The model's address and protocol, for a log line or a greeting; no credentials.
    pub fn describe(&self) -> String {
        let endpoint = &self.settings.endpoint;
        match endpoint {
            ModelEndpoint::DemoScorer => format!("{endpoint} (for trying only)"),
            ModelEndpoint::Servers(_) => format!("{endpoint} ({})", self.settings.protocol.name()),
        }
    }

    /// The use of each model server, in the order of the list. Servers with equal host and port
    /// count as one. Empty for the built-in scorer.
    pub fn servers(&self) -> Vec<ServerUse> {
        let mut uses: Vec<ServerUse> = Vec::new();
        for server in self.servers.iter().flat_map(|servers| servers.pool.uses()) {
            match uses.iter_mut().find(|known| known.name == server.name) {
                Some(known) => known.add(&server),
                None => uses.push(server),
            }
        }
        uses
    }

    /// Model requests in flight now.
    pub fn in_flight(&self) -> usize {
        self.limit.in_flight()
    }

    /// Model requests that wait for their server's pace or for a permit of the concurrency limit.
    pub fn waiting(&self) -> usize {
        let servers = self.servers.iter().flat_map(|servers| servers.pool.uses());
        let held_back: usize = servers.map(|server| server.waiting).sum();
        self.limit.waiting() + held_back
    }
}
