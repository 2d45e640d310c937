//! Searches by the lens as it is, by values of earlier versions, and with the least sure first.

use std::sync::Arc;

use refract_domain::prism::PrismSelector;
use refract_persistence::ResultOrder;
use refract_service::results::{
    MatchCount, ResultSearch, SearchError, SearchLimits, SearchPage, searchable_columns,
};
use refract_test_support::on_both;

use crate::fixture::{Fixture, save_all};
use crate::result_search::{column_value, described, find, ids, read_all};

on_both!(
    an_empty_page_leads_back_to_the_result_that_it_came_from,
    the_least_sure_results_come_first_and_pages_go_on,
    a_search_goes_by_the_lens_as_it_is_now,
    values_of_earlier_versions_are_offered_too,
    a_column_that_the_lens_does_not_have_is_refused,
);

async fn the_least_sure_results_come_first_and_pages_go_on(it: Fixture) {
    let angry = [90, 50, 10, 45, 55, 100];
    let results = (0..).zip(angry);
    let results = results.map(|(at, angry)| described(at, Some(("billing", angry))));
    let mut results: Vec<_> = results.collect();
    results.push(described(9, None));
    let saved = save_all(&it, it.account, &results).await;
    let lens = Arc::new(saved.lens.clone());
    let limits = SearchLimits {
        results: 2,
        candidates: 6,
        counted: 6,
    };
    let (mut after, mut all) = (None, Vec::new());
    loop {
        let everything = ResultSearch::default();
        let results = it.refract.results();
        let found = results.search_least_sure(&lens, &everything, after, limits);
        let found = found.await.unwrap();
        // the failed result is one of the newest six, and the oldest result is none of them
        let count = MatchCount::AmongNewest {
            matches: 6,
            read: 6,
        };
        assert_eq!(found.count, Some(count));
        all.extend(ids(&found));
        after = found.older;
        if after.is_none() {
            break;
        }
    }
    // the failed one comes last
    let places = [1, 4, 3, 2, 5, 6];
    assert_eq!(all, places.map(|place: usize| saved.results[place].0));
    let (lens, everything) = (saved.lens.clone(), ResultSearch::default());
    let results = it.refract.results();
    let downloaded = results.of_least_sure(lens, everything, limits).await;
    assert_eq!(read_all(downloaded.unwrap()).await, all, "a download");
}

async fn a_search_goes_by_the_lens_as_it_is_now(it: Fixture) {
    let results = [
        described(0, Some(("billing", 60))),
        described(1, Some(("billing", 40))),
    ];
    let mut saved = save_all(&it, it.account, &results).await;
    let wanted = ResultSearch {
        values: vec![column_value("angry", "unsure")],
        ..ResultSearch::default()
    };
    let limits = SearchLimits::default();
    let before = find(&it, &saved, &wanted, SearchPage::Newest, limits).await;
    assert!(ids(&before).is_empty());
    let columns = searchable_columns(&saved.lens);
    let names: Vec<_> = columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["topic", "angry"]);
    let keys = |column: usize| {
        let values = columns[column].values.iter();
        let values = values.map(|value| (value.key.as_str(), value.label.as_str()));
        values.collect::<Vec<_>>()
    };
    assert_eq!(
        keys(0),
        [
            ("billing", "Billing"),
            ("returns", "Returns"),
            ("other", "Other"),
            ("insufficient_information", "Not enough information"),
        ]
    );
    assert_eq!(
        keys(1),
        [("yes", "Yes"), ("unsure", "Unsure"), ("no", "No")]
    );
    let file = br#"{ "columns": [
        { "question": "angry", "output": "label", "no_below": 0.5, "yes_from": 0.7 },
        { "question": "angry", "output": "probability" },
        { "question": "topic", "output": "all" } ] }"#;
    let selector = PrismSelector::Id(saved.prism());
    let actor = refract_identity::people::AccountActor::operator(it.account);
    let lenses = it.refract.lenses();
    let set = lenses.set(&actor, &selector, file, None);
    set.await.unwrap();
    saved.lens = lenses.find(it.account, &selector).await.unwrap();
    let after = find(&it, &saved, &wanted, SearchPage::Newest, limits).await;
    assert_eq!(ids(&after), [saved.results[0].0]);
    let names = searchable_columns(&saved.lens);
    let names: Vec<_> = names.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["angry"], "neither probabilities nor lists");
}

async fn values_of_earlier_versions_are_offered_too(it: Fixture) {
    let saved = save_all(&it, it.account, &[]).await;
    let results = it.refract.results();
    let columns = results.searchable_columns(&saved.lens).await.unwrap();
    let former = columns.iter().flat_map(|column| &column.values);
    let former: Vec<_> = former.filter(|value| value.is_former).collect();
    assert_eq!(former.len(), 1, "{former:?}");
    assert_eq!(
        (&*former[0].key, &*former[0].label),
        ("delivery", "Delivery")
    );
}

async fn a_column_that_the_lens_does_not_have_is_refused(it: Fixture) {
    let saved = save_all(&it, it.account, &[]).await;
    let wanted = ResultSearch {
        values: vec![column_value("urgency", "high")],
        ..ResultSearch::default()
    };
    let (lens, limits) = (Arc::new(saved.lens.clone()), SearchLimits::default());
    let refused = it
        .refract
        .results()
        .search(&lens, &wanted, SearchPage::Newest, limits)
        .await;
    let Err(refusal @ SearchError::Column(_)) = refused else {
        panic!("it was searched");
    };
    assert_eq!(
        refusal.to_string(),
        "the lens has no column urgency that shows an outcome, a label or a level: search by \
         another column"
    );
    let lens = saved.lens.clone();
    let order = ResultOrder::OldestFirst;
    assert!(it.refract.results().of_search(lens, wanted, order).is_err());
}

async fn an_empty_page_leads_back_to_the_result_that_it_came_from(it: Fixture) {
    let saved = save_all(&it, it.account, &[described(0, None)]).await;
    let (only, everything) = (saved.results[0].0, ResultSearch::default());
    let limits = SearchLimits::default();
    let older = find(
        &it,
        &saved,
        &everything,
        SearchPage::OlderThan(only),
        limits,
    )
    .await;
    assert!(ids(&older).is_empty());
    let back = SearchPage::NewerThan(older.newer.unwrap());
    assert_eq!(
        ids(&find(&it, &saved, &everything, back, limits).await),
        [only]
    );
    let newer = find(
        &it,
        &saved,
        &everything,
        SearchPage::NewerThan(only),
        limits,
    )
    .await;
    assert!(ids(&newer).is_empty());
    let back = SearchPage::OlderThan(newer.older.unwrap());
    assert_eq!(
        ids(&find(&it, &saved, &everything, back, limits).await),
        [only]
    );
}
