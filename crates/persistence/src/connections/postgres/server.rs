//! A PostgreSQL server, and how a connection to it is opened.

use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use diesel::ConnectionError::BadConnection;
use diesel::{ConnectionError, ConnectionResult};
use diesel_async::{AsyncPgConnection, SimpleAsyncConnection as _};
use rustls::ClientConfig;
use tokio::task::JoinHandle;
use tokio_postgres::config::{Host, SslMode as Negotiation};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Config, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::connections::address::Address;
use crate::connections::database_url::DatabaseUrl;

use crate::connections::postgres::address::{PostgresAddress, hosts_of, time_for_one};
use crate::connections::postgres::connection::{Driver, PostgresConnection};
use crate::connections::postgres::refused::Refused;
use crate::connections::postgres::tls::{self, SslMode};
use crate::error::{ConnectError, NO_ANSWER, WAIT};

/// Default timeout for opening a connection; the address may set another.
const CONNECT: Duration = Duration::from_secs(5);
/// Default time of silence after which the connections to a server count as dead; the address may
/// set another.
const SILENCE: Duration = Duration::from_secs(30);
/// The most time for the trial of prepared statements.
const TRIAL: Duration = Duration::from_secs(10);
/// How often a prepared statement is tried.
const TRIALS: u32 = 3;
/// What a session says that lacks a connection's prepared statement, or has another's of its name.
const LOST: [SqlState; 2] = [
    SqlState::INVALID_SQL_STATEMENT_NAME,
    SqlState::DUPLICATE_PSTATEMENT,
];
/// Time between two attempts at a server that grants no further connection.
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(250);
/// How long a server counts as full after it granted no further connection: longer than the time
/// between attempts and the time in which a failed one is noticed.
const WHILE_FULL: Duration = Duration::from_secs(1);
/// First statement of every session, which sets its statement timeout: only a fault makes a
/// statement take this long.
const SESSION: &str = "SET statement_timeout = '30s'";

/// A server and how to reach it.
pub(crate) struct PostgresServer {
    url: DatabaseUrl,
    /// The settings of the address as last read.
    target: RwLock<Arc<ServerTarget>>,
    /// When it last granted no further connection, and its message.
    full: Mutex<Option<(Instant, String)>>,
}

/// The settings that an address gives for a server.
struct ServerTarget {
    config: Config,
    /// The settings for each of its hosts.
    hosts: Vec<Config>,
    tls: Option<Tls>,
}

struct Tls {
    client: ClientConfig,
    is_optional: bool,
}

impl PostgresServer {
    /// A server from its address, which is read again from its file when the server refuses its
    /// password.
    pub(crate) fn new(address: PostgresAddress, url: DatabaseUrl) -> Result<Self, ConnectError> {
        let target = ServerTarget::new(address)?;
        Ok(Self {
            url,
            target: RwLock::new(Arc::new(target)),
            full: Mutex::new(None),
        })
    }

    /// Opens a connection on the current runtime. Fails at once where the server has just granted no
    /// further one.
    pub(crate) async fn connect(&self) -> ConnectionResult<PostgresConnection> {
        if let Some(message) = self.full_within(BETWEEN_ATTEMPTS) {
            return Err(BadConnection(message));
        }
        let mut open = match self.open().await {
            Ok(open) => open,
            Err(refused) => {
                if refused.is_full {
                    let full = self.full.lock();
                    let now = (Instant::now(), refused.message.clone());
                    *full.unwrap_or_else(PoisonError::into_inner) = Some(now);
                }
                return Err(BadConnection(refused.message));
            }
        };
        open.statements
            .batch_execute(SESSION)
            .await
            .map_err(ConnectionError::CouldntSetupConfiguration)?;
        Ok(open)
    }

    /// Whether the server granted no further connection a moment ago.
    pub(crate) fn is_full(&self) -> bool {
        self.full_within(WHILE_FULL).is_some()
    }

