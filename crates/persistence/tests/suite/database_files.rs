//! An SQLite file or its log that is deleted or replaced while it is open: no save is acknowledged
//! and lost.

use std::fs;
use std::num::NonZeroUsize;
use std::process::{Command, Stdio};

use refract_persistence::{Database, PersistenceError, SaveOutcome};
use tempfile::TempDir;

use crate::fixture::{Fixture, account, answered, connect, sqlite_url};

/// A database on a file whose folder a test can change.
async fn opened() -> (TempDir, Database) {
    let folder = tempfile::tempdir().unwrap();
    let database = connect(&sqlite_url(&folder)).await;
    database.migrate().await.unwrap();
    account(&database, "before").await;
    database.list_accounts().await.unwrap();
    (folder, database)
}

async fn assert_closed(database: &Database) {
    for refused in [
        database.ping().await,
        database
            .release_lease(
                "none",
                refract_domain::ids::NodeId::new(uuid::Uuid::now_v7()),
            )
            .await,
    ] {
        let error = refused.unwrap_err();
        assert!(matches!(error, PersistenceError::Unavailable(_)), "{error}");
        assert!(error.is_passing(), "it may be put back");
        assert!(error.to_string().contains("deleted or replaced"), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deleted_file_is_neither_ready_nor_written_to_until_it_is_back() {
    let (folder, database) = opened().await;
    let path = folder.path().join("refract.db");
    let aside = folder.path().join("aside.db");
    fs::rename(&path, &aside).unwrap();
    assert_closed(&database).await;
    // open connections can still read
    assert_eq!(database.list_accounts().await.unwrap().len(), 1);
    fs::rename(&aside, &path).unwrap();
    database.ping().await.unwrap();
    account(&database, "after").await;
    assert_eq!(
        connect(&sqlite_url(&folder))
            .await
            .list_accounts()
            .await
            .unwrap()
            .len(),
        2
    );
    fs::remove_file(&path).unwrap();
    assert_closed(&database).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_file_in_its_place_is_never_mixed_with_the_open_one() {
    let (folder, database) = opened().await;
    let path = folder.path().join("refract.db");
    let copy = folder.path().join("copy.db");
    let url = sqlite_url(&folder);
    refract_persistence::back_up(&url.as_str().into(), &copy)
        .await
        .unwrap();
    let thread = database.for_this_thread(NonZeroUsize::MIN);
    fs::rename(&copy, &path).unwrap();
    assert_closed(&database).await;
    // new connections would be to the other file
    let refused = thread.find_account("before").await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the database is not available: its file was deleted or replaced while it was open"
    );
    drop((thread, database));
    // who puts a copy into place removes the log of the file before
    for log in ["refract.db-wal", "refract.db-shm"] {
        fs::remove_file(folder.path().join(log)).unwrap();
    }
    let started_anew = connect(&url).await;
    account(&started_anew, "anew").await;
    assert_eq!(started_anew.list_accounts().await.unwrap().len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_is_saved_once_its_file_is_back() {
    let it = Fixture::sqlite().await;
    let path = it.url.strip_prefix("sqlite://").unwrap();
    let aside = format!("{path}.aside");
    let thread = it.database.for_this_thread(NonZeroUsize::MIN);
    let new = it.result(answered(), None);
    fs::rename(path, &aside).unwrap();
    let refused = thread.save_result(&new).await.unwrap_err();
    assert!(refused.is_passing(), "{refused}");
    fs::rename(&aside, path).unwrap();
    assert_eq!(thread.save_result(&new).await.unwrap(), SaveOutcome::Saved);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_log_is_noticed_like_a_lost_file_and_a_clean_stop_saves_what_it_has() {
    for end in ["-wal", "-shm"] {
        let (folder, database) = opened().await;
        let log = folder.path().join(format!("refract.db{end}"));
        let aside = folder.path().join("aside");
        fs::rename(&log, &aside).unwrap();
        assert_closed(&database).await;
        fs::copy(&aside, &log).unwrap();
        assert_closed(&database).await;
        fs::rename(&aside, &log).unwrap();
        database.ping().await.unwrap();
        account(&database, "after").await;
        fs::remove_file(&log).unwrap();
        assert_closed(&database).await;
        assert_eq!(database.list_accounts().await.unwrap().len(), 2);
        drop(database);
        let started_anew = connect(&sqlite_url(&folder)).await;
        assert_eq!(started_anew.list_accounts().await.unwrap().len(), 2);
    }
}

/// What another process does with the file in
/// `processes_that_open_and_close_one_file_are_no_alarm`, which starts it.
#[tokio::test]
async fn as_another_process() {
    let Ok(url) = std::env::var("TEST_OF_ANOTHER_PROCESS") else {
        return;
    };
    for round in 0..10 {
        let database = connect(&url).await;
        database.migrate().await.unwrap();
        account(&database, &format!("{} {round}", std::process::id())).await;
        database.list_accounts().await.unwrap();
        database.ping().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn processes_that_open_and_close_one_file_are_no_alarm() {
    let folder = tempfile::tempdir().unwrap();
    let url = sqlite_url(&folder);
    let others = [(); 3].map(|()| {
        let mut other = Command::new(std::env::current_exe().unwrap());
        other.args(["--exact", "database_files::as_another_process"]);
        let other = other.env("TEST_OF_ANOTHER_PROCESS", &url);
        other.stdout(Stdio::null()).spawn().unwrap()
    });
    // this process opens and closes the file too, and may be the first or the last
    for round in 0..10 {
        let database = connect(&url).await;
        database.migrate().await.unwrap();
        account(&database, &format!("here {round}")).await;
        let copy = tempfile::tempdir().unwrap();
        let copied = copy.path().join("refract.db");
        let from = url.as_str().into();
        refract_persistence::back_up(&from, &copied).await.unwrap();
        account(&connect(&sqlite_url(&copy)).await, "copied").await;
        database.remove_deleted_traces().await.unwrap();
        account(&database, &format!("again {round}")).await;
        database.ping().await.unwrap();
    }
    for mut other in others {
        assert!(other.wait().unwrap().success());
    }
    let accounts = connect(&url).await.list_accounts().await.unwrap();
    assert_eq!(accounts.len(), 10 * 2 + 3 * 10);
}
