//! Both databases have equal schemas, and every migration can be undone.

use std::collections::{BTreeMap, BTreeSet};

use diesel::connection::SimpleConnection as _;
use diesel::sql_types::{Bool, Text};
use diesel::{Connection as _, QueryableByName, RunQueryDsl as _, SqliteConnection, sql_query};
use refract_test_support::postgres::fresh_database;
use tokio_postgres::{Client, NoTls};

use crate::fixture::scripts;

/// Table and column, with a type name common to both databases and whether it may be null.
pub(crate) type Columns = BTreeMap<(String, String), (String, bool)>;
/// Table and columns of every unique constraint, primary keys included.
pub(crate) type UniqueSets = BTreeSet<(String, String)>;

pub(crate) async fn postgres_client(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

fn sqlite_after(scripts: &[String]) -> SqliteConnection {
    let mut connection = SqliteConnection::establish(":memory:").unwrap();
    for script in scripts {
        connection.batch_execute(script).unwrap();
    }
    connection
}

fn common_type(sql: &str) -> String {
    match sql {
        "uuid" | "bytea" => "blob",
        "timestamp with time zone" | "bigint" => "integer",
        other => other,
    }
    .to_owned()
}

pub(crate) async fn postgres_columns(client: &Client) -> Columns {
    let query = "SELECT table_name::text, column_name::text, data_type::text, is_nullable = 'YES'
        FROM information_schema.columns WHERE table_schema = 'public'";
    let rows = client.query(query, &[]).await.unwrap();
    let column = |row: &tokio_postgres::Row| {
        let sql_type: String = row.get(2);
        (
            (row.get(0), row.get(1)),
            (common_type(&sql_type), row.get(3)),
        )
    };
    rows.iter().map(column).collect()
}

pub(crate) async fn postgres_unique_sets(client: &Client) -> UniqueSets {
    let query = "SELECT t.relname::text, (SELECT string_agg(a.attname, ',' ORDER BY k.position)
            FROM unnest(i.indkey) WITH ORDINALITY AS k (number, position)
            JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.number)
        FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid
        JOIN pg_namespace n ON n.oid = t.relnamespace AND n.nspname = 'public'
        WHERE i.indisunique";
    let rows = client.query(query, &[]).await.unwrap();
    rows.iter().map(|row| (row.get(0), row.get(1))).collect()
}

#[derive(QueryableByName)]
struct SqliteColumn {
    #[diesel(sql_type = Text)]
    table_name: String,
    #[diesel(sql_type = Text)]
    column_name: String,
    #[diesel(sql_type = Text)]
    sql_type: String,
    #[diesel(sql_type = Bool)]
    may_be_null: bool,
}

pub(crate) fn sqlite_columns(connection: &mut SqliteConnection) -> Columns {
    let query = "SELECT t.name AS table_name, c.name AS column_name, lower(c.type) AS sql_type,
            NOT c.\"notnull\" AS may_be_null
        FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table'";
    let columns: Vec<SqliteColumn> = sql_query(query).load(connection).unwrap();
    let entry = |column: SqliteColumn| {
        (
            (column.table_name, column.column_name),
            (column.sql_type, column.may_be_null),
        )
    };
    columns.into_iter().map(entry).collect()
}

#[derive(QueryableByName)]
struct SqliteUniqueSet {
    #[diesel(sql_type = Text)]
    table_name: String,
    #[diesel(sql_type = Text)]
    columns: String,
}

pub(crate) fn sqlite_unique_sets(connection: &mut SqliteConnection) -> UniqueSets {
    let query = "SELECT t.name AS table_name, (SELECT group_concat(name)
            FROM (SELECT name FROM pragma_index_info(i.name) ORDER BY seqno)) AS columns
        FROM sqlite_schema t, pragma_index_list(t.name) i
        WHERE t.type = 'table' AND i.\"unique\"";
    let sets: Vec<SqliteUniqueSet> = sql_query(query).load(connection).unwrap();
    sets.into_iter()
        .map(|set| (set.table_name, set.columns))
        .collect()
}

async fn postgres_after(url: &str, scripts: &[String]) -> Client {
    let client = postgres_client(url).await;
    for script in scripts {
        client.batch_execute(script).await.unwrap();
    }
    client
}

