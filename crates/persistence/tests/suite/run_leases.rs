//! Leases of stored file runs: one node at a time, and nothing from a node whose lease is over.

use chrono::{DateTime, TimeDelta, Utc};
use refract_domain::event::{Event, EventAction};
use refract_domain::ids::{FileRunId, NodeId};
use refract_domain::result::{FileRunLimits, FileRunState};
use refract_persistence::{
    EventFilter, EventRange, FileRunRow, FileRunUpdate, JobLease, LeasedJob, RunEnd, UploadDeletion,
};
use refract_test_support::on_both;
use uuid::Uuid;

use crate::fixture::{Fixture, connect, moment};
use crate::stored_runs::{change, find, rows, run_event, run_in, update};
use crate::uploads::{begin_deletion, events_of};

on_both!(
    of_twenty_nodes_one_takes_a_run,
    twenty_nodes_take_twenty_runs,
    a_run_that_nobody_works_on_is_not_taken,
    the_run_that_waited_longest_is_taken_first,
    an_expired_lease_is_taken_and_its_holder_is_refused,
    a_lease_of_a_clock_that_was_ahead_is_taken,
    a_renewed_lease_is_not_taken,
    a_run_goes_from_node_to_node,
    the_state_that_work_led_to_is_saved_with_its_event,
    a_state_that_a_person_set_stays,
    a_run_that_is_started_again_is_lost_to_its_holder,
);

/// How long a lease of these tests lasts.
const TERM: TimeDelta = TimeDelta::seconds(15);

fn node() -> NodeId {
    NodeId::new(Uuid::now_v7())
}

async fn take(
    it: &Fixture,
    node: NodeId,
    held: &[FileRunId],
    now: DateTime<Utc>,
) -> Option<LeasedJob<FileRunId, FileRunRow>> {
    let taking = it.database.take_file_run(node, held, now, now + TERM);
    taking.await.unwrap()
}

async fn renew(
    it: &Fixture,
    lease: JobLease<FileRunId>,
    now: DateTime<Utc>,
) -> Option<FileRunState> {
    let progress = rows(lease.fence.unsigned_abs());
    let renewing = it
        .database
        .renew_file_run_lease(lease, now + TERM, progress);
    renewing.await.unwrap()
}

/// The end of a lease.
fn end(state: Option<FileRunState>) -> RunEnd {
    RunEnd {
        state,
        reason: Some("because".to_owned()),
        check: None,
    }
}

/// The event of the end of a lease.
fn end_event(it: &Fixture, end: &RunEnd, at: i64) -> Event {
    let mut event = run_event(it, at);
    event.to = end.state.map(Into::into);
    event
}

/// Ends a lease at a moment.
async fn ended(it: &Fixture, lease: JobLease<FileRunId>, end: RunEnd, at: i64) -> bool {
    let event = end_event(it, &end, at);
    ended_with(it, lease, end, event).await
}

async fn ended_with(it: &Fixture, lease: JobLease<FileRunId>, end: RunEnd, event: Event) -> bool {
    let (database, at) = (&it.database, event.stamp.at);
    let ending = database.end_file_run_lease(lease, end, rows(9), at, Some(event));
    ending.await.unwrap()
}

async fn of_twenty_nodes_one_takes_a_run(it: Fixture) {
    let run = run_in(&it, FileRunState::Running, 1).await;
    let databases = [it.database.clone(), connect(&it.url).await];
    let nodes = (0..20).zip(databases.iter().cycle()).map(|(_, database)| {
        let database = database.clone();
        tokio::spawn(async move {
            let (now, until) = (moment(2), moment(2) + TERM);
            let taking = database.take_file_run(node(), &[], now, until);
            taking.await.unwrap()
        })
    });
    let nodes: Vec<_> = nodes.collect();
    let mut taken = Vec::new();
    for node in nodes {
        taken.extend(node.await.unwrap());
    }
    assert_eq!(taken.len(), 1);
    assert_eq!((taken[0].row.id, taken[0].lease.job), (run, run));
    assert_eq!(taken[0].lease.fence, 1);
    assert_eq!(find(&it, run).await.lease_until, Some(moment(2) + TERM));
}

async fn twenty_nodes_take_twenty_runs(it: Fixture) {
    let mut runs = Vec::new();
    for number in 0..20 {
        runs.push(run_in(&it, FileRunState::Running, number).await);
    }
    let databases = [it.database.clone(), connect(&it.url).await];
    let nodes = (0..20).zip(databases.iter().cycle()).map(|(_, database)| {
        let database = database.clone();
        tokio::spawn(async move {
            let (now, until) = (moment(30), moment(30) + TERM);
            let taking = database.take_file_run(node(), &[], now, until);
            taking.await.unwrap().unwrap().lease.job
        })
    });
    let nodes: Vec<_> = nodes.collect();
    let mut taken = Vec::new();
    for node in nodes {
        taken.push(node.await.unwrap());
    }
    taken.sort_unstable();
    assert_eq!(taken, runs);
}

