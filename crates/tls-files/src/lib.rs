//! PEM files for TLS: certificates of authorities to trust ([`TrustedCertificates`]), and the
//! certificate with its private key by which this program proves who it is ([`ClientCertificate`]).
//!
//! An error names the file and what is wrong with it, never its content. This crate opens no
//! connection, and knows neither model servers nor databases.

use std::fmt;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::SystemTime;

use rustls::client::ResolvesClientCert;
use rustls::crypto::ring::sign::any_supported_type;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem as pem_format};
use rustls::sign::CertifiedKey;
use rustls::{Error, InconsistentKeys, RootCertStore, SignatureScheme};

/// Certificates of authorities that may sign a server's certificate; none by default.
#[derive(Clone, Debug, Default)]
pub struct TrustedCertificates(Arc<[CertificateDer<'static>]>);

impl TrustedCertificates {
    /// Reads the certificates of a PEM file.
    ///
    /// # Errors
    /// When the file is unreadable, has no certificate, or has one that cannot be used.
    pub fn in_file(path: &Path) -> Result<Self, CertificateFileError> {
        let certificates = certificates_of(path)?;
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

/// A client's certificate with its chain, and its private key, from two PEM files. One file may hold
/// both.
///
/// Each handshake looks whether a file has changed, so that a renewed certificate is used without a
/// restart. Files that cannot be used, such as one of a pair that is being replaced, are named in a
/// warning, and the pair before is kept. `Debug` shows no key.
pub struct ClientCertificate {
    certificate: PathBuf,
    key: PathBuf,
    current: RwLock<LoadedPair>,
}

/// A certificate with its key, and the files as they were when they were read.
struct LoadedPair {
    pair: Arc<CertifiedKey>,
    stamps: [Option<PemFileStamp>; 2],
}

impl ClientCertificate {
    /// Reads a certificate and its key.
    ///
    /// # Errors
    /// When a file is unreadable or lacks what it should have, or when the two do not belong
    /// together.
    pub fn in_files(certificate: &Path, key: &Path) -> Result<Self, CertificateFileError> {
        let stamps = [certificate, key].map(PemFileStamp::of);
        let pair = read(certificate, key)?;
        Ok(Self {
            certificate: certificate.to_owned(),
            key: key.to_owned(),
            current: RwLock::new(LoadedPair { pair, stamps }),
        })
    }

    /// The certificate as the files have it now.
    fn current(&self) -> Arc<CertifiedKey> {
        let stamps = [&self.certificate, &self.key].map(|path| PemFileStamp::of(path));
        {
            let loaded = self.current.read().unwrap_or_else(PoisonError::into_inner);
            if loaded.stamps == stamps {
                return Arc::clone(&loaded.pair);
            }
        }
        let mut loaded = self.current.write().unwrap_or_else(PoisonError::into_inner);
        if loaded.stamps != stamps {
            loaded.stamps = stamps;
            match read(&self.certificate, &self.key) {
                Ok(pair) => {
                    let path = self.certificate.display();
                    tracing::info!("the client certificate was read again from {path}");
                    loaded.pair = pair;
                }
                Err(error) => {
                    tracing::warn!(%error, "a changed client certificate cannot be used yet");
                }
            }
        }
        Arc::clone(&loaded.pair)
    }
}

impl ResolvesClientCert for ClientCertificate {
    fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        Some(self.current())
    }

    fn has_certs(&self) -> bool {
        true
    }
}

impl fmt::Debug for ClientCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ClientCertificate({})", self.certificate.display())
    }
}

fn read(certificate: &Path, key: &Path) -> Result<Arc<CertifiedKey>, CertificateFileError> {
    let chain = certificates_of(certificate)?;
    let unusable_key = |_| CertificateFileError::UnusableKey(key.to_owned());
    let signing_key = any_supported_type(&private_key(key)?).map_err(unusable_key)?;
    let pair = CertifiedKey::new(chain, signing_key);
    match pair.keys_match() {
        Ok(()) | Err(Error::InconsistentKeys(InconsistentKeys::Unknown)) => Ok(Arc::new(pair)),
        Err(Error::InconsistentKeys(_)) => Err(CertificateFileError::OtherKey {
            key: key.to_owned(),
            certificate: certificate.to_owned(),
        }),
        Err(_) => Err(CertificateFileError::UnusableCertificate {
            path: certificate.to_owned(),
            number: 1,
        }),
    }
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, CertificateFileError> {
    let file = bytes_of(path)?;
    // `BEGIN ENCRYPTED PRIVATE KEY`, or the older `Proc-Type: 4,ENCRYPTED`
    if file.windows(9).any(|part| part == b"ENCRYPTED") {
        return Err(CertificateFileError::EncryptedKey(path.to_owned()));
    }
    PrivateKeyDer::from_pem_slice(&file).map_err(|error| {
        if matches!(error, pem_format::Error::NoItemsFound) {
            CertificateFileError::NoKey(path.to_owned())
        } else {
            unreadable(path, &error)
        }
    })
}

/// The content of a file.
fn bytes_of(path: &Path) -> Result<Vec<u8>, CertificateFileError> {
    std::fs::read(path).map_err(|error| unreadable(path, &error))
}

/// The certificates in a file, at least one. They may still be damaged.
fn certificates_of(path: &Path) -> Result<Vec<CertificateDer<'static>>, CertificateFileError> {
    let pem = bytes_of(path)?;
    let certificates = CertificateDer::pem_slice_iter(&pem).collect::<Result<Vec<_>, _>>();
    let certificates = certificates.map_err(|error| unreadable(path, &error))?;
    if certificates.is_empty() {
        return Err(CertificateFileError::NoCertificate(path.to_owned()));
    }
    Ok(certificates)
}

/// The error for a file that cannot be read, or is no PEM file.
fn unreadable(path: &Path, error: &dyn std::error::Error) -> CertificateFileError {
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
struct PemFileStamp {
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

#[cfg(test)]
mod tests;
