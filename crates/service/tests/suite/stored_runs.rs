//! Stored file runs: what people and nodes do with them, from the file to the last row.

use refract_domain::event::{Actor, EventAction, EventDetail, EventTarget};
use refract_domain::ids::{FileRunId, NodeId, PrismId, UploadId};
use refract_domain::prism::{PrismSelector, VersionNumber};
use refract_domain::result::{FileRunChange, FileRunLimits, FileRunState};
use refract_identity::events::event_stamp;
use refract_identity::people::AccountActor;
use refract_persistence::{EventFilter, EventRange, FileRunUpdate};
use refract_service::jobs::StopCause;
use refract_service::runs::{
    ChangeRunOutcome, CreateRunError, LeasedRun, NewStoredRun, RunEnd, RunPage, RunProgress,
    StoredMapping, StoredRun,
};
use refract_test_support::on_both;
use uuid::Uuid;

use crate::fixture::Fixture;
use crate::uploaded_files::upload;

on_both!(
    a_run_goes_from_its_file_to_its_last_row,
    a_change_is_refused_where_the_state_does_not_allow_it,
    columns_are_matched_again_and_with_another_version,
    a_run_that_is_started_again_begins_with_the_first_row,
    a_run_without_its_file_can_only_be_ended,
    a_run_needs_a_version_of_an_active_prism,
    a_run_without_failed_rows_or_of_an_archived_prism_is_not_retried,
);

fn mapping(column: &str) -> StoredMapping {
    StoredMapping {
        column: column.to_owned(),
        field: "text".to_owned(),
    }
}

pub(crate) fn new_run(prism: PrismId, upload: UploadId) -> NewStoredRun {
    NewStoredRun {
        id: FileRunId::new(Uuid::now_v7()),
        prism,
        version: None,
        upload,
        mappings: vec![mapping("Message")],
    }
}

/// Makes a run of a file for a new prism.
pub(crate) async fn run_of(it: &Fixture, upload: UploadId) -> FileRunId {
    let prism = it.prism(it.account).await;
    let actor = AccountActor::operator(it.account);
    let new = new_run(prism.prism.id, upload);
    let creating = it.refract.runs().create_file_run(&actor, new);
    creating.await.unwrap().id
}

async fn change(it: &Fixture, run: FileRunId, change: FileRunChange) -> ChangeRunOutcome {
    let actor = AccountActor::operator(it.account);
    let changing = it.refract.runs().change_file_run(&actor, run, change, None);
    changing.await.unwrap()
}

/// Changes a run, which must be possible.
pub(crate) async fn changed(it: &Fixture, run: FileRunId, wanted: FileRunChange) -> StoredRun {
    let outcome = change(it, run, wanted).await;
    let ChangeRunOutcome::Changed(run) = outcome else {
        panic!("{wanted:?}: {outcome:?}");
    };
    *run
}

/// The actions of the account's events, newest first.
pub(crate) async fn actions(it: &Fixture) -> Vec<EventAction> {
    let (filter, newest) = (EventFilter::default(), EventRange::Newest);
    let listing = it.database.list_events(it.account, filter, newest, 100);
    let events = listing.await.unwrap().into_iter();
    events.map(|event| event.action).collect()
}

async fn find(it: &Fixture, run: FileRunId) -> StoredRun {
    let found = it.refract.runs().find_file_run(it.account, run).await;
    found.unwrap().unwrap()
}

async fn take(it: &Fixture) -> Option<LeasedRun> {
    let node = NodeId::new(Uuid::now_v7());
    it.refract.runs().take_file_run(node, &[]).await.unwrap()
}

/// Ends a lease in this state.
async fn end(it: &Fixture, taken: LeasedRun, state: FileRunState, progress: &RunProgress) {
    let end = RunEnd {
        state: Some(state),
        ..RunEnd::default()
    };
    let ending = it.refract.runs().end_lease(taken.lease, end, progress);
    assert!(ending.await.unwrap());
}

