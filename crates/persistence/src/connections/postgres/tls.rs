//! TLS to a PostgreSQL server, through rustls.
//!
//! Wherever TLS is used the server's certificate is verified: `require` is as strict as
//! `verify-full`, since encryption to an unknown server protects nothing. `prefer`, the default,
//! guarantees nothing: it uses TLS where the server offers a certificate that we trust, and
//! connects without TLS where it does not.

use std::path::PathBuf;
use std::sync::Arc;

use percent_encoding::percent_decode_str;
use refract_tls_files::{ClientCertificate, TrustedCertificates};
use rustls::crypto::ring;
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

/// The PEM files that an address names, as the parameters of libpq.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TlsFiles {
    /// `sslrootcert`: certificates to trust instead of the system's.
    pub(crate) roots: Option<PathBuf>,
    /// `sslcert`: the client certificate.
    pub(crate) certificate: Option<PathBuf>,
    /// `sslkey`: the private key of the client certificate.
    pub(crate) key: Option<PathBuf>,
}

impl TlsFiles {
    /// Takes the value of a parameter, percent-encoded; `false` for a parameter that names no file.
    pub(crate) fn take(&mut self, parameter: &str, value: &str) -> bool {
        let file = match parameter {
            "sslrootcert" => &mut self.roots,
            "sslcert" => &mut self.certificate,
            "sslkey" => &mut self.key,
            _ => return false,
        };
        let path = percent_decode_str(value).decode_utf8_lossy();
        *file = (!path.is_empty()).then(|| PathBuf::from(path.into_owned()));
        true
    }

    /// Reads the client certificate with its key; `None` if the address names neither.
    fn client_certificate(&self) -> Result<Option<ClientCertificate>, ConnectError> {
        let missing = |given, other| {
            let reason = format!("{given} needs {other}: name both files, or none");
            Err(ConnectError::Address(reason))
        };
        match (&self.certificate, &self.key) {
            (None, None) => Ok(None),
            (Some(_), None) => missing("sslcert", "sslkey"),
            (None, Some(_)) => missing("sslkey", "sslcert"),
            (Some(certificate), Some(key)) => {
                let read = ClientCertificate::in_files(certificate, key);
                let read = read.map_err(|error| ConnectError::Certificates(error.to_string()))?;
                Ok(Some(read))
            }
        }
    }
}

/// A client that trusts the certificates of a PEM file. Without a file it trusts those of the
/// operating system, and the roots that browsers trust where the system has none.
pub(crate) fn client(files: &TlsFiles) -> Result<ClientConfig, ConnectError> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| ConnectError::Certificates(error.to_string()))?;
    let builder = if let Some(path) = &files.roots {
        let roots = TrustedCertificates::in_file(path);
        let roots = roots.map_err(|error| ConnectError::Certificates(error.to_string()))?;
        builder.with_root_certificates(roots.roots())
    } else if let Ok(verifier) = Verifier::new(provider) {
        builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
    } else {
        let roots = webpki_roots::TLS_SERVER_ROOTS.to_vec();
        builder.with_root_certificates(RootCertStore { roots })
    };
    Ok(match files.client_certificate()? {
        Some(certificate) => builder.with_client_cert_resolver(Arc::new(certificate)),
        None => builder.with_no_client_auth(),
    })
}
