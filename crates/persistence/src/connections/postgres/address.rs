//! Parses a `postgres://` address: the location of a server, and how it is verified.

use std::error::Error as _;
use std::path::Path;
use std::str::FromStr as _;

use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, percent_encode};
use tokio_postgres::Config;
use tokio_postgres::config::Host;

use crate::connections::postgres::tls::{SslMode, TlsFiles};
use crate::error::ConnectError;

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

#[cfg(test)]
mod tests;
