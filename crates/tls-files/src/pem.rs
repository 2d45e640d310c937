//! Reads the certificates in a PEM file, and tells without reading it whether a file has changed;
//! and why the files of certificates cannot be used.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

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

/// Why a file of certificates, or of a private key, cannot be used. The text is one line and never
/// shows what is in the file.
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
    NoCertificate(PathBuf),
    /// A certificate is damaged, or cannot be used to verify others.
    #[error("{}: certificate {number} cannot be used", path.display())]
    UnusableCertificate {
        /// The file.
        path: PathBuf,
        /// Place of the certificate in the file, from 1.
        number: usize,
    },
    /// The file has no private key.
    #[error("{} has no private key in PEM form", .0.display())]
    NoKey(PathBuf),
    /// The private key is encrypted with a password.
    #[error(
        "{} has a private key with a password, which is not supported: write it without one, for \
         example by `openssl pkey`",
        .0.display()
    )]
    EncryptedKey(PathBuf),
    /// The private key is damaged or of another kind.
    #[error(
        "{}: the private key cannot be used: it must be RSA, ECDSA (P-256 or P-384) or Ed25519",
        .0.display()
    )]
    UnusableKey(PathBuf),
    /// The private key is not that of the certificate.
    #[error(
        "the private key in {} does not belong to the certificate in {}",
        key.display(),
        certificate.display()
    )]
    OtherKey {
        /// The file of the key.
        key: PathBuf,
        /// The file of the certificate.
        certificate: PathBuf,
    },
}

/// What changes with a file's content: its inode, size and time of modification. A file that is
/// replaced through a symbolic link, as Kubernetes does, has another inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PemFileStamp {
    inode: u64,
    size: u64,
    modified: Option<SystemTime>,
}

impl PemFileStamp {
    /// The stamp of a file now; `None` if there is no file.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let metadata = std::fs::metadata(path).ok()?;
        Some(Self {
            inode: metadata.ino(),
            size: metadata.size(),
            modified: metadata.modified().ok(),
        })
    }
}
