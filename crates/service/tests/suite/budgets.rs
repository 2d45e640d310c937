//! Budgets: what a month has cost is added up once for any number of nodes, its shares are announced
//! once, and one node exports them.

use std::num::NonZeroUsize;
use std::time::Duration;

use chrono::{TimeDelta, Utc};
use futures_util::future::join_all;
use prometheus_client::registry::Registry;
use refract_domain::account::MonthBudget;
use refract_domain::event::{Actor, EventAction, EventDetail};
use refract_domain::ids::{BudgetHolderId, ResultId};
use refract_domain::result::Cost;
use refract_identity::people::AccountActor;
use refract_persistence::{
    BudgetHolder, CopiedExamples, CountedCost, DeletionEvent, EventFilter, EventRange, NewResult,
    Provenance,
};
use refract_service::Refract;
use refract_service::lenses::PrismLens;
use refract_service::model::TokenPrice;
use refract_service::results::{BudgetOutcome, BudgetUse, ServiceMetrics, SetBudgetError};
use refract_test_support::on_both;
use tokio::sync::SetOnce;
use uuid::Uuid;

use crate::fixture::{Described, Fixture, account, connect, key, moment, new_result};

on_both!(
    a_budget_needs_a_price_or_a_cost,
    the_cost_of_a_month_is_that_of_its_results,
    a_deletion_changes_no_cost_of_a_month,
    a_result_that_is_saved_late_is_in_the_cost,
    a_result_from_after_the_clock_was_set_back_is_in_the_cost,
    nodes_that_look_at_the_same_time_count_each_result_once,
    each_share_of_a_budget_is_announced_once,
    runs_of_four_nodes_spend_a_budget_once,
    a_budget_is_changed_while_work_holds_back_from_it,
    a_round_exports_the_used_part_while_its_node_holds_the_lease,
);

const MINUTE: i64 = 60_000;
const DAY: i64 = 24 * 60 * MINUTE;

pub(crate) async fn save(it: &Fixture, prism: &PrismLens, at: i64, cost: &str) -> ResultId {
    let described = Described {
        at,
        version: 2,
        answers: Some(("billing", 70)),
        reference: None,
        actor: key(1),
        is_retried: false,
    };
    let new = NewResult {
        provenance: Provenance {
            cost: Cost::parse(cost),
            ..Provenance::default()
        },
        ..new_result(prism, &described)
    };
    it.database.save_result(&new).await.unwrap();
    new.result.id
}

pub(crate) async fn set(it: &Fixture, budget: &str) -> bool {
    let budget = MonthBudget::parse(budget).ok();
    let actor = AccountActor::operator(it.account);
    let price = TokenPrice::Known("1,1,1".parse().unwrap());
    it.refract
        .budgets()
        .set(&actor, budget, price)
        .await
        .unwrap()
}

async fn look(it: &Fixture, at: i64) -> Option<BudgetUse> {
    let looking = it.refract.budgets().look(it.account, moment(at));
    looking.await.unwrap()
}

async fn spent(it: &Fixture, at: i64) -> String {
    look(it, at).await.unwrap().spent.to_string()
}

async fn a_budget_needs_a_price_or_a_cost(it: Fixture) {
    let actor = AccountActor::operator(it.account);
    let set = async |budget: &str| {
        let budget = MonthBudget::parse(budget).ok();
        let setting = it
            .refract
            .budgets()
            .set(&actor, budget, TokenPrice::Unknown);
        setting.await
    };
    let prism = it.prism(it.account).await;
    let now = Utc::now().timestamp_millis() - moment(0).timestamp_millis();
    save(&it, &prism, now - 40 * DAY, "1").await;
    save(&it, &prism, now, "").await;
    let refused = set("5").await.unwrap_err();
    assert!(matches!(refused, SetBudgetError::NoPriceKnown));
    assert!(refused.to_string().contains("set REFRACT_MODEL_PRICES"));
    assert_eq!(look(&it, now).await, None);
    // removing one is always possible
    assert!(!set("none").await.unwrap());
    save(&it, &prism, now - MINUTE, "0.1").await;
    assert!(set("5").await.unwrap());
}

