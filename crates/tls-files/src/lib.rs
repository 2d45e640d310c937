//! PEM files for TLS: certificates of authorities to trust ([`TrustedCertificates`]), and the
//! certificate with its private key by which this program proves who it is ([`ClientCertificate`]).
//!
//! An error names the file and what is wrong with it, never its content. This crate opens no
//! connection, and knows neither model servers nor databases.

mod certificates;
mod pem;

pub use certificates::{ClientCertificate, TrustedCertificates};
pub use pem::CertificateFileError;
