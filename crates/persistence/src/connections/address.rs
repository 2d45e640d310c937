//! Parses `DATABASE_URL`: the kind of database and its location.

use std::path::{Path, PathBuf};

use crate::connections::postgres::PostgresAddress;
use crate::error::ConnectError;

/// The location of a database.
pub(crate) enum Address {
    /// An SQLite file.
    Sqlite(PathBuf),
    /// A PostgreSQL server, or several hosts, one of which takes writes.
    Postgres(Box<PostgresAddress>),
}

impl Address {
    /// Parses `sqlite://PATH` or `postgres://…`. The text after `sqlite://` is the path, verbatim.
    pub(crate) fn parse(url: &str) -> Result<Self, ConnectError> {
        if let Some(path) = url.strip_prefix("sqlite://") {
            return sqlite(path);
        }
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            let address = PostgresAddress::parse(url)?;
            return Ok(Self::Postgres(Box::new(address)));
        }
        if url.starts_with(['"', '\'']) {
            let reason = "it begins with a quotation mark: take the quotes out".to_owned();
            return Err(ConnectError::Address(reason));
        }
        Err(ConnectError::UnknownScheme)
    }
}

fn sqlite(path: &str) -> Result<Address, ConnectError> {
    if path.is_empty() || path == ":memory:" {
        let reason = "sqlite:// must be followed by the path of a file".to_owned();
        return Err(ConnectError::Address(reason));
    }
    let parameter = path.rsplit_once('?').map(|(_, after)| after);
    if parameter.is_some_and(|after| after.contains('=')) && !Path::new(path).exists() {
        let reason = "the address of an SQLite file has no parameters: take out what follows its ?";
        return Err(ConnectError::Address(reason.to_owned()));
    }
    // an absolute path is never read as one of SQLite's own `file:` addresses
    let absolute = std::path::absolute(path);
    let file_error = |error: std::io::Error| ConnectError::File {
        path: path.to_owned(),
        reason: error.to_string(),
    };
    Ok(Address::Sqlite(absolute.map_err(file_error)?))
}

#[cfg(test)]
mod tests;
