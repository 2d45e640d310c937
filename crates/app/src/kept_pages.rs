//! Pages that take seconds to make, kept until what they show changes.
//!
//! A key names everything that the page is made of, with watermarks of what may change. So nodes
//! need not tell each other about changes, and a page is never older than the visit.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use maud::{Markup, PreEscaped};
use tokio::sync::OnceCell;

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
