//! Watching: results are counted by hour once each, by any number of nodes, and windows of time are
//! compared by these counts.

use chrono::{DateTime, TimeDelta, Utc};
use prometheus_client::registry::Registry;
use refract_evaluation::drift::AlarmCause;
use refract_identity::people::AccountActor;
use refract_persistence::{NewResult, Provenance, PurgeRange};
use refract_service::Refract;
use refract_service::measures::{PrismWatch, WatchAgainst, WatchOutcome, WatchScope};
use refract_service::results::ServiceMetrics;
use refract_test_support::on_both;

use crate::fixture::{
    Described, Fixture, Saved, connect, key, moment, new_result, save_all, save_more,
};

on_both!(
    counts_by_hour_are_those_of_the_results,
    every_result_is_counted_once_by_nodes_that_count_at_the_same_time,
    counts_stay_when_results_are_purged,
    a_model_is_found_with_its_first_answer,
    another_wording_is_compared_with_nothing,
    a_round_exports_alarms_while_its_node_holds_the_lease,
);

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// A result of version 2 at a moment; `angry` in percent, or `None` for a failed one.
fn result(at: i64, angry: Option<u32>) -> Described {
    Described {
        at,
        version: 2,
        answers: angry.map(|angry| ("billing", angry)),
        reference: None,
        actor: key(1),
        is_retried: false,
    }
}

fn now() -> DateTime<Utc> {
    moment(MINUTE)
}

async fn watch(refract: &Refract, saved: &Saved, scope: WatchScope) -> PrismWatch {
    let history = refract.prisms().with_versions(saved.prism()).await.unwrap();
    let measures = refract.measures();
    measures.watch(&history, scope, now()).await.unwrap()
}

/// The last day against a week before.
fn day_against_week() -> WatchScope {
    WatchScope {
        window: Some(TimeDelta::days(1)),
        against: WatchAgainst::Before(TimeDelta::days(7)),
    }
}

/// Results all ten minutes for ten days, every seventh failed.
fn ten_days() -> Vec<Described> {
    let all = (0..10 * 24 * 6_i64).rev();
    let described = all.map(|ago| {
        let angry = u32::try_from(ago * 37 % 101).unwrap();
        result(-ago * 10 * MINUTE, (ago % 7 > 0).then_some(angry))
    });
    described.collect()
}

/// Results, failed ones, and answers that say yes, from one moment on and before another.
fn expected(results: &[Described], from: i64, to: i64) -> (u64, u64, u64) {
    let within = results.iter().filter(|it| (from..to).contains(&it.at));
    within.fold((0, 0, 0), |(all, failed, yes), it| match it.answers {
        None => (all + 1, failed + 1, yes),
        Some((_, angry)) => (all + 1, failed, yes + u64::from(angry >= 50)),
    })
}

fn found(watch: &PrismWatch) -> [(u64, u64, u64); 2] {
    let shares = &watch.questions[1].drift.window.shares;
    let yes = shares.iter().find(|share| share.outcome.as_str() == "yes");
    let yes = yes.unwrap().change;
    [
        (
            watch.results_now.results,
            watch.results_now.failed,
            yes.now.count,
        ),
        (
            watch.results_before.results,
            watch.results_before.failed,
            yes.before.count,
        ),
    ]
}

async fn counts_by_hour_are_those_of_the_results(it: Fixture) {
    let described = ten_days();
    let saved = save_all(&it, it.account, &described).await;
    let watched = watch(&it.refract, &saved, day_against_week()).await;
    let both = [
        expected(&described, -DAY, HOUR),
        expected(&described, -8 * DAY, -DAY),
    ];
    assert_eq!(found(&watched), both);
    assert_eq!(
        (watched.window.from, watched.window.to),
        (moment(-DAY), now())
    );
    // counted results are not read again, and newer ones are added to them
    let again = watch(&it.refract, &saved, day_against_week()).await;
    assert_eq!(found(&again), both);
    let mut saved = saved;
    let newer: Vec<_> = (1..50).map(|at| result(at, Some(70))).collect();
    save_more(&it, &mut saved, &newer).await;
    let all: Vec<_> = described.into_iter().chain(newer).collect();
    let again = watch(&it.refract, &saved, day_against_week()).await;
    let both = [expected(&all, -DAY, HOUR), expected(&all, -8 * DAY, -DAY)];
    assert_eq!(found(&again), both);
    // what is counted already lacks the newest minutes
    let history = it
        .refract
        .prisms()
        .with_versions(saved.prism())
        .await
        .unwrap();
    let measures = it.refract.measures();
    let counted = measures.watch_counted(&history, day_against_week(), now());
    let counted = counted.await.unwrap();
    assert_eq!(found(&counted)[0], expected(&all, -DAY, -MINUTE));
    // a day has fewer than 500 results: the default window is larger
    let by_default = watch(&it.refract, &saved, WatchScope::default()).await;
    assert!(by_default.results_now.results >= 500 && by_default.window.from < moment(-3 * DAY));
}

async fn every_result_is_counted_once_by_nodes_that_count_at_the_same_time(it: Fixture) {
    let described = ten_days();
    let saved = save_all(&it, it.account, &described).await;
    let other = Refract::new(connect(&it.url).await);
    let scope = day_against_week();
    let both = [
        expected(&described, -DAY, HOUR),
        expected(&described, -8 * DAY, -DAY),
    ];
    let (one, two, three) = tokio::join!(
        watch(&it.refract, &saved, scope),
        watch(&other, &saved, scope),
        watch(&other, &saved, scope),
    );
    for watched in [one, two, three] {
        assert_eq!(found(&watched), both);
    }
    assert_eq!(found(&watch(&other, &saved, scope).await), both);
}

