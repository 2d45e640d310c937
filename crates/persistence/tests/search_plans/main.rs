//! Searches and counts among a million results: each finds its results by the right index, and
//! reads hardly more than it needs.
//!
//! All statements of the process are recorded, so this target has a single test.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    dead_code,
    reason = "a test that meets the unexpected ends there; the fixture serves other tests too"
)]

mod counts;
mod filling;
#[path = "../suite/fixture.rs"]
mod fixture;
mod marked;
mod plans;
mod purges;
mod samples;
mod searches;

use std::sync::Mutex;

use diesel::connection::{Instrumentation, InstrumentationEvent, set_default_instrumentation};
use refract_domain::ids::PrismId;
use refract_persistence::ResultOrder;

use crate::filling::{fill_postgres, fill_sqlite};
use crate::fixture::{Fixture, prism};
use crate::searches::{Search, searches};

/// Results of a page.
const PAGE: u32 = 50;
/// Ids that a page counts at most, and one more.
const COUNTED: u32 = 1_001;

/// How PostgreSQL may plan most statements: for their values, or for any.
const ANY_PLAN: [&str; 2] = ["force_custom_plan", "force_generic_plan"];

static SENT: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Records every statement that a connection sends.
struct Listener;

impl Instrumentation for Listener {
    fn on_connection_event(&mut self, event: InstrumentationEvent<'_>) {
        if let InstrumentationEvent::StartQuery { query, .. } = event {
            let text = query.to_string();
            let sql = text.split(" -- binds:").next().unwrap().to_owned();
            SENT.lock().unwrap().push(sql);
        }
    }
}

/// The statement that lists the candidates of a search.
async fn statement(it: &Fixture, search: &Search, order: ResultOrder) -> String {
    SENT.lock().unwrap().clear();
    let (account, prism) = (it.account, it.prism.id);
    let candidates = it
        .database
        .list_candidates(account, prism, &search.filter, order, None, PAGE);
    let found = candidates.await.unwrap();
    assert_eq!(found.len(), search.found, "{}", search.name);
    assert!(
        found.iter().all(|it| it.meets(&search.filter)),
        "{}",
        search.name
    );
    listing()
}

/// The statement that lists the ids by which the matches of a search are counted.
async fn counting(it: &Fixture, search: &Search) -> String {
    SENT.lock().unwrap().clear();
    let (account, prism) = (it.account, it.prism.id);
    let ids = it
        .database
        .list_candidate_ids(account, prism, &search.filter, COUNTED);
    assert!(ids.await.unwrap().len() >= search.found, "{}", search.name);
    listing()
}

/// The recorded statement that reads results.
fn listing() -> String {
    let sent = std::mem::take(&mut *SENT.lock().unwrap());
    let listing = |sql: &String| sql.contains("FROM \"results\"") || sql.contains("FROM `results`");
    sent.into_iter().find(listing).unwrap()
}

/// The searched prism and another one.
async fn two_prisms(it: &Fixture) -> [PrismId; 2] {
    let other = prism(&it.database, it.account, "Other").await;
    [it.prism.id, other.id]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_filter_and_count_finds_its_results_among_a_million_by_an_index() {
    set_default_instrumentation(|| Some(Box::new(Listener))).unwrap();
    let postgres = Fixture::postgres().await;
    let sqlite = Fixture::sqlite().await;
    let (url, of_sqlite) = (sqlite.url.clone(), two_prisms(&sqlite).await);
    let sqlite_filled = tokio::task::spawn_blocking(move || fill_sqlite(&url, of_sqlite));
    let of_postgres = two_prisms(&postgres).await;
    let client = fill_postgres(&postgres.url, of_postgres).await;
    let mut connection = sqlite_filled.await.unwrap();
    for search in searches(&postgres) {
        for order in [ResultOrder::NewestFirst, ResultOrder::OldestFirst] {
            let sql = statement(&postgres, &search, order).await;
            plans::check_postgres(&client, &postgres, &search, &sql, PAGE).await;
        }
        let sql = counting(&postgres, &search).await;
        plans::check_postgres(&client, &postgres, &search, &sql, COUNTED).await;
    }
    // no command of Refract analyzes an SQLite file, so its planner has no statistics
    for search in searches(&sqlite) {
        for order in [ResultOrder::NewestFirst, ResultOrder::OldestFirst] {
            let sql = statement(&sqlite, &search, order).await;
            plans::check_sqlite(&mut connection, &search, &sql);
        }
        let sql = counting(&sqlite, &search).await;
        plans::check_sqlite(&mut connection, &search, &sql);
    }
    for statement in counts::look(&postgres, of_postgres).await {
        counts::check_postgres(&client, &statement, &ANY_PLAN).await;
    }
    for statement in counts::look(&sqlite, of_sqlite).await {
        counts::check_sqlite(&mut connection, &statement);
    }
    for statement in samples::pages(&postgres, postgres.prism.id).await {
        counts::check_postgres(&client, &statement, &ANY_PLAN).await;
    }
    for statement in samples::pages(&sqlite, sqlite.prism.id).await {
        samples::check_sqlite(&mut connection, &statement);
    }
    let page = marked::late_page(&postgres, &client).await;
    counts::check_postgres(&client, &page, &["force_custom_plan"]).await;
    for statement in purges::batches(&postgres, of_postgres).await {
        counts::check_postgres(&client, &statement, &ANY_PLAN).await;
    }
    for statement in purges::batches(&sqlite, of_sqlite).await {
        purges::check_sqlite(&mut connection, &statement);
    }
}