async fn the_cost_of_a_month_is_that_of_its_results(it: Fixture) {
    assert!(!set(&it, "none").await);
    assert_eq!(look(&it, 0).await, None);
    let prism = it.prism(it.account).await;
    // noon of 4 March: the month began three and a half days before
    let begin = -3 * DAY - DAY / 2;
    for (at, cost) in [
        (begin - 1, "100"),
        (begin, "0.1"),
        (-DAY, "0.02"),
        (-6 * MINUTE, "0.003"),
        (-MINUTE, "0.0004"),
        (-1, ""),
    ] {
        save(&it, &prism, at, cost).await;
    }
    let theirs = it.prism(account(&it.database).await).await;
    save(&it, &theirs, -DAY, "1000").await;
    assert!(set(&it, "200").await);
    assert_eq!(spent(&it, 0).await, "0.1234");
    // what was counted is not counted again, and newer results are added
    save(&it, &prism, 1, "1").await;
    assert_eq!(spent(&it, 2).await, "1.1234");
    assert_eq!(spent(&it, DAY).await, "1.1234");
    assert_eq!(spent(&it, DAY).await, "1.1234");
    // another budget does not forget what was spent
    assert!(set(&it, "2").await && !set(&it, "2.0").await);
    assert_eq!(spent(&it, DAY).await, "1.1234");
    assert_eq!(look(&it, DAY).await.unwrap().percent(), 56);
    // the next month begins with nothing, a removed budget too
    let april = 28 * DAY;
    assert_eq!(spent(&it, april).await, "0");
    save(&it, &prism, april, "7").await;
    assert_eq!(spent(&it, april + 10 * MINUTE).await, "7");
    assert!(look(&it, april + DAY).await.unwrap().check().is_err());
    assert!(set(&it, "").await);
    assert_eq!(look(&it, april + DAY).await, None);
    assert!(set(&it, "9").await);
    assert_eq!(spent(&it, april + DAY).await, "7");
}

async fn a_deletion_changes_no_cost_of_a_month(it: Fixture) {
    let prism = it.prism(it.account).await;
    let delete = async |id| {
        let deleting =
            it.database
                .delete_results(vec![id], CopiedExamples::Kept, DeletionEvent::Elsewhere);
        deleting.await.unwrap();
    };
    let first = save(&it, &prism, -DAY, "0.5").await;
    let second = save(&it, &prism, -DAY, "0.25").await;
    let earlier = save(&it, &prism, -9 * DAY, "100").await;
    delete(first).await;
    delete(earlier).await;
    set(&it, "1").await;
    assert_eq!(spent(&it, 0).await, "0.75");
    delete(second).await;
    assert_eq!(spent(&it, 1).await, "0.75");
    assert_eq!(spent(&it, DAY).await, "0.75");
    // of the last minutes, which no sum has yet
    let newest = save(&it, &prism, DAY - MINUTE, "0.125").await;
    assert_eq!(spent(&it, DAY).await, "0.875");
    delete(newest).await;
    assert_eq!(spent(&it, DAY + 6 * MINUTE).await, "0.875");
    assert_eq!(spent(&it, 2 * DAY).await, "0.875");
}

async fn a_result_that_is_saved_late_is_in_the_cost(it: Fixture) {
    let prism = it.prism(it.account).await;
    set(&it, "1").await;
    save(&it, &prism, -DAY, "0.5").await;
    assert_eq!(spent(&it, 0).await, "0.5");
    // its id is half an hour old, as that of a save that was retried
    save(&it, &prism, -30 * MINUTE, "0.25").await;
    assert_eq!(spent(&it, 6 * MINUTE).await, "0.75");
    assert_eq!(spent(&it, DAY).await, "0.75");
}

async fn a_result_from_after_the_clock_was_set_back_is_in_the_cost(it: Fixture) {
    let prism = it.prism(it.account).await;
    set(&it, "1").await;
    save(&it, &prism, 0, "0.5").await;
    for ahead in [MINUTE, 40 * MINUTE] {
        assert_eq!(spent(&it, ahead).await, "0.5");
    }
    save(&it, &prism, MINUTE, "0.25").await;
    for at in [2, 7, 40, 240] {
        assert_eq!(spent(&it, at * MINUTE).await, "0.75", "{at}");
    }
}

