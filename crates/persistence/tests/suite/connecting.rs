//! Opening a database: addresses that work, and the errors of those that do not.

use std::fs;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, Instant};

use refract_persistence::{ConnectError, Database, DatabaseSettings, PassingReason};
use refract_test_support::cluster::Cluster;
use refract_test_support::on_both;
use refract_test_support::postgres::fresh_database;
use tokio::runtime::Handle;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use crate::fixture::{Fixture, connect, sqlite_url};
use crate::schemas::postgres_client;

on_both!(an_open_database_answers);

async fn an_open_database_answers(it: Fixture) {
    it.database.ping().await.unwrap();
}

async fn refusal(url: &str) -> String {
    let settings = DatabaseSettings {
        url: url.into(),
        pool: 2,
    };
    match Database::connect(&settings, Handle::current()).await {
        Ok(_) => panic!("{url} was opened"),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn an_unknown_scheme_is_refused_with_those_that_there_are() {
    let words = refusal("mysql://user:secret@host/db").await;
    assert_eq!(
        words,
        "the database address must begin with sqlite:// or postgres://"
    );
}

#[tokio::test]
async fn an_empty_pool_is_refused() {
    let settings = DatabaseSettings {
        url: "sqlite://x.db".into(),
        pool: 0,
    };
    let error = Database::connect(&settings, Handle::current())
        .await
        .err()
        .unwrap();
    assert_eq!(
        error.to_string(),
        "the database pool needs at least one connection"
    );
}

#[tokio::test]
async fn a_server_that_is_away_is_named_without_the_password() {
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let words = refusal(&format!("postgres://user:secret@127.0.0.1:{port}/db")).await;
    assert!(
        words.contains(&format!("cannot connect to PostgreSQL at 127.0.0.1:{port}")),
        "{words}"
    );
    assert!(words.contains("refused"), "{words}");
    assert!(!words.contains("secret"), "{words}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_socket_is_reached_by_its_folder_without_a_word_about_tls() {
    let cluster = Cluster::start(&["unix_socket_directories = '.'"]);
    let (folder, port) = (cluster.data(), cluster.port());
    let folder = folder.to_str().unwrap();
    let user = format!("refract:{}", cluster.password());
    let escaped = folder.replace('/', "%2F");
    let up = "../".repeat(std::env::current_dir().unwrap().components().count() - 1);
    let relative = folder.strip_prefix('/').unwrap();
    for url in [
        format!("postgres://{user}@/postgres?host={folder}&port={port}"),
        format!("postgres://{user}@/postgres?host={escaped}&port={port}&sslmode=require"),
        format!("postgres://{user}@{escaped}:{port}/postgres"),
        format!("postgres://{user}@/postgres?host={up}{relative}&port={port}"),
    ] {
        connect(&url).await.ping().await.unwrap();
    }
    let elsewhere = format!("postgres://{user}@/postgres?host={folder}&port=1");
    let words = refusal(&elsewhere).await;
    let socket = format!("cannot connect to PostgreSQL at {folder}/.s.PGSQL.1: ");
    assert!(words.starts_with(&socket), "{words}");
    assert!(!words.contains(cluster.password()), "{words}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_password_of_any_characters_opens_the_database_and_is_never_shown() {
    let cluster = Cluster::start(&[]);
    let password = "pa@ss:w/o#r?d @ &=[]{}|\\^`<>\"";
    let set = format!("ALTER ROLE refract PASSWORD '{password}'");
    let client = postgres_client(&cluster.url()).await;
    client.batch_execute(&set).await.unwrap();
    let at = |port: u16| format!("postgres://refract:{password}@127.0.0.1:{port}/postgres");
    connect(&at(cluster.port())).await.ping().await.unwrap();
    let words = refusal(&at(1)).await;
    assert!(
        words.starts_with("cannot connect to PostgreSQL at 127.0.0.1:1: "),
        "{words}"
    );
    let wrong = at(cluster.port()).replace("pa@ss", "wr@ng");
    let words = refusal(&wrong).await;
    assert!(words.contains("authentication failed"), "{words}");
    assert!(!words.contains("w/o"), "{words}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_whose_connections_are_all_taken_is_worth_waiting_for() {
    let cluster = Cluster::start(&[]);
    let client = postgres_client(&cluster.url()).await;
    let role = "CREATE ROLE guest LOGIN PASSWORD 'guest' CONNECTION LIMIT 0";
    client.batch_execute(role).await.unwrap();
    let settings = |url: String| DatabaseSettings {
        url: url.into(),
        pool: 2,
    };
    let port = cluster.port();
    let full = settings(format!("postgres://guest:guest@127.0.0.1:{port}/postgres"));
    let opened = Database::connect(&full, Handle::current()).await;
    assert_eq!(
        opened.err().unwrap().passing(),
        Some(PassingReason::NotReady)
    );
    let nobody = settings("postgres://guest:guest@127.0.0.1:1/postgres".to_owned());
    let opened = Database::connect(&nobody, Handle::current()).await;
    let reason = opened.err().unwrap().passing();
    assert_eq!(reason, Some(PassingReason::NobodyListens));
    let wrong = settings(format!("postgres://guest:wrong@127.0.0.1:{port}/postgres"));
    let opened = Database::connect(&wrong, Handle::current()).await;
    assert_eq!(opened.err().unwrap().passing(), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_hangs_does_not_keep_a_query_from_the_next_host() {
    let cluster = Cluster::start(&[]);
    // the kernel accepts its connections, and nobody answers
    let hung = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = |hosts: &[u16]| {
        let hosts: Vec<_> = hosts
            .iter()
            .map(|port| format!("127.0.0.1:{port}"))
            .collect();
        format!(
            "postgres://refract:{}@{}/postgres?sslmode=disable",
            cluster.password(),
            hosts.join(",")
        )
    };
    let port = hung.local_addr().unwrap().port();
    let begin = Instant::now();
    connect(&at(&[port, cluster.port()]))
        .await
        .ping()
        .await
        .unwrap();
    // once to see whether the server can be reached, once for the pool
    assert!(begin.elapsed() < Duration::from_secs(20), "{begin:?}");
    let words = refusal(&at(&[port, 1])).await;
    assert!(words.contains("it does not answer"), "{words}");
    assert!(words.contains("refused"), "{words}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_standby_is_opened_and_read_once_it_has_all_migrations() {
    let primary = Cluster::start(&[]);
    let standby = primary.standby();
    let reader = connect(&standby.url()).await;
    let refused = reader.migrate().await.unwrap_err().to_string();
    assert!(refused.contains("read-only"), "{refused}");
    let writer = connect(&primary.url()).await;
    assert!(writer.migrate().await.unwrap() > 0);
    let following = async {
        while standby_is_behind(&primary.url(), &standby.url()).await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let followed = tokio::time::timeout(Duration::from_secs(30), following).await;
    followed.expect("the standby follows");
    assert_eq!(reader.migrate().await.unwrap(), 0);
    let guest = "CREATE ROLE guest LOGIN PASSWORD 'guest'; \
        GRANT SELECT ON ALL TABLES IN SCHEMA public TO guest";
    let client = postgres_client(&primary.url()).await;
    client.batch_execute(guest).await.unwrap();
    let port = primary.port();
    let guest = format!("postgres://guest:guest@127.0.0.1:{port}/postgres");
    assert_eq!(connect(&guest).await.migrate().await.unwrap(), 0);
}

/// Whether a standby has not replayed everything that its primary wrote.
async fn standby_is_behind(primary: &str, standby: &str) -> bool {
    let written = "SELECT pg_current_wal_lsn()::text";
    let written: String = postgres_client(primary)
        .await
        .query_one(written, &[])
        .await
        .unwrap()
        .get(0);
    let behind = format!("SELECT pg_last_wal_replay_lsn() < '{written}'::pg_lsn");
    let found = postgres_client(standby).await.query_one(&behind, &[]).await;
    found.unwrap().get(0)
}

#[tokio::test]
async fn a_database_that_is_missing_is_named() {
    let server = fresh_database().await;
    let words = refusal(&format!("{}_gone", server.url())).await;
    assert!(words.contains("does not exist"), "{words}");
}

#[tokio::test]
async fn tls_is_not_silently_left_out_where_it_is_required() {
    let server = fresh_database().await;
    let with = |mode: &str| {
        let glue = if server.url().contains('?') { '&' } else { '?' };
        format!("{}{glue}sslmode={mode}", server.url())
    };
    for mode in ["require", "verify-full"] {
        let words = refusal(&with(mode)).await;
        assert!(words.contains("TLS"), "{words}");
    }
    for mode in ["disable", "prefer"] {
        connect(&with(mode)).await.ping().await.unwrap();
    }
}

#[tokio::test]
async fn a_file_in_a_missing_folder_is_refused_with_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("nowhere");
    let words = refusal(&format!("sqlite://{}/refract.db", missing.display())).await;
    let expected = format!("the folder {} does not exist", missing.display());
    assert!(words.ends_with(&expected), "{words}");
}

#[tokio::test]
async fn a_file_is_only_made_where_that_is_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let settings = DatabaseSettings {
        url: sqlite_url(&folder).into(),
        pool: 2,
    };
    let opened = Database::connect_existing(&settings, Handle::current()).await;
    let error = opened.err().unwrap();
    assert!(matches!(error, ConnectError::NoFile { .. }));
    let words = format!(
        "there is no database refract.db in {}",
        folder.path().display()
    );
    assert_eq!(error.to_string(), words);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    Database::connect(&settings, Handle::current())
        .await
        .unwrap();
    let opened = Database::connect_existing(&settings, Handle::current()).await;
    opened.unwrap().ping().await.unwrap();
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused_and_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    let text = "these are my notes, and there are many of them\n".repeat(100);
    fs::write(&path, &text).unwrap();
    let words = refusal(&format!("sqlite://{}", path.display())).await;
    assert!(words.contains("file is not a database"), "{words}");
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_new_file_is_opened_and_closed_by_many_at_once() {
    for _ in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        let start = Arc::new(Barrier::new(10));
        let mut opening = JoinSet::new();
        for _ in 0..10 {
            let (start, url) = (Arc::clone(&start), sqlite_url(&folder));
            opening.spawn(async move {
                start.wait().await;
                for _ in 0..3 {
                    connect(&url).await.ping().await.unwrap();
                }
            });
        }
        opening.join_all().await;
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_new_file_is_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().unwrap();
    let database = connect(&sqlite_url(&folder)).await;
    database.migrate().await.unwrap();
    let files: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert!(files.iter().any(|file| file.file_name() == "refract.db"));
    for file in files {
        let mode = file.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}", file.path().display());
    }
}
