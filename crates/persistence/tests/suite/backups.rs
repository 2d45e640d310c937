//! Copies of an SQLite file that is in use.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use refract_domain::ids::ResultId;
use refract_persistence::{BackupError, SaveOutcome, back_up};
use refract_test_support::postgres::fresh_database;
use tempfile::TempDir;
use tokio::sync::watch;

use crate::fixture::{Fixture, answered, connect, results_made};

fn names(folder: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(folder.path()).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_made_under_load_holds_everything_acknowledged_before_it() {
    let it = Arc::new(Fixture::sqlite().await);
    let (stop, count) = (Arc::new(AtomicBool::new(false)), watch::Sender::new(0));
    let mut writers = Vec::new();
    for _ in 0..8 {
        let (it, stop, count) = (Arc::clone(&it), Arc::clone(&stop), count.clone());
        writers.push(tokio::spawn(async move {
            let mut saved: Vec<ResultId> = Vec::new();
            while !stop.load(Ordering::SeqCst) {
                let new = it.result(answered(), None);
                let saving = it.database.save_result(&new).await.unwrap();
                assert_eq!(saving, SaveOutcome::Saved);
                saved.push(new.result.id);
                count.send_modify(|count| *count += 1);
            }
            saved
        }));
    }
    let until = async |goal: usize| {
        count
            .subscribe()
            .wait_for(|count| *count >= goal)
            .await
            .unwrap();
    };
    until(200).await;
    let before = it.results_made().await;
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("copy.db");
    let bytes = back_up(&it.url.as_str().into(), &to).await.unwrap();
    let now = *count.borrow();
    until(now + 50).await;
    stop.store(true, Ordering::SeqCst);
    let mut saved = Vec::new();
    for writer in writers {
        saved.extend(writer.await.unwrap());
    }

    assert_eq!(names(&folder), ["copy.db"], "nothing is left beside it");
    let metadata = to.metadata().unwrap();
    assert_eq!(
        (metadata.len(), metadata.permissions().mode() & 0o777),
        (bytes, 0o600)
    );
    let copy = connect(&format!("sqlite://{}", to.display())).await;
    assert_eq!(copy.migrate().await.unwrap(), 0);
    let copied = results_made(&copy, it.account, it.key.id).await;
    let all = i64::try_from(saved.len()).unwrap();
    assert!(before <= copied && copied <= all, "{before} {copied} {all}");
    let mut found = 0;
    for id in saved {
        let result = copy.find_result(it.account, id).await.unwrap();
        found += i64::from(result.is_some());
    }
    assert_eq!(found, copied);
}

#[tokio::test]
async fn nothing_is_overwritten_and_nothing_is_left_behind() {
    let it = Fixture::sqlite().await;
    let folder = tempfile::tempdir().unwrap();
    let taken = folder.path().join("taken.db");
    fs::write(&taken, "precious").unwrap();
    let error = back_up(&it.url.as_str().into(), &taken).await.unwrap_err();
    assert!(matches!(error, BackupError::Exists(_)), "{error}");
    assert_eq!(fs::read_to_string(&taken).unwrap(), "precious");

    let nowhere = folder.path().join("missing").join("copy.db");
    let error = back_up(&it.url.as_str().into(), &nowhere)
        .await
        .unwrap_err();
    assert!(matches!(error, BackupError::Place { .. }), "{error}");

    let no_database = folder.path().join("notes.txt");
    fs::write(&no_database, "these are notes\n".repeat(100)).unwrap();
    let url = format!("sqlite://{}", no_database.display());
    let error = back_up(&url.as_str().into(), &folder.path().join("copy.db"))
        .await
        .unwrap_err();
    assert!(error.to_string().contains("not a database"), "{error}");

    let url = format!("sqlite://{}", folder.path().join("gone.db").display());
    let error = back_up(&url.as_str().into(), &folder.path().join("copy.db"))
        .await
        .unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("there is no database gone.db in "),
        "{error}"
    );

    let mut left = names(&folder);
    left.sort_unstable();
    assert_eq!(left, ["notes.txt", "taken.db"]);
}

#[tokio::test]
async fn postgres_is_left_to_its_own_tools() {
    let server = fresh_database().await;
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("copy.db");
    let error = back_up(&server.url().into(), &to).await.unwrap_err();
    assert!(error.to_string().contains("pg_dump"), "{error}");
    assert!(names(&folder).is_empty());
}