async fn a_run_goes_from_its_file_to_its_last_row(it: Fixture) {
    let file = upload(&it, b"Message\r\none\r\ntwo\r\n").await;
    let run = run_of(&it, file).await;
    let made = find(&it, run).await;
    assert_eq!(made.state, FileRunState::Matching);
    assert_eq!(made.version, VersionNumber::new(2).unwrap(), "the latest");
    assert_eq!((&made.by, made.upload), (&None, Some(file)));
    assert_eq!(made.mappings, [mapping("Message")]);
    assert_eq!(made.progress, RunProgress::default());
    assert_eq!(take(&it).await, None, "it waits for a person");
    let runs = it.refract.runs();
    let remembered = runs.last_mappings(it.account, made.prism).await.unwrap();
    assert_eq!(remembered, [], "nothing was checked");

    changed(&it, run, FileRunChange::Check).await;
    let taken = take(&it).await.unwrap();
    assert_eq!(taken.run.state, FileRunState::Checking);
    assert_eq!(take(&it).await, None, "a node has it");
    assert!(find(&it, run).await.is_leased);
    let mut progress = RunProgress {
        rows: 2,
        failures: vec![("timeout".to_owned(), 1)],
        ..RunProgress::default()
    };
    let checked = RunEnd {
        state: Some(FileRunState::Ready),
        reason: None,
        check: Some("{\"requests\":2}".to_owned()),
    };
    assert!(
        runs.end_lease(taken.lease, checked, &progress)
            .await
            .unwrap()
    );
    let ready = find(&it, run).await;
    assert_eq!((ready.state, ready.is_leased), (FileRunState::Ready, false));
    assert_eq!(ready.check.as_deref(), Some("{\"requests\":2}"));
    assert_eq!(ready.progress, progress);
    let remembered = runs.last_mappings(it.account, made.prism).await.unwrap();
    assert_eq!(remembered, made.mappings);

    let limits = FileRunLimits {
        tokens: Some(9_000),
        ..FileRunLimits::default()
    };
    let actor = AccountActor::operator(it.account);
    let start = FileRunChange::Start;
    let starting = runs.change_file_run(&actor, run, start, Some(limits));
    assert!(matches!(
        starting.await.unwrap(),
        ChangeRunOutcome::Changed(_)
    ));
    let taken = take(&it).await.unwrap();
    progress.answered = 1;
    let renewed = runs.renew_lease(&taken.lease, &progress).await.unwrap();
    assert_eq!((renewed, taken.run.limits), (None, limits));
    changed(&it, run, FileRunChange::Pause).await;
    let renewed = runs.renew_lease(&taken.lease, &progress).await.unwrap();
    assert_eq!(renewed, Some(StopCause::Changed));
    assert_eq!(find(&it, run).await.state, FileRunState::Paused);
    let left = taken.lease;
    let ending = runs.end_lease(taken.lease, RunEnd::default(), &progress);
    assert!(ending.await.unwrap());
    let renewed = runs.renew_lease(&left, &progress).await.unwrap();
    assert_eq!(renewed, Some(StopCause::Lost));

    changed(&it, run, FileRunChange::Resume).await;
    let taken = take(&it).await.unwrap();
    assert_eq!(taken.run.progress.answered, 1, "where the other node was");
    progress.answered = 2;
    end(&it, taken, FileRunState::Done, &progress).await;
    let done = find(&it, run).await;
    assert_eq!(
        (done.state, &done.progress),
        (FileRunState::Done, &progress)
    );
    assert!(done.started_at.unwrap() <= done.ended_at.unwrap());
    the_story_is_in_the_events(&it).await;
    the_same_file_finds_the_run(&it, &done).await;
}

/// Uploads the file of a run again, and finds the run by it.
async fn the_same_file_finds_the_run(it: &Fixture, made: &StoredRun) {
    let (runs, actor) = (it.refract.runs(), AccountActor::operator(it.account));
    let again = new_run(made.prism, upload(it, b"Message\r\none\r\ntwo\r\n").await);
    let again = runs.create_file_run(&actor, again).await.unwrap();
    let same = runs.runs_of_same_file(it.account, &again).await.unwrap();
    assert_eq!(same.iter().map(|run| run.id).collect::<Vec<_>>(), [made.id]);
    let page = RunPage {
        before: None,
        limit: 1,
    };
    let listing = runs.list_file_runs(it.account, None, page);
    assert_eq!(listing.await.unwrap()[0].id, again.id);
}

