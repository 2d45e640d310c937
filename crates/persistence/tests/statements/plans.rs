//! The plans of statements over large tables: each must find its rows by an index.

use std::collections::BTreeMap;

use diesel::connection::SimpleConnection as _;
use diesel::sql_types::Text;
use diesel::{Connection as _, QueryableByName, RunQueryDsl as _, SqliteConnection, sql_query};
use tokio_postgres::NoTls;

use crate::fixture::Fixture;

/// The number of results in the table when statements are planned.
const RESULTS: usize = 200_000;

/// One step of an SQLite plan.
#[derive(QueryableByName)]
struct Step {
    #[diesel(sql_type = Text)]
    detail: String,
}

/// Fills a PostgreSQL database, and fails if a statement's plan reads a whole table or uses another
/// index than the expected one.
pub(crate) async fn check_postgres(it: &Fixture, sent: &BTreeMap<&str, Vec<String>>) {
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
        // `accounts` has one row and `people` none, so a sequential scan is the right plan for them
        let small = ["Seq Scan on accounts", "Seq Scan on people"];
        let small: usize = small.iter().map(|scan| plan.matches(scan).count()).sum();
        let scans = plan.matches("Seq Scan").count() - small;
        assert_eq!(scans, 0, "{name}: {sql}\n{plan}");
        if let Some(index) = index_of_events(name) {
            assert!(
                plan.contains(&format!("using {index} on events")),
                "{name}: {sql}\n{plan}"
            );
            assert!(!plan.contains("Sort"), "{name}: {sql}\n{plan}");
        }
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

/// Fills an SQLite database, and fails if a statement's plan reads a whole table or uses another
/// index than the expected one.
pub(crate) fn check_sqlite(it: &Fixture, sent: &BTreeMap<&str, Vec<String>>) {
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
        if let Some(index) = index_of_events(name) {
            assert!(
                plan.contains(&format!("SEARCH events USING INDEX {index} ("))
                    || plan.contains(&format!("SEARCH events USING COVERING INDEX {index} (")),
                "{name}: {sql}\n{plan}"
            );
            assert!(!plan.contains("TEMP B-TREE"), "{name}: {sql}\n{plan}");
        }
        if let Some(index) = expected_index(name) {
            let ids = "(prism_id=? AND id>? AND id<?)";
            assert!(
                plan.contains(&format!("INDEX {index} {ids}")),
                "{name}: {sql}\n{plan}"
            );
        }
    }
}

/// SQL that fills the tables. `id` makes a random id, `series` numbers rows from 1.
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
        INSERT INTO events (id, account_id, at, actor_kind, actor_id, action, target_kind, target_id)
            SELECT {id}, (SELECT id FROM accounts), {moment},
                CASE WHEN n % 10 = 0 THEN 'operator' WHEN n % 10 = 1 THEN 'node' ELSE 'person' END,
                CASE WHEN n % 10 > 1 THEN numbered.id ELSE {nil} END, 'action ' || n % 30, 'prism', numbered.id
            FROM {results} JOIN numbered ON numbered.number = n % 5000 + 1;
        DROP TABLE numbered;
        INSERT INTO marks (result_id, question, prism_id, outcome, marked_at)
            SELECT id, 'angry', prism_id, 'yes', {moment} FROM results LIMIT 20000;
        INSERT INTO other_marks (result_id, question, marker, prism_id, outcome, marked_at)
            SELECT result_id, question, '', prism_id, outcome, marked_at FROM marks;
        ANALYZE;",
        nil = match moment {
            "now()" => "'00000000-0000-0000-0000-000000000000'::uuid",
            _ => "x'00000000000000000000000000000000'",
        },
        hash = match moment {
            "now()" => "decode(md5(n::text) || md5('x' || n), 'hex')",
            _ => "randomblob(32)",
        },
    )
}

/// The statements that `EXPLAIN` can plan, with their names.
fn planned<'a>(
    sent: &'a BTreeMap<&str, Vec<String>>,
) -> impl Iterator<Item = (&'a str, &'a String)> {
    let explained = |sql: &&String| {
        ["SELECT", "INSERT", "UPDATE"]
            .iter()
            .any(|verb| sql.starts_with(verb))
            // the types of its arrays are unknown without values, and it looks nothing up
            && !sql.contains("unnest(")
    };
    sent.iter()
        .flat_map(move |(name, sent)| sent.iter().filter(explained).map(move |sql| (*name, sql)))
}

/// The index that a statement must use to list events; `None` for other statements.
fn index_of_events(name: &str) -> Option<&'static str> {
    match name {
        "events" | "newest events" | "newer events" | "events of a period" => {
            Some("events_account_id_id")
        }
        "events by a person" | "events by nodes" | "last of people" => Some("events_actor"),
        "events of an action" => Some("events_action"),
        "events about a target" | "changes of a prism" => Some("events_target"),
        _ => None,
    }
}

/// The index that a statement must use to list the results of a prism; `None` for other statements.
fn expected_index(name: &str) -> Option<&'static str> {
    if name.contains("failed ones") {
        Some("results_prism_id_id_failed")
    } else if name.contains("page") {
        Some("results_prism_id_id")
    } else {
        None
    }
}
