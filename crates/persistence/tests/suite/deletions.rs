//! Erasing results: they are deleted with everything that depends on them, also while others save.

use std::collections::BTreeSet;
use std::path::Path;

use diesel::connection::SimpleConnection as _;
use diesel::{Connection as _, SqliteConnection};
use refract_domain::ids::{NodeId, PrismId, ResultId};
use refract_domain::key::{OutcomeKey, QuestionKey};
use refract_domain::result::mark::{Annotator, Mark};
use refract_domain::submission::Ref;
use refract_persistence::{
    CopiedExamples, DeletionEvent, NewResult, PersistenceError, PurgeRange, SaveOutcome,
};
use refract_test_support::on_both;
use uuid::Uuid;

use crate::fixture::{Fixture, answered, connect, failed, idempotency_key, moment, submission};

on_both!(
    a_deleted_result_takes_its_marks_and_frees_its_key,
    a_deleted_original_leaves_its_retry,
    a_deleted_retry_leaves_its_original_to_be_retried_again,
    a_retry_whose_original_is_deleted_meanwhile_is_saved,
    deleting_while_others_retry_loses_no_retry,
    results_to_purge_come_oldest_first_by_the_moment_of_saving,
    one_node_at_a_time_holds_a_lease,
);

pub(crate) async fn delete(it: &Fixture, ids: &[ResultId]) -> u64 {
    let (copied, event) = (CopiedExamples::Kept, DeletionEvent::Elsewhere);
    let deleting = it.database.delete_results(ids.to_vec(), copied, event);
    deleting.await.unwrap().results
}

async fn save(it: &Fixture, new: &NewResult) -> ResultId {
    assert_eq!(
        it.database.save_result(new).await.unwrap(),
        SaveOutcome::Saved
    );
    new.result.id
}

async fn original_of(it: &Fixture, id: ResultId) -> Option<ResultId> {
    it.database.find_retry_of(it.account, id).await.unwrap()
}

async fn a_deleted_result_takes_its_marks_and_frees_its_key(it: Fixture) {
    let gone = save(&it, &it.result(answered(), Some("order 1"))).await;
    let kept = save(&it, &it.result(answered(), Some("order 2"))).await;
    let mark = |result| Mark {
        result,
        question: QuestionKey::parse("angry").unwrap(),
        outcome: OutcomeKey::parse("yes").unwrap(),
        marked_by: Annotator::default(),
        marked_at: moment(1),
        source: None,
        note: None,
        is_adjudicated: false,
    };
    let marks = [mark(gone), mark(kept)];
    let saving = it
        .database
        .save_marks(it.prism.id, marks.into(), it.stamp(1));
    saving.await.unwrap();
    let unknown = ResultId::new(Uuid::now_v7());
    assert_eq!(delete(&it, &[gone, unknown]).await, 1);
    assert_eq!(it.read(gone).await, None);
    let left = it.database.list_marks_of(vec![gone, kept]).await.unwrap();
    assert_eq!(left, [mark(kept)]);
    let again = save(&it, &it.result(failed(), Some("order 1"))).await;
    let key = idempotency_key("order 1");
    let holder = it.database.find_result_by_key(it.account, &key).await;
    assert_eq!(holder.unwrap().unwrap().id, again);
    assert!(it.read(kept).await.is_some());
    assert_eq!(delete(&it, &[gone]).await, 0);
}

async fn a_deleted_original_leaves_its_retry(it: Fixture) {
    let first = it.result(failed(), Some("order 1"));
    let original = save(&it, &first).await;
    let second = it.retry(&first.result, failed());
    let retry = save(&it, &second).await;
    let last = save(&it, &it.retry(&second.result, answered())).await;
    assert_eq!(delete(&it, &[original]).await, 1);
    assert_eq!(original_of(&it, retry).await, None);
    assert_eq!(original_of(&it, last).await, Some(retry));
    assert!(it.read(retry).await.is_some());
    // all results of a chain at once, in any order
    assert_eq!(delete(&it, &[last, retry]).await, 2);
}

async fn a_deleted_retry_leaves_its_original_to_be_retried_again(it: Fixture) {
    let first = it.result(failed(), Some("order 1"));
    let original = save(&it, &first).await;
    let retry = save(&it, &it.retry(&first.result, answered())).await;
    delete(&it, &[retry]).await;
    let found = it.database.find_result(it.account, original).await.unwrap();
    let found = found.unwrap();
    assert_eq!(it.database.find_retry(original).await.unwrap(), None);
    assert_eq!(
        found.result.idempotency_key, None,
        "the key went with the retry"
    );
    let again = it.retry(&found.result, answered());
    assert_eq!(
        original_of(&it, save(&it, &again).await).await,
        Some(original)
    );
}

