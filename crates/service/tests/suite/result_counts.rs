//! Counts of results: always equal to a plain count, whenever and from whichever node they are
//! read.

use std::collections::HashMap;

use chrono::{DateTime, Days, TimeDelta, Utc};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};
use refract_domain::event::{Actor, EventAction, EventTarget};
use refract_domain::ids::{AccountId, ApiKeyId};
use refract_domain::result::ResultActor;
use refract_identity::events::event_stamp;
use refract_identity::keys::KeyLimits;
use refract_identity::people::AccountActor;
use refract_service::Refract;
use refract_service::results::{CountOutcome, ResultCounts};
use refract_test_support::on_both;
use tokio::runtime::Handle;

use crate::fixture::{
    Described, Fixture, Saved, account, connect, key, moment, person, save_all, save_more,
};

on_both!(
    counts_are_those_of_a_plain_count_at_every_look,
    nodes_that_count_at_once_count_nothing_twice,
    results_are_counted_once_an_hour_after_they_were_saved,
    an_account_that_is_being_imported_is_not_counted,
    lists_of_prisms_and_keys_show_their_numbers,
);

const HOUR: i64 = 3_600_000;

/// The age of a result in milliseconds, its actor, and whether it is `ok`. `Some` is an age of an
/// hour or more; otherwise the age is the first number of the tuple, below an hour.
type Age = (Option<i64>, (i64, ResultActor, bool));

/// Milliseconds until the read, what is saved before it, and whether results are counted before it.
type Look = (i64, Vec<Vec<Age>>, bool);

fn result(at: i64, actor: ResultActor, is_ok: bool) -> Described {
    Described {
        at,
        version: 2,
        answers: is_ok.then_some(("billing", 10)),
        reference: None,
        actor,
        is_retried: false,
    }
}

/// Fails if the counts of a prism and of its keys are not those of its results.
pub(crate) fn assert_counts(counts: &ResultCounts, saved: &[&Saved], now: DateTime<Utc>) {
    let mut of_keys: HashMap<ApiKeyId, u64> = HashMap::new();
    for saved in saved {
        let results: Vec<_> = saved.results.iter().map(|(_, result)| result).collect();
        let counted = counts.of_prism(saved.prism());
        let failed = |result: &&&Described| result.answers.is_none();
        let number = |count: usize| u64::try_from(count).unwrap();
        assert_eq!(counted.in_all, number(results.len()));
        assert_eq!(
            counted.failed_in_all,
            number(results.iter().filter(failed).count())
        );
        for (ago, day) in (0..).zip(counted.days.iter().rev()) {
            assert_eq!(day.day, now.date_naive() - Days::new(ago));
            let of_day = results.iter();
            let of_day: Vec<_> = of_day
                .filter(|result| moment(result.at).date_naive() == day.day)
                .collect();
            let failed = number(of_day.iter().filter(|it| it.answers.is_none()).count());
            assert_eq!(
                (day.ok, day.failed),
                (number(of_day.len()) - failed, failed),
                "{day:?} at {now}"
            );
        }
        for result in results {
            if let ResultActor::Key(key) = result.actor {
                *of_keys.entry(key).or_default() += 1;
            }
        }
    }
    for number in 1..=3 {
        let ResultActor::Key(key) = key(number) else {
            continue;
        };
        let expected = of_keys.get(&key).copied().unwrap_or_default();
        assert_eq!(counts.of_key(key), expected);
    }
}

async fn look(refract: &Refract, account: AccountId, now: DateTime<Utc>) -> ResultCounts {
    refract.results().counts(account, now).await.unwrap()
}

async fn count(refract: &Refract, account: AccountId, now: DateTime<Utc>) {
    refract.results().count_now(account, now).await.unwrap();
}

async fn counts_are_those_of_a_plain_count_at_every_look(it: Fixture) {
    let it = &it;
    let actors = vec![key(1), key(2), person(3), ResultActor::Operator];
    // younger than the hour by which the watermark lags, or a little ahead: another clock
    let late = (0..59 * 60_000_i64, select(actors), any::<bool>());
    let old = (option::of(HOUR..1_000 * HOUR), late);
    let first = vec(old, 0..25);
    let looks = vec(
        (0..60 * HOUR, vec(first.clone(), 0..2), any::<bool>()),
        1..5,
    );
    let config = Config {
        cases: 24,
        failure_persistence: None,
        ..Config::default()
    };
    let described = |now: i64, (old, (late, actor, is_ok)): &Age| {
        let ago = old.unwrap_or(*late);
        result(now - ago, *actor, *is_ok)
    };
    let run = |(first, looks): (Vec<Age>, Vec<Look>)| {
        let check = async {
            let account = account(&it.database).await;
            let first: Vec<_> = first.iter().map(|result| described(0, result)).collect();
            let mut saved = save_all(it, account, &first).await;
            let other = save_all(it, account, &first).await;
            let mut now = 0;
            for (later, more, is_counted) in looks {
                now += later;
                // everything saved after a read is younger than an hour
                let more: Vec<_> = more.concat();
                let young = more.iter().map(|(_, late)| described(now, &(None, *late)));
                let young: Vec<_> = young.collect();
                save_more(it, &mut saved, &young).await;
                if is_counted {
                    count(&it.refract, account, moment(now)).await;
                }
                let counted = look(&it.refract, account, moment(now)).await;
                assert_counts(&counted, &[&saved, &other], moment(now));
            }
        };
        tokio::task::block_in_place(|| Handle::current().block_on(check));
        Ok(())
    };
    TestRunner::new(config).run(&(first, looks), run).unwrap();
}

