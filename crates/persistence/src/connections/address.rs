//! `DATABASE_URL`: which database it is, where it is, and how far its server is trusted.

use std::error::Error as _;
use std::path::PathBuf;
use std::str::FromStr as _;

use percent_encoding::percent_decode_str;
use tokio_postgres::Config;

use crate::connections::tls::SslMode;
use crate::error::ConnectError;

/// Where a database is.
pub(crate) enum Address {
    /// An SQLite file.
    Sqlite(PathBuf),
    /// A PostgreSQL server, or several of which one takes writes.
    Postgres(Box<PostgresAddress>),
}

/// What a `postgres://` address says.
pub(crate) struct PostgresAddress {
    /// Everything in the address but TLS.
    pub(crate) config: Config,
    /// Whether to use TLS.
    pub(crate) ssl_mode: SslMode,
    /// A PEM file of certificates to trust instead of the system's.
    pub(crate) root_certificates: Option<PathBuf>,
}

impl Address {
    /// Reads `sqlite://PATH` or `postgres://…`; what follows `sqlite://` is the path as it stands.
    pub(crate) fn parse(url: &str) -> Result<Self, ConnectError> {
        if let Some(path) = url.strip_prefix("sqlite://") {
            return sqlite(path);
        }
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            return postgres(url);
        }
        Err(ConnectError::UnknownScheme)
    }
}

fn sqlite(path: &str) -> Result<Address, ConnectError> {
    if path.is_empty() || path == ":memory:" {
        let reason = "sqlite:// must be followed by the path of a file".to_owned();
        return Err(ConnectError::Address(reason));
    }
    // an absolute path is never read as one of SQLite's own `file:` addresses
    let absolute = std::path::absolute(path);
    let file_error = |error: std::io::Error| ConnectError::File {
        path: path.to_owned(),
        reason: error.to_string(),
    };
    Ok(Address::Sqlite(absolute.map_err(file_error)?))
}

fn postgres(url: &str) -> Result<Address, ConnectError> {
    let mut ssl_mode = SslMode::Prefer;
    let mut root_certificates = None;
    let (server, parameters) = split_parameters(url);
    let mut left = Vec::new();
    for parameter in parameters
        .split('&')
        .filter(|parameter| !parameter.is_empty())
    {
        match parameter.split_once('=') {
            Some(("sslmode", mode)) => ssl_mode = SslMode::parse(mode)?,
            Some(("sslrootcert", path)) => {
                let path = percent_decode_str(path).decode_utf8_lossy();
                root_certificates = Some(PathBuf::from(path.into_owned()));
            }
            _ => left.push(parameter),
        }
    }
    let rest = format!("{server}?{}", left.join("&"));
    let config = Config::from_str(rest.trim_end_matches('?')).map_err(|error| {
        // other words of the driver may quote the address
        let cause = error.source().map(ToString::to_string).unwrap_or_default();
        let known = cause.starts_with("invalid value for option");
        let shape = "it must look like postgres://user:password@host:port/database".to_owned();
        ConnectError::Address(if known { cause } else { shape })
    })?;
    Ok(Address::Postgres(Box::new(PostgresAddress {
        config,
        ssl_mode,
        root_certificates,
    })))
}

/// Splits an address from its parameters. A question mark before the `@` belongs to the password.
fn split_parameters(url: &str) -> (&str, &str) {
    let host = url.find('@').unwrap_or(0);
    let (user, rest) = url.split_at(host);
    match rest.split_once('?') {
        Some((rest, parameters)) => {
            let server = url.split_at(user.len() + rest.len()).0;
            (server, parameters)
        }
        None => (url, ""),
    }
}

#[cfg(test)]
mod tests {
    use tokio_postgres::config::Host;

    use super::*;

    fn server(url: &str) -> PostgresAddress {
        match Address::parse(url).unwrap() {
            Address::Postgres(address) => *address,
            Address::Sqlite(_) => panic!("{url} is PostgreSQL"),
        }
    }

    fn refusal(url: &str) -> String {
        Address::parse(url).err().unwrap().to_string()
    }

    #[test]
    fn a_sqlite_address_is_a_path() {
        for (url, path) in [
            ("sqlite:///var/a b?.db", "/var/a b?.db"),
            ("sqlite:///x%20", "/x%20"),
        ] {
            assert!(
                matches!(Address::parse(url), Ok(Address::Sqlite(p)) if p == *path),
                "{url}"
            );
        }
        let relative = Address::parse("sqlite://file:x.db").unwrap();
        assert!(
            matches!(relative, Address::Sqlite(p) if p.is_absolute() && p.ends_with("file:x.db"))
        );
        assert!(refusal("sqlite://").contains("path of a file"));
        assert!(refusal("sqlite://:memory:").contains("path of a file"));
    }

    #[test]
    fn other_schemes_are_refused_with_those_that_there_are() {
        for url in ["mysql://h/d", "refract.db", "", "sqlite:x", "POSTGRES://h"] {
            assert_eq!(
                refusal(url),
                "the database address must begin with sqlite:// or postgres://",
                "{url}"
            );
        }
    }

    #[test]
    fn what_tls_needs_is_taken_out_of_the_parameters() {
        let plain = server("postgresql://u:p%40@h:6543/d");
        assert_eq!(plain.ssl_mode, SslMode::Prefer);
        assert_eq!(plain.config.get_password(), Some("p@".as_bytes()));
        assert_eq!(plain.config.get_hosts(), [Host::Tcp("h".to_owned())]);

        let full = server(
            "postgres://u:p?sslmode=x@a:1,b:2/d?sslmode=verify-full&sslrootcert=/r%20t.pem\
             &target_session_attrs=read-write",
        );
        assert_eq!(full.ssl_mode, SslMode::VerifyFull);
        assert_eq!(full.root_certificates, Some(PathBuf::from("/r t.pem")));
        assert_eq!(full.config.get_password(), Some("p?sslmode=x".as_bytes()));
        assert_eq!(full.config.get_hosts().len(), 2);
    }

    #[test]
    fn a_refusal_never_repeats_the_address() {
        for url in [
            "postgres://user:secret@host:port/d",
            "postgres://user:secret@host/d?secret=1",
            "postgres://user:secret@ho%zzst/d?port=x",
            "postgres://user:secret?@host/?sslmode=secret",
        ] {
            let words = refusal(url);
            assert!(!words.contains("sec"), "{words}");
        }
        assert!(refusal("postgres://h/d?sslmode=allow").contains("sslmode"));
        assert!(refusal("postgres://h:x/d").contains("port"));
    }
}