#[tokio::test]
async fn both_databases_have_the_same_tables_columns_and_unique_sets() {
    let server = fresh_database().await;
    let client = postgres_after(server.url(), &scripts("postgres", "up.sql")).await;
    let mut sqlite = sqlite_after(&scripts("sqlite", "up.sql"));

    let columns = postgres_columns(&client).await;
    assert_eq!(columns, sqlite_columns(&mut sqlite));
    assert!(columns.len() > 30, "there is a schema to compare");
    let unique = postgres_unique_sets(&client).await;
    assert_eq!(unique, sqlite_unique_sets(&mut sqlite));
    for (table, columns) in [
        ("accounts", "name"),
        ("api_keys", "hash"),
        ("prisms", "account_id,slug"),
        ("prism_versions", "prism_id,version"),
        ("results", "account_id,idempotency_key"),
        ("results", "retry_of"),
        ("marks", "result_id,question"),
    ] {
        assert!(
            unique.contains(&(table.to_owned(), columns.to_owned())),
            "{table}: {columns}"
        );
    }
}

#[tokio::test]
async fn no_index_depends_on_a_locale() {
    let server = fresh_database().await;
    let client = postgres_after(server.url(), &scripts("postgres", "up.sql")).await;
    let query = "SELECT a.attrelid::regclass::text || '.' || a.attname
        FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
        JOIN pg_class t ON t.oid = i.indrelid
        JOIN pg_namespace n ON n.oid = t.relnamespace AND n.nspname = 'public'
        WHERE a.attcollation <> 0 AND a.attcollation <> '\"C\"'::regcollation";
    let by_locale: Vec<String> = client
        .query(query, &[])
        .await
        .unwrap()
        .iter()
        .map(|row| row.get(0))
        .collect();
    assert_eq!(by_locale, [""; 0]);
}

#[tokio::test]
async fn down_undoes_up_and_up_works_again() {
    let server = fresh_database().await;
    for database in ["postgres", "sqlite"] {
        let up = scripts(database, "up.sql");
        let down: Vec<_> = scripts(database, "down.sql").into_iter().rev().collect();
        let there_and_back = [up.clone(), down.clone()].concat();
        let and_again = [up.clone(), down, up].concat();
        if database == "postgres" {
            let client = postgres_after(server.url(), &there_and_back).await;
            assert!(postgres_columns(&client).await.is_empty());
            let leftovers = "SELECT relname::text FROM pg_class c JOIN pg_namespace n
                ON n.oid = c.relnamespace WHERE n.nspname = 'public'";
            assert!(client.query(leftovers, &[]).await.unwrap().is_empty());
            postgres_after(server.url(), &and_again).await;
        } else {
            let mut connection = sqlite_after(&there_and_back);
            assert!(sqlite_columns(&mut connection).is_empty());
            sqlite_after(&and_again);
        }
    }
}

#[tokio::test]
async fn a_result_is_ok_with_answers_or_failed_with_an_error() {
    let server = fresh_database().await;
    let client = postgres_after(server.url(), &scripts("postgres", "up.sql")).await;
    client
        .batch_execute("SET session_replication_role = replica")
        .await
        .unwrap();
    let mut sqlite = sqlite_after(&scripts("sqlite", "up.sql"));
    sqlite.batch_execute("PRAGMA foreign_keys = OFF").unwrap();
    let cases = [
        ("'ok'", "'{}'", "NULL", true),
        ("'failed'", "NULL", "'no'", true),
        ("'ok'", "NULL", "NULL", false),
        ("'ok'", "'{}'", "'no'", false),
        ("'failed'", "'{}'", "'no'", false),
        ("'failed'", "NULL", "NULL", false),
        ("'other'", "NULL", "'no'", false),
    ];
    for (number, (status, answers, error, is_right)) in cases.into_iter().enumerate() {
        let insert = |id: &str, moment: &str| {
            format!(
                "INSERT INTO results (id, account_id, prism_id, version, status, answers, error,
                    fields, took_ms, created_at)
                 VALUES ({id}, {id}, {id}, 1, {status}, {answers}, {error}, '{{}}', 1, {moment})"
            )
        };
        let id = format!("{number:032}");
        let in_postgres = insert(&format!("'{id}'"), "now()");
        let case = format!("{status} {answers} {error}");
        assert_eq!(
            client.batch_execute(&in_postgres).await.is_ok(),
            is_right,
            "{case}"
        );
        let in_sqlite = insert(&format!("x'{id}'"), "0");
        assert_eq!(sqlite.batch_execute(&in_sqlite).is_ok(), is_right, "{case}");
    }
}