async fn a_run_that_nobody_works_on_is_not_taken(it: Fixture) {
    for state in FileRunState::ALL {
        let run = run_in(&it, state, 1).await;
        let taken = take(&it, node(), &[], moment(2)).await;
        let taken = taken.map(|taken| taken.lease.job);
        assert_eq!(taken, state.is_worked_on().then_some(run), "{state}");
    }
}

async fn the_run_that_waited_longest_is_taken_first(it: Fixture) {
    let running = FileRunState::Running;
    let late = run_in(&it, running, 30).await;
    let early = run_in(&it, running, 10).await;
    let middle = run_in(&it, running, 20).await;
    let mut taken = Vec::new();
    for at in [40, 41, 42, 43] {
        let leased = take(&it, node(), &[], moment(at)).await;
        taken.extend(leased.map(|leased| leased.lease.job));
    }
    assert_eq!(taken, [early, middle, late]);
    // leases that expired, by the moment at which they did
    let leased = take(&it, node(), &[early], moment(45) + TERM).await;
    assert_eq!(leased.unwrap().lease.job, middle, "the node holds `early`");
    let leased = take(&it, node(), &[], moment(45) + TERM).await;
    assert_eq!(leased.unwrap().lease.job, early);
}

async fn an_expired_lease_is_taken_and_its_holder_is_refused(it: Fixture) {
    let run = run_in(&it, FileRunState::Running, 1).await;
    let dead = take(&it, node(), &[], moment(2)).await.unwrap().lease;
    let expiry = moment(2) + TERM;
    let before = expiry - TimeDelta::milliseconds(1);
    assert_eq!(take(&it, node(), &[], before).await, None);
    let live = take(&it, node(), &[], expiry).await.unwrap().lease;
    assert_eq!((live.job, live.fence), (run, 2));
    // the dead node wakes up
    assert_eq!(renew(&it, dead, expiry).await, None);
    let done = end(Some(FileRunState::Done));
    assert!(!ended(&it, dead, done, 20_000).await);
    let found = find(&it, run).await;
    assert_eq!(found.state, FileRunState::Running);
    assert_eq!(found.progress, rows(0), "it saved nothing");
    assert_eq!(found.lease_until, Some(expiry + TERM));
    // not even one of the same node
    let same = JobLease { fence: 1, ..live };
    assert_eq!(renew(&it, same, expiry).await, None);
    let other_node = JobLease {
        node: dead.node,
        ..live
    };
    assert_eq!(renew(&it, other_node, expiry).await, None);
    assert!(renew(&it, live, expiry).await.is_some());
}

async fn a_lease_of_a_clock_that_was_ahead_is_taken(it: Fixture) {
    run_in(&it, FileRunState::Running, 1).await;
    let ahead = moment(2) + TimeDelta::hours(1);
    let dead = take(&it, node(), &[], ahead).await.unwrap().lease;
    let differ = ahead - TimeDelta::minutes(5);
    assert_eq!(take(&it, node(), &[], differ).await, None);
    let live = take(&it, node(), &[], moment(2)).await.unwrap().lease;
    assert_eq!((live.job, live.fence), (dead.job, 2));
    assert_eq!(renew(&it, dead, ahead).await, None);
    let (ahead, now) = (ahead + TERM, moment(2));
    for (holder, until) in [(node(), ahead), (node(), now + TERM)] {
        let taking = it.database.take_lease("rounds", holder, now, until);
        assert!(taking.await.unwrap());
    }
    let taking = it.database.take_lease("rounds", node(), now, ahead);
    assert!(!taking.await.unwrap());
}

async fn a_renewed_lease_is_not_taken(it: Fixture) {
    let run = run_in(&it, FileRunState::Checking, 1).await;
    let lease = take(&it, node(), &[], moment(2)).await.unwrap().lease;
    let renewed = renew(&it, lease, moment(3_000)).await.unwrap();
    assert_eq!(renewed, FileRunState::Checking);
    let found = find(&it, run).await;
    assert_eq!(
        (found.progress, found.limits),
        (rows(1), FileRunLimits::default())
    );
    assert_eq!(take(&it, node(), &[], moment(2) + TERM).await, None);
    // late, but nobody was faster
    let late = moment(3_000) + TERM * 2;
    assert!(renew(&it, lease, late).await.is_some());
    assert_eq!(take(&it, node(), &[], late).await, None);
}

