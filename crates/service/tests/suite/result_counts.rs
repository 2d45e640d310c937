//! Counts of results: always equal to a plain count, whenever and from whichever node they are
//! read.

use std::collections::HashMap;

use chrono::{DateTime, Days, TimeDelta, Utc};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};
use refract_domain::ids::{AccountId, ApiKeyId};
use refract_service::Refract;
use refract_service::keys::KeyLimits;
use refract_service::people::{AccountActor, ResultActor};
use refract_service::results::ResultCounts;
use refract_test_support::on_both;
use tokio::runtime::Handle;

use crate::fixture::{
    Described, Fixture, Saved, account, connect, key, moment, person, save_all, save_more,
};

on_both!(
    counts_are_those_of_a_plain_count_at_every_look,
    looks_of_two_nodes_at_once_count_nothing_twice,
    what_a_look_kept_is_not_counted_again,
    lists_of_prisms_and_keys_show_their_numbers,
);

const HOUR: i64 = 3_600_000;

/// The age of a result in milliseconds, its actor, and whether it is `ok`. `Some` is an age of an
/// hour or more; otherwise the age is the first number of the tuple, below an hour.
type Age = (Option<i64>, (i64, ResultActor, bool));

/// Milliseconds until the read, what is saved before it, and whether the counts are read.
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
            for (later, more, is_looked) in looks {
                now += later;
                // everything saved after a read is younger than an hour
                let more: Vec<_> = more.concat();
                let young = more.iter().map(|(_, late)| described(now, &(None, *late)));
                let young: Vec<_> = young.collect();
                save_more(it, &mut saved, &young).await;
                if is_looked {
                    let counted = look(&it.refract, account, moment(now)).await;
                    assert_counts(&counted, &[&saved, &other], moment(now));
                }
            }
            let counted = look(&it.refract, account, moment(now)).await;
            assert_counts(&counted, &[&saved, &other], moment(now));
        };
        tokio::task::block_in_place(|| Handle::current().block_on(check));
        Ok(())
    };
    TestRunner::new(config).run(&(first, looks), run).unwrap();
}

async fn looks_of_two_nodes_at_once_count_nothing_twice(it: Fixture) {
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
            tokio::spawn(async move { look(&refract, account, moment(now)).await })
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

async fn what_a_look_kept_is_not_counted_again(it: Fixture) {
    let saved = save_all(&it, it.account, &[result(0, key(1), true)]).await;
    let open = it.database.list_first_uncounted(it.account);
    let first = saved.results[0].0;
    assert_eq!(open.await.unwrap(), [(saved.prism(), first)]);
    // an hour is not over
    look(&it.refract, it.account, moment(HOUR)).await;
    let open = it.database.list_first_uncounted(it.account);
    assert_eq!(open.await.unwrap(), [(saved.prism(), first)]);
    let now = moment(HOUR + 1);
    let before = look(&it.refract, it.account, now).await;
    let open = it.database.list_first_uncounted(it.account);
    assert!(open.await.unwrap().is_empty());
    assert_eq!(look(&it.refract, it.account, now).await, before);
    // reads in quick succession write nothing: the watermark stays for another hour
    let late = it.save(&saved.lens, &result(2, key(1), true)).await;
    for minutes in [30, 59] {
        let now = now + TimeDelta::minutes(minutes);
        look(&it.refract, it.account, now).await;
        let open = it.database.list_first_uncounted(it.account);
        assert_eq!(open.await.unwrap(), [(saved.prism(), late)]);
    }
    let hour = now + TimeDelta::hours(1);
    let counted = look(&it.refract, it.account, hour).await;
    assert_eq!(counted.of_prism(saved.prism()).in_all, 2);
    let open = it.database.list_first_uncounted(it.account);
    assert!(open.await.unwrap().is_empty());
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
