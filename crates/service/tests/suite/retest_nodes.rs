//! Nodes that ask about the texts of retests: stopped, continued, killed, and with a model that is
//! away.

use std::time::Duration;

use chrono::Utc;
use refract_domain::event::EventAction;
use refract_domain::result::{RetestChange, RetestState};
use refract_service::measures::DrawnFrom;
use refract_service::measures::stored_retests::{
    ChangeRetestOutcome, PlannedVersion, RetestPlan, StartRetestError, StoredRetest,
};
use refract_test_support::model_server::ScriptedReply;
use refract_test_support::on_both;
use tokio::sync::watch;

use crate::budgets::{save, set};
use crate::fixture::{Fixture, moment};
use crate::retests::{IN_FLIGHT, is_done, stack};
use crate::stored_runs::actions;

on_both!(
    a_stopped_retest_continues_where_it_stopped,
    another_node_asks_what_a_dead_one_left,
    a_node_that_stops_leaves_the_rest_to_another_one,
    a_model_that_is_away_ends_a_retest_until_it_is_continued,
    a_used_up_budget_ends_a_retest_until_it_is_raised,
);

async fn a_stopped_retest_continues_where_it_stopped(it: Fixture) {
    let stack = stack(it, 40).await;
    let retest = stack.start(None).await;
    stack.model.then_always(ScriptedReply::answers().held());
    stack.model.release(10);
    let (_alive, stopped) = watch::channel(false);
    let stopping = async {
        stack.until(retest, |it| it.counts.answered == 10).await;
        let outcome = stack.change(retest, RetestChange::Interrupt).await;
        assert_eq!(outcome, ChangeRetestOutcome::Changed);
        // the node notices within the pause between two renewals
        tokio::time::sleep(Duration::from_secs(5)).await;
        stack.model.release(IN_FLIGHT);
        stack.until(retest, |it| !it.is_leased).await;
    };
    tokio::select! {
        () = stack.node(stopped) => panic!("nobody stopped it"),
        () = stopping => {}
    }
    let found = stack.find(retest).await;
    assert_eq!(
        (found.state, found.counts.answered),
        (RetestState::Stopped, 14)
    );
    assert_eq!(stack.asked(), 14, "those in flight are finished");
    assert!(found.flips.is_some_and(|flips| flips > 0));
    let again = stack.change(retest, RetestChange::Interrupt).await;
    assert_eq!(again, ChangeRetestOutcome::NotPossible);
    stack.model.release_all();
    let outcome = stack.change(retest, RetestChange::Continue).await;
    assert_eq!(outcome, ChangeRetestOutcome::Changed);
    stack.work_until(retest, is_done).await;
    assert_eq!(stack.asked(), 40, "nothing is asked twice");
    let finished = stack.change(retest, RetestChange::Continue).await;
    assert_eq!(finished, ChangeRetestOutcome::NotPossible);
    assert_eq!(
        actions(&stack.it).await[..4],
        [
            EventAction::RetestEnded,
            EventAction::RetestContinued,
            EventAction::RetestStopped,
            EventAction::RetestStarted,
        ]
    );
}

async fn another_node_asks_what_a_dead_one_left(it: Fixture) {
    let stack = stack(it, 40).await;
    let retest = stack.start(None).await;
    stack.work_on_ten(retest).await;
    let asked = stack.asked();
    assert!(asked <= 10 + IN_FLIGHT, "{asked}");
    stack.model.release_all();
    // two nodes look for it, after the lease of the dead one has expired
    let (_alive, stopped) = watch::channel(false);
    tokio::select! {
        () = stack.node(stopped) => panic!("nobody stopped it"),
        () = stack.work_until(retest, is_done) => {}
    }
    let found = stack.find(retest).await;
    assert_eq!(found.counts.answered, 40);
    let again = stack.asked() - asked - 30;
    assert!(
        again <= IN_FLIGHT,
        "nothing is asked twice but what was in flight where a node was too slow to renew: {again}"
    );
}

