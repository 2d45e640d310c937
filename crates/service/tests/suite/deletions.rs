//! Erasing results: what is deleted, what stays, and counts that are right at every later read.

use refract_domain::ids::{AccountId, ResultId};
use refract_domain::key::QuestionKey;
use refract_domain::result::ResultActor;
use refract_domain::submission::Ref;
use refract_identity::people::AccountActor;
use refract_service::Refract;
use refract_service::marks::{MarkCell, MarkErrors, MarkOrigin, MarksError, MarksRow, NamedResult};
use refract_service::retention::PurgeRange;
use refract_test_support::on_both;
use tokio::sync::oneshot;
use uuid::Uuid;

use crate::fixture::{
    Described, Fixture, Saved, account, connect, key, moment, save_all, save_more,
};
use crate::result_counts::assert_counts;

on_both!(
    counts_are_those_of_what_is_left_however_they_were_counted_before,
    what_is_purged_while_it_is_counted_is_in_no_count,
    a_purge_takes_the_status_that_is_asked_for,
    erasing_takes_every_result_with_the_same_texts,
    erasing_by_reference_takes_the_results_of_every_prism,
    marks_of_a_result_that_is_purged_meanwhile_are_refused,
);

pub(crate) const HOUR: i64 = 3_600_000;
pub(crate) const DAY: i64 = 24 * HOUR;

pub(crate) fn result(at: i64, actor: ResultActor, is_ok: bool) -> Described {
    Described {
        at,
        version: 1,
        answers: is_ok.then_some(("billing", 10)),
        reference: None,
        actor,
        is_retried: false,
    }
}

/// A result every five hours, the first one long ago and the last one now.
fn of_days(results: i64) -> Vec<Described> {
    let actors = [key(1), key(2), ResultActor::Operator];
    let described = (0..results).map(|ago| {
        let actor = actors[usize::try_from(ago).unwrap() % 3];
        result(-ago * 5 * HOUR, actor, ago % 4 > 0)
    });
    described.collect()
}

async fn purge_all(it: &Fixture, range: PurgeRange) -> u64 {
    let mut purge = it
        .refract
        .retention()
        .purge(AccountActor::operator(it.account), range);
    let counted = purge.count().await.unwrap();
    let mut purged = 0;
    while let Some(batch) = purge.next_batch().await.unwrap() {
        purged += batch.results;
    }
    assert_eq!(purged, counted);
    assert_eq!(purge.count().await.unwrap(), 0);
    purged
}

/// Purges the results from before a moment, in the database and in `saved`.
async fn purge(it: &Fixture, saved: &mut Saved, before: i64) {
    let range = PurgeRange {
        prism: saved.prism(),
        before: moment(before),
        is_ok: None,
    };
    let all = saved.results.len();
    saved.results.retain(|(_, result)| result.at >= before);
    let gone = u64::try_from(all - saved.results.len()).unwrap();
    assert_eq!(purge_all(it, range).await, gone);
}

async fn assert_counted(it: &Fixture, account: AccountId, saved: &[&Saved], now: i64) {
    let counted = it
        .refract
        .results()
        .counts(account, moment(now))
        .await
        .unwrap();
    assert_counts(&counted, saved, moment(now));
}

async fn counts_are_those_of_what_is_left_however_they_were_counted_before(it: Fixture) {
    // the hours after the newest result at which results are counted: never, when all but the newest
    // are, and when everything is
    for times in [&[][..], &[0], &[2 * HOUR], &[0, 2 * HOUR, 4 * HOUR]] {
        let account = account(&it.database).await;
        let mut saved = save_all(&it, account, &of_days(250)).await;
        let other = save_all(&it, account, &of_days(20)).await;
        for time in times {
            let counting = it.refract.results().count_now(account, moment(*time));
            counting.await.unwrap();
            assert_counted(&it, account, &[&saved, &other], *time).await;
        }
        for before in [-40 * DAY, -39 * DAY - HOUR, -3 * DAY, -2 * HOUR, 1] {
            purge(&it, &mut saved, before).await;
            assert_counted(&it, account, &[&saved, &other], 4 * HOUR).await;
        }
        assert!(saved.results.is_empty());
        let kept = it
            .database
            .list_kept_counts(account, moment(0).date_naive());
        let kept = kept.await.unwrap();
        let of_saved = kept.iter().filter(|it| it.prism == saved.prism());
        assert_eq!(of_saved.filter(|it| it.day.is_some()).count(), 0);
        save_more(&it, &mut saved, &[result(4 * HOUR, key(1), true)]).await;
        assert_counted(&it, account, &[&saved, &other], 4 * HOUR).await;
        assert_counted(&it, account, &[&saved, &other], 30 * HOUR).await;
    }
}

async fn what_is_purged_while_it_is_counted_is_in_no_count(it: Fixture) {
    let other = connect(&it.url).await;
    let mut saved = save_all(&it, it.account, &of_days(600)).await;
    let mut now = 0;
    for round in 0..5 {
        let (stop, mut stopped) = oneshot::channel::<()>();
        let (refract, account) = (Refract::new(other.clone()), it.account);
        let counting = tokio::spawn(async move {
            let mut counts = 0;
            while stopped.try_recv().is_err() {
                // from the oldest results on, so that every count moves the watermark
                let at = moment(now - (200 - counts % 200) * 15 * HOUR);
                refract.results().count_now(account, at).await.unwrap();
                counts += 1;
            }
            counts
        });
        let oldest = saved.results.first().unwrap().1.at;
        purge(&it, &mut saved, oldest + 20 * DAY).await;
        stop.send(()).unwrap();
        assert!(counting.await.unwrap() > 0);
        now += 4 * HOUR;
        let more: Vec<_> = (1..20)
            .map(|later| result(now + later, key(2), later % 3 > 0))
            .collect();
        save_more(&it, &mut saved, &more).await;
        assert_counted(&it, it.account, &[&saved], now).await;
        assert_counted(&it, it.account, &[&saved], now + 2 * HOUR).await;
        assert!(round > 3 || !saved.results.is_empty());
    }
}