async fn a_run_goes_from_node_to_node(it: Fixture) {
    let run = run_in(&it, FileRunState::Running, 1).await;
    let one = take(&it, node(), &[], moment(2)).await.unwrap().lease;
    assert!(ended(&it, one, end(None), 3).await);
    let found = find(&it, run).await;
    assert_eq!((found.state, found.reason), (FileRunState::Running, None));
    assert_eq!(found.lease_until, None);
    let other = take(&it, node(), &[], moment(4)).await.unwrap();
    assert_eq!(other.row.progress, rows(9));
    assert_eq!(other.lease.fence, 2);
    assert!(!ended(&it, one, end(None), 5).await);
    // made and running
    assert_eq!(events_of(&it, EventAction::FileRunChanged).await, 2);
}

async fn the_state_that_work_led_to_is_saved_with_its_event(it: Fixture) {
    for state in FileRunState::ALL.into_iter().filter(|it| it.is_worked_on()) {
        for to in FileRunState::ALL
            .into_iter()
            .filter(|to| state.may_end_as(*to))
        {
            let run = run_in(&it, state, 1).await;
            let lease = take(&it, node(), &[], moment(2)).await.unwrap().lease;
            let with_check = RunEnd {
                check: Some("{\"requests\":4}".to_owned()),
                ..end(Some(to))
            };
            let event = end_event(&it, &with_check, 3);
            let id = event.stamp.id;
            assert!(ended_with(&it, lease, with_check, event).await);
            let found = find(&it, run).await;
            assert_eq!((lease.job, found.state), (run, to));
            assert_eq!(found.reason.as_deref(), Some("because"));
            assert_eq!(found.check.as_deref(), Some("{\"requests\":4}"));
            assert_eq!(found.progress, rows(9));
            assert_eq!(found.ended_at, to.is_final().then(|| moment(3)));
            assert_eq!(found.lease_until, None);
            let database = &it.database;
            let (filter, newest) = (EventFilter::default(), EventRange::Newest);
            let events = database.list_events(it.account, filter, newest, 1);
            let saved = events.await.unwrap().remove(0);
            assert_eq!(saved.stamp.id, id);
            assert_eq!(saved.from.unwrap().as_str(), state.name());
            assert_eq!(saved.to.unwrap().as_str(), to.name());
        }
    }
    let checked = it.database.find_checked_mappings(it.account, it.prism.id);
    assert_eq!(checked.await.unwrap().as_deref(), Some([].as_slice()));
}

async fn a_state_that_a_person_set_stays(it: Fixture) {
    let (running, paused) = (FileRunState::Running, FileRunState::Paused);
    let run = run_in(&it, running, 1).await;
    let lease = take(&it, node(), &[], moment(2)).await.unwrap().lease;
    assert!(change(&it, run, running, paused, 3).await);
    assert_eq!(renew(&it, lease, moment(4)).await.unwrap(), paused);
    assert_eq!(take(&it, node(), &[], moment(4) + TERM).await, None);
    let upload = find(&it, run).await.upload.unwrap();
    let deletion = begin_deletion(&it, upload, &[]).await;
    assert_eq!(deletion, UploadDeletion::InUse, "a node reads the file");
    let events = events_of(&it, EventAction::FileRunChanged).await;
    assert!(ended(&it, lease, end(Some(FileRunState::Broken)), 5).await);
    let found = find(&it, run).await;
    assert_eq!((found.state, found.reason), (paused, None));
    assert_eq!((found.ended_at, found.lease_until), (None, None));
    assert_eq!(found.progress, rows(9), "rows were answered");
    assert_eq!(events_of(&it, EventAction::FileRunChanged).await, events);
}

async fn a_run_that_is_started_again_is_lost_to_its_holder(it: Fixture) {
    let (running, paused) = (FileRunState::Running, FileRunState::Paused);
    let run = run_in(&it, running, 1).await;
    let lease = take(&it, node(), &[], moment(2)).await.unwrap().lease;
    assert!(change(&it, run, running, paused, 3).await);
    let again = FileRunUpdate {
        takes_lease: true,
        progress: Some(rows(0)),
        ..update(run, paused, running)
    };
    let updating = it.database.update_file_run(again, run_event(&it, 4));
    assert!(updating.await.unwrap());
    assert_eq!(renew(&it, lease, moment(5)).await, None);
    assert!(!ended(&it, lease, end(None), 6).await);
    assert_eq!(find(&it, run).await.progress, rows(0));
    // rows may be in flight there until the lease expires
    assert_eq!(take(&it, node(), &[], moment(7)).await, None);
    let taken = take(&it, node(), &[], moment(2) + TERM).await.unwrap();
    assert_eq!(taken.lease.fence, 3);
}
