//! Stored file runs: made, listed and changed by people.

use refract_domain::event::{Event, EventAction, EventTarget};
use refract_domain::ids::{FileRunId, UploadId};
use refract_domain::prism::VersionNumber;
use refract_domain::result::{FileRunLimits, FileRunState, RunProgress, StoredMapping};
use refract_persistence::{
    FileRunMatch, FileRunRow, FileRunScope, FileRunUpdate, NewFileRun, ResultFilter, ResultOrder,
    UploadDeletion,
};
use refract_test_support::on_both;
use uuid::Uuid;

use crate::fixture::{Fixture, account, answered, connect, moment, prism};
use crate::uploads::{begin_deletion, events_of, unfinished, whole};

on_both!(
    a_run_needs_a_whole_file_of_its_account,
    runs_are_listed_newest_first_by_account_prism_and_file,
    of_twenty_people_one_changes_the_state,
    a_change_saves_what_comes_with_it,
    a_file_is_kept_while_a_run_needs_it,
    a_start_and_a_deletion_at_once_never_both_succeed,
    the_results_of_a_run_are_found_by_it,
);

/// The event of a change of a file run.
pub(crate) fn run_event(it: &Fixture, milliseconds: i64) -> Event {
    let stamp = it.stamp(milliseconds);
    stamp.event(EventAction::FileRunChanged, EventTarget::Prism(it.prism.id))
}

fn new_run(it: &Fixture, upload: UploadId) -> NewFileRun {
    NewFileRun {
        id: FileRunId::new(Uuid::now_v7()),
        prism: it.prism.id,
        version: VersionNumber::FIRST,
        upload,
        mappings: Vec::new(),
    }
}

/// The progress of a run of a file with these rows.
pub(crate) fn rows(rows: u64) -> RunProgress {
    RunProgress {
        rows,
        ..RunProgress::default()
    }
}

/// Makes a run of a new upload.
pub(crate) async fn matching_run(it: &Fixture) -> FileRunId {
    let new = new_run(it, whole(it, 1).await);
    let id = new.id;
    let creating = it.database.create_file_run(new, run_event(it, 0));
    assert!(creating.await.unwrap());
    id
}

/// Makes a run and puts it into this state, at a moment.
pub(crate) async fn run_in(it: &Fixture, state: FileRunState, at: i64) -> FileRunId {
    let run = matching_run(it).await;
    if state != FileRunState::Matching {
        assert!(change(it, run, FileRunState::Matching, state, at).await);
    }
    run
}

/// A change of a state with nothing besides.
pub(crate) fn update(run: FileRunId, from: FileRunState, to: FileRunState) -> FileRunUpdate {
    FileRunUpdate {
        run,
        from,
        to,
        needs_file: true,
        takes_lease: false,
        limits: None,
        progress: None,
        matched: None,
    }
}

pub(crate) async fn change(
    it: &Fixture,
    run: FileRunId,
    from: FileRunState,
    to: FileRunState,
    at: i64,
) -> bool {
    let updating = it
        .database
        .update_file_run(update(run, from, to), run_event(it, at));
    updating.await.unwrap()
}

pub(crate) async fn find(it: &Fixture, run: FileRunId) -> FileRunRow {
    let found = it.database.find_file_run(it.account, run).await.unwrap();
    found.unwrap()
}

async fn a_run_needs_a_whole_file_of_its_account(it: Fixture) {
    let begun = unfinished(&it, 1, moment(0)).await;
    let unknown = UploadId::new(Uuid::now_v7());
    for upload in [begun, unknown] {
        let creating = it
            .database
            .create_file_run(new_run(&it, upload), run_event(&it, 0));
        assert!(!creating.await.unwrap());
    }
    let upload = whole(&it, 1).await;
    let stranger = account(&it.database, "strangers").await;
    let mut theirs = run_event(&it, 0);
    theirs.stamp.account = stranger;
    let creating = it.database.create_file_run(new_run(&it, upload), theirs);
    assert!(!creating.await.unwrap());
    assert_eq!(events_of(&it, EventAction::FileRunChanged).await, 0);

    let run = matching_run(&it).await;
    let found = find(&it, run).await;
    assert_eq!(found.state, FileRunState::Matching);
    assert_eq!(
        (found.prism, found.version),
        (it.prism.id, VersionNumber::FIRST)
    );
    assert_eq!(
        (&*found.prism_slug, &*found.prism_name),
        ("triage", "Triage")
    );
    assert_eq!(found.file_name, "messages.csv");
    assert_eq!(found.file_sha256, "ab".repeat(32));
    assert_eq!((found.made_at, found.made_by), (moment(0), None));
    assert_eq!((found.started_at, found.ended_at), (None, None));
    assert_eq!(found.limits, FileRunLimits::default());
    let theirs = it.database.find_file_run(stranger, run).await.unwrap();
    assert_eq!(theirs, None);
    assert_eq!(events_of(&it, EventAction::FileRunChanged).await, 1);
}

