//! The operator's settings for connections to model servers: trusted certificates and proxies.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

/// How connections to model servers are opened. By default directly, and only the system's
/// certificates are trusted.
#[derive(Clone, Debug, Default)]
pub struct ConnectionSettings {
    /// The proxies that may be used.
    pub proxies: ProxyVariables,
    /// Certificates that are trusted in addition to the system's.
    pub certificates: TrustedCertificates,
}

/// Certificates of authorities that may sign a model server's certificate; none by default.
#[derive(Clone, Debug, Default)]
pub struct TrustedCertificates(Arc<[CertificateDer<'static>]>);

/// Why a file gives no certificates.
#[derive(Debug, thiserror::Error)]
pub enum CertificateFileError {
    /// The file cannot be read, or is no PEM file.
    #[error("cannot read {}: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The file has no certificate.
    #[error("{} has no certificate in PEM form", .0.display())]
    Empty(PathBuf),
    /// A certificate cannot be used to verify others.
    #[error("{}: certificate {number} cannot be used", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// Place of the certificate in the file, from 1.
        number: usize,
    },
}

impl TrustedCertificates {
    /// Reads the certificates of a PEM file.
    ///
    /// # Errors
    /// When the file is unreadable, has no certificate, or has one that cannot be used.
    pub fn in_file(path: &Path) -> Result<Self, CertificateFileError> {
        let unreadable = |reason: String| CertificateFileError::Unreadable {
            path: path.to_owned(),
            reason,
        };
        let pem = std::fs::read(path).map_err(|error| unreadable(error.to_string()))?;
        let mut certificates = Vec::new();
        let mut roots = RootCertStore::empty();
        for (certificate, number) in CertificateDer::pem_slice_iter(&pem).zip(1..) {
            let certificate = certificate.map_err(|error| unreadable(error.to_string()))?;
            let added = roots.add(certificate.clone());
            added.map_err(|_| CertificateFileError::Unusable {
                path: path.to_owned(),
                number,
            })?;
            certificates.push(certificate);
        }
        if certificates.is_empty() {
            return Err(CertificateFileError::Empty(path.to_owned()));
        }
        Ok(Self(certificates.into()))
    }

    pub(crate) fn as_slice(&self) -> &[CertificateDer<'static>] {
        &self.0
    }
}

/// The variables of the environment that name HTTP proxies, as other programs read them: the names
/// in lower case come first, and an empty value counts as none. They may hold a password, which
/// `Debug` does not show.
#[derive(Clone, Default)]
pub struct ProxyVariables {
    pub(crate) http: Option<ProxyVariable>,
    pub(crate) https: Option<ProxyVariable>,
    /// Hosts that are asked without a proxy, separated by commas.
    pub(crate) exempt: String,
}

/// A variable with the address of a proxy.
#[derive(Clone)]
pub(crate) struct ProxyVariable {
    pub(crate) name: &'static str,
    pub(crate) value: String,
}

impl ProxyVariables {
    /// Reads the variables of this process.
    pub fn of_environment() -> Self {
        Self::read(|name| {
            let value = std::env::var_os(name)?;
            // what is no UTF-8 is no address either, and is refused as such
            Some(value.to_string_lossy().into_owned())
        })
    }

    /// Reads the variables by a function that returns a variable's value.
    pub fn read(value: impl Fn(&str) -> Option<String>) -> Self {
        let first = |names: &[&'static str]| {
            names.iter().find_map(|name| {
                let value = value(name).filter(|value| !value.trim().is_empty())?;
                Some(ProxyVariable { name, value })
            })
        };
        // a web server that runs this program as a CGI script sets HTTP_PROXY to the caller's header
        // `Proxy`
        let is_cgi = value("REQUEST_METHOD").is_some();
        let http = if is_cgi {
            &["http_proxy", "all_proxy", "ALL_PROXY"][..]
        } else {
            &["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"][..]
        };
        let exempt = first(&["no_proxy", "NO_PROXY"]);
        Self {
            http: first(http),
            https: first(&["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]),
            exempt: exempt.map(|variable| variable.value).unwrap_or_default(),
        }
    }
}

impl fmt::Debug for ProxyVariables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProxyVariables(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(content: &[u8]) -> String {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ca.pem");
        std::fs::write(&file, content).unwrap();
        let error = TrustedCertificates::in_file(&file).unwrap_err().to_string();
        assert!(!error.contains('\n'), "{error}");
        error.replace(&file.display().to_string(), "FILE")
    }

    #[test]
    fn a_file_without_usable_certificates_is_refused_in_one_line() {
        let key = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
        let nonsense = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        for content in ["", "no PEM", key] {
            let expected = "FILE has no certificate in PEM form";
            assert_eq!(error(content.as_bytes()), expected);
        }
        assert_eq!(
            error(nonsense.as_bytes()),
            "FILE: certificate 1 cannot be used"
        );
        let cut = error(b"-----BEGIN CERTIFICATE-----\nAAAA\n");
        assert!(cut.starts_with("cannot read FILE: "), "{cut}");
        let missing = TrustedCertificates::in_file(Path::new("/nowhere/ca.pem"));
        let missing = missing.unwrap_err().to_string();
        assert!(
            missing.starts_with("cannot read /nowhere/ca.pem: "),
            "{missing}"
        );
    }
}
