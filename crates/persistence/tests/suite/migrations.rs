//! Running migrations, from one process or from several at the same time.

use std::sync::Arc;

use diesel::connection::SimpleConnection as _;
use diesel::{Connection as _, SqliteConnection};
use refract_persistence::{Database, DatabaseSettings, MigrateError, SchemaError};
use refract_test_support::postgres::fresh_database;
use tokio::runtime::Handle;
use tokio::sync::Barrier;

use crate::fixture::{connect, scripts, sqlite_url};
use crate::schemas::postgres_client;

async fn migrate_ten_times_at_once(url: &str) {
    let start = Arc::new(Barrier::new(10));
    let migrate = |_| {
        let (start, url) = (Arc::clone(&start), url.to_owned());
        tokio::spawn(async move {
            start.wait().await;
            connect(&url).await.migrate().await.unwrap()
        })
    };
    let nodes: Vec<_> = (0..10).map(migrate).collect();
    let mut applied = Vec::new();
    for node in nodes {
        applied.push(node.await.unwrap());
    }
    applied.sort_unstable();
    let all = scripts("postgres", "up.sql").len();
    assert_eq!(applied, [0, 0, 0, 0, 0, 0, 0, 0, 0, all]);
    connect(url).await.list_accounts().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sqlite_is_migrated_once_by_ten_processes() {
    let folder = tempfile::tempdir().unwrap();
    migrate_ten_times_at_once(&sqlite_url(&folder)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn postgres_is_migrated_once_by_ten_nodes() {
    let server = fresh_database().await;
    migrate_ten_times_at_once(server.url()).await;
}

const FROM_THE_FUTURE: &str =
    "INSERT INTO __diesel_schema_migrations (version) VALUES ('0999'), ('1000')";

async fn assert_refused(url: &str) {
    let error = connect(url).await.migrate().await.unwrap_err();
    assert!(matches!(error, MigrateError::SchemaIsNewer { .. }));
    let words = error.to_string();
    assert!(
        words.contains("0999") && words.contains("newer refract"),
        "{words}"
    );
}

#[tokio::test]
async fn sqlite_with_a_newer_schema_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let url = sqlite_url(&folder);
    connect(&url).await.migrate().await.unwrap();
    let path = folder.path().join("refract.db");
    let mut connection = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
    connection.batch_execute(FROM_THE_FUTURE).unwrap();
    assert_refused(&url).await;
}

#[tokio::test]
async fn postgres_with_a_newer_schema_is_refused() {
    let server = fresh_database().await;
    connect(server.url()).await.migrate().await.unwrap();
    postgres_client(server.url())
        .await
        .batch_execute(FROM_THE_FUTURE)
        .await
        .unwrap();
    assert_refused(server.url()).await;
}

/// What a check says of a database that exists.
async fn checked(url: &str) -> Result<(), SchemaError> {
    let settings = DatabaseSettings {
        url: url.into(),
        pool: 2,
    };
    let opened = Database::connect_existing(&settings, Handle::current()).await;
    opened.unwrap().check_schema().await
}

/// Checks a database of which nothing is migrated yet, then one of another program, an older one, a
/// current one and a newer one. `execute` runs statements, `look` shows everything that could change.
async fn only_the_own_migrations_are_accepted(
    url: &str,
    execute: impl AsyncFn(&str),
    look: impl AsyncFn() -> String,
) {
    let newest = u64::try_from(scripts("postgres", "up.sql").len()).unwrap();
    let refused = async || {
        let before = look().await;
        let error = checked(url).await.unwrap_err();
        assert_eq!(look().await, before, "{error}");
        error
    };
    assert!(matches!(refused().await, SchemaError::Empty { newest: at } if at == newest));
    execute("CREATE TABLE orders (id integer); CREATE TABLE users (id integer)").await;
    let foreign = refused().await;
    assert!(matches!(foreign, SchemaError::Foreign { more: 0, .. }));
    assert!(foreign.to_string().contains("(orders, users)"), "{foreign}");
    execute(
        "CREATE TABLE __diesel_schema_migrations (version VARCHAR(50) PRIMARY KEY NOT NULL,
            run_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP);
         INSERT INTO __diesel_schema_migrations (version) VALUES ('20240101000000')",
    )
    .await;
    let foreign = refused().await;
    assert!(matches!(foreign, SchemaError::Foreign { .. }), "{foreign}");
    execute("DROP TABLE __diesel_schema_migrations; DROP TABLE orders; DROP TABLE users").await;
    connect(url).await.migrate_to(newest - 1).await.unwrap();
    let older = refused().await;
    assert!(
        matches!(older, SchemaError::Older { at, newest: needed } if at == newest - 1 && needed == newest),
        "{older}"
    );
    connect(url).await.migrate().await.unwrap();
    checked(url).await.unwrap();
    // a migration in the middle is missing
    execute("UPDATE __diesel_schema_migrations SET version = 'x' WHERE version = '0003'").await;
    execute("DELETE FROM __diesel_schema_migrations WHERE version = 'x'").await;
    assert!(matches!(refused().await, SchemaError::Older { at: 2, .. }));
    execute("INSERT INTO __diesel_schema_migrations (version) VALUES ('0003')").await;
    execute(FROM_THE_FUTURE).await;
    let newer = refused().await;
    assert!(
        matches!(newer, SchemaError::Newer { at: 1000, .. }),
        "{newer}"
    );
    assert!(
        newer
            .to_string()
            .contains(&format!("migrate --to {newest}`"))
    );
}

#[tokio::test]
async fn sqlite_is_used_only_with_the_own_migrations_and_else_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("refract.db");
    std::fs::write(&path, "").unwrap();
    let execute = async |statements: &str| {
        let mut connection = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
        connection.batch_execute(statements).unwrap();
    };
    let look = async || {
        let names = std::fs::read_dir(folder.path()).unwrap();
        let names = names
            .map(|entry| entry.unwrap().file_name())
            .collect::<Vec<_>>();
        format!("{names:?} {:?}", std::fs::read(&path).unwrap())
    };
    only_the_own_migrations_are_accepted(&sqlite_url(&folder), execute, look).await;
}

