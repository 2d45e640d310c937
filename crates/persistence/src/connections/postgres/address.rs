//! Parses a `postgres://` address: the location of a server, and how it is verified.
//!
//! The hosts of an address, one by one.
//!
//! The driver tries several hosts in turn, but limits only the time of a TCP connection. A host that
//! hangs accepts that and answers nothing more, so the driver would never get to the next host.

use std::error::Error as _;
use std::path::Path;
use std::str::FromStr as _;
use std::time::Duration;

use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, percent_encode};
use tokio_postgres::Config;
use tokio_postgres::config::{Host, LoadBalanceHosts};

use crate::connections::postgres::tls::{SslMode, TlsFiles};
use crate::error::{ConnectError, WAIT};

/// The parameters of a `postgres://` address that the driver reads, besides those of TLS and `host`.
const DRIVER_PARAMETERS: [&str; 16] = [
    "application_name",
    "channel_binding",
    "connect_timeout",
    "dbname",
    "hostaddr",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_retries",
    "load_balance_hosts",
    "options",
    "password",
    "port",
    "target_session_attrs",
    "tcp_user_timeout",
    "user",
];

/// A parsed `postgres://` address.
pub(crate) struct PostgresAddress {
    /// Every setting of the address except TLS.
    pub(crate) config: Config,
    /// Whether to use TLS.
    pub(crate) ssl_mode: SslMode,
    /// The files of certificates.
    pub(crate) tls_files: TlsFiles,
}

impl PostgresAddress {
    /// Parses `postgres://…` or `postgresql://…`.
    pub(crate) fn parse(url: &str) -> Result<Self, ConnectError> {
        let mut ssl_mode = SslMode::Prefer;
        let mut tls_files = TlsFiles::default();
        let PostgresParts {
            scheme,
            user,
            server,
            parameters,
        } = PostgresParts::of(url)?;
        let mut left = Vec::new();
        for parameter in parameters
            .split('&')
            .filter(|parameter| !parameter.is_empty())
        {
            match parameter.split_once('=') {
                Some(("sslmode", mode)) => ssl_mode = SslMode::parse(mode)?,
                Some((name, value)) if tls_files.take(name, value) => {}
                Some(("host", host)) => {
                    left.push(format!("host={}", socket_or_host(host, parameters)));
                }
                Some((name, _)) if DRIVER_PARAMETERS.contains(&name) => {
                    left.push(parameter.to_owned());
                }
                Some((name, _)) => return Err(unknown_parameter(name)),
                None => return Err(unknown_parameter(parameter)),
            }
        }
        // the driver ends the password at the first `@`
        let user = user.map_or_else(String::new, |user| format!("{}@", user.replace('@', "%40")));
        let rest = format!("{scheme}{user}{server}?{}", left.join("&"));
        let config = Config::from_str(rest.trim_end_matches('?')).map_err(|error| {
            // the rest of the driver's error may quote the address
            let cause = error.source().map(ToString::to_string).unwrap_or_default();
            let known = cause.starts_with("invalid value for option");
            let shape = "it must look like postgres://user:password@host:port/database".to_owned();
            ConnectError::Address(if known { cause } else { shape })
        })?;
        Ok(Self {
            ssl_mode: ssl_mode_for(&config, ssl_mode)?,
            config,
            tls_files,
        })
    }
}

/// Names a parameter that nothing reads, such as one of another client. A text that is no name is
/// not repeated: it could be part of a password.
fn unknown_parameter(name: &str) -> ConnectError {
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    let reason = if name.len() <= 40 && name.bytes().all(is_of_name) {
        format!(
            "it has the parameter {name}, which is none of sslmode, sslrootcert, sslcert, sslkey, \
             host, {}: take it out",
            DRIVER_PARAMETERS.join(", ")
        )
    } else {
        "what follows its ? is not of the form name=value&name=value".to_owned()
    };
    ConnectError::Address(reason)
}

/// The parts of a `postgres://` address, still percent-encoded.
struct PostgresParts<'a> {
    scheme: &'a str,
    user: Option<&'a str>,
    server: &'a str,
    parameters: &'a str,
}

impl<'a> PostgresParts<'a> {
    /// Splits an address at the last `@`: everything before it belongs to the user and the
    /// password, even a question mark or another `@`. An ambiguous address is refused, so that no
    /// part of a password is taken for a host, which messages show.
    fn of(url: &'a str) -> Result<Self, ConnectError> {
        let (scheme, rest) = url.split_at(url.find("//").map_or(0, |at| at + 2));
        let (user, rest) = match rest.rsplit_once('@') {
            Some((user, rest)) => (Some(user), rest),
            None => (None, rest),
        };
        if user.is_some_and(may_hold_parameters) {
            return Err(ConnectError::Address(
                "it can be read in two ways: write an @ in a password or a parameter as %40"
                    .to_owned(),
            ));
        }
        let (server, parameters) = rest.split_once('?').unwrap_or((rest, ""));
        Ok(Self {
            scheme,
            user,
            server,
            parameters,
        })
    }
}