    fn full_within(&self, time: Duration) -> Option<String> {
        let full = self.full.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, message) = full.as_ref().filter(|(at, _)| at.elapsed() < time)?;
        Some(message.clone())
    }

    /// Opens a connection and drops it, to see whether the server can be reached. It runs no
    /// statement, which a pooler may lose.
    pub(crate) async fn reach(&self) -> Result<(), ConnectError> {
        let unreachable = |reason, passing| ConnectError::Unreachable {
            server: self.name(),
            reason,
            passing,
        };
        match tokio::time::timeout(WAIT, self.log_in()).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(refused)) => Err(unreachable(refused.message, refused.passing)),
            Err(_) => Err(unreachable(NO_ANSWER.to_owned(), None)),
        }
    }

    /// Tries whether what stands before the server keeps the prepared statements of a connection
    /// between its transactions, which every query relies on.
    ///
    /// What prevents the trial, such as a limit of connections, is no verdict.
    pub(crate) async fn check_prepared_statements(&self) -> Result<(), ConnectError> {
        let trial = async {
            let opened = tokio::try_join!(self.log_in(), self.log_in());
            let (first, second) = opened.map_err(|refused| (None, refused.message))?;
            let tried = try_statements(&first.client, &second.client).await;
            tried.map_err(|error| (error.code().cloned(), Refused::of(&error).message))
        };
        let tried = tokio::time::timeout(TRIAL, trial).await;
        match tried.unwrap_or_else(|_| Err((None, NO_ANSWER.to_owned()))) {
            Ok(()) => return Ok(()),
            Err((Some(code), reason)) if LOST.contains(&code) => {
                return Err(ConnectError::LosesStatements {
                    server: self.name(),
                    reason,
                });
            }
            Err((_, unknown)) => {
                tracing::debug!("whether prepared statements are kept is not known: {unknown}");
            }
        }
        Ok(())
    }

    async fn open(&self) -> Result<PostgresConnection, Refused> {
        let LoggedIn { client, driver } = self.log_in().await?;
        let opened = tokio::time::timeout(WAIT, AsyncPgConnection::try_from(client)).await;
        let opened = opened.map_err(|_| Refused::unanswered())?;
        let statements = opened.map_err(|error| Refused::for_good(error.to_string()))?;
        Ok(PostgresConnection {
            statements,
            driver: Driver::new(driver),
        })
    }

    async fn log_in(&self) -> Result<LoggedIn, Refused> {
        let target = self.target();
        match target.log_in().await {
            Err(refused) if refused.is_about_credentials => match self.renewed(&target) {
                Some(renewed) => renewed.log_in().await,
                None => Err(refused),
            },
            other => other,
        }
    }

    /// The current address, if it comes from a file and differs from the address that was refused.
    fn renewed(&self, refused: &ServerTarget) -> Option<Arc<ServerTarget>> {
        let DatabaseUrl::InFile(path) = &self.url else {
            return None;
        };
        let read = self.url.read().and_then(|url| Address::parse(&url));
        let renewed = match read {
            Ok(Address::Postgres(address)) => ServerTarget::new(*address),
            Ok(Address::Sqlite(_)) => return None,
            Err(error) => Err(error),
        };
        let path = path.display();
        let renewed = renewed
            .inspect_err(|error| {
                tracing::warn!(%error, "the database's address in {path} cannot be used");
            })
            .ok()?;
        if renewed.config == refused.config {
            return None;
        }
        tracing::info!("the database's address was read again from {path}");
        let renewed = Arc::new(renewed);
        let target = self.target.write();
        *target.unwrap_or_else(PoisonError::into_inner) = Arc::clone(&renewed);
        Some(renewed)
    }

    fn target(&self) -> Arc<ServerTarget> {
        let target = self.target.read();
        Arc::clone(&target.unwrap_or_else(PoisonError::into_inner))
    }

    /// The hosts and ports of the server, for messages.
    fn name(&self) -> String {
        let target = self.target();
        let hosts = target.config.get_hosts();
        let ports = target.config.get_ports();
        let named = hosts.iter().enumerate().map(|(index, host)| {
            let port = ports.get(index).or(ports.first()).copied().unwrap_or(5432);
            match host {
                Host::Tcp(name) => format!("{name}:{port}"),
                Host::Unix(folder) => format!("{}/.s.PGSQL.{port}", folder.display()),
            }
        });
        named.collect::<Vec<_>>().join(", ")
    }
}