async fn counts_stay_when_results_are_purged(it: Fixture) {
    let described = ten_days();
    let saved = save_all(&it, it.account, &described).await;
    let before = found(&watch(&it.refract, &saved, day_against_week()).await);
    let range = PurgeRange::of_all(saved.prism(), moment(-DAY));
    let retention = it.refract.retention();
    let mut purge = retention.purge(AccountActor::operator(it.account), range);
    while purge.next_batch().await.unwrap().is_some() {}
    let after = found(&watch(&it.refract, &saved, day_against_week()).await);
    assert_eq!(after, before);
}

async fn a_model_is_found_with_its_first_answer(it: Fixture) {
    let saved = save_all(&it, it.account, &[]).await;
    let answered = |at: i64, model: &str| NewResult {
        provenance: Provenance {
            model: Some(model.to_owned()),
            prompt_version: Some(3),
            ..Provenance::default()
        },
        ..new_result(&saved.lens, &result(at, Some(30)))
    };
    for ago in 0..50 {
        let new = answered(-2 * DAY - ago * HOUR, "jev-1.13");
        it.database.save_result(&new).await.unwrap();
    }
    let same = watch(&it.refract, &saved, day_against_week()).await;
    assert_eq!(same.new_models().count(), 0);
    let first = answered(MINUTE - 1_000, "jev-1.14");
    it.database.save_result(&first).await.unwrap();
    let changed = watch(&it.refract, &saved, day_against_week()).await;
    let new: Vec<_> = changed.new_models().collect();
    assert_eq!(new.len(), 1);
    assert_eq!(
        (new[0].value.as_deref(), new[0].now, new[0].since),
        (Some("jev-1.14"), 1, Some(moment(MINUTE - 1_000)))
    );
}

async fn another_wording_is_compared_with_nothing(it: Fixture) {
    let of_version = |version| {
        let at = if version == 1 { -3 * DAY } else { -2 * HOUR };
        (0..40).map(move |ago| Described {
            version,
            ..result(at - ago, Some(80))
        })
    };
    let described: Vec<_> = of_version(1).chain(of_version(2)).collect();
    let saved = save_all(&it, it.account, &described).await;
    let watched = watch(&it.refract, &saved, day_against_week()).await;
    let counts = |question: usize| {
        let drift = &watched.questions[question].drift.window;
        (drift.now, drift.before)
    };
    // the topic has other options since version 2; who is angry is asked in the same words
    assert_eq!((counts(0), counts(1)), ((40, 0), (40, 40)));
    assert_eq!(watched.questions[0].alarm, None);
    assert_eq!(watched.versions.len(), 2);
}

async fn a_round_exports_alarms_while_its_node_holds_the_lease(it: Fixture) {
    let metrics = ServiceMetrics::default();
    let mut registry = Registry::default();
    metrics.register(&mut registry);
    let exported = || {
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
        let alarms = text
            .lines()
            .filter(|line| line.starts_with("refract_watch_alarm{"));
        alarms.map(ToOwned::to_owned).collect::<Vec<_>>()
    };
    // nobody was angry for a week; half of the writers are, today
    let calm = (0..700_i64).map(|ago| result(-2 * DAY - ago * 10 * MINUTE, Some(10)));
    let today = (0..100_i64).map(|ago| {
        let angry = if ago % 2 == 0 { 90 } else { 10 };
        result(-HOUR - ago * MINUTE, Some(angry))
    });
    let described: Vec<_> = calm.chain(today).collect();
    let saved = save_all(&it, it.account, &described).await;
    let refract = it.refract.clone().with_metrics(metrics.clone());
    let mut node = refract.measures().watch_rounds();
    let counted = node.round(now()).await.unwrap();
    assert_eq!(counted, WatchOutcome::Counted(800));
    let alarms = exported();
    assert_eq!(alarms.len(), 2, "{alarms:?}");
    let of = |question: &str| {
        let label = format!("question=\"{question}\"");
        alarms.iter().find(|line| line.contains(&label)).unwrap()
    };
    assert!(
        of("angry").ends_with(" 1") && of("topic").ends_with(" 0"),
        "{alarms:?}"
    );
    let slug = format!("prism=\"{}\"", saved.lens.prism.slug);
    assert!(of("angry").contains(&slug));
    let watched = watch(&it.refract, &saved, WatchScope::default()).await;
    let alarm = watched.questions[1].alarm.as_ref().unwrap();
    assert!(matches!(alarm.cause, AlarmCause::Share(_)), "{alarm:?}");
    // another node counts nothing until the lease expires; then this one exports nothing
    let mut other = Refract::new(connect(&it.url).await)
        .measures()
        .watch_rounds();
    let at = |minutes: i64| now() + TimeDelta::minutes(minutes);
    assert_eq!(
        other.round(at(1)).await.unwrap(),
        WatchOutcome::HeldByAnotherNode
    );
    assert_eq!(other.round(at(4)).await.unwrap(), WatchOutcome::Counted(0));
    assert_eq!(
        node.round(at(5)).await.unwrap(),
        WatchOutcome::HeldByAnotherNode
    );
    assert_eq!(exported(), Vec::<String>::new());
}
