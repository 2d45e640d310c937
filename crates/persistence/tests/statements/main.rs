//! How many statements each query sends, and a check that every statement finds its rows by an
//! index.
//!
//! All statements of the process are counted, so this target has a single test.
#![expect(
    clippy::unwrap_used,
    dead_code,
    reason = "a test that meets the unexpected ends there; the fixture serves other tests too"
)]

#[path = "../suite/fixture.rs"]
mod fixture;
mod plans;

use std::collections::BTreeMap;
use std::future::Future;
use std::num::NonZeroUsize;
use std::sync::Mutex;

use diesel::connection::{Instrumentation, InstrumentationEvent, set_default_instrumentation};
use refract_domain::event::{ActorKind, EventAction, EventTarget};
use refract_domain::ids::{EventId, PersonId, ResultId};
use refract_domain::prism::PrismSelector;
use refract_persistence::{
    EventActors, EventFilter, EventRange, KeyUse, ResultFilter, ResultOrder, SaveOutcome,
};
use uuid::Uuid;

use crate::fixture::{Fixture, answered, failed, idempotency_key, moment};

/// The number of results that are saved at the same time.
const AT_ONCE: usize = 20;

static SENT: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Records every statement that a connection sends.
struct Listener;

impl Instrumentation for Listener {
    fn on_connection_event(&mut self, event: InstrumentationEvent<'_>) {
        if let InstrumentationEvent::StartQuery { query, .. } = event {
            let text = query.to_string();
            let sql = text.split(" -- binds:").next().unwrap().to_owned();
            // a transaction that is dropped is rolled back while its caller goes on
            if sql != "ROLLBACK" {
                SENT.lock().unwrap().push(sql);
            }
        }
    }
}

/// Runs some work and returns the statements that it sent.
async fn sent<T>(work: impl Future<Output = T>) -> Vec<String> {
    SENT.lock().unwrap().clear();
    work.await;
    std::mem::take(&mut *SENT.lock().unwrap())
}

/// The statements that API calls and exports send, by the name of the query.
async fn statements(it: &Fixture) -> BTreeMap<&'static str, Vec<String>> {
    warm_up(it).await;
    let (database, hash) = (&it.database, &it.key.hash);
    let key = idempotency_key("order 1");
    let slug = PrismSelector::Slug("triage".to_owned());
    let first = it.result(failed(), Some("order 1"));
    let id = first.result.id;
    let retry = it.retry(&first.result, answered());
    let plain = it.result(failed(), None);
    let plain_retry = it.retry(&plain.result, answered());
    let (prism, version) = (it.prism.id, it.prism.latest_version);
    let revision = it.prism.lens_revision;
    let calls = [
        ("save", sent(database.save_result(&first)).await),
        (
            "save without a key",
            sent(database.save_result(&plain)).await,
        ),
        (
            "create by id",
            sent(database.find_create_call(hash, &it.selector(), Some(&key), moment(9))).await,
        ),
        (
            "create by slug",
            sent(database.find_create_call(hash, &slug, Some(&key), moment(9))).await,
        ),
        (
            "create without a key",
            sent(database.find_create_call(hash, &slug, None, moment(9))).await,
        ),
        (
            "read",
            sent(database.find_result_call(hash, id, moment(9))).await,
        ),
        ("retry", sent(database.save_result(&retry)).await),
        (
            "retry without a key",
            sent(database.save_result(&plain_retry)).await,
        ),
        (
            "lost retry",
            sent(database.save_result(&it.retry(&first.result, answered()))).await,
        ),
        ("version", sent(database.find_version(prism, version)).await),
        (
            "version again",
            sent(database.find_version(prism, version)).await,
        ),
        ("lens", sent(database.find_lens(prism, revision)).await),
        (
            "lens again",
            sent(database.find_lens(prism, revision)).await,
        ),
        (
            "find by id",
            sent(database.find_prism(it.account, &it.selector())).await,
        ),
        (
            "find by slug",
            sent(database.find_prism(it.account, &slug)).await,
        ),
        (
            "find result",
            sent(database.find_result(it.account, id)).await,
        ),
        ("find retry", sent(database.find_retry(id)).await),
        (
            "provenance",
            sent(database.find_provenance(it.account, id)).await,
        ),
        (
            "find result by key",
            sent(database.find_result_by_key(it.account, &key)).await,
        ),
    ];
    calls
        .into_iter()
        .chain(page_statements(it, id).await)
        .collect()
}