async fn nodes_that_look_at_the_same_time_count_each_result_once(it: Fixture) {
    let prism = it.prism(it.account).await;
    for ago in 1..40 {
        save(&it, &prism, -ago * 10 * MINUTE, "0.1").await;
    }
    set(&it, "100").await;
    let other = Refract::new(connect(&it.url).await);
    for round in 0..4_i64 {
        let at = round * 7 * MINUTE;
        let (one, two, three) = tokio::join!(
            look(&it, at),
            other.budgets().look(it.account, moment(at)),
            other.budgets().look(it.account, moment(at + 1)),
        );
        let expected = Cost::parse(&format!("{}.{}", (39 + round) / 10, (39 + round) % 10));
        for found in [one, two.unwrap(), three.unwrap()] {
            assert_eq!(found.map(|found| found.spent), expected, "round {round}");
        }
        save(&it, &prism, at + MINUTE, "0.1").await;
    }
}

/// Works until the budget is used up, with 16 rows in flight that each cost 0.005 or 0.015.
async fn run_until_used_up(refract: Refract, it: &Fixture, prism: &PrismLens) {
    let concurrency = NonZeroUsize::new(16).unwrap();
    let share = refract.budgets().share(it.account, concurrency);
    let is_used_up = SetOnce::new();
    let worker = async |worker: u64| {
        for row in worker.. {
            tokio::select! {
                () = share.row_may_begin() => {}
                () = is_used_up.wait() => return,
            }
            tokio::time::sleep(Duration::from_millis(5 + row % 3 * 10)).await;
            let cost = if row % 2 == 0 { "0.005" } else { "0.015" };
            let at = Utc::now() - moment(0);
            save(it, prism, at.num_milliseconds(), cost).await;
            share.row_asked(Cost::parse(cost), true);
            share.row_ended();
        }
    };
    let granting = async {
        share.grant().await;
        is_used_up.set(()).unwrap();
    };
    tokio::join!(granting, join_all((0..16).map(worker)));
    share.release().await;
}

async fn runs_of_four_nodes_spend_a_budget_once(it: Fixture) {
    let prism = it.prism(it.account).await;
    set(&it, "3").await;
    let mut nodes = Vec::new();
    for _ in 0..4 {
        nodes.push(Refract::new(connect(&it.url).await));
    }
    let runs = nodes.iter().cycle().take(12);
    join_all(runs.map(|node| run_until_used_up(node.clone(), &it, &prism))).await;
    let found = it
        .refract
        .budgets()
        .find(it.account)
        .await
        .unwrap()
        .unwrap();
    let used = found.budget.used_ratio(found.spent);
    assert!((0.95..=1.05).contains(&used), "{used}");
    // nothing is held back any more, so another budget is spent too
    set(&it, "4").await;
    run_until_used_up(it.refract.clone(), &it, &prism).await;
    let found = it
        .refract
        .budgets()
        .find(it.account)
        .await
        .unwrap()
        .unwrap();
    let used = found.budget.used_ratio(found.spent);
    assert!((0.99..=1.05).contains(&used), "{used}");
}

async fn a_budget_is_changed_while_work_holds_back_from_it(it: Fixture) {
    set(&it, "3").await;
    let now = Utc::now();
    let counted = CountedCost {
        since: now.date_naive(),
        up_to: ResultId::new(Uuid::now_v7()),
        cost: Cost::default(),
    };
    let until = now + TimeDelta::hours(1);
    let holds = join_all((0..4).map(|_| async {
        for _ in 0..25 {
            let holder = BudgetHolder {
                account: it.account,
                holder: BudgetHolderId::new(Uuid::now_v7()),
            };
            let holding = it
                .database
                .hold_budget(holder, counted, now, until, |left| left.budget);
            assert!(holding.await.unwrap());
        }
    }));
    let changes = async {
        for budget in ["4", "5"].into_iter().cycle().take(50) {
            assert!(set(&it, budget).await);
        }
    };
    tokio::join!(holds, changes);
}

