//! PEM files for TLS: certificates of authorities to trust ([`TrustedCertificates`]), and the
//! certificate with its private key by which this program proves who it is ([`ClientCertificate`]).
//!
//! An error names the file and what is wrong with it, never its content. This crate opens no
//! connection, and knows neither model servers nor databases.

mod certificate_file_error;
mod client_certificate;
mod file_stamp;
mod pem;
mod trusted_certificates;

pub use certificate_file_error::CertificateFileError;
pub use client_certificate::ClientCertificate;
pub use trusted_certificates::TrustedCertificates;
