//! Running migrations, from one process or from several at the same time.

use std::sync::Arc;

use diesel::connection::SimpleConnection as _;
use diesel::{Connection as _, SqliteConnection};
use refract_persistence::MigrateError;
use refract_test_support::postgres::fresh_database;
use tokio::sync::Barrier;

use crate::fixture::{connect, scripts, sqlite_url};

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
    crate::schemas::postgres_client(server.url())
        .await
        .batch_execute(FROM_THE_FUTURE)
        .await
        .unwrap();
    assert_refused(server.url()).await;
}
