//! A PostgreSQL server, and how a connection to it is opened.

use std::error::Error as _;
use std::fmt::Write as _;
use std::io;
use std::time::Duration;

use diesel::ConnectionError::BadConnection;
use diesel::{ConnectionError, ConnectionResult};
use diesel_async::{AsyncPgConnection, SimpleAsyncConnection as _};
use rustls::ClientConfig;
use tokio::task::JoinHandle;
use tokio_postgres::config::{Host, SslMode as Negotiation};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Config, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::connections::address::PostgresAddress;
use crate::connections::deadline::WAIT;
use crate::connections::tls::{self, SslMode};
use crate::error::{ConnectError, NO_ANSWER};

/// Longest wait for a connection to open, unless the address says otherwise.
const CONNECT: Duration = Duration::from_secs(5);
/// Longest silence of a server before its connections count as dead, unless the address says
/// otherwise.
const SILENCE: Duration = Duration::from_secs(30);
/// First statement of every session: a statement that takes this long has met a fault.
const SESSION: &str = "SET statement_timeout = '30s'";

/// A server and how to reach it.
pub(crate) struct PostgresServer {
    config: Config,
    tls: Option<Tls>,
}

struct Tls {
    client: ClientConfig,
    is_optional: bool,
}

impl PostgresServer {
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
    pub(crate) async fn connect(&self) -> ConnectionResult<PostgresConnection> {
        let opened = self.open().await;
        let mut open = opened.map_err(|refused| BadConnection(refused.words))?;
        open.connection
            .batch_execute(SESSION)
            .await
            .map_err(ConnectionError::CouldntSetupConfiguration)?;
        Ok(open)
    }

    /// Opens a connection and drops it, to see whether the server can be reached.
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

    async fn open(&self) -> Result<PostgresConnection, Refused> {
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

    /// The hosts and ports of the server, for messages.
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

/// An open connection, and the task that moves its bytes: the runtime in which the connection was
/// opened drives its socket.
pub(crate) struct PostgresConnection {
    pub(crate) connection: AsyncPgConnection,
    driver: JoinHandle<()>,
}

impl PostgresConnection {
    /// Whether the connection has ended.
    pub(crate) fn is_closed(&self) -> bool {
        self.driver.is_finished()
    }
}

/// Why a connection was not opened.
struct Refused {
    words: String,
    is_tls: bool,
    /// Whether the server is likely to be there in a moment: it starts, or another host takes over.
    is_starting: bool,
}

impl Refused {
    /// This refusal, with that of the attempt before it.
    fn after(self, before: &Self) -> Self {
        Self {
            words: format!("{} (with TLS: {})", self.words, before.words),
            ..self
        }
    }
}

async fn open<T>(config: &Config, tls: T) -> Result<PostgresConnection, Refused>
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
    Ok(PostgresConnection { connection, driver })
}

/// The words of an error and of its causes. Of what a server says only the message is kept, since
/// its detail may quote a row.
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
            // the driver's words for a standby where a server that takes writes is wanted
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
