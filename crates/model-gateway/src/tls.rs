//! How a model server's certificate is checked.

use std::sync::Arc;

use rustls::{ClientConfig, RootCertStore};

use crate::settings::SettingFault;

/// The system's roots, or the bundled ones where it has none.
pub(crate) fn roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    roots
}

/// Certificates are checked against these roots; HTTP/1.1 only.
pub(crate) fn config(roots: RootCertStore) -> Result<ClientConfig, SettingFault> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|_| SettingFault::Tls)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}