#[tokio::test]
async fn postgres_is_used_only_with_the_own_migrations_and_else_unchanged() {
    let server = fresh_database().await;
    let client = postgres_client(server.url()).await;
    let execute = async |statements: &str| client.batch_execute(statements).await.unwrap();
    let look = async || {
        let tables = "SELECT string_agg(table_schema || '.' || table_name, ' ' ORDER BY 1)
            FROM information_schema.tables";
        let tables: Option<String> = client.query_one(tables, &[]).await.unwrap().get(0);
        tables.unwrap_or_default()
    };
    only_the_own_migrations_are_accepted(server.url(), execute, look).await;
}

#[tokio::test]
async fn a_role_that_may_only_read_can_check_and_learns_what_it_needs() {
    let server = fresh_database().await;
    connect(server.url()).await.migrate().await.unwrap();
    let client = postgres_client(server.url()).await;
    let role = server
        .url()
        .rsplit('/')
        .next()
        .unwrap()
        .replace("refract_test", "reader");
    let made = format!("CREATE ROLE {role} LOGIN PASSWORD 'reads'");
    client.batch_execute(&made).await.unwrap();
    let (_, address) = server.url().rsplit_once('@').unwrap();
    let url = format!("postgres://{role}:reads@{address}");
    let error = checked(&url).await.unwrap_err().to_string();
    assert!(
        error.contains("permission denied") && error.contains("grant the role SELECT"),
        "{error}"
    );
    let grant = format!("GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}");
    client.batch_execute(&grant).await.unwrap();
    checked(&url).await.unwrap();
    client
        .batch_execute(&format!("DROP OWNED BY {role}; DROP ROLE {role}"))
        .await
        .unwrap();
}
