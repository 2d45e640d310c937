//! The database queries of a page without the page: the use cases that its handler calls.

use std::sync::Arc;

use chrono::Utc;
use refract_domain::prism::PrismSelector;
use refract_domain::result::mark::MarksFrom;
use refract_service::drafts::{DraftKind, DraftPlace};
use refract_service::lenses::DraftRows;
use refract_service::results::{ResultFilter, ResultSearch, SearchLimits, SearchPage};

use crate::filling::FilledDatabase;

/// Calls the use cases of a page as its handler does, and drops their results. Returns whether the
/// page is supported here.
pub(crate) async fn ask(it: &FilledDatabase, page: &str) -> bool {
    let (refract, account) = (&it.refract, it.account);
    let prism = PrismSelector::Id(it.making.prisms[0]);
    // the session look-up
    let session = refract.people().session(&it.token).await.unwrap();
    assert!(session.signed_in().is_some());
    match page {
        "Prisms" => {
            refract.prisms().list(account).await.unwrap();
        }
        "Prism" => {
            refract.prisms().overview(account, &prism).await.unwrap();
        }
        "Keys" => {
            refract.keys().list(account).await.unwrap();
        }
        "Results" => {
            let lens = Arc::new(refract.lenses().find(account, &prism).await.unwrap());
            let (wanted, limits) = (ResultSearch::default(), SearchLimits::default());
            let newest = SearchPage::Newest;
            let found = refract
                .results()
                .search(&lens, &wanted, newest, limits)
                .await;
            assert_eq!(found.ok().map(|found| found.results.len()), Some(50));
            refract.keys().labels(account).await.unwrap();
            refract.people().list(account).await.unwrap();
            let people = [it.making.person];
            refract.people().names(account, &people).await.unwrap();
            refract.results().counts(account, Utc::now()).await.unwrap();
        }
        "a result" => {
            let found = refract.results().details(account, it.middle()).await;
            assert!(found.is_ok());
        }
        "Lens" => {
            let lenses = refract.lenses();
            let lens = lenses.find(account, &prism).await.unwrap();
            let place = DraftPlace {
                person: it.making.person,
                prism: Some(lens.prism.id),
                kind: DraftKind::Lens,
            };
            refract.drafts().find(place).await.unwrap();
            // the handler parses the draft as a file, which finds the lens again
            let again = lenses.find(account, &prism).await.unwrap();
            let history = refract.prisms().with_versions(lens.prism.id).await;
            let history = history.unwrap();
            let columns = again.columns().lens.to_vec();
            let rows = DraftRows::Changed {
                near: Some(1),
                skip: 0,
            };
            lenses.draft_of(lens, &columns, rows).await.unwrap();
            let ok = ResultFilter {
                is_ok: Some(true),
                ..ResultFilter::default()
            };
            let measures = refract.measures();
            let evaluating = measures.evaluate(&history, None, ok, MarksFrom::default(), |_| ());
            evaluating.await.unwrap();
            lenses.history(account, &prism, 20).await.unwrap();
        }
        _ => return false,
    }
    true
}