async fn runs_are_listed_newest_first_by_account_prism_and_file(it: Fixture) {
    let other = prism(&it.database, it.account, "Other").await;
    let mut runs = Vec::new();
    for prism in [it.prism.id, other.id, it.prism.id] {
        let upload = whole(&it, 1).await;
        let new = NewFileRun {
            prism,
            ..new_run(&it, upload)
        };
        runs.push(new.id);
        let creating = it.database.create_file_run(new, run_event(&it, 0));
        assert!(creating.await.unwrap());
    }
    let [first, of_other, newer] = runs[..] else {
        panic!("{runs:?}");
    };
    let newest = FileRunId::new(Uuid::max());
    let listed = async |scope, before, limit| {
        let listing = it.database.list_file_runs(it.account, scope, before, limit);
        let found = listing.await.unwrap();
        found.into_iter().map(|run| run.id).collect::<Vec<_>>()
    };
    let all = FileRunScope::Account;
    assert_eq!(listed(all, newest, 9).await, [newer, of_other, first]);
    assert_eq!(listed(all, newest, 1).await, [newer]);
    assert_eq!(listed(all, newer, 9).await, [of_other, first]);
    let of_prism = FileRunScope::Prism(it.prism.id);
    assert_eq!(listed(of_prism, newest, 9).await, [newer, first]);
    assert_eq!(listed(of_prism, newer, 9).await, [first]);
    let of_file = async |sha256: String| {
        let database = &it.database;
        let listing = database.list_runs_of_file(it.account, it.prism.id, sha256, 9);
        let found = listing.await.unwrap();
        found.into_iter().map(|run| run.id).collect::<Vec<_>>()
    };
    assert_eq!(of_file("ab".repeat(32)).await, [newer, first]);
    assert_eq!(of_file("cd".repeat(32)).await, []);
    let checked = it.database.find_checked_mappings(it.account, it.prism.id);
    assert_eq!(checked.await.unwrap(), None, "no file was checked");
}

async fn of_twenty_people_one_changes_the_state(it: Fixture) {
    let run = run_in(&it, FileRunState::Ready, 1).await;
    let databases = [it.database.clone(), connect(&it.url).await];
    let starts = (0..20)
        .zip(databases.iter().cycle())
        .map(|(number, database)| {
            let starting = database.clone();
            let event = run_event(&it, number);
            tokio::spawn(async move {
                let start = update(run, FileRunState::Ready, FileRunState::Running);
                starting.update_file_run(start, event).await.unwrap()
            })
        });
    let starts: Vec<_> = starts.collect();
    let mut started = 0;
    for start in starts {
        started += usize::from(start.await.unwrap());
    }
    assert_eq!(started, 1);
    // made, ready, running
    assert_eq!(events_of(&it, EventAction::FileRunChanged).await, 3);
}

async fn a_change_saves_what_comes_with_it(it: Fixture) {
    let run = run_in(&it, FileRunState::Ready, 1).await;
    let limits = FileRunLimits {
        model_requests: Some(7),
        tokens: None,
        failed_rows: Some(u64::MAX),
    };
    let start = FileRunUpdate {
        limits: Some(limits),
        progress: Some(rows(3)),
        ..update(run, FileRunState::Ready, FileRunState::Running)
    };
    let starting = it.database.update_file_run(start, run_event(&it, 5));
    assert!(starting.await.unwrap());
    let found = find(&it, run).await;
    assert_eq!(found.state, FileRunState::Running);
    let stored = FileRunLimits {
        failed_rows: Some(i64::MAX.unsigned_abs()),
        ..limits
    };
    assert_eq!(found.limits, stored);
    assert_eq!(found.progress, rows(3));
    assert_eq!((found.started_at, found.ended_at), (Some(moment(5)), None));

    let (running, paused) = (FileRunState::Running, FileRunState::Paused);
    assert!(change(&it, run, running, paused, 6).await);
    assert!(change(&it, run, paused, running, 7).await);
    let found = find(&it, run).await;
    assert_eq!(found.started_at, Some(moment(5)), "it was started once");
    assert_eq!(found.limits, stored, "they are kept");
    assert!(change(&it, run, running, FileRunState::Cancelled, 8).await);
    assert_eq!(find(&it, run).await.ended_at, Some(moment(8)));
    assert!(
        !change(&it, run, running, paused, 9).await,
        "it is cancelled"
    );

    let other = run_in(&it, FileRunState::Ready, 1).await;
    let mapping = StoredMapping {
        column: "Message".to_owned(),
        field: "text".to_owned(),
    };
    let matched = FileRunUpdate {
        matched: Some(FileRunMatch {
            mappings: vec![mapping.clone()],
            version: VersionNumber::FIRST,
        }),
        ..update(other, FileRunState::Ready, FileRunState::Matching)
    };
    let matching = it.database.update_file_run(matched, run_event(&it, 5));
    assert!(matching.await.unwrap());
    assert_eq!(find(&it, other).await.mappings, [mapping]);
}

