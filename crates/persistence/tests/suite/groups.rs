//! Group commit: results that one thread saves at the same time are inserted together, and each has
//! a separate outcome.

use std::collections::BTreeMap;
use std::future::Future;
use std::num::NonZeroUsize;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::thread;

use refract_domain::answer::Probability;
use refract_domain::ids::ResultId;
use refract_domain::prism::VersionNumber;
use refract_domain::result::Cost;
use refract_domain::submission::{CallContext, Ref, Submission};
use refract_persistence::{Database, NewResult, PersistenceError, Provenance, SaveOutcome};
use refract_test_support::on_both;

use crate::fixture::{Fixture, answered, connect, failed, moment, submission};

on_both!(
    all_that_are_saved_at_once_are_read_back,
    results_of_any_size_are_saved_at_once,
    one_that_is_refused_takes_no_other_with_it,
    of_those_with_one_key_one_is_saved,
    threads_that_contend_for_the_same_keys_do_not_block_each_other,
    a_caller_that_goes_away_takes_no_other_with_it,
);

/// Runs a future on a new thread, with its own lanes on PostgreSQL.
async fn in_own_thread<T, F>(
    database: &Database,
    work: impl FnOnce(Database) -> F + Send + 'static,
) -> T
where
    T: Send + 'static,
    F: Future<Output = T>,
{
    let database = database.for_this_thread(NonZeroUsize::MIN);
    let thread = thread::spawn(|| {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(work(database))
    });
    let joining = tokio::task::spawn_blocking(|| thread.join().unwrap());
    joining.await.unwrap()
}

type Saved = BTreeMap<ResultId, Result<SaveOutcome, PersistenceError>>;

async fn save_at_once(database: Database, new: Vec<NewResult>) -> Saved {
    let save = |new: NewResult| {
        let database = database.clone();
        tokio::spawn(async move { (new.result.id, database.save_result(&new).await) })
    };
    let saving: Vec<_> = new.into_iter().map(save).collect();
    let mut saved = BTreeMap::new();
    for saving in saving {
        let (id, fate) = saving.await.unwrap();
        saved.insert(id, fate);
    }
    saved
}

/// Results in which every nullable column is filled in some and empty in others.
fn various(it: &Fixture, count: i32) -> Vec<NewResult> {
    let various = (0..count).map(|number| {
        let status = if number % 3 == 0 {
            failed()
        } else {
            answered()
        };
        let key = (number % 2 == 0).then(|| format!("order {number}"));
        let mut new = it.result(status, key.as_deref());
        new.api_key = (number % 5 != 0).then_some(it.key.id);
        new.result.took_ms = u64::try_from(number).unwrap();
        new.result.created_at = moment(i64::from(number) * 1_001);
        let fields = submission(&format!("Text \"{number}\", 'ü', {{NULL}}, \u{1f984}\\"));
        let context = CallContext::saved(format!("{{context, {number}}}"));
        let context = context.filter(|_| number % 4 == 0);
        new.result.submission = Submission::saved(fields.field_values().clone(), context);
        if number % 6 == 0 {
            new.result.reference = Some(Ref::parse("NULL").unwrap());
        }
        if number % 7 != 0 {
            new.provenance = Provenance {
                protocol: Some("systemone".to_owned()),
                model: (number % 8 != 0).then(|| format!("model {number}")),
                prompt_version: Some(number),
                input_tokens: Some(u64::try_from(number).unwrap() << 32),
                cached_tokens: Some(7).filter(|_| number % 2 == 0),
                output_tokens: None,
                cost: (number % 3 != 0)
                    .then(|| Cost::from_attos(u128::from(number.unsigned_abs()))),
                host_request_id: (number % 5 != 0).then(|| format!("req_{number}, \"NULL\"")),
                requests: Some(2),
                attempts: Some(3),
                on_codes: (number % 9 != 0).then_some(Probability::CERTAIN),
                unread: Probability::from_f64(f64::from(number) / 300.0),
                truncated_to: (number % 10 == 0).then_some(4_096),
            };
        }
        new
    });
    various.collect()
}

async fn all_that_are_saved_at_once_are_read_back(it: Fixture) {
    let first = various(&it, 300);
    let retries = first
        .iter()
        .filter(|new| new.result.status.error().is_some());
    let retries: Vec<_> = retries
        .map(|new| it.retry(&new.result, answered()))
        .collect();
    for (round, new) in [first, retries].into_iter().enumerate() {
        let saving = new.clone();
        let saved = in_own_thread(&it.database, |database| save_at_once(database, saving)).await;
        for mut new in new {
            let id = new.result.id;
            assert_eq!(saved[&id].as_ref().unwrap(), &SaveOutcome::Saved);
            let provenance = it.database.find_provenance(it.account, id).await.unwrap();
            assert_eq!(provenance, Some(new.provenance));
            let read = it.read(id).await;
            assert_eq!(read.as_ref(), Some(&new.result), "in round {round}");
            if let Some(retried) = new.retry_of {
                let retry = it.database.find_retry(retried).await.unwrap();
                assert_eq!(retry, Some(id));
                new.result.idempotency_key = None;
            }
        }
    }
    assert_eq!(it.results_made().await, 240 + 100);
}