async fn a_retry_whose_original_is_deleted_meanwhile_is_saved(it: Fixture) {
    for key in [None, Some("order 1")] {
        let first = it.result(failed(), key);
        save(&it, &first).await;
        let retry = it.retry(&first.result, answered());
        delete(&it, &[first.result.id]).await;
        let retry_id = save(&it, &retry).await;
        assert_eq!(original_of(&it, retry_id).await, None);
        assert_eq!(it.read(retry_id).await, Some(retry.result.clone()));
        // a save whose acknowledgement was lost is repeated
        assert_eq!(save(&it, &retry).await, retry_id);
        if key.is_some() {
            // another retry of the deleted result, which the key settles
            let late = it.retry(&first.result, answered());
            let saving = it.database.save_result(&late).await.unwrap();
            assert_eq!(saving, SaveOutcome::Lost(retry.result));
        }
    }
    // a reference to anything else that is missing stays an error
    let first = it.result(failed(), None);
    save(&it, &first).await;
    let mut broken = it.retry(&first.result, answered());
    broken.result.prism = PrismId::new(Uuid::now_v7());
    let error = it.database.save_result(&broken).await.unwrap_err();
    assert!(
        matches!(error, PersistenceError::ReferenceGone(_)),
        "{error}"
    );
}

async fn deleting_while_others_retry_loses_no_retry(it: Fixture) {
    const RESULTS: usize = 60;
    let other = connect(&it.url).await;
    for round in 0..4 {
        let mut firsts = Vec::new();
        for number in 0..RESULTS {
            let key = format!("{round} {number}");
            let first = it.result(failed(), (number % 2 == 0).then_some(&*key));
            save(&it, &first).await;
            firsts.push(first);
        }
        let retries: Vec<_> = firsts
            .iter()
            .map(|first| it.retry(&first.result, answered()))
            .collect();
        let saving = retries
            .iter()
            .zip([&it.database, &other].into_iter().cycle());
        let saving: Vec<_> = saving
            .map(|(new, database)| {
                let (new, database) = (new.clone(), database.clone());
                tokio::spawn(async move { database.save_result(&new).await.unwrap() })
            })
            .collect();
        let ids: Vec<_> = firsts.iter().map(|first| first.result.id).collect();
        let mut deleted = 0;
        for ids in ids.chunks(7) {
            deleted += delete(&it, ids).await;
        }
        assert_eq!(deleted, u64::try_from(RESULTS).unwrap());
        for saving in saving {
            assert_eq!(saving.await.unwrap(), SaveOutcome::Saved);
        }
        for retry in &retries {
            assert_eq!(original_of(&it, retry.result.id).await, None);
            assert!(it.read(retry.result.id).await.is_some());
        }
        let kept: Vec<_> = retries.iter().map(|retry| retry.result.id).collect();
        assert_eq!(delete(&it, &kept).await, u64::try_from(RESULTS).unwrap());
    }
}

async fn results_to_purge_come_oldest_first_by_the_moment_of_saving(it: Fixture) {
    let mut expected = BTreeSet::new();
    // in another order than the ids
    for (age, is_ok) in [
        (5, true),
        (4, false),
        (3, true),
        (2, true),
        (1, false),
        (0, true),
    ] {
        let mut new = it.result(if is_ok { answered() } else { failed() }, None);
        new.result.created_at = moment(age);
        expected.insert((moment(age), save(&it, &new).await, is_ok));
    }
    let before = moment(4);
    for wanted in [None, Some(true), Some(false)] {
        let range = PurgeRange {
            prism: it.prism.id,
            before,
            is_ok: wanted,
        };
        for since in [moment(0), moment(2)] {
            let listing = it.database.list_purgeable_results(&range, since, 3).await;
            let found: Vec<_> = listing
                .unwrap()
                .iter()
                .map(|it| (it.created_at, it.id))
                .collect();
            let expected = expected.iter();
            let expected: Vec<_> = expected
                .filter(|(at, _, is_ok)| {
                    *at >= since && *at < before && wanted.is_none_or(|it| it == *is_ok)
                })
                .map(|(at, id, _)| (*at, *id))
                .take(3)
                .collect();
            assert_eq!(found, expected);
        }
        let counted = it.database.count_purgeable_results(&range).await.unwrap();
        let expected = match wanted {
            None => 4,
            Some(true) => 3,
            Some(false) => 1,
        };
        assert_eq!(counted, expected);
    }
}