/// Checks the newest events: every change from which state to which, and no texts.
async fn the_story_is_in_the_events(it: &Fixture) {
    let (filter, newest) = (EventFilter::default(), EventRange::Newest);
    let listing = it.database.list_events(it.account, filter, newest, 6);
    let mut events = listing.await.unwrap();
    events.reverse();
    let detail =
        |detail: &Option<EventDetail>| detail.as_ref().map_or(String::new(), ToString::to_string);
    let story: Vec<_> = events
        .iter()
        .map(|event| {
            let (from, to) = (detail(&event.from), detail(&event.to));
            format!("{} {from} {to}", event.action)
        })
        .collect();
    assert_eq!(
        story,
        [
            "file_run_made  version 2",
            "file_run_changed matching checking",
            "file_run_started ready running",
            "file_run_changed running paused",
            "file_run_changed paused running",
            "file_run_ended running done",
        ]
    );
    let notes: Vec<_> = events
        .iter()
        .map(|event| detail(&event.stamp.note))
        .collect();
    assert!(
        notes[2].ends_with("version 2, 9000 tokens at most"),
        "{notes:?}"
    );
    assert!(
        notes[5].ends_with("2 rows, 0 refused, 0 answered before, 2 answered, 0 failed"),
        "{notes:?}"
    );
}

/// Puts a run into a state, with so many failed rows.
async fn put(it: &Fixture, run: FileRunId, to: FileRunState, failed: u64) {
    let found = find(it, run).await;
    let progress = RunProgress {
        failed,
        ..RunProgress::default()
    };
    let update = FileRunUpdate {
        run,
        from: found.state,
        to,
        needs_file: true,
        takes_lease: false,
        limits: None,
        progress: Some(progress),
        matched: None,
    };
    let stamp = event_stamp(it.account, Actor::Operator, None);
    let target = EventTarget::Prism(found.prism);
    let event = stamp.event(EventAction::FileRunChanged, target);
    assert!(it.database.update_file_run(update, event).await.unwrap());
}

async fn a_change_is_refused_where_the_state_does_not_allow_it(it: Fixture) {
    let file = upload(&it, b"Message\r\none\r\n").await;
    let prism = it.prism(it.account).await.prism.id;
    let actor = AccountActor::operator(it.account);
    for state in FileRunState::ALL {
        for wanted in FileRunChange::ALL {
            let new = new_run(prism, file);
            let made = it.refract.runs().create_file_run(&actor, new).await;
            let run = made.unwrap().id;
            put(&it, run, state, 1).await;
            let events = actions(&it).await.len();
            let outcome = change(&it, run, wanted).await;
            let now = find(&it, run).await.state;
            if let Some(after) = state.after(wanted) {
                assert!(matches!(outcome, ChangeRunOutcome::Changed(_)));
                assert_eq!(now, after, "{state} {wanted:?}");
            } else {
                assert_eq!(outcome, ChangeRunOutcome::NotPossible(state));
                assert_eq!(now, state, "{state} {wanted:?}");
                let saved = actions(&it).await.len();
                assert_eq!(saved, events, "{state} {wanted:?}");
            }
        }
    }
    let unknown = FileRunId::new(Uuid::now_v7());
    let outcome = change(&it, unknown, FileRunChange::Cancel).await;
    assert_eq!(outcome, ChangeRunOutcome::NotFound);
}

async fn columns_are_matched_again_and_with_another_version(it: Fixture) {
    let file = upload(&it, b"Message\r\none\r\n").await;
    let run = run_of(&it, file).await;
    changed(&it, run, FileRunChange::Check).await;
    let taken = take(&it).await.unwrap();
    let progress = RunProgress {
        rows: 1,
        ..RunProgress::default()
    };
    end(&it, taken, FileRunState::Ready, &progress).await;
    let actor = AccountActor::operator(it.account);
    let matching = async |version: Option<i32>| {
        let version = version.map(|number| VersionNumber::new(number).unwrap());
        let runs = it.refract.runs();
        let matching = runs.match_columns(&actor, run, vec![mapping("Body")], version);
        matching.await.unwrap()
    };
    let refused = matching(Some(3)).await;
    assert_eq!(refused, ChangeRunOutcome::VersionNotFound);
    assert_eq!(find(&it, run).await.state, FileRunState::Ready);
    for (version, expected) in [(None, 2), (Some(1), 1), (None, 1)] {
        let outcome = matching(version).await;
        assert!(matches!(outcome, ChangeRunOutcome::Changed(_)));
        let found = find(&it, run).await;
        assert_eq!(found.state, FileRunState::Matching);
        assert_eq!(found.mappings, [mapping("Body")]);
        assert_eq!(found.version.get(), expected);
        assert_eq!(
            (&found.check, &found.progress),
            (&None, &RunProgress::default())
        );
    }
}

