//! The app's own address and settings, shared by all pages.
//!
//! Pages that take seconds to make, kept until what they show changes.
//!
//! A key names everything that the page is made of, with watermarks of what may change. So nodes
//! need not tell each other about changes, and a page is never older than the visit.

use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use actix_web::http::header::HeaderMap;
use maud::{Markup, PreEscaped};
use refract_file_runs::WorkbookBudget;
use refract_http_serving::TrustedProxies;
use refract_identity::people::AppUrl;
use tokio::sync::OnceCell;

use crate::assets::AssetFolder;

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

/// Upper bound on the pages that a process keeps.
const MOST: usize = 32;
/// Upper bound on a kept page, in bytes. A larger one is made again.
const MOST_BYTES: usize = 1024 * 1024;

/// The kept pages of a process. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct KeptPages(Arc<Mutex<VecDeque<KeptPage>>>);

#[derive(Clone)]
struct KeptPage {
    key: String,
    /// Empty while the page is made. Others who want it wait meanwhile.
    page: Arc<OnceCell<Arc<str>>>,
}

impl KeptPages {
    /// The page of this key. Of all who ask for it at a time, one makes it; if that one goes away or
    /// fails, the next one does.
    pub(crate) async fn page<E>(
        &self,
        key: String,
        make: impl Future<Output = Result<Markup, E>>,
    ) -> Result<Markup, E> {
        let cell = self.cell(key);
        let getting = cell.get_or_try_init(move || async move {
            let page = make.await?;
            Ok(Arc::from(page.into_string()))
        });
        let page = getting.await?;
        if page.len() > MOST_BYTES {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.retain(|known| !Arc::ptr_eq(&known.page, &cell));
        }
        Ok(PreEscaped(page.to_string()))
    }

    /// The cell of a page, which from then on is the last one to be forgotten.
    fn cell(&self, key: String) -> Arc<OnceCell<Arc<str>>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = kept.iter().position(|known| known.key == key);
        let known = place.and_then(|place| kept.remove(place));
        let known = known.unwrap_or_else(|| KeptPage {
            key,
            page: Arc::default(),
        });
        let page = Arc::clone(&known.page);
        kept.push_back(known);
        if kept.len() > MOST {
            kept.pop_front();
        }
        page
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use futures_util::future::join_all;
    use maud::html;

    use super::*;

    #[tokio::test]
    async fn twelve_visits_at_once_make_a_page_once_until_its_key_changes() {
        let (pages, count) = (KeptPages::default(), Cell::new(0));
        let visit = async |key: &str| {
            let make = async {
                count.set(count.get() + 1);
                tokio::task::yield_now().await;
                Ok::<_, ()>(html! { (count.get()) })
            };
            pages
                .page(key.to_owned(), make)
                .await
                .unwrap()
                .into_string()
        };
        let visits = join_all((0..12).map(|_| visit("a 1"))).await;
        assert_eq!(visits, vec!["1"; 12]);
        assert_eq!(visit("a 1").await, "1");
        assert_eq!(visit("a 2").await, "2");
        // what is used stays, and the others are forgotten
        for number in 0..MOST {
            visit(&number.to_string()).await;
            visit("a 2").await;
        }
        let before = count.get();
        visit("a 2").await;
        assert_eq!(count.get(), before);
        visit("a 1").await;
        assert_eq!(count.get(), before + 1);
        assert_eq!(pages.0.lock().unwrap().len(), MOST);
    }

    #[tokio::test]
    async fn a_page_that_fails_or_is_too_large_is_made_again() {
        let pages = KeptPages::default();
        let failed = pages.page("a".to_owned(), async { Err::<Markup, _>("no") });
        assert_eq!(failed.await.err(), Some("no"));
        for _ in 0..2 {
            let made = Cell::new(false);
            let large = async {
                made.set(true);
                Ok::<_, ()>(PreEscaped("a".repeat(MOST_BYTES + 1)))
            };
            let page = pages.page("a".to_owned(), large).await.unwrap();
            assert!(made.get() && page.0.len() > MOST_BYTES);
        }
    }
}