/// The statements that list or count the results of a prism.
async fn page_statements(it: &Fixture, id: ResultId) -> [(&'static str, Vec<String>); 8] {
    let (database, account, prism) = (&it.database, it.account, it.prism.id);
    let page = |filter, order| {
        let page = database.list_results(account, prism, filter, order, Some(id), 50);
        sent(page)
    };
    let all = ResultFilter::default;
    let failed = ResultFilter {
        is_ok: Some(false),
        ..all()
    };
    let period = ResultFilter {
        since: Some(moment(0)),
        until: Some(moment(1)),
        ..all()
    };
    let retriable = database.list_retriable_results(account, prism, all(), Some(id), 50);
    [
        ("page", page(all(), ResultOrder::OldestFirst).await),
        ("newest page", page(all(), ResultOrder::NewestFirst).await),
        (
            "page of a period",
            page(period, ResultOrder::OldestFirst).await,
        ),
        (
            "page of failed ones",
            page(failed.clone(), ResultOrder::OldestFirst).await,
        ),
        (
            "newest page of failed ones",
            page(failed, ResultOrder::NewestFirst).await,
        ),
        ("page of failed ones to retry", sent(retriable).await),
        (
            "count",
            sent(database.count_results(account, prism, all())).await,
        ),
        (
            "count of failed ones to retry",
            sent(database.count_retriable_results(account, prism, all())).await,
        ),
    ]
}

/// The statements that list events.
async fn event_statements(it: &Fixture) -> Vec<(&'static str, Vec<String>)> {
    let database = &it.database;
    let older = EventRange::OlderThan(EventId::new(Uuid::max()));
    let list = |filter: EventFilter| sent(database.list_events(it.account, filter, older, 50));
    let all = EventFilter::default;
    let actors = |kind, ids: &[Uuid]| EventFilter {
        actors: Some(EventActors {
            kind,
            ids: ids.to_vec(),
        }),
        ..all()
    };
    let action = EventFilter {
        action: Some(EventAction::KeyRevoked),
        ..all()
    };
    let target = EventFilter {
        target: Some(EventTarget::Prism(it.prism.id)),
        ..all()
    };
    let period = EventFilter {
        since: Some(moment(0)),
        until: Some(moment(1)),
        ..all()
    };
    let person = actors(ActorKind::Person, &[it.prism.id.uuid()]);
    let newer = EventRange::NewerThan(EventId::new(Uuid::nil()));
    let newest = EventRange::Newest;
    vec![
        ("events", list(all()).await),
        (
            "newest events",
            sent(database.list_events(it.account, all(), newest, 50)).await,
        ),
        (
            "newer events",
            sent(database.list_events(it.account, all(), newer, 50)).await,
        ),
        ("events of a period", list(period).await),
        ("events by a person", list(person).await),
        ("events by nodes", list(actors(ActorKind::Node, &[])).await),
        ("events of an action", list(action).await),
        ("events about a target", list(target).await),
        (
            "changes of a prism",
            sent(database.list_prism_events(it.account, it.prism.id, 50)).await,
        ),
        (
            "last of people",
            sent(database.list_last_events(it.account)).await,
        ),
    ]
}

/// The statements of [`statements`], with those of file runs and of saves at the same time.
async fn all_statements(it: &Fixture) -> BTreeMap<&'static str, Vec<String>> {
    let mut statements = statements(it).await;
    statements.extend(event_statements(it).await);
    let keys = ["order 1", "order 2", "order 3"].map(idempotency_key);
    let looking = it.database.find_held_rows(it.account, it.prism.id, &keys);
    statements.insert("rows of a file run", sent(looking).await);
    let pricing = it.database.find_answered_keys(it.account, &keys);
    statements.insert("answered rows of a file", sent(pricing).await);
    let mut answers = it.database.answer_pages(it.account, it.prism.id, None);
    statements.insert("page of answers", sent(answers.next(50)).await);
    let of_page = it.database.list_marks_of(vec![ResultId::new(Uuid::nil())]);
    statements.insert("marks of results", sent(of_page).await);
    let nobody = [PersonId::new(Uuid::nil())];
    let of_people = it.database.list_last_marks(&nobody);
    statements.insert("last marks of people", sent(of_people).await);
    statements.insert("saved at once", saved_at_once(it).await);
    statements
}