async fn nodes_that_count_at_once_count_nothing_twice(it: Fixture) {
    let other = Refract::new(connect(&it.url).await);
    let first: Vec<_> = (0..40)
        .map(|ago| result(-ago * 5 * HOUR, key(1), ago % 3 > 0))
        .collect();
    let mut saved = save_all(&it, it.account, &first).await;
    for round in 0..4 {
        let now = round * 5 * HOUR;
        let looks = (0..12).map(|number| {
            let refract = [&it.refract, &other][number % 2].clone();
            let account = it.account;
            tokio::spawn(async move {
                count(&refract, account, moment(now)).await;
                look(&refract, account, moment(now)).await
            })
        });
        for look in looks.collect::<Vec<_>>() {
            assert_counts(&look.await.unwrap(), &[&saved], moment(now));
        }
        let again = look(&other, it.account, moment(now)).await;
        assert_counts(&again, &[&saved], moment(now));
        let more: Vec<_> = (1..9)
            .map(|later| result(now + later, key(2), later > 3))
            .collect();
        save_more(&it, &mut saved, &more).await;
    }
}

async fn results_are_counted_once_an_hour_after_they_were_saved(it: Fixture) {
    let saved = save_all(&it, it.account, &[result(0, key(1), true)]).await;
    let first = saved.results[0].0;
    let uncounted = async || {
        let listing = it.database.list_first_uncounted(it.account).await;
        listing.unwrap()
    };
    let rounds = it.refract.results().count_rounds();
    let after = |minutes| moment(0) + TimeDelta::minutes(minutes);
    for minutes in [0, 60, 70] {
        let outcome = rounds.round(after(minutes)).await.unwrap();
        assert_eq!(outcome, CountOutcome::Counted(0), "{minutes}");
        assert_eq!(uncounted().await, [(saved.prism(), first)]);
    }
    let before = look(&it.refract, it.account, moment(0)).await;
    let other_node = it.refract.results().count_rounds();
    let outcome = other_node.round(after(71)).await.unwrap();
    assert_eq!(outcome, CountOutcome::HeldByAnotherNode);
    let outcome = rounds.round(after(71)).await.unwrap();
    assert_eq!(outcome, CountOutcome::Counted(1));
    assert_eq!(uncounted().await, []);
    assert_eq!(look(&it.refract, it.account, moment(0)).await, before);
    let late = it
        .save(&saved.lens, &result(12 * 60_000, key(1), true))
        .await;
    assert_eq!(uncounted().await, [(saved.prism(), late)]);
    let outcome = rounds.round(after(90)).await.unwrap();
    assert_eq!(outcome, CountOutcome::Counted(1));
    assert_eq!(uncounted().await, []);
    let counted = look(&it.refract, it.account, moment(0)).await;
    assert_eq!(counted.of_prism(saved.prism()).in_all, 2);
}

async fn an_account_that_is_being_imported_is_not_counted(it: Fixture) {
    let saved = save_all(&it, it.account, &[result(0, key(1), true)]).await;
    let first = saved.results[0].0;
    let now = moment(5 * HOUR);
    for (action, is_counted) in [
        (EventAction::AccountImportStarted, false),
        (EventAction::AccountImported, true),
    ] {
        let stamp = event_stamp(it.account, Actor::Operator, None);
        let event = stamp.event(action, EventTarget::Account(it.account));
        it.database.save_event(event).await.unwrap();
        count(&it.refract, it.account, now).await;
        let uncounted = it.database.list_first_uncounted(it.account).await.unwrap();
        let expected: &[_] = if is_counted {
            &[]
        } else {
            &[(saved.prism(), first)]
        };
        assert_eq!(uncounted, expected);
    }
}

async fn lists_of_prisms_and_keys_show_their_numbers(it: Fixture) {
    let actor = AccountActor::operator(it.account);
    let (used, _) = it
        .refract
        .keys()
        .create(&actor, "used".to_owned(), KeyLimits::default())
        .await
        .unwrap();
    let (idle, _) = it
        .refract
        .keys()
        .create(&actor, "idle".to_owned(), KeyLimits::default())
        .await
        .unwrap();
    let now = Utc::now();
    let since = (now - moment(0)).num_milliseconds();
    let actor = ResultActor::Key(used);
    let results = [true, true, false].map(|is_ok| result(since, actor, is_ok));
    let saved = save_all(&it, it.account, &results).await;
    let empty = it.prism(it.account).await;
    let listed = it.refract.prisms().list(it.account).await.unwrap();
    let numbers: Vec<_> = listed
        .iter()
        .map(|listed| {
            let counts = &listed.counts;
            let id = listed.prism.id;
            (
                id,
                counts.in_all,
                counts.failed_in_all,
                counts.in_last_days(),
            )
        })
        .collect();
    assert_eq!(
        numbers,
        [(saved.prism(), 3, 1, 3), (empty.prism.id, 0, 0, 0)]
    );
    let counts = look(&it.refract, it.account, now).await;
    assert_eq!((counts.of_key(used), counts.of_key(idle)), (3, 0));
}
