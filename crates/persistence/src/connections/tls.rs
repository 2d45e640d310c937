//! TLS to a PostgreSQL server, through rustls.
//!
//! A certificate is verified wherever TLS is used: `require` is as strict as `verify-full`, since
//! an encrypted line to somebody unknown protects nothing. `prefer`, the default, promises nothing
//! either way: it uses TLS where the server offers it with a certificate that we trust, and goes
//! without where it does not.

use std::path::Path;
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};

use crate::error::ConnectError;

/// `sslmode` of a `postgres://` address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SslMode {
    /// Never TLS.
    Disable,
    /// TLS where it can be had.
    Prefer,
    /// TLS or nothing.
    Require,
    /// The same.
    VerifyFull,
}

impl SslMode {
    pub(crate) fn parse(mode: &str) -> Result<Self, ConnectError> {
        match mode {
            "disable" => Ok(Self::Disable),
            "prefer" => Ok(Self::Prefer),
            "require" => Ok(Self::Require),
            "verify-full" => Ok(Self::VerifyFull),
            _ => Err(ConnectError::Address(
                "sslmode must be disable, prefer, require or verify-full".to_owned(),
            )),
        }
    }
}

/// A client that trusts the certificates of a PEM file; without one the system's, and where the
/// system has none those that browsers trust.
pub(crate) fn client(root_certificates: Option<&Path>) -> Result<ClientConfig, ConnectError> {
    let roots = match root_certificates {
        Some(path) => from_file(path)?,
        None => from_system(),
    };
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder
        .with_safe_default_protocol_versions()
        .map_err(|error| ConnectError::Certificates(error.to_string()))?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

fn from_file(path: &Path) -> Result<RootCertStore, ConnectError> {
    let unreadable =
        |reason: String| ConnectError::Certificates(format!("{}: {reason}", path.display()));
    let mut roots = RootCertStore::empty();
    for certificate in
        CertificateDer::pem_file_iter(path).map_err(|error| unreadable(error.to_string()))?
    {
        let certificate = certificate.map_err(|error| unreadable(error.to_string()))?;
        roots
            .add(certificate)
            .map_err(|error| unreadable(error.to_string()))?;
    }
    if roots.is_empty() {
        return Err(unreadable("there is no certificate in it".to_owned()));
    }
    Ok(roots)
}

fn from_system() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    roots
}