async fn a_file_is_kept_while_a_run_needs_it(it: Fixture) {
    let run = run_in(&it, FileRunState::Running, 1).await;
    let upload = find(&it, run).await.upload.unwrap();
    let states = [FileRunState::Running, FileRunState::Paused];
    let deletion = begin_deletion(&it, upload, &states).await;
    assert_eq!(deletion, UploadDeletion::InUse);
    let found = it.database.find_upload(it.account, upload).await.unwrap();
    assert!(found.is_some(), "it is whole");
    let (running, paused) = (FileRunState::Running, FileRunState::Paused);
    assert!(change(&it, run, running, paused, 2).await);
    let deletion = begin_deletion(&it, upload, &states).await;
    assert_eq!(deletion, UploadDeletion::InUse);
    assert_eq!(events_of(&it, EventAction::FileDeleted).await, 0);
    // an age limit spares only runs that are worked on
    let deletion = begin_deletion(&it, upload, &[running]).await;
    assert_eq!(deletion, UploadDeletion::Begun);
    it.database.delete_unfinished_upload(upload).await.unwrap();
    let found = find(&it, run).await;
    assert_eq!((found.upload, found.state), (None, paused));
    assert!(
        !change(&it, run, paused, running, 3).await,
        "it has no file"
    );
    let cancel = FileRunUpdate {
        needs_file: false,
        ..update(run, paused, FileRunState::Cancelled)
    };
    let cancelling = it.database.update_file_run(cancel, run_event(&it, 4));
    assert!(cancelling.await.unwrap());
}

async fn a_start_and_a_deletion_at_once_never_both_succeed(it: Fixture) {
    for _ in 0..10 {
        let run = run_in(&it, FileRunState::Ready, 1).await;
        let upload = find(&it, run).await.upload.unwrap();
        let (running, ready) = (FileRunState::Running, FileRunState::Ready);
        let states = [running];
        let (is_started, deletion) = tokio::join!(
            change(&it, run, ready, running, 2),
            begin_deletion(&it, upload, &states),
        );
        assert_eq!(is_started, deletion == UploadDeletion::InUse);
        let found = find(&it, run).await;
        assert_eq!(found.upload.is_some(), is_started);
        assert_eq!(found.state == running, is_started);
    }
}

async fn the_results_of_a_run_are_found_by_it(it: Fixture) {
    let run = FileRunId::new(Uuid::now_v7());
    let mut of_run = it.result(answered(), Some("row 1"));
    of_run.file_run = Some(run);
    let other = it.result(answered(), None);
    for new in [&of_run, &other] {
        it.database.save_result(new).await.unwrap();
    }
    let filter = ResultFilter {
        run: Some(run),
        ..ResultFilter::default()
    };
    let (account, prism) = (it.account, it.prism.id);
    let order = ResultOrder::NewestFirst;
    let listing = it
        .database
        .list_candidates(account, prism, &filter, order, None, 9);
    let found = listing.await.unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].id, of_run.result.id);
    assert!(found[0].meets(&filter));
    let all = ResultFilter::default();
    let listing = it
        .database
        .list_candidates(account, prism, &all, order, None, 9);
    let met = listing.await.unwrap().into_iter();
    assert_eq!(met.filter(|result| result.meets(&filter)).count(), 1);
    let listing = it
        .database
        .list_results(account, prism, filter.clone(), order, None, 9);
    assert_eq!(listing.await.unwrap(), [of_run.result]);
    let counting = it.database.count_results(account, prism, filter);
    assert_eq!(counting.await.unwrap(), 1);
}
