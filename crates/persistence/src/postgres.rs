//! Connections to a PostgreSQL server.
//!
//! A connection's socket is driven by the runtime in which the connection was opened. Those that
//! are leased are opened on the runtime of [`Database`](crate::Database), never on one of the
//! single threads that await queries: those stop driving sockets whenever they are busy. The
//! [lanes](crate::lanes) of such a thread are the exception: nobody else uses them.

use std::error::Error as _;
use std::fmt::Write as _;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use deadpool::Runtime;
use deadpool::managed::QueueMode;
use diesel::ConnectionError::BadConnection;
use diesel::{ConnectionError, ConnectionResult};
use diesel_async::pooled_connection::deadpool::Pool;
use diesel_async::pooled_connection::{
    AsyncDieselConnectionManager, ManagerConfig, RecyclingMethod,
};
use diesel_async::{AsyncPgConnection, SimpleAsyncConnection as _};
use rustls::ClientConfig;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio_postgres::config::{Host, SslMode as Negotiation};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Config, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::address::PostgresAddress;
use crate::database::WAIT;
use crate::error::{ConnectError, NO_ANSWER};
use crate::tls::{self, SslMode};

/// How long a connection that cannot be opened is waited for, unless the address says otherwise.
const CONNECT: Duration = Duration::from_secs(5);
/// How long a server that has stopped acknowledging is believed in, unless the address says so.
const SILENCE: Duration = Duration::from_secs(30);
/// What every session begins with: no statement of ours takes this long unless something is wrong.
const SESSION: &str = "SET statement_timeout = '30s'";

/// A server and how to reach it.
pub(crate) struct Server {
    config: Config,
    tls: Option<Tls>,
}

struct Tls {
    client: ClientConfig,
    is_optional: bool,
}

impl Server {
    pub(crate) fn new(address: PostgresAddress) -> Result<Self, ConnectError> {
        let PostgresAddress {
            mut config,
            ssl_mode,
            root_certificates,
        } = address;
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(SILENCE);
        }
        if config.get_application_name().is_none() {
            config.application_name("refract");
        }
        config.keepalives_idle(SILENCE);
        config.ssl_mode(match ssl_mode {
            SslMode::Disable => Negotiation::Disable,
            SslMode::Prefer => Negotiation::Prefer,
            SslMode::Require | SslMode::VerifyFull => Negotiation::Require,
        });
        let client = || tls::client(root_certificates.as_deref());
        let tls = match ssl_mode {
            SslMode::Disable => None,
            SslMode::Prefer => Some(Tls {
                client: client()?,
                is_optional: true,
            }),
            SslMode::Require | SslMode::VerifyFull => Some(Tls {
                client: client()?,
                is_optional: false,
            }),
        };
        Ok(Self { config, tls })
    }

    /// Opens a connection on the current runtime.
    pub(crate) async fn connect(&self) -> ConnectionResult<Open> {
        let opened = self.open().await;
        let mut open = opened.map_err(|refused| BadConnection(refused.words))?;
        open.connection
            .batch_execute(SESSION)
            .await
            .map_err(ConnectionError::CouldntSetupConfiguration)?;
        Ok(open)
    }

    /// Sees whether it can be reached.
    pub(crate) async fn reach(&self) -> Result<(), ConnectError> {
        let unreachable = |reason, is_starting| ConnectError::Unreachable {
            server: self.name(),
            reason,
            is_starting,
        };
        match tokio::time::timeout(WAIT, self.open()).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(refused)) => Err(unreachable(refused.words, refused.is_starting)),
            Err(_) => Err(unreachable(NO_ANSWER.to_owned(), false)),
        }
    }

    async fn open(&self) -> Result<Open, Refused> {
        match &self.tls {
            None => open(&self.config, NoTls).await,
            Some(tls) => {
                let encrypted =
                    open(&self.config, MakeRustlsConnect::new(tls.client.clone())).await;
                match encrypted {
                    Err(untrusted) if untrusted.is_tls && tls.is_optional => {
                        tracing::debug!("the server's TLS is not trusted: connecting without");
                        let mut config = self.config.clone();
                        let plain = open(config.ssl_mode(Negotiation::Disable), NoTls).await;
                        plain.map_err(|refused| refused.after(&untrusted))
                    }
                    other => other,
                }
            }
        }
    }

    /// Its hosts and ports, for messages.
    pub(crate) fn name(&self) -> String {
        let hosts = self.config.get_hosts();
        let ports = self.config.get_ports();
        let named = hosts.iter().enumerate().map(|(index, host)| {
            let port = ports.get(index).or(ports.first()).copied().unwrap_or(5432);
            match host {
                Host::Tcp(name) => format!("{name}:{port}"),
                Host::Unix(path) => format!("{}:{port}", path.display()),
            }
        });
        named.collect::<Vec<_>>().join(", ")
    }
}

/// A connection, and the task that moves its bytes.
pub(crate) struct Open {
    pub(crate) connection: AsyncPgConnection,
    driver: JoinHandle<()>,
}

