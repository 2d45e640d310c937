//! Every migration and its `down.sql` keep the rows of a filled database.
//!
//! The rows are written after the first migration, and all later migrations must keep them. The
//! scripts run as in the binary: each in one transaction, with foreign keys enforced.

use std::collections::BTreeMap;

use diesel::connection::SimpleConnection as _;
use diesel::sql_types::Text;
use diesel::{Connection as _, QueryableByName, RunQueryDsl as _, SqliteConnection, sql_query};
use refract_test_support::postgres::fresh_database;
use tokio_postgres::Client;

use crate::fixture::scripts;
use crate::schemas::{
    Columns, UniqueSets, postgres_client, postgres_columns, postgres_unique_sets, sqlite_columns,
    sqlite_unique_sets,
};

/// Rows of every table, with every column of the first schema filled; the key has moved to a retry.
fn rows(id: fn(u8) -> String, moment: &str, hash: &str) -> String {
    let [account, key, prism, failed, retry] = [1, 2, 3, 4, 5].map(id);
    format!(
        "INSERT INTO accounts (id, name, created_at) VALUES ({account}, 'default', {moment});
        INSERT INTO api_keys (id, account_id, name, hash, first_characters, created_at,
                last_used_at, revoked_at)
            VALUES ({key}, {account}, 'key', {hash}, 'rk_abcd', {moment}, {moment}, {moment});
        INSERT INTO prisms (id, account_id, slug, name, latest_version, lens_revision, lens,
                created_at, archived_at)
            VALUES ({prism}, {account}, 'triage', 'Triage', 2, 1, '[]', {moment}, {moment});
        INSERT INTO prism_versions (prism_id, version, definition, created_at)
            VALUES ({prism}, 1, '{{}}', {moment}), ({prism}, 2, '{{}}', {moment});
        INSERT INTO results (id, account_id, prism_id, version, api_key_id, reference,
                idempotency_key, status, answers, error, fields, context, took_ms, created_at,
                retry_of)
            VALUES ({failed}, {account}, {prism}, 1, {key}, 'a ref', NULL, 'failed', NULL,
                    'no answer', '{{\"text\":\"x\"}}', 'background', 5, {moment}, NULL),
                ({retry}, {account}, {prism}, 1, {key}, 'a ref', 'order 1', 'ok', '{{}}', NULL,
                    '{{\"text\":\"x\"}}', 'background', 7, {moment}, {failed});"
    )
}

/// The columns of each table, in order.
fn tables(columns: &Columns) -> BTreeMap<String, Vec<String>> {
    let mut tables: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (table, column) in columns.keys() {
        tables
            .entry(table.clone())
            .or_default()
            .push(column.clone());
    }
    tables
}

/// A query for all rows of a table as text, in which NULL differs from every text.
fn all_rows(table: &str, columns: &[String], text_of: fn(&str) -> String) -> String {
    let cells: Vec<String> = columns.iter().map(|column| text_of(column)).collect();
    format!(
        "SELECT {} AS row FROM {table} ORDER BY 1",
        cells.join(" || '|' || ")
    )
}

/// The schema and the rows of the first tables.
#[derive(Debug, PartialEq, Eq)]
struct State {
    columns: Columns,
    unique: UniqueSets,
    rows: Vec<String>,
}

/// The number of the file of the table of results, which changes when the table is rewritten.
async fn file_of_results(client: &Client) -> u32 {
    let query = "SELECT pg_relation_filenode('results')";
    client.query_one(query, &[]).await.unwrap().get(0)
}

async fn postgres_state(client: &Client, first: &Columns) -> State {
    let mut rows = Vec::new();
    for (table, columns) in tables(first) {
        let text_of = |column: &str| format!("coalesce({column}::text, 'NULL')");
        let query = all_rows(&table, &columns, text_of);
        let found = client.query(&query, &[]).await.unwrap();
        rows.extend(found.iter().map(|row| row.get::<_, String>(0)));
    }
    State {
        columns: postgres_columns(client).await,
        unique: postgres_unique_sets(client).await,
        rows,
    }
}

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = Text)]
    row: String,
}

