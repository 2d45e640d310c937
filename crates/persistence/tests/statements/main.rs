//! How many statements each query is, and that each finds its rows by an index.
//!
//! A file of its own with one test in it: what a process sends is counted, whoever sent it.
#![expect(
    clippy::unwrap_used,
    dead_code,
    reason = "a test that meets the unexpected ends there; the fixture serves other tests too"
)]

#[path = "../suite/fixture.rs"]
mod fixture;

use std::collections::BTreeMap;
use std::future::Future;
use std::num::NonZeroUsize;
use std::sync::Mutex;

use diesel::connection::{
    Instrumentation, InstrumentationEvent, SimpleConnection as _, set_default_instrumentation,
};
use diesel::sql_types::Text;
use diesel::{Connection as _, QueryableByName, RunQueryDsl as _, SqliteConnection, sql_query};
use refract_domain::ids::ResultId;
use refract_domain::slug::PrismSelector;
use refract_persistence::{ResultFilter, ResultOrder, Saving};
use tokio_postgres::NoTls;

use crate::fixture::{Fixture, answered, failed, idempotency_key, moment};

/// Results that are saved at the same time.
const AT_ONCE: usize = 20;

static SENT: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Writes down every statement of its connection.
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

/// The statements that some work sends.
async fn sent<T>(work: impl Future<Output = T>) -> Vec<String> {
    SENT.lock().unwrap().clear();
    work.await;
    std::mem::take(&mut *SENT.lock().unwrap())
}

/// The statements of everything that an API call or an export does, by name.
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
            sent(database.find_create_call(hash, &it.selector(), Some(&key))).await,
        ),
        (
            "create by slug",
            sent(database.find_create_call(hash, &slug, Some(&key))).await,
        ),
        (
            "create without a key",
            sent(database.find_create_call(hash, &slug, None)).await,
        ),
        ("read", sent(database.find_result_call(hash, id)).await),
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

/// The statements that go through the results of a prism.
async fn page_statements(it: &Fixture, id: ResultId) -> [(&'static str, Vec<String>); 8] {
    let (database, account, prism) = (&it.database, it.account, it.prism.id);
    let page = |filter, order| {
        let page = database.list_results(account, prism, filter, order, Some(id), 50);
        sent(page)
    };
    let all = ResultFilter::default();
    let failed = ResultFilter {
        is_ok: Some(false),
        ..all
    };
    let period = ResultFilter {
        since: Some(moment(0)),
        until: Some(moment(1)),
        ..all
    };
    let retriable = database.list_retriable_results(account, prism, all, Some(id), 50);
    [
        ("page", page(all, ResultOrder::OldestFirst).await),
        ("newest page", page(all, ResultOrder::NewestFirst).await),
        (
            "page of a period",
            page(period, ResultOrder::OldestFirst).await,
        ),
        (
            "page of failed ones",
            page(failed, ResultOrder::OldestFirst).await,
        ),
        (
            "newest page of failed ones",
            page(failed, ResultOrder::NewestFirst).await,
        ),
        ("page of failed ones to retry", sent(retriable).await),
        (
            "count",
            sent(database.count_results(account, prism, all)).await,
        ),
        (
            "count of failed ones to retry",
            sent(database.count_retriable_results(account, prism, all)).await,
        ),
    ]
}

/// The index that a statement about the results of a prism goes by; nothing for others.
fn expected_index(name: &str) -> Option<&'static str> {
    if name.contains("failed ones") {
        Some("results_prism_id_id_failed")
    } else if name.contains("page") {
        Some("results_prism_id_id")
    } else {
        None
    }
}

/// The same with what a file run looks up.
async fn all_statements(it: &Fixture) -> BTreeMap<&'static str, Vec<String>> {
    let mut statements = statements(it).await;
    let keys = ["order 1", "order 2", "order 3"].map(idempotency_key);
    let looking = it.database.find_held_rows(it.account, it.prism.id, &keys);
    statements.insert("rows of a file run", sent(looking).await);
    statements.insert("saved at once", saved_at_once(it).await);
    statements
}

/// What one thread sends for `AT_ONCE` results that are saved at the same time.
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
            // opens the connection
            database.save_result(&new.next().unwrap()).await.unwrap();
            let saving = new.map(|new| {
                let database = database.clone();
                tokio::spawn(async move { database.save_result(&new).await.unwrap() })
            });
            let saving: Vec<_> = saving.collect();
            let all = async {
                for saving in saving {
                    assert_eq!(saving.await.unwrap(), Saving::Saved);
                }
            };
            sent(all).await
        })
    });
    let joining = tokio::task::spawn_blocking(|| thread.join().unwrap());
    joining.await.unwrap()
}

