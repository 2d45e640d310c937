//! The app's own address and settings, shared by all pages.

use std::cell::Cell;

use actix_web::http::header::HeaderMap;
use refract_file_runs::WorkbookBudget;
use refract_http_serving::TrustedProxies;
use refract_identity::people::AppUrl;

use crate::assets::AssetFolder;
use crate::kept_pages::KeptPages;

/// Bytes in a MiB.
const MIB: u64 = 1024 * 1024;

/// Facts about this installation that pages show or depend on.
pub(crate) struct AppSite {
    /// The app's address in a browser.
    pub(crate) url: AppUrl,
    /// The API's address, as the `curl` lines show it, up to and with `/v1`.
    pub(crate) api_url: String,
    /// Whether the built-in scorer answers instead of a model; every page then shows a notice.
    pub(crate) is_for_trying_only: bool,
    /// The largest file that a run takes, in bytes.
    pub(crate) upload_bytes: u64,
    /// Days after which an uploaded file is deleted.
    pub(crate) keep_uploads_days: i64,
    /// The memory in which this process reads workbooks.
    pub(crate) workbooks: WorkbookBudget,
    /// Pages that take seconds to make.
    pub(crate) kept_pages: KeptPages,
    /// The proxies whose forwarded headers are trusted to name the client.
    pub(crate) proxies: TrustedProxies,
    /// Whether the operator was warned about an untrusted proxy.
    pub(crate) has_warned_of_proxy: Cell<bool>,
    /// The folder of scripts and styles.
    pub(crate) assets: AssetFolder,
}

impl AppSite {
    /// The largest file that a run takes, in whole MiB.
    pub(crate) fn upload_mib(&self) -> u64 {
        self.upload_bytes / MIB
    }

    /// Warns the operator, once per worker thread, when requests come through an untrusted proxy:
    /// sign-in would count all clients as one network.
    pub(crate) fn look_at_proxy(&self, headers: &HeaderMap) {
        if self.proxies.are_missing(headers) && !self.has_warned_of_proxy.replace(true) {
            tracing::warn!(
                "requests to the app come through a proxy that is not trusted, so all people sign in \
                 as one network: set REFRACT_APP_TRUSTED_PROXIES to the proxy's address"
            );
        }
    }
}