fn sqlite_state(connection: &mut SqliteConnection, first: &Columns) -> State {
    let mut rows = Vec::new();
    for (table, columns) in tables(first) {
        let query = all_rows(&table, &columns, |column| format!("quote({column})"));
        let found: Vec<Row> = sql_query(query).load(connection).unwrap();
        rows.extend(found.into_iter().map(|row| row.row));
    }
    State {
        columns: sqlite_columns(connection),
        unique: sqlite_unique_sets(connection),
        rows,
    }
}

fn assert_kept(now: &State, before: &State, migration: usize) {
    assert_eq!(now.rows, before.rows, "migration {migration} changed rows");
}

#[tokio::test]
async fn postgres_rows_outlive_every_migration_and_its_undoing() {
    let server = fresh_database().await;
    let client = postgres_client(server.url()).await;
    let (up, down) = (
        scripts("postgres", "up.sql"),
        scripts("postgres", "down.sql"),
    );
    let run = async |script: &str| {
        let in_transaction = format!("BEGIN; {script}; COMMIT");
        client.batch_execute(&in_transaction).await.unwrap();
    };
    run(&up[0]).await;
    let first = postgres_columns(&client).await;
    let uuid = |byte: u8| format!("'{byte:032x}'");
    let hash = "decode(repeat('01', 32), 'hex')";
    run(&rows(uuid, "'2026-01-01T00:00:00.123Z'", hash)).await;
    for (index, (up, down)) in up.iter().zip(&down).enumerate().skip(1) {
        let before = postgres_state(&client, &first).await;
        assert_eq!(before.rows.len(), 7);
        let file = file_of_results(&client).await;
        run(up).await;
        assert_eq!(file_of_results(&client).await, file, "it takes long");
        let after = postgres_state(&client, &first).await;
        assert_kept(&after, &before, index + 1);
        run(down).await;
        assert_eq!(postgres_state(&client, &first).await, before);
        run(up).await;
        assert_eq!(postgres_state(&client, &first).await, after);
    }
}

#[test]
fn sqlite_rows_outlive_every_migration_and_its_undoing() {
    let mut connection = SqliteConnection::establish(":memory:").unwrap();
    connection
        .batch_execute("PRAGMA foreign_keys = ON")
        .unwrap();
    let (up, down) = (scripts("sqlite", "up.sql"), scripts("sqlite", "down.sql"));
    let run = |connection: &mut SqliteConnection, script: &str| {
        let in_transaction = format!("BEGIN IMMEDIATE; {script}; COMMIT");
        connection.batch_execute(&in_transaction).unwrap();
    };
    run(&mut connection, &up[0]);
    let first = sqlite_columns(&mut connection);
    let blob = |byte: u8| format!("x'{byte:032x}'");
    let hash = format!("x'{}'", "01".repeat(32));
    run(&mut connection, &rows(blob, "1767225600123", &hash));
    for (index, (up, down)) in up.iter().zip(&down).enumerate().skip(1) {
        let before = sqlite_state(&mut connection, &first);
        assert_eq!(before.rows.len(), 7);
        run(&mut connection, up);
        let after = sqlite_state(&mut connection, &first);
        assert_kept(&after, &before, index + 1);
        run(&mut connection, down);
        assert_eq!(sqlite_state(&mut connection, &first), before);
        run(&mut connection, up);
        assert_eq!(sqlite_state(&mut connection, &first), after);
    }
}

/// A prism with both watermarks, one with that of its hours alone, and a budget, as before the
/// migration that unites counts.
fn counts(id: fn(u8) -> String, moment: &str) -> String {
    let [account, prism, other, day, hour] = [1, 3, 6, 7, 8].map(id);
    format!(
        "INSERT INTO prisms (id, account_id, slug, name, latest_version, lens_revision, created_at)
            VALUES ({other}, {account}, 'other', 'Other', 1, 0, {moment});
        INSERT INTO counted_results (prism_id, up_to) VALUES ({prism}, {day});
        INSERT INTO watched_results (prism_id, up_to) VALUES ({prism}, {hour}), ({other}, {hour});
        INSERT INTO account_budgets (account_id, budget_nanos, month, counted_to, cost_nanos,
                cost_attos, announced_percent)
            VALUES ({account}, 5, 6, {day}, 7, 8, 80);"
    )
}

