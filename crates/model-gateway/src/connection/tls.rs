//! TLS to model servers: the verification of certificates.

use std::sync::Arc;

use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::Verifier;

use crate::settings::connections::TrustedCertificates;
use crate::settings::setting_error::SettingError;

/// A TLS configuration that verifies certificates as the operating system does. Without system
/// roots, as in an empty container, it trusts the bundled roots of `webpki-roots`. It offers
/// HTTP/1.1 only.
///
/// # Errors
/// When the TLS library refuses its own defaults.
pub fn client_config() -> Result<ClientConfig, SettingError> {
    trusting(&TrustedCertificates::default())
}

/// The TLS configuration of [`client_config`], which also trusts these certificates.
pub(super) fn trusting(certificates: &TrustedCertificates) -> Result<ClientConfig, SettingError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|_| SettingError::Tls)?;
    let system = match certificates.as_slice() {
        [] => Verifier::new(provider),
        // without this first verifier the second would trust no others if the system has none
        extra => Verifier::new(Arc::clone(&provider))
            .and_then(|_| Verifier::new_with_extra_roots(extra.iter().cloned(), provider)),
    };
    let builder = match system {
        Ok(verifier) => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier)),
        Err(error) => {
            tracing::debug!(%error, "certificates are checked against the bundled roots");
            let mut roots = bundled_roots();
            roots.add_parsable_certificates(certificates.as_slice().iter().cloned());
            builder.with_root_certificates(roots)
        }
    };
    let mut config = builder.with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

fn bundled_roots() -> RootCertStore {
    RootCertStore {
        roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_roots_to_check_against() {
        assert!(client_config().is_ok());
        assert!(!bundled_roots().is_empty());
    }
}
