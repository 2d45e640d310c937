//! Why the files of certificates cannot be used.

use std::path::PathBuf;

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