impl Open {
    /// Whether nothing can come over it any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.driver.is_finished()
    }
}

/// Why a connection was not opened.
struct Refused {
    words: String,
    is_tls: bool,
    /// It may well be there in a moment: it starts, or another host is about to take over.
    is_starting: bool,
}

impl Refused {
    /// The same, and why what was tried before did not work either.
    fn after(self, before: &Self) -> Self {
        Self {
            words: format!("{} (with TLS: {})", self.words, before.words),
            ..self
        }
    }
}

async fn open<T>(config: &Config, tls: T) -> Result<Open, Refused>
where
    T: tokio_postgres::tls::MakeTlsConnect<tokio_postgres::Socket>,
    T::Stream: Send + 'static,
{
    let (client, connection) = config.connect(tls).await.map_err(|error| refused(&error))?;
    let driver = tokio::spawn(async {
        if let Err(error) = connection.await {
            let error = refused(&error).words;
            tracing::warn!(error, "a connection to the database broke");
        }
    });
    let opened = AsyncPgConnection::try_from(client).await;
    let connection = opened.map_err(|error| Refused {
        words: error.to_string(),
        is_tls: false,
        is_starting: false,
    })?;
    Ok(Open { connection, driver })
}

/// The words of an error and its causes; of what a server says, its message alone.
fn refused(error: &tokio_postgres::Error) -> Refused {
    if let Some(said) = error.as_db_error() {
        return Refused {
            words: said.message().to_owned(),
            is_tls: false,
            is_starting: *said.code() == SqlState::CANNOT_CONNECT_NOW,
        };
    }
    let mut words = error.to_string();
    let mut is_tls = false;
    let mut is_starting = error.is_closed();
    let mut source = error.source();
    while let Some(cause) = source {
        let text = cause.to_string();
        if !words.contains(&text) {
            let _ = write!(words, ": {text}");
        }
        if let Some(error) = cause.downcast_ref::<io::Error>() {
            is_tls |= error
                .get_ref()
                .is_some_and(<dyn std::error::Error + Send + Sync>::is::<rustls::Error>);
            is_starting |= matches!(
                error.kind(),
                io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionReset
            );
            // what is said of a standby where one is wanted that takes writes
            is_starting |= text == "database does not allow writes";
        }
        source = cause.source();
    }
    Refused {
        words,
        is_tls,
        is_starting,
    }
}

/// The connections to a server that one process holds.
pub(crate) struct Connections {
    pub(crate) server: Arc<Server>,
    /// Those that are leased for a query each.
    pub(crate) leased: Pool<AsyncPgConnection>,
    size: usize,
    taken: Mutex<usize>,
}

impl Connections {
    /// Up to `size` connections, opened when they are needed. Those that are leased are driven by
    /// `runtime`, whoever leases them.
    pub(crate) fn new(server: Server, size: usize, runtime: Handle) -> Result<Self, ConnectError> {
        let server = Arc::new(server);
        Ok(Self {
            leased: pool(&server, size, runtime)?,
            server,
            size,
            taken: Mutex::new(0),
        })
    }

    /// How many may be taken out of the lease for good: half of them.
    pub(crate) fn can_be_taken(&self) -> usize {
        self.size / 2
    }

    /// How many have been taken out of the lease.
    pub(crate) fn taken(&self) -> usize {
        *self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes one of the connections out of the lease for good, when one may be.
    pub(crate) fn take(&self) -> bool {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let is_left = *taken < self.can_be_taken();
        if is_left {
            *taken += 1;
            self.leased.resize(self.size - *taken);
        }
        is_left
    }

    /// Gives one back that was taken.
    pub(crate) fn give_back(&self) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        *taken = taken.saturating_sub(1);
        self.leased.resize(self.size - *taken);
    }
}

fn pool(
    server: &Arc<Server>,
    size: usize,
    runtime: Handle,
) -> Result<Pool<AsyncPgConnection>, ConnectError> {
    let mut config = ManagerConfig::default();
    // a closed connection is noticed without a question to the server
    config.recycling_method = RecyclingMethod::Fast;
    let server = Arc::clone(server);
    config.custom_setup = Box::new(move |_| {
        let server = Arc::clone(&server);
        let opening = runtime.spawn(async move { server.connect().await });
        Box::pin(async move {
            let opened = opening
                .await
                .map_err(|ended| BadConnection(ended.to_string()))?;
            Ok(opened?.connection)
        })
    });
    let manager = AsyncDieselConnectionManager::new_with_config(String::new(), config);
    Pool::builder(manager)
        .max_size(size)
        // a connection that was just used knows its statements
        .queue_mode(QueueMode::Lifo)
        .runtime(Runtime::Tokio1)
        .wait_timeout(Some(WAIT))
        .create_timeout(Some(WAIT))
        .build()
        .map_err(|error| ConnectError::Address(error.to_string()))
}