async fn a_purge_takes_the_status_that_is_asked_for(it: Fixture) {
    for is_ok in [true, false] {
        let mut saved = save_all(&it, it.account, &of_days(300)).await;
        let range = PurgeRange {
            prism: saved.prism(),
            before: moment(-DAY),
            is_ok: Some(is_ok),
        };
        let purged = purge_all(&it, range).await;
        let all = saved.results.len();
        let is_kept = |result: &Described| result.at >= -DAY || result.answers.is_some() != is_ok;
        saved.results.retain(|(_, result)| is_kept(result));
        assert_eq!(purged, u64::try_from(all - saved.results.len()).unwrap());
        for (id, _) in &saved.results {
            it.refract.results().find(it.account, *id).await.unwrap();
        }
    }
}

pub(crate) async fn is_there(it: &Fixture, account: AccountId, id: ResultId) -> bool {
    it.refract.results().find(account, id).await.is_ok()
}

async fn erasing_takes_every_result_with_the_same_texts(it: Fixture) {
    let prism = it.prism(it.account).await;
    let failed = result(0, key(1), false);
    for named in 0..3 {
        let first = it.save(&prism, &failed).await;
        let second = it.save_retry(&prism, first, &failed).await;
        let third = it
            .save_retry(&prism, second, &result(2, key(1), true))
            .await;
        let other = it.save(&prism, &failed).await;
        let chain = [first, second, third];
        let elsewhere = account(&it.database).await;
        let erased = it
            .refract
            .retention()
            .erase(&AccountActor::operator(elsewhere), &[first])
            .await
            .unwrap();
        assert_eq!((erased.results, erased.unknown), (0, vec![first]));
        let unknown = ResultId::new(Uuid::now_v7());
        let ids = [unknown, chain[named], unknown, chain[named]];
        let erased = it
            .refract
            .retention()
            .erase(&AccountActor::operator(it.account), &ids)
            .await
            .unwrap();
        assert_eq!((erased.results, erased.retries), (3, 2));
        assert_eq!(erased.unknown, [unknown]);
        for gone in chain {
            assert!(!is_there(&it, it.account, gone).await);
        }
        assert!(is_there(&it, it.account, other).await);
        let again = it
            .refract
            .retention()
            .erase(&AccountActor::operator(it.account), &chain)
            .await
            .unwrap();
        assert_eq!((again.results, again.unknown), (0, chain.to_vec()));
    }
    // more results than one transaction deletes
    let many = save_all(&it, it.account, &vec![failed; 230]).await;
    let ids: Vec<_> = many.results.iter().map(|(id, _)| *id).collect();
    let erased = it
        .refract
        .retention()
        .erase(&AccountActor::operator(it.account), &ids)
        .await
        .unwrap();
    assert_eq!((erased.results, erased.retries), (230, 0));
    assert_eq!(erased.unknown, []);
}

async fn erasing_by_reference_takes_the_results_of_every_prism(it: Fixture) {
    let of = |reference: &'static str, is_ok| Described {
        reference: Some(reference),
        ..result(0, ResultActor::Operator, is_ok)
    };
    let person = vec![of("ada", true); 130];
    let mut one = save_all(&it, it.account, &[person, vec![of("bob", true)]].concat()).await;
    let failed = of("ada", false);
    let two = save_all(&it, it.account, std::slice::from_ref(&failed)).await;
    // a retry has the reference of its original, unless it was removed manually
    let unnamed = result(1, ResultActor::Operator, true);
    it.save_retry(&two.lens, two.results[0].0, &unnamed).await;
    let elsewhere = account(&it.database).await;
    let stranger = save_all(&it, elsewhere, &[of("ada", true)]).await;
    let ada = Ref::saved("ada".to_owned());
    let erased = it
        .refract
        .retention()
        .erase_reference(&AccountActor::operator(it.account), &ada)
        .await
        .unwrap();
    assert_eq!(erased.results, 132);
    one.results
        .retain(|(_, result)| result.reference == Some("bob"));
    let nothing = Saved {
        results: Vec::new(),
        ..two
    };
    assert_counted(&it, it.account, &[&one, &nothing], 2 * HOUR).await;
    assert_counted(&it, elsewhere, &[&stranger], 2 * HOUR).await;
    let erased = it
        .refract
        .retention()
        .erase_reference(&AccountActor::operator(it.account), &ada)
        .await
        .unwrap();
    assert_eq!(erased.results, 0);
}

async fn marks_of_a_result_that_is_purged_meanwhile_are_refused(it: Fixture) {
    let mut saved = save_all(&it, it.account, &[result(-DAY, key(1), true)]).await;
    let rows = [MarksRow {
        line: 1,
        named: NamedResult::Id(saved.results[0].0),
        person: None,
        is_adjudicated: false,
        cells: vec![MarkCell {
            question: QuestionKey::parse("topic").unwrap(),
            outcome: "billing".to_owned(),
        }],
    }];
    let prism = &saved.lens.prism;
    let checked = it
        .refract
        .marks()
        .check(prism, &rows, MarkErrors::default(), &MarkOrigin::default())
        .await;
    let checked = checked.unwrap();
    purge(&it, &mut saved, 0).await;
    let actor = AccountActor::operator(it.account);
    let refused = it.refract.marks().save(&checked, &actor).await;
    assert!(
        matches!(refused, Err(MarksError::ResultGone)),
        "{refused:?}"
    );
}
