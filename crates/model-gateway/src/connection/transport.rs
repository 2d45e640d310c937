//! What connections to all model servers share: proxies and the TLS configuration.

use std::cell::OnceCell;
use std::sync::Arc;

use hyper::Uri;
use rustls::ClientConfig;

use super::proxy::Proxy;
use super::tls;
use crate::settings::connections::ConnectionSettings;
use crate::settings::setting_error::SettingError;

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
        let tls = Arc::new(tls::configured(self.settings)?);
        Ok(Some(Arc::clone(self.tls.get_or_init(|| tls))))
    }

    /// The proxy on the way to the server at `uri`; `None` if it is asked directly.
    pub(super) fn proxy_to(&self, uri: &Uri) -> Result<Option<Proxy>, SettingError> {
        Proxy::on_the_way_to(uri, &self.settings.proxies)
    }
}