async fn a_node_that_stops_leaves_the_rest_to_another_one(it: Fixture) {
    let stack = stack(it, 40).await;
    let retest = stack.start(None).await;
    stack.model.then_always(ScriptedReply::answers().held());
    stack.model.release(10);
    let (stop, stopped) = watch::channel(false);
    let stopping = async {
        stack.until(retest, |it| it.counts.answered == 10).await;
        stop.send(true).unwrap();
        // no further text is begun
        tokio::time::sleep(Duration::from_millis(200)).await;
        stack.model.release_all();
    };
    tokio::join!(stack.node(stopped), stopping);
    let found = stack.find(retest).await;
    assert_eq!((found.state, found.is_leased), (RetestState::Asking, false));
    assert_eq!((found.counts.answered, stack.asked()), (14, 14));
    stack.work_until(retest, is_done).await;
    assert_eq!(stack.asked(), 40);
}

async fn a_model_that_is_away_ends_a_retest_until_it_is_continued(it: Fixture) {
    let stack = stack(it, 80).await;
    let ended = |it: &StoredRetest| !it.state.is_under_way() && !it.is_leased;
    stack.model.then_always(ScriptedReply::status(400));
    let retest = stack.start(None).await;
    stack.work_until(retest, ended).await;
    let found = stack.find(retest).await;
    assert_eq!(found.state, RetestState::Failed);
    let reason = found.reason.as_deref().unwrap();
    assert!(
        reason.starts_with("the model failed 54 times in a row: "),
        "{reason}"
    );
    assert!(found.counts.failed >= 54 && found.counts.failed < 80);
    stack.model.then_always(ScriptedReply::answers());
    // a single failure does not end it
    stack.model.then_once(ScriptedReply::status(400));
    let outcome = stack.change(retest, RetestChange::Continue).await;
    assert_eq!(outcome, ChangeRetestOutcome::Changed);
    assert_eq!(stack.find(retest).await.counts.failed, 0);
    stack.work_until(retest, is_done).await;
    let found = stack.find(retest).await;
    assert_eq!((found.counts.answered, found.counts.failed), (79, 1));
    assert_eq!(found.reason, None);
    let report = stack.refract.retests().report(&found, &stack.lens);
    let failed = report.await.unwrap().asked.failed;
    let status = "The model server answered with status 400.".to_owned();
    assert_eq!(failed.into_iter().collect::<Vec<_>>(), [(status, 1)]);
    let outcome = stack.change(retest, RetestChange::Continue).await;
    assert_eq!(outcome, ChangeRetestOutcome::Changed);
    stack.work_until(retest, is_done).await;
    assert_eq!(stack.find(retest).await.counts.answered, 80);
}

async fn a_used_up_budget_ends_a_retest_until_it_is_raised(it: Fixture) {
    let stack = stack(it, 8).await;
    let now = (Utc::now() - moment(0)).num_milliseconds();
    save(&stack.it, &stack.lens, now, "0.75").await;
    assert!(set(&stack.it, "0.5").await);
    let plan = RetestPlan {
        texts: 10,
        from: DrawnFrom::Answered.into(),
        model: None,
        version: PlannedVersion::OfEach,
    };
    let (retests, actor) = (stack.refract.retests(), stack.actor());
    let refused = retests.start(&actor, &stack.lens, &plan).await;
    assert!(matches!(refused, Err(StartRetestError::Budget(_))));
    assert!(set(&stack.it, "5").await);
    let retest = stack.start(None).await;
    assert!(set(&stack.it, "0.5").await);
    let ended = |it: &StoredRetest| !it.state.is_under_way() && !it.is_leased;
    stack.work_until(retest, ended).await;
    let found = stack.find(retest).await;
    assert_eq!((found.state, stack.asked()), (RetestState::Failed, 0));
    let reason = found.reason.as_deref().unwrap();
    assert!(reason.contains("budget of 0.5 is used up"), "{reason}");
    assert!(set(&stack.it, "5").await);
    let outcome = stack.change(retest, RetestChange::Continue).await;
    assert_eq!(outcome, ChangeRetestOutcome::Changed);
    stack.work_until(retest, is_done).await;
    assert_eq!(stack.asked(), 9);
}
