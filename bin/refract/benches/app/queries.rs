//! What a page asks the database, without the page: the use cases that its handler calls.

use std::sync::Arc;

use chrono::Utc;
use refract_domain::slug::PrismSelector;
use refract_service::prisms::{find_lens, list, overview};
use refract_service::result_counts::counts;
use refract_service::result_search::{ResultSearch, SearchLimits, SearchPage, search};
use refract_service::{LensDraft, ResultDetails, api_keys, people};

use crate::filling::FilledDatabase;

/// Calls the use cases of a page as its handler does, and drops what they find. Returns whether this
/// page's are known here; those of the others are not.
pub(crate) async fn ask(it: &FilledDatabase, page: &str) -> bool {
    let (database, account) = (&it.database, it.account);
    let prism = PrismSelector::Id(it.making.prisms[0]);
    // who is signed in
    people::session(database, &it.token).await.unwrap().unwrap();
    match page {
        "Prisms" => {
            list(database, account).await.unwrap();
        }
        "Prism" => {
            overview(database, account, &prism).await.unwrap();
        }
        "Keys" => {
            api_keys::list(database, account).await.unwrap();
        }
        "Results" => {
            let lens = Arc::new(find_lens(database, account, &prism).await.unwrap());
            let (wanted, limits) = (ResultSearch::default(), SearchLimits::default());
            let newest = SearchPage::Newest;
            let found = search(database, &lens, &wanted, newest, limits).await;
            assert_eq!(found.ok().map(|found| found.results.len()), Some(50));
            api_keys::labels(database, account).await.unwrap();
            people::list(database, account).await.unwrap();
            let makers = [it.making.person];
            people::names(database, account, &makers).await.unwrap();
            counts(database, account, Utc::now()).await.unwrap();
        }
        "a result" => {
            let found = ResultDetails::find(database, account, it.middle()).await;
            assert!(found.is_ok());
        }
        "Lens" => {
            let lens = find_lens(database, account, &prism).await.unwrap();
            // the handler reads the draft as a file, which finds the lens again
            let again = find_lens(database, account, &prism).await.unwrap();
            let columns = again.columns().lens.to_vec();
            LensDraft::load(database, lens, &columns).await.unwrap();
        }
        _ => return false,
    }
    true
}
