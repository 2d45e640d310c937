//! Opening a database: addresses that work, and the errors of those that do not.

use std::fs;
use std::net::TcpListener;
use std::sync::Arc;

use refract_persistence::{Database, DatabaseSettings};
use refract_test_support::postgres::fresh_database;
use tokio::runtime::Handle;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use crate::fixture::{Fixture, connect, sqlite_url};

on_both!(an_open_database_answers);

async fn an_open_database_answers(it: Fixture) {
    it.database.ping().await.unwrap();
}

async fn refusal(url: &str) -> String {
    let settings = DatabaseSettings {
        url: url.to_owned(),
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
        url: "sqlite://x.db".to_owned(),
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
async fn a_file_that_is_no_database_is_refused_and_left_alone() {
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
