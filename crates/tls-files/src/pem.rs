//! Reads the certificates in a PEM file.

use std::path::Path;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

use crate::certificate_file_error::CertificateFileError;

/// The content of a file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, CertificateFileError> {
    std::fs::read(path).map_err(|error| unreadable(path, &error))
}

/// The certificates in a file, at least one. They may still be damaged.
pub(crate) fn certificates(
    path: &Path,
) -> Result<Vec<CertificateDer<'static>>, CertificateFileError> {
    let pem = read(path)?;
    let certificates = CertificateDer::pem_slice_iter(&pem).collect::<Result<Vec<_>, _>>();
    let certificates = certificates.map_err(|error| unreadable(path, &error))?;
    if certificates.is_empty() {
        return Err(CertificateFileError::NoCertificate(path.to_owned()));
    }
    Ok(certificates)
}

/// The error for a file that cannot be read, or is no PEM file.
pub(crate) fn unreadable(path: &Path, error: &dyn std::error::Error) -> CertificateFileError {
    CertificateFileError::Unreadable {
        path: path.to_owned(),
        reason: error.to_string(),
    }
}