/// Connections are opened and set up before anything is counted.
async fn warm_up(it: &Fixture) {
    it.database.ping().await.unwrap();
    it.database
        .note_key_use(&[(it.key.id, moment(1))])
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
            "rows of a file run" => 2,
            "retry" => 4,
            // how many there are with each commit depends on the writer's thread
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

const RESULTS: usize = 200_000;

/// Fills the tables; `{id}` makes a random id and `{series}` numbers rows from 1.
fn filling(id: &str, moment: &str, series: fn(usize) -> String) -> String {
    let prisms = series(5_000);
    let results = series(RESULTS);
    let keys = series(5_000);
    format!(
        "INSERT INTO prisms (id, account_id, slug, name, latest_version, lens_revision, created_at)
            SELECT {id}, (SELECT id FROM accounts), 'filler-' || n, 'filler', 1, 0, {moment}
            FROM {prisms};
        INSERT INTO prism_versions (prism_id, version, definition, created_at)
            SELECT id, 1, '{{}}', {moment} FROM prisms WHERE slug LIKE 'filler%';
        INSERT INTO api_keys (id, account_id, name, hash, first_characters, created_at)
            SELECT {id}, (SELECT id FROM accounts), 'filler', {hash}, 'rk_', {moment} FROM {keys};
        CREATE TEMPORARY TABLE numbered AS
            SELECT id, row_number() OVER () AS number FROM prisms;
        INSERT INTO results (id, account_id, prism_id, version, api_key_id, idempotency_key, status,
                answers, fields, took_ms, created_at)
            SELECT {id}, (SELECT id FROM accounts), numbered.id, 1,
                (SELECT id FROM api_keys LIMIT 1), 'filler ' || n, 'ok', '{{}}', '{{}}', 1, {moment}
            FROM {results} JOIN numbered ON numbered.number = n % 5000 + 1;
        DROP TABLE numbered;
        ANALYZE;",
        hash = match moment {
            "now()" => "decode(md5(n::text) || md5('x' || n), 'hex')",
            _ => "randomblob(32)",
        },
    )
}

async fn postgres_plans(it: &Fixture, sent: &BTreeMap<&str, Vec<String>>) {
    let (client, connection) = tokio_postgres::connect(&it.url, NoTls).await.unwrap();
    tokio::spawn(connection);
    let fill = filling("gen_random_uuid()", "now()", |rows| {
        format!("generate_series(1, {rows}) AS series (n)")
    });
    client.batch_execute(&fill).await.unwrap();
    client
        .batch_execute("SET plan_cache_mode = force_generic_plan")
        .await
        .unwrap();
    for (name, sql) in planned(sent) {
        let parameters = (1..=99)
            .take_while(|n| sql.contains(&format!("${n}")))
            .map(|_| "NULL");
        let parameters = parameters.collect::<Vec<_>>().join(", ");
        client
            .batch_execute(&format!("PREPARE q AS {sql}"))
            .await
            .unwrap();
        let explain = format!("EXPLAIN EXECUTE q({parameters})");
        let rows = client.query(&explain, &[]).await.unwrap();
        let plan = rows
            .iter()
            .map(|row| row.get::<_, String>(0))
            .collect::<Vec<_>>()
            .join("\n");
        client.batch_execute("DEALLOCATE q").await.unwrap();
        // a table of one row is read whole, and rightly
        let scans = plan.matches("Seq Scan").count() - plan.matches("Seq Scan on accounts").count();
        assert_eq!(scans, 0, "{name}: {sql}\n{plan}");
        if let Some(index) = expected_index(name) {
            assert!(
                plan.contains(&format!("using {index} on")),
                "{name}: {sql}\n{plan}"
            );
            let ids = "AND (id > $3) AND (id < $4))";
            assert!(plan.contains(ids), "{name}: {sql}\n{plan}");
        }
    }
}

#[derive(QueryableByName)]
struct Step {
    #[diesel(sql_type = Text)]
    detail: String,
}

fn sqlite_plans(it: &Fixture, sent: &BTreeMap<&str, Vec<String>>) {
    let path = it.url.strip_prefix("sqlite://").unwrap();
    let mut connection = SqliteConnection::establish(path).unwrap();
    let fill = filling("randomblob(16)", "0", |rows| {
        format!(
            "(WITH RECURSIVE series (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM series \
             WHERE n < {rows}) SELECT n FROM series) AS series"
        )
    });
    connection.batch_execute(&fill).unwrap();
    for (name, sql) in planned(sent) {
        let steps: Vec<Step> = sql_query(format!("EXPLAIN QUERY PLAN {sql}"))
            .load(&mut connection)
            .unwrap();
        let plan = steps
            .iter()
            .map(|step| step.detail.as_str())
            .collect::<Vec<_>>()
            .join("\n");
        let scans = plan.lines().filter(|step| step.starts_with("SCAN")).count();
        assert_eq!(scans, 0, "{name}: {sql}\n{plan}");
        if let Some(index) = expected_index(name) {
            let ids = "(prism_id=? AND id>? AND id<?)";
            assert!(
                plan.contains(&format!("INDEX {index} {ids}")),
                "{name}: {sql}\n{plan}"
            );
        }
    }
}

/// What can be explained.
fn planned<'a>(
    sent: &'a BTreeMap<&str, Vec<String>>,
) -> impl Iterator<Item = (&'a str, &'a String)> {
    let explained = |sql: &&String| {
        ["SELECT", "INSERT", "UPDATE"]
            .iter()
            .any(|verb| sql.starts_with(verb))
            // arrays, whose types a plan without values does not know; it looks nothing up
            && !sql.contains("unnest(")
    };
    sent.iter()
        .flat_map(move |(name, sent)| sent.iter().filter(explained).map(move |sql| (*name, sql)))
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
    sqlite_plans(&sqlite, &in_sqlite);
    postgres_plans(&postgres, &in_postgres).await;
}