impl ServerTarget {
    fn new(address: PostgresAddress) -> Result<Self, ConnectError> {
        let PostgresAddress {
            mut config,
            ssl_mode,
            tls_files,
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
        let client = || tls::client(&tls_files);
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
        let hosts = hosts_of(&config);
        Ok(Self { config, hosts, tls })
    }

    /// Logs in to the first host that grants it.
    async fn log_in(&self) -> Result<LoggedIn, Refused> {
        let limit = time_for_one(&self.hosts);
        let mut before: Option<Refused> = None;
        for host in &self.hosts {
            let opened = match tokio::time::timeout(limit, self.log_in_at(host)).await {
                Ok(opened) => opened,
                Err(_) => Err(Refused::unanswered()),
            };
            match (opened, before) {
                (Ok(opened), _) => return Ok(opened),
                (Err(refused), None) => before = Some(refused),
                (Err(refused), Some(earlier)) => before = Some(earlier.and(&refused)),
            }
        }
        Err(before.unwrap_or_else(Refused::unanswered))
    }

    async fn log_in_at(&self, host: &Config) -> Result<LoggedIn, Refused> {
        match &self.tls {
            None => log_in(host, NoTls).await,
            Some(tls) => {
                let encrypted = log_in(host, MakeRustlsConnect::new(tls.client.clone())).await;
                match encrypted {
                    Err(untrusted) if untrusted.is_tls && tls.is_optional => {
                        tracing::debug!("the server's TLS is not trusted: connecting without");
                        let mut config = host.clone();
                        let plain = log_in(config.ssl_mode(Negotiation::Disable), NoTls).await;
                        plain.map_err(|refused| refused.after(&untrusted))
                    }
                    other => other,
                }
            }
        }
    }
}

/// A connection before its first statement, and the task that moves its bytes.
struct LoggedIn {
    client: Client,
    driver: JoinHandle<()>,
}

async fn log_in<T>(config: &Config, tls: T) -> Result<LoggedIn, Refused>
where
    T: tokio_postgres::tls::MakeTlsConnect<tokio_postgres::Socket>,
    T::Stream: Send + 'static,
{
    let (client, connection) = config
        .connect(tls)
        .await
        .map_err(|error| Refused::of(&error))?;
    let unusable = connection
        .parameter("server_encoding")
        .and_then(refused_encoding);
    if let Some(message) = unusable {
        return Err(Refused::for_good(message));
    }
    let driver = tokio::spawn(async {
        if let Err(error) = connection.await {
            let error = Refused::of(&error).message;
            tracing::warn!(error, "a connection to the database broke");
        }
    });
    Ok(LoggedIn { client, driver })
}

/// Fails where a pooler in transaction mode keeps no prepared statements. While the second connection
/// holds a session of the server, the first is given another one: the session that has its statement
/// is the one that the pooler used last or longest ago, so that one of few turns shows it.
async fn try_statements(first: &Client, second: &Client) -> Result<(), tokio_postgres::Error> {
    let prepared = first.prepare("SELECT 1").await?;
    for _ in 0..TRIALS {
        second.batch_execute("BEGIN").await?;
        first.query(&prepared, &[]).await?;
        second.batch_execute("ROLLBACK").await?;
    }
    Ok(())
}

/// Why a database of this encoding cannot be used; `None` where it can. `SQL_ASCII` stores what it
/// is sent.
fn refused_encoding(encoding: &str) -> Option<String> {
    let is_good = matches!(encoding, "UTF8" | "SQL_ASCII");
    (!is_good).then(|| {
        format!(
            "the database's encoding is {encoding}, which cannot hold every text: create one with \
             ENCODING 'UTF8' TEMPLATE template0, and move what there is with pg_dump"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_encoding_that_holds_every_text_is_used() {
        for encoding in ["UTF8", "SQL_ASCII"] {
            assert_eq!(refused_encoding(encoding), None);
        }
        for encoding in ["LATIN1", "WIN1252", "EUC_JP"] {
            assert!(refused_encoding(encoding).unwrap().contains(encoding));
        }
    }
}
