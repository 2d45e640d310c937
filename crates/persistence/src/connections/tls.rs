//! TLS to a PostgreSQL server, through rustls.
//!
//! Wherever TLS is used the server's certificate is verified: `require` is as strict as
//! `verify-full`, since encryption to an unknown server protects nothing. `prefer`, the default,
//! guarantees nothing: it uses TLS where the server offers a certificate that we trust, and
//! connects without TLS where it does not.

use std::path::Path;
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::Verifier;

use crate::error::ConnectError;

/// `sslmode` of a `postgres://` address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SslMode {
    /// Never TLS.
    Disable,
    /// TLS if the server's certificate is trusted, else no TLS.
    Prefer,
    /// TLS with a verified certificate, or no connection.
    Require,
    /// As `Require`: TLS with a verified certificate, or no connection.
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

/// A client that trusts the certificates of a PEM file. Without a file it trusts those of the
/// operating system, and the roots that browsers trust where the system has none.
pub(crate) fn client(root_certificates: Option<&Path>) -> Result<ClientConfig, ConnectError> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| ConnectError::Certificates(error.to_string()))?;
    let builder = if let Some(path) = root_certificates {
        builder.with_root_certificates(roots_of_file(path)?)
    } else if let Ok(verifier) = Verifier::new(provider) {
        builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
    } else {
        let roots = webpki_roots::TLS_SERVER_ROOTS.to_vec();
        builder.with_root_certificates(RootCertStore { roots })
    };
    Ok(builder.with_no_client_auth())
}

fn roots_of_file(path: &Path) -> Result<RootCertStore, ConnectError> {
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