async fn a_run_that_is_started_again_begins_with_the_first_row(it: Fixture) {
    let file = upload(&it, b"Message\r\none\r\ntwo\r\n").await;
    let run = run_of(&it, file).await;
    changed(&it, run, FileRunChange::Check).await;
    let progress = RunProgress {
        rows: 2,
        refused: 1,
        answered: 1,
        failed: 1,
        model_requests: 4,
        done_to_row: 3,
        failures: vec![("timeout".to_owned(), 1)],
        ..RunProgress::default()
    };
    end(
        &it,
        take(&it).await.unwrap(),
        FileRunState::Ready,
        &progress,
    )
    .await;
    changed(&it, run, FileRunChange::Start).await;
    end(&it, take(&it).await.unwrap(), FileRunState::Done, &progress).await;
    let again = changed(&it, run, FileRunChange::RetryFailed).await;
    assert_eq!((again.state, again.ended_at), (FileRunState::Running, None));
    let expected = RunProgress {
        rows: 2,
        model_requests: 4,
        to_retry: 1,
        ..RunProgress::default()
    };
    assert_eq!(again.progress, expected);
}

async fn a_run_without_its_file_can_only_be_ended(it: Fixture) {
    let file = upload(&it, b"Message\r\none\r\n").await;
    let run = run_of(&it, file).await;
    let actor = AccountActor::operator(it.account);
    it.refract.runs().delete_upload(&actor, file).await.unwrap();
    for wanted in [FileRunChange::Match, FileRunChange::Check] {
        let outcome = change(&it, run, wanted).await;
        assert_eq!(outcome, ChangeRunOutcome::FileDeleted);
    }
    let cancelled = changed(&it, run, FileRunChange::Cancel).await;
    assert_eq!(cancelled.state, FileRunState::Cancelled);
}

async fn a_run_needs_a_version_of_an_active_prism(it: Fixture) {
    let file = upload(&it, b"Message\r\none\r\n").await;
    let actor = AccountActor::operator(it.account);
    let prism = it.prism(it.account).await;
    let create = async |new: NewStoredRun| {
        let creating = it.refract.runs().create_file_run(&actor, new);
        creating.await
    };
    let unknown = create(new_run(PrismId::new(Uuid::now_v7()), file)).await;
    assert!(matches!(unknown, Err(CreateRunError::PrismNotFound)));
    let third = create(NewStoredRun {
        version: VersionNumber::new(3),
        ..new_run(prism.prism.id, file)
    });
    assert!(matches!(third.await, Err(CreateRunError::VersionNotFound)));
    let first = create(NewStoredRun {
        version: Some(VersionNumber::FIRST),
        ..new_run(prism.prism.id, file)
    });
    assert_eq!(first.await.unwrap().version, VersionNumber::FIRST);
    let selector = prism.prism.selector();
    let archiving = it.refract.prisms().set_archived(&actor, &selector, true);
    archiving.await.unwrap();
    let archived = create(new_run(prism.prism.id, file)).await;
    assert!(matches!(archived, Err(CreateRunError::PrismNotFound)));
}

async fn a_run_without_failed_rows_or_of_an_archived_prism_is_not_retried(it: Fixture) {
    let file = upload(&it, b"Message\r\none\r\n").await;
    let run = run_of(&it, file).await;
    let actor = AccountActor::operator(it.account);
    let archive = async |is_archived| {
        let prism = PrismSelector::Id(find(&it, run).await.prism);
        let archiving = it
            .refract
            .prisms()
            .set_archived(&actor, &prism, is_archived);
        archiving.await.unwrap();
    };
    for rows in [0, 1] {
        put(&it, run, FileRunState::Done, rows).await;
        archive(true).await;
        let outcome = change(&it, run, FileRunChange::RetryFailed).await;
        let refused = match rows {
            0 => ChangeRunOutcome::NotPossible(FileRunState::Done),
            _ => ChangeRunOutcome::PrismArchived,
        };
        assert_eq!(outcome, refused);
        let kept = find(&it, run).await;
        assert_eq!(
            (kept.state, kept.progress.failed),
            (FileRunState::Done, rows)
        );
        archive(false).await;
    }
    changed(&it, run, FileRunChange::RetryFailed).await;
}
