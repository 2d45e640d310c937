//! Nodes whose clock is not that of the database.

use chrono::{DateTime, TimeDelta, Utc};
use refract_domain::ids::{FileRunId, NodeId};
use refract_domain::result::{FileRunChange, FileRunState};
use refract_identity::people::AccountActor;
use refract_service::results::CountOutcome;
use refract_service::runs::{DeleteUploadOutcome, LeasedRun, RunProgress};
use refract_test_support::model_server::ScriptedReply;
use tokio::sync::watch;
use uuid::Uuid;

use crate::budgets::save;
use crate::fixture::{Fixture, moment};
use crate::retests::stack;
use crate::stored_runs::{changed, run_of};
use crate::uploaded_files::upload;

const MINUTE: i64 = 60_000;
/// How far the database's clock is behind that of the node, in seconds.
const BEHIND: i64 = 3_600;

async fn take(it: &Fixture) -> Option<LeasedRun> {
    let node = NodeId::new(Uuid::now_v7());
    it.refract.runs().take_file_run(node, &[]).await.unwrap()
}

async fn is_leased(it: &Fixture, run: FileRunId) -> bool {
    let found = it.refract.runs().find_file_run(it.account, run).await;
    found.unwrap().unwrap().is_leased
}

/// Whether a lease ends within its 15 seconds of the database's clock.
fn is_of_database(until: Option<DateTime<Utc>>) -> bool {
    let now = Utc::now() - TimeDelta::seconds(BEHIND);
    let rest = until.unwrap() - now;
    rest > TimeDelta::zero() && rest <= TimeDelta::seconds(15)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_lease_of_a_file_run_lasts_by_the_clock_of_the_database() {
    let it = Fixture::with_own_clock().await;
    it.set_clock(-BEHIND).await;
    let file = upload(&it, b"Message\none\ntwo\n").await;
    let run = run_of(&it, file).await;
    changed(&it, run, FileRunChange::Check).await;
    let slow = take(&it).await.unwrap();
    assert!(is_of_database(slow.run.lease_until));
    assert!(is_leased(&it, run).await);
    assert_eq!(take(&it).await, None);
    it.set_clock(14 - BEHIND).await;
    let (runs, progress) = (it.refract.runs(), RunProgress::default());
    let renewed = runs.renew_lease(&slow.lease, &progress).await;
    assert_eq!(renewed.unwrap(), None);
    it.set_clock(28 - BEHIND).await;
    assert!(is_leased(&it, run).await);
    assert_eq!(take(&it).await, None);
    it.set_clock(30 - BEHIND).await;
    assert!(!is_leased(&it, run).await);
    let fast = take(&it).await.unwrap();
    assert_eq!(
        (fast.lease.job, fast.run.state),
        (run, FileRunState::Checking)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_file_of_a_run_is_kept_while_its_lease_lasts_by_the_clock_of_the_database() {
    let it = Fixture::with_own_clock().await;
    it.set_clock(-BEHIND).await;
    let file = upload(&it, b"Message\none\ntwo\n").await;
    let run = run_of(&it, file).await;
    changed(&it, run, FileRunChange::Check).await;
    let leased = take(&it).await.unwrap();
    changed(&it, run, FileRunChange::Cancel).await;
    let deleted = async || {
        let actor = AccountActor::operator(it.account);
        let deleting = it.refract.runs().delete_upload(&actor, file);
        deleting.await.unwrap()
    };
    assert_eq!(deleted().await, DeleteUploadOutcome::InUse);
    let (runs, progress) = (it.refract.runs(), RunProgress::default());
    let renewed = runs.renew_lease(&leased.lease, &progress).await;
    assert!(renewed.unwrap().is_some());
    it.set_clock(16 - BEHIND).await;
    assert_eq!(deleted().await, DeleteUploadOutcome::Deleted);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_lease_of_a_retest_lasts_by_the_clock_of_the_database() {
    let it = Fixture::with_own_clock().await;
    it.set_clock(-BEHIND).await;
    let stack = stack(it, 4).await;
    stack.model.then_always(ScriptedReply::answers().held());
    let retest = stack.start(None).await;
    let (_alive, stopped) = watch::channel(false);
    let leased = stack.until(retest, |it| it.is_leased);
    tokio::select! {
        () = stack.node(stopped) => panic!("nobody stopped it"),
        () = leased => {}
    }
    assert!(is_of_database(stack.find(retest).await.lease_until));
    stack.it.set_clock(16 - BEHIND).await;
    assert!(!stack.find(retest).await.is_leased);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_clock_of_the_database_that_was_ahead_leaves_no_result_uncounted() {
    let it = Fixture::with_own_clock().await;
    let lens = it.prism(it.account).await;
    let minutes_ago = |minutes| (Utc::now() - moment(0)).num_milliseconds() - minutes * MINUTE;
    save(&it, &lens, minutes_ago(20), "0.1").await;
    it.set_clock(3 * 3_600).await;
    let now = it.database.time(Utc::now()).await.unwrap();
    let round = it.refract.results().count_rounds();
    assert_eq!(round.round(now).await.unwrap(), CountOutcome::Counted(0));
    // saved by a node whose clock is a little behind, or which could not save it before
    save(&it, &lens, minutes_ago(30), "0.1").await;
    it.set_clock(0).await;
    save(&it, &lens, minutes_ago(0), "0.1").await;
    let counts = it.refract.results().counts(it.account, Utc::now()).await;
    assert_eq!(counts.unwrap().of_prism(lens.prism.id).in_all, 3);
}