/// The statements that one thread sends when it saves `AT_ONCE` results at the same time.
async fn saved_at_once(it: &Fixture) -> Vec<String> {
    let new = |_| it.result(answered(), None);
    let new: Vec<_> = (0..=AT_ONCE).map(new).collect();
    let database = it.database.for_this_thread(NonZeroUsize::MIN);
    let thread = std::thread::spawn(|| {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime.unwrap().block_on(async move {
            let mut new = new.into_iter();
            // the first save opens the connection, which is not counted
            database.save_result(&new.next().unwrap()).await.unwrap();
            let saving = new.map(|new| {
                let database = database.clone();
                tokio::spawn(async move { database.save_result(&new).await.unwrap() })
            });
            let saving: Vec<_> = saving.collect();
            let all = async {
                for saving in saving {
                    assert_eq!(saving.await.unwrap(), SaveOutcome::Saved);
                }
            };
            sent(all).await
        })
    });
    let joining = tokio::task::spawn_blocking(|| thread.join().unwrap());
    joining.await.unwrap()
}

/// Opens and sets up the connections, so that this is not counted.
async fn warm_up(it: &Fixture) {
    it.database.ping().await.unwrap();
    it.database
        .note_key_use(&[KeyUse {
            key: it.key.id,
            at: moment(1),
            client: None,
        }])
        .await
        .unwrap();
}

fn assert_counts(backend: &str, statements: &BTreeMap<&str, Vec<String>>) {
    let transaction = |sent: &[String]| {
        sent.first().is_some_and(|sql| sql.starts_with("BEGIN"))
            && sent.last().is_some_and(|sql| sql == "COMMIT")
    };
    for (name, sent) in statements {
        let expected = match *name {
            "version again" | "lens again" => 0,
            "rows of a file run" | "last marks of people" => 2,
            "retry" => 4,
            // the size of a group commit depends on the timing of the writer's thread
            "saved at once" if backend == "sqlite" => {
                let commits = sent.iter().filter(|sql| *sql == "COMMIT").count();
                assert!((1..AT_ONCE / 2).contains(&commits), "{sent:#?}");
                continue;
            }
            "lost retry" => continue,
            _ => 1,
        };
        assert_eq!(sent.len(), expected, "{backend}: {name}: {sent:#?}");
    }
    assert!(
        transaction(&statements["retry"]),
        "{backend}: {:#?}",
        statements["retry"]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_call_is_one_statement_by_an_index_and_caches_save_the_rest() {
    set_default_instrumentation(|| Some(Box::new(Listener))).unwrap();
    let sqlite = Fixture::sqlite().await;
    let in_sqlite = all_statements(&sqlite).await;
    assert_counts("sqlite", &in_sqlite);
    let postgres = Fixture::postgres().await;
    let in_postgres = all_statements(&postgres).await;
    assert_counts("postgres", &in_postgres);
    plans::check_sqlite(&sqlite, &in_sqlite);
    plans::check_postgres(&postgres, &in_postgres).await;
}
