//! What every page of the app knows of the place where it is served.

use std::cell::Cell;

use actix_web::http::header::HeaderMap;
use refract_http_serving::TrustedProxies;
use refract_service::people::AppUrl;

use crate::assets::AssetFolder;

/// Facts about this installation that pages show or depend on.
pub(crate) struct AppSite {
    /// The app's address for people.
    pub(crate) url: AppUrl,
    /// The API's address, as the `curl` lines show it, up to and with `/v1`.
    pub(crate) api_url: String,
    /// Whether the built-in scorer answers, which every page says.
    pub(crate) is_for_trying_only: bool,
    /// The proxies that are believed who a request's client is.
    pub(crate) proxies: TrustedProxies,
    /// Whether the operator was told that a proxy is not trusted.
    pub(crate) told_of_proxy: Cell<bool>,
    /// Where the scripts and styles are.
    pub(crate) assets: AssetFolder,
}

impl AppSite {
    /// Tells the operator, once for each worker thread, when people come through a proxy that is not
    /// trusted: sign-in would count all of them as one network.
    pub(crate) fn look_at_proxy(&self, headers: &HeaderMap) {
        if self.proxies.are_missing(headers) && !self.told_of_proxy.replace(true) {
            tracing::warn!(
                "requests to the app come through a proxy that is not trusted, so all people sign in \
                 as one network: set REFRACT_APP_TRUSTED_PROXIES to the proxy's address"
            );
        }
    }
}