/// The tables of counts and budgets after that migration, or after its undoing, with their rows.
fn counts_expected(is_undone: bool, shown: fn(u8) -> String) -> Vec<(&'static str, Vec<String>)> {
    let [account, prism, other, day, hour, none] = [1, 3, 6, 7, 8, 0].map(shown);
    if is_undone {
        let counted = vec![format!("{prism}|{day}"), format!("{other}|{none}")];
        let watched = vec![format!("{prism}|{hour}"), format!("{other}|{hour}")];
        return vec![
            ("prism_id, up_to FROM counted_results", counted),
            ("prism_id, up_to FROM watched_results", watched),
            (
                "account_id, counted_to, cost_nanos, cost_attos FROM account_budgets",
                vec![format!("{account}|{none}|0|0")],
            ),
        ];
    }
    vec![
        (
            "prism_id, up_to, watched_to FROM counted_results",
            vec![
                format!("{prism}|{day}|{hour}"),
                format!("{other}|{none}|{hour}"),
            ],
        ),
        (
            "budget_nanos, month, announced_percent FROM account_budgets",
            vec!["5|6|80".to_owned()],
        ),
    ]
}

/// A query for some columns of a table as [`all_rows`] shows them.
fn some_rows(columns_of_table: &str, text_of: fn(&str) -> String) -> String {
    let (columns, table) = columns_of_table.split_once(" FROM ").unwrap();
    let columns: Vec<_> = columns.split(", ").map(ToOwned::to_owned).collect();
    all_rows(table, &columns, text_of)
}

/// The scripts before the migration that unites counts, and its own two.
fn around_the_union(database: &str) -> (Vec<String>, [String; 2]) {
    const UNION: usize = 29;
    let up = scripts(database, "up.sql");
    let own = [
        up[UNION].clone(),
        scripts(database, "down.sql")[UNION].clone(),
    ];
    (up[..UNION].to_vec(), own)
}

#[tokio::test]
async fn postgres_watermarks_and_budgets_move_into_one_ledger_and_back() {
    let server = fresh_database().await;
    let client = postgres_client(server.url()).await;
    let uuid = |byte: u8| format!("'{byte:032x}'");
    let (moment, hash) = ("now()", "decode(repeat('01', 32), 'hex')");
    let (before, [up, down]) = around_the_union("postgres");
    let filling = [before, vec![rows(uuid, moment, hash), counts(uuid, moment)]].concat();
    client.batch_execute(&filling.join(";\n")).await.unwrap();
    let shown = |byte: u8| uuid::Uuid::from_u128(byte.into()).to_string();
    for (script, is_undone) in [(&up, false), (&down, true), (&up, false)] {
        client.batch_execute(script).await.unwrap();
        for (columns, expected) in counts_expected(is_undone, shown) {
            let query = some_rows(columns, |column| format!("{column}::text"));
            let found = client.query(&query, &[]).await.unwrap();
            let found: Vec<String> = found.iter().map(|row| row.get(0)).collect();
            assert_eq!(found, expected, "{columns}");
        }
    }
}

#[test]
fn sqlite_watermarks_and_budgets_move_into_one_ledger_and_back() {
    let mut connection = SqliteConnection::establish(":memory:").unwrap();
    let blob = |byte: u8| format!("x'{byte:032x}'");
    let hash = format!("x'{}'", "01".repeat(32));
    let (before, [up, down]) = around_the_union("sqlite");
    let filling = [before, vec![rows(blob, "1", &hash), counts(blob, "1")]].concat();
    connection
        .batch_execute("PRAGMA foreign_keys = ON")
        .unwrap();
    connection.batch_execute(&filling.join(";\n")).unwrap();
    let shown = |byte: u8| format!("X'{byte:032X}'");
    for (script, is_undone) in [(&up, false), (&down, true), (&up, false)] {
        connection.batch_execute(script).unwrap();
        for (columns, expected) in counts_expected(is_undone, shown) {
            let query = some_rows(columns, |column| format!("quote({column})"));
            let found: Vec<Row> = sql_query(query).load(&mut connection).unwrap();
            let found: Vec<_> = found.into_iter().map(|row| row.row).collect();
            assert_eq!(found, expected, "{columns}");
        }
    }
}
