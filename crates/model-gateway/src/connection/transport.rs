//! What connections to all model servers share: proxies, and TLS with the verification of the servers'
//! certificates and the certificate of ours.

use std::cell::OnceCell;
use std::error::Error;
use std::io;
use std::sync::Arc;

use hyper::Uri;
use refract_tls_files::ClientCertificate;
use rustls::{AlertDescription, CertificateError, ClientConfig, RootCertStore};
use rustls_platform_verifier::Verifier;

use super::proxy::Proxy;
use crate::error::CertificateFault;
use crate::settings::{ConnectionSettings, SettingError};

/// Proxies and the TLS configuration, which is made for the first server that needs it.
pub(crate) struct Transport<'a> {
    settings: &'a ConnectionSettings,
    tls: OnceCell<Arc<ClientConfig>>,
}

impl<'a> Transport<'a> {
    pub(crate) fn new(settings: &'a ConnectionSettings) -> Self {
        Self {
            settings,
            tls: OnceCell::new(),
        }
    }

    /// The TLS configuration for the server at `uri`; `None` if it is asked without TLS.
    pub(super) fn tls_to(&self, uri: &Uri) -> Result<Option<Arc<ClientConfig>>, SettingError> {
        if uri.scheme_str() != Some("https") {
            return Ok(None);
        }
        if let Some(tls) = self.tls.get() {
            return Ok(Some(Arc::clone(tls)));
        }
        let tls = Arc::new(configured(self.settings)?);
        Ok(Some(Arc::clone(self.tls.get_or_init(|| tls))))
    }

    /// The proxy on the way to the server at `uri`; `None` if it is asked directly.
    pub(super) fn proxy_to(&self, uri: &Uri) -> Result<Option<Proxy>, SettingError> {
        Proxy::on_the_way_to(uri, &self.settings.proxies)
    }
}

/// A TLS configuration that verifies certificates as the operating system does. Without system
/// roots, as in an empty container, it trusts the bundled roots of `webpki-roots`. It offers
/// HTTP/1.1 only.
///
/// # Errors
/// When the TLS library refuses its own defaults.
pub fn client_config() -> Result<ClientConfig, SettingError> {
    configured(&ConnectionSettings::default())
}

/// The TLS configuration of [`client_config`], which also trusts the certificates of the settings,
/// and shows the client certificate to a server that asks for one.
pub(super) fn configured(settings: &ConnectionSettings) -> Result<ClientConfig, SettingError> {
    let certificates = &settings.certificates;
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
    let mut config = match &settings.client_certificate {
        Some(client) => builder.with_client_cert_resolver(Arc::<ClientCertificate>::clone(client)),
        None => builder.with_no_client_auth(),
    };
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

/// Whether a server's alert is about the client certificate: it demands one, or refuses ours.
pub(super) fn is_about_client_certificate(error: &io::Error) -> bool {
    let reported = error.get_ref().and_then(as_tls_error);
    let Some(rustls::Error::AlertReceived(alert)) = reported else {
        return false;
    };
    ALERTS.contains(alert)
}

/// What is wrong with the server's certificate, if the error is about it.
pub(super) fn certificate_fault(error: &io::Error) -> Option<CertificateFault> {
    let reported = error.get_ref().and_then(as_tls_error)?;
    let rustls::Error::InvalidCertificate(fault) = reported else {
        return None;
    };
    let is_of_name = matches!(
        fault,
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. }
    );
    let is_of_time = matches!(
        fault,
        CertificateError::Expired
            | CertificateError::ExpiredContext { .. }
            | CertificateError::NotValidYet
            | CertificateError::NotValidYetContext { .. }
    );
    Some(if *fault == CertificateError::UnknownIssuer {
        CertificateFault::UnknownAuthority
    } else if is_of_name {
        CertificateFault::OtherName
    } else if is_of_time {
        CertificateFault::Time
    } else if format!("{fault:?}").contains("CaUsedAsEndEntity") {
        // the library for certificates has a type of its own for this
        CertificateFault::OfAuthority
    } else {
        CertificateFault::Other
    })
}

fn as_tls_error<'a>(error: &'a (dyn Error + Send + Sync + 'static)) -> Option<&'a rustls::Error> {
    error.downcast_ref()
}

/// The alerts with which a server refuses a client certificate, or the lack of one.
const ALERTS: [AlertDescription; 9] = [
    AlertDescription::AccessDenied,
    AlertDescription::BadCertificate,
    AlertDescription::CertificateExpired,
    AlertDescription::CertificateRequired,
    AlertDescription::CertificateRevoked,
    AlertDescription::CertificateUnknown,
    // a signature that is not the authority's
    AlertDescription::DecryptError,
    AlertDescription::UnknownCA,
    AlertDescription::UnsupportedCertificate,
];

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