async fn announced(it: &Fixture) -> Vec<(Actor, String)> {
    let filter = EventFilter {
        action: Some(EventAction::BudgetReached),
        ..EventFilter::default()
    };
    let range = EventRange::NewerThan(refract_domain::ids::EventId::LOWEST);
    let found = it.database.list_events(it.account, filter, range, 20).await;
    let mut found = found.unwrap();
    found.sort_by_key(|event| event.stamp.id);
    let words = |detail: Option<EventDetail>| detail.unwrap().to_string();
    let shown = found.into_iter().map(|event| {
        let of = words(event.stamp.note);
        (event.stamp.actor, format!("{} of {of}", words(event.to)))
    });
    shown.collect()
}

async fn each_share_of_a_budget_is_announced_once(it: Fixture) {
    let prism = it.prism(it.account).await;
    set(&it, "1").await;
    save(&it, &prism, -DAY, "0.79").await;
    look(&it, 0).await;
    assert_eq!(announced(&it).await, []);
    save(&it, &prism, 1, "0.01").await;
    for at in [2, 2, DAY] {
        look(&it, at).await;
    }
    let share = |percent: u32, of: &str| {
        let words = format!("{percent} % of the month's budget of {of}");
        (Actor::Node, words)
    };
    assert_eq!(announced(&it).await, [share(80, "1")]);
    save(&it, &prism, DAY, "0.2").await;
    let other = Refract::new(connect(&it.url).await);
    let (one, two) = tokio::join!(
        look(&it, DAY + 1),
        other.budgets().look(it.account, moment(DAY + 1)),
    );
    for found in [one, two.unwrap()] {
        let refused = found.unwrap().check().unwrap_err().to_string();
        assert!(
            refused.starts_with("the month's budget of 1 is used up"),
            "{refused}"
        );
    }
    assert_eq!(announced(&it).await, [share(80, "1"), share(100, "1")]);
    // of another budget the shares are announced anew, and so they are in another month
    set(&it, "1.2").await;
    look(&it, DAY + 2).await;
    let mut all = vec![share(80, "1"), share(100, "1"), share(80, "1.2")];
    assert_eq!(announced(&it).await, all);
    let april = 28 * DAY;
    save(&it, &prism, april, "9").await;
    look(&it, april + 10 * MINUTE).await;
    look(&it, april + 20 * MINUTE).await;
    all.push(share(100, "1.2"));
    assert_eq!(announced(&it).await, all);
}

async fn a_round_exports_the_used_part_while_its_node_holds_the_lease(it: Fixture) {
    let metrics = ServiceMetrics::default();
    let mut registry = Registry::default();
    metrics.register(&mut registry);
    let exported = || {
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
        let lines = text.lines();
        let used = lines.filter(|line| line.starts_with("refract_budget_used_ratio{"));
        used.map(ToOwned::to_owned).collect::<Vec<_>>()
    };
    let refract = it.refract.clone().with_metrics(metrics.clone());
    let mut node = refract.budgets().rounds();
    let minute = |minutes: i64| moment(minutes * MINUTE);
    assert_eq!(
        node.round(minute(0)).await.unwrap(),
        BudgetOutcome::LookedAt(0)
    );
    let prism = it.prism(it.account).await;
    save(&it, &prism, -DAY, "0.5").await;
    set(&it, "2").await;
    assert_eq!(
        node.round(minute(1)).await.unwrap(),
        BudgetOutcome::LookedAt(1)
    );
    let name = it.account;
    let series = format!("refract_budget_used_ratio{{account=\"{name}\"}} 0.25");
    assert_eq!(exported(), [series]);
    let mut other = Refract::new(connect(&it.url).await).budgets().rounds();
    let held = BudgetOutcome::HeldByAnotherNode;
    assert_eq!(other.round(minute(2)).await.unwrap(), held);
    assert_eq!(
        other.round(minute(5)).await.unwrap(),
        BudgetOutcome::LookedAt(1)
    );
    assert_eq!(node.round(minute(6)).await.unwrap(), held);
    assert_eq!(exported(), Vec::<String>::new());
    // of a removed budget nothing is exported
    assert_eq!(
        node.round(minute(9)).await.unwrap(),
        BudgetOutcome::LookedAt(1)
    );
    assert_eq!(exported().len(), 1);
    set(&it, "").await;
    assert_eq!(
        node.round(minute(10)).await.unwrap(),
        BudgetOutcome::LookedAt(0)
    );
    assert_eq!(exported(), Vec::<String>::new());
}
