//! An address in a file, which is read again when the server refuses its password.

use std::fs;

use refract_persistence::{ConnectError, Database, DatabaseSettings, DatabaseUrl};
use refract_test_support::cluster::Cluster;
use tokio::runtime::Handle;

use crate::schemas::postgres_client;

async fn open(path: &std::path::Path) -> Result<Database, ConnectError> {
    let settings = DatabaseSettings {
        url: DatabaseUrl::InFile(path.to_owned()),
        pool: 1,
    };
    Database::connect(&settings, Handle::current()).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_password_that_changes_is_read_from_its_file_without_a_failed_query() {
    let cluster = Cluster::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("database-url");
    fs::write(&file, format!("{}\n", cluster.url())).unwrap();
    let database = open(&file).await.unwrap();
    database.ping().await.unwrap();
    let client = postgres_client(&cluster.url()).await;
    let end_connections = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
        WHERE application_name = 'refract'";
    let change = async |password: &str| {
        let set = format!("ALTER ROLE refract PASSWORD '{password}'");
        client.batch_execute(&set).await.unwrap();
        client.query_one(end_connections, &[]).await.unwrap();
    };
    // the file has the new password when the old one is refused
    change("renewed").await;
    fs::write(&file, cluster.url().replace(cluster.password(), "renewed")).unwrap();
    while database.ping().await.is_err() {
        // the first use notices that the connection has ended
    }
    // a file that is late, wrong or missing is no worse than a wrong password
    change("later").await;
    let is_refused = async || {
        let refused = database.ping().await.err();
        refused.is_some_and(|error| error.to_string().contains("authentication failed"))
    };
    while !is_refused().await {}
    for content in ["", "nonsense", "sqlite://x.db"] {
        fs::write(&file, content).unwrap();
        assert!(is_refused().await, "{content}");
    }
    fs::remove_file(&file).unwrap();
    database.ping().await.unwrap_err();
    fs::write(&file, cluster.url().replace(cluster.password(), "later")).unwrap();
    database.ping().await.unwrap();
}

#[tokio::test]
async fn a_file_that_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("database-url");
    let words = open(&file).await.err().unwrap().to_string();
    let expected = format!("cannot read the database address from {}: ", file.display());
    assert!(words.starts_with(&expected), "{words}");
}