/// Whether the text before the last `@` could be a whole address with parameters: it has a
/// parameter after another `@`, or a `password` parameter.
fn may_hold_parameters(user: &str) -> bool {
    let has_parameter = |text: &str| {
        let mut after_marks = text.split('?').skip(1);
        after_marks.any(|parameters| {
            let name = parameters.split_once('=').map(|(name, _)| name);
            let is_of_name = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
            name.is_some_and(|name| !name.is_empty() && name.bytes().all(is_of_name))
        })
    };
    let after_at = user.split_once('@').map(|(_, after)| after);
    after_at.is_some_and(has_parameter) || has_parameter(user) && user.contains("password=")
}

/// A `host` parameter as the driver takes it, percent-encoded. The folder of a socket becomes an
/// absolute path. A value is such a folder if it has a `/`, which no host has, or if a folder of
/// that name here has the port's socket.
fn socket_or_host(host: &str, parameters: &str) -> String {
    let name = percent_decode_str(host).decode_utf8_lossy();
    let mut ports = parameters
        .split('&')
        .filter_map(|it| it.strip_prefix("port="));
    let socket = format!(".s.PGSQL.{}", ports.next_back().unwrap_or("5432"));
    let is_socket = name.contains('/') || Path::new(&*name).join(socket).exists();
    match std::path::absolute(&*name) {
        Ok(path) if is_socket => {
            percent_encode(path.as_os_str().as_encoded_bytes(), NON_ALPHANUMERIC).to_string()
        }
        Ok(_) | Err(_) => host.to_owned(),
    }
}

/// The TLS mode for these hosts. A socket never uses TLS, as in every other PostgreSQL client.
fn ssl_mode_for(config: &Config, wanted: SslMode) -> Result<SslMode, ConnectError> {
    let is_socket = |host: &Host| matches!(host, Host::Unix(_));
    let hosts = config.get_hosts();
    if hosts.is_empty() && config.get_hostaddrs().is_empty() {
        return Err(ConnectError::Address(
            "it names no host: write one, or the folder of a socket, as in \
             postgres:///database?host=/run/postgresql"
                .to_owned(),
        ));
    }
    if !hosts.is_empty() && hosts.iter().all(is_socket) {
        return Ok(SslMode::Disable);
    }
    if hosts.iter().any(is_socket) && wanted != SslMode::Disable {
        return Err(ConnectError::Address(
            "it names a socket beside other hosts, which needs sslmode=disable".to_owned(),
        ));
    }
    Ok(wanted)
}

/// The settings for each host of an address, in its order. Hosts in random order are left to the
/// driver.
pub(super) fn hosts_of(config: &Config) -> Vec<Config> {
    let number = config.get_hosts().len().max(config.get_hostaddrs().len());
    if number < 2 || config.get_load_balance_hosts() == LoadBalanceHosts::Random {
        return vec![config.clone()];
    }
    (0..number).map(|index| only(config, index)).collect()
}

/// The longest that one of several hosts may take until it takes statements: all of them have a turn
/// while a query waits.
pub(super) fn time_for_one(hosts: &[Config]) -> Duration {
    let number = u32::try_from(hosts.len()).unwrap_or(u32::MAX).max(1);
    // a little earlier than the query gives up
    let share = WAIT.saturating_sub(Duration::from_millis(500)) / number;
    let connect = hosts.first().and_then(Config::get_connect_timeout);
    match (number, connect) {
        (1, _) | (_, None) => share,
        (_, Some(connect)) => share.min(*connect),
    }
}

/// The settings for one host: the driver's settings cannot be taken a host.
fn only(all: &Config, index: usize) -> Config {
    let mut one = Config::new();
    match all.get_hosts().get(index) {
        Some(Host::Tcp(name)) => {
            one.host(name);
        }
        Some(Host::Unix(folder)) => {
            one.host_path(folder);
        }
        None => {}
    }
    if let Some(address) = all.get_hostaddrs().get(index) {
        one.hostaddr(*address);
    }
    let ports = all.get_ports();
    if let Some(port) = ports.get(index).or(ports.first()) {
        one.port(*port);
    }
    if let Some(user) = all.get_user() {
        one.user(user);
    }
    if let Some(password) = all.get_password() {
        one.password(password);
    }
    if let Some(name) = all.get_dbname() {
        one.dbname(name);
    }
    if let Some(options) = all.get_options() {
        one.options(options);
    }
    if let Some(name) = all.get_application_name() {
        one.application_name(name);
    }
    if let Some(time) = all.get_connect_timeout() {
        one.connect_timeout(*time);
    }
    if let Some(time) = all.get_tcp_user_timeout() {
        one.tcp_user_timeout(*time);
    }
    if let Some(time) = all.get_keepalives_interval() {
        one.keepalives_interval(time);
    }
    if let Some(number) = all.get_keepalives_retries() {
        one.keepalives_retries(number);
    }
    one.keepalives(all.get_keepalives());
    one.keepalives_idle(all.get_keepalives_idle());
    one.ssl_mode(all.get_ssl_mode());
    one.ssl_negotiation(all.get_ssl_negotiation());
    one.channel_binding(all.get_channel_binding());
    one.target_session_attrs(all.get_target_session_attrs());
    one
}

#[cfg(test)]
mod tests;