async fn results_of_any_size_are_saved_at_once(it: Fixture) {
    let sizes = [1, 300_000, 200_000, 100_000, 10, 1_000_000, 5, 260_000, 4];
    let new = sizes.map(|size| {
        let mut new = it.result(answered(), None);
        new.result.submission = submission(&"x".repeat(size));
        new
    });
    let saving = new.to_vec();
    let saved = in_own_thread(&it.database, |database| save_at_once(database, saving)).await;
    for new in new {
        assert_eq!(saved[&new.result.id].as_ref().unwrap(), &SaveOutcome::Saved);
        assert!(it.read(new.result.id).await == Some(new.result));
    }
}

async fn one_that_is_refused_takes_no_other_with_it(it: Fixture) {
    let mut new = various(&it, 100);
    new[41].result.version = VersionNumber::new(7).unwrap();
    let refused = new[41].result.id;
    let saving = new.clone();
    let saved = in_own_thread(&it.database, |database| save_at_once(database, saving)).await;
    for new in new {
        let id = new.result.id;
        if id == refused {
            let fate = saved[&id].as_ref();
            assert!(
                matches!(fate, Err(PersistenceError::ReferenceGone(_))),
                "{fate:?}"
            );
            assert_eq!(it.read(id).await, None);
        } else {
            assert_eq!(saved[&id].as_ref().unwrap(), &SaveOutcome::Saved);
            assert_eq!(it.read(id).await, Some(new.result));
        }
    }
}

async fn of_those_with_one_key_one_is_saved(it: Fixture) {
    for key in ["order 1", "order 2", "order 3"] {
        let of_key = || it.result(answered(), Some(key));
        let new = std::iter::repeat_with(of_key).take(50).collect();
        let fates = in_own_thread(&it.database, |database| save_at_once(database, new)).await;
        assert_one_holder(&it, &fates).await;
    }
}

/// Checks results with one key that were saved at the same time: one was saved, and the others lost
/// to it.
async fn assert_one_holder<'a>(
    it: &Fixture,
    fates: impl IntoIterator<Item = (&'a ResultId, &'a Result<SaveOutcome, PersistenceError>)>,
) {
    let (mut saved, mut lost_to) = (Vec::new(), Vec::new());
    for (id, fate) in fates {
        match fate.as_ref().unwrap() {
            SaveOutcome::Saved => saved.push(*id),
            SaveOutcome::Lost(winner) => {
                lost_to.push(winner.id);
                assert_eq!(it.read(*id).await, None);
            }
        }
    }
    let [holder] = saved[..] else {
        panic!("{} results hold one key", saved.len());
    };
    assert!(it.read(holder).await.is_some());
    assert!(lost_to.iter().all(|id| *id == holder));
}

async fn threads_that_contend_for_the_same_keys_do_not_block_each_other(it: Fixture) {
    const KEYS: usize = 60;
    let it = Arc::new(it);
    let databases = [connect(&it.url).await, connect(&it.url).await];
    for round in 0..5 {
        let key = |number| format!("order {round}/{number}");
        let threads = (0..4).map(|thread| {
            // every thread has all keys, in a different order
            let numbers = (0..KEYS).map(|number| (number * [7, 53, 1, 59][thread] + thread) % KEYS);
            let new: Vec<_> = numbers
                .map(|number| it.result(answered(), Some(&key(number))))
                .collect();
            let database = databases[thread % 2].clone();
            tokio::spawn(async move {
                let keys: Vec<_> = new
                    .iter()
                    .map(|new| (new.result.idempotency_key.clone(), new.result.id))
                    .collect();
                let fates = in_own_thread(&database, |database| save_at_once(database, new)).await;
                (keys, fates)
            })
        });
        let threads: Vec<_> = threads.collect();
        let mut by_key: BTreeMap<String, Saved> = BTreeMap::new();
        for thread in threads {
            let (keys, mut fates) = thread.await.unwrap();
            for (key, id) in keys {
                let of_key = by_key.entry(key.unwrap().as_str().to_owned()).or_default();
                of_key.extend(fates.remove_entry(&id));
            }
        }
        assert_eq!(by_key.len(), KEYS);
        for fates in by_key.values() {
            assert_eq!(fates.len(), 4);
            assert_one_holder(&it, fates).await;
        }
    }
}

async fn a_caller_that_goes_away_takes_no_other_with_it(it: Fixture) {
    let new = various(&it, 90);
    let saving = new.clone();
    let fates = in_own_thread(&it.database, |database| async move {
        let (left, kept): (Vec<_>, Vec<_>) = saving
            .into_iter()
            .enumerate()
            .partition(|(number, _)| number % 2 == 0);
        for (_, new) in &left {
            let mut saving = pin!(database.save_result(new));
            let _ = saving
                .as_mut()
                .poll(&mut Context::from_waker(Waker::noop()));
        }
        let kept = kept.into_iter().map(|(_, new)| new).collect();
        save_at_once(database, kept).await
    })
    .await;
    assert_eq!(fates.len(), 45);
    for (id, fate) in fates {
        assert_eq!(fate.unwrap(), SaveOutcome::Saved);
        assert!(it.read(id).await.is_some());
    }
}
