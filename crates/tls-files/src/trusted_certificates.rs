//! Certificates of authorities that may sign a server's certificate.

use std::path::Path;
use std::sync::Arc;

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;

use crate::certificate_file_error::CertificateFileError;
use crate::pem;

/// Certificates of authorities that may sign a server's certificate; none by default.
#[derive(Clone, Debug, Default)]
pub struct TrustedCertificates(Arc<[CertificateDer<'static>]>);

impl TrustedCertificates {
    /// Reads the certificates of a PEM file.
    ///
    /// # Errors
    /// When the file is unreadable, has no certificate, or has one that cannot be used.
    pub fn in_file(path: &Path) -> Result<Self, CertificateFileError> {
        let certificates = pem::certificates(path)?;
        let mut roots = RootCertStore::empty();
        for (certificate, number) in certificates.iter().zip(1..) {
            let added = roots.add(certificate.clone());
            added.map_err(|_| CertificateFileError::UnusableCertificate {
                path: path.to_owned(),
                number,
            })?;
        }
        Ok(Self(certificates.into()))
    }

    /// The certificates, in the order of the file.
    pub fn as_slice(&self) -> &[CertificateDer<'static>] {
        &self.0
    }

    /// A store of these certificates alone.
    pub fn roots(&self) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(self.0.iter().cloned());
        roots
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
