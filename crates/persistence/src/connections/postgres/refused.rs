//! Why a PostgreSQL server opened no connection.

use std::error::Error as _;
use std::fmt::Write as _;
use std::io;

use tokio_postgres::error::SqlState;

use crate::error::{NO_ANSWER, PassingReason};

/// Why a connection was not opened.
pub(super) struct Refused {
    pub(super) message: String,
    pub(super) is_tls: bool,
    /// Whether the server refused the user or the password.
    pub(super) is_about_credentials: bool,
    /// Why the server may accept a connection later; `None` where waiting does not help.
    pub(super) passing: Option<PassingReason>,
    /// Whether the server grants no further connection: to anyone, to this role or to this database.
    pub(super) is_full: bool,
}

impl Refused {
    /// Describes an error and its causes. Only the message of a server's error is kept, since its
    /// detail may quote a row.
    pub(super) fn of(error: &tokio_postgres::Error) -> Self {
        if let Some(reported) = error.as_db_error() {
            let code = reported.code();
            let is_full = *code == SqlState::TOO_MANY_CONNECTIONS;
            let is_not_ready = *code == SqlState::CANNOT_CONNECT_NOW || is_full;
            // class 28; PgBouncer has another code for it
            let is_about_credentials = code.code().starts_with("28")
                || reported.message().contains("authentication failed");
            return Self {
                message: reported.message().to_owned(),
                is_tls: false,
                is_about_credentials,
                passing: is_not_ready.then_some(PassingReason::NotReady),
                is_full,
            };
        }
        let mut message = error.to_string();
        let mut is_tls = false;
        let mut passing = error.is_closed().then_some(PassingReason::NobodyListens);
        let mut source = error.source();
        while let Some(cause) = source {
            let text = cause.to_string();
            if !message.contains(&text) {
                let _ = write!(message, ": {text}");
            }
            if let Some(error) = cause.downcast_ref::<io::Error>() {
                is_tls |= error
                    .get_ref()
                    .is_some_and(<dyn std::error::Error + Send + Sync>::is::<rustls::Error>);
                let is_nobody = matches!(
                    error.kind(),
                    // the socket's file is missing until the server listens
                    io::ErrorKind::ConnectionRefused
                        | io::ErrorKind::ConnectionReset
                        | io::ErrorKind::NotFound
                );
                if is_nobody {
                    passing = Some(PassingReason::NobodyListens);
                }
                // the driver's message for a standby where a server that takes writes is wanted
                if text == "database does not allow writes" {
                    passing = Some(PassingReason::NotReady);
                }
            }
            source = cause.source();
        }
        Self {
            message,
            is_tls,
            is_about_credentials: false,
            passing,
            is_full: false,
        }
    }

    /// The error for a host that does not answer.
    pub(super) fn unanswered() -> Self {
        Self::for_good(NO_ANSWER.to_owned())
    }

    /// An error that waiting, another password or a connection without TLS does not mend.
    pub(super) fn for_good(message: String) -> Self {
        Self {
            message,
            is_tls: false,
            is_about_credentials: false,
            passing: None,
            is_full: false,
        }
    }

    /// Combines this error of one host with that of the next.
    pub(super) fn and(self, next: &Self) -> Self {
        Self {
            message: format!("{}; {}", self.message, next.message),
            is_tls: self.is_tls || next.is_tls,
            is_about_credentials: self.is_about_credentials || next.is_about_credentials,
            passing: self.passing.or(next.passing),
            is_full: self.is_full || next.is_full,
        }
    }

    /// Combines this error with that of the earlier attempt.
    pub(super) fn after(self, before: &Self) -> Self {
        Self {
            message: format!("{} (with TLS: {})", self.message, before.message),
            ..self
        }
    }
}