async fn one_node_at_a_time_holds_a_lease(it: Fixture) {
    let other = connect(&it.url).await;
    let [one, two] = [(); 2].map(|()| NodeId::new(Uuid::now_v7()));
    let take = async |node, now, until| {
        let database = if node == one { &it.database } else { &other };
        let taking = database.take_lease("work", node, moment(now), moment(until));
        taking.await.unwrap()
    };
    assert!(take(one, 0, 100).await);
    assert!(!take(two, 99, 200).await);
    assert!(take(one, 50, 150).await, "its holder renews it");
    assert!(!take(two, 149, 300).await);
    assert!(take(two, 150, 300).await, "it has expired");
    assert!(!take(one, 151, 400).await);
    // a node that lost the lease cannot release it
    it.database.release_lease("work", one).await.unwrap();
    assert!(!take(one, 152, 400).await);
    other.release_lease("work", two).await.unwrap();
    assert!(take(one, 152, 400).await);
    // of many nodes that take it at once, one gets it
    it.database.release_lease("work", one).await.unwrap();
    let takings = (0..20).map(|number| {
        let database = [&it.database, &other][number % 2].clone();
        let node = NodeId::new(Uuid::now_v7());
        tokio::spawn(async move {
            let taking = database.take_lease("work", node, moment(500), moment(600));
            taking.await.unwrap()
        })
    });
    let mut holders = 0;
    for taking in takings.collect::<Vec<_>>() {
        holders += usize::from(taking.await.unwrap());
    }
    assert_eq!(holders, 1);
}

/// The five-digit numbers after a word in the files of a folder.
fn numbers_behind(word: &str, folder: &Path) -> BTreeSet<usize> {
    let mut numbers = BTreeSet::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        for found in bytes.windows(word.len() + 5) {
            if let Some(digits) = found.strip_prefix(word.as_bytes()) {
                let digits = std::str::from_utf8(digits).unwrap_or_default();
                numbers.extend(digits.parse::<usize>());
            }
        }
    }
    numbers
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_erased_results_no_byte_is_left_in_the_files_of_sqlite() {
    const RESULTS: usize = 400;
    let it = Fixture::sqlite().await;
    let path = it.url.strip_prefix("sqlite://").unwrap();
    let folder = Path::new(path).parent().unwrap();
    // texts of all sizes, on shared pages and on separate pages; references and keys in no order,
    // so that the pages of their indexes are split
    let text = |number: usize| {
        let words = "word ".repeat(number * number % 1_501);
        format!("text-{number:05} {words}")
    };
    let in_no_order = |number: usize| number * 7_919 % RESULTS;
    let mut ids = Vec::new();
    for number in 0..RESULTS {
        let key = format!("{:05}-key-{number:05}", in_no_order(number));
        let mut new = it.result(failed(), Some(&key));
        new.result.submission = submission(&text(number));
        let reference = format!("{:05}-ref-{number:05}", in_no_order(number));
        new.result.reference = Some(Ref::parse(&reference).unwrap());
        save(&it, &new).await;
        let retry = it.retry(&new.result, answered());
        ids.push([new.result.id, save(&it, &retry).await]);
    }
    // deleting some results merges pages of the others
    for number in (0..RESULTS).filter(|number| in_no_order(*number) % 3 == 0) {
        delete(&it, &ids[number]).await;
    }
    let words = ["text-", "-ref-", "-key-"];
    for word in words {
        assert!(numbers_behind(word, folder).len() > RESULTS / 3 * 2);
    }
    let kept: BTreeSet<_> = (0..RESULTS)
        .filter(|number| in_no_order(*number) % 3 == 1)
        .collect();
    for number in (0..RESULTS).filter(|number| !kept.contains(number)) {
        delete(&it, &ids[number]).await;
    }
    assert!(it.database.remove_deleted_traces().await.unwrap());
    // the key has moved to the retry, and only the failed result has the reference
    for word in words {
        assert_eq!(numbers_behind(word, folder), kept, "{word}");
    }
    for number in kept {
        assert!(it.read(ids[number][0]).await.is_some());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_that_somebody_reads_is_not_emptied() {
    let it = Fixture::sqlite().await;
    let path = it.url.strip_prefix("sqlite://").unwrap();
    let mut reader = SqliteConnection::establish(path).unwrap();
    reader
        .batch_execute("BEGIN; SELECT * FROM results;")
        .unwrap();
    save(&it, &it.result(answered(), None)).await;
    assert!(!it.database.remove_deleted_traces().await.unwrap());
    reader.batch_execute("COMMIT").unwrap();
    assert!(it.database.remove_deleted_traces().await.unwrap());
}
