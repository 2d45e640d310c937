//! Searches: their pages in both directions, and how far they read.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};
use refract_domain::ids::ResultId;
use refract_domain::key::{ColumnName, OutcomeKey, QuestionKey};
use refract_domain::prism::VersionNumber;
use refract_domain::result::ResultActor;
use refract_domain::submission::Ref;
use refract_persistence::{ResultFilter, ResultOrder};
use refract_service::marks::MarkOrigin;
use refract_service::results::{
    AnsweredOutcome, ColumnValue, FoundResults, MarkCondition, MatchCount, Neighbours,
    PrismResults, ReadableResult, ResultSearch, SearchLimits, SearchPage, TextWords,
};
use refract_test_support::on_both;
use tokio::runtime::Handle;

use crate::fixture::{Described, Fixture, Saved, account, key, moment, person, save_all};
use crate::oracle::expected;

on_both!(
    all_pages_of_a_search_are_all_that_it_should_find_in_either_direction,
    a_page_shows_who_made_each_result_and_what_retried_it,
    a_search_that_finds_little_reports_how_far_it_looked_and_goes_on_there,
);

const OPERATOR: ResultActor = ResultActor::Operator;

fn results() -> impl Strategy<Value = Vec<Described>> {
    let answers = (
        select(vec!["billing", "delivery", "returns", "other"]),
        0..=100_u32,
    );
    let actors = select(vec![key(1), key(2), person(3), person(4), OPERATOR]);
    let result = (
        0..6_i64,
        1..=2_i32,
        option::weighted(0.6, answers),
        option::of(select(vec!["a", "b"])),
        actors,
        any::<bool>(),
    );
    let result =
        result.prop_map(
            |(at, version, answers, reference, actor, is_retried)| Described {
                at,
                version,
                answers,
                reference,
                actor,
                is_retried: is_retried && answers.is_none(),
            },
        );
    vec(result, 0..40)
}

fn searches() -> impl Strategy<Value = ResultSearch> {
    let value = prop_oneof![
        select(vec!["billing", "delivery", "returns", "other", ""]).prop_map(|it| ("topic", it)),
        select(vec!["yes", "no", ""]).prop_map(|it| ("angry", it)),
    ];
    let actors = vec![key(1), key(2), person(3), person(5), OPERATOR];
    let filter = (
        option::weighted(0.2, any::<bool>()),
        option::weighted(0.2, any::<bool>()),
        option::weighted(0.2, 0..6_i64),
        option::weighted(0.2, 0..6_i64),
        option::weighted(0.2, 1..=3_i32),
        option::weighted(0.2, select(vec!["a", "b", "c"])),
        option::weighted(0.3, select(actors)),
    );
    let outcome = ["billing", "returns", ""].map(|outcome| AnsweredOutcome {
        question: QuestionKey::parse("topic").unwrap(),
        outcome: outcome.to_owned(),
    });
    let words = ["hm 3", "GRÖß", "3", "hm \"50", "text", "50 %"].map(TextWords::parse);
    let marked = |outcome: &str| {
        let question = QuestionKey::parse("angry").unwrap();
        MarkCondition::Outcome(question, OutcomeKey::parse(outcome).unwrap())
    };
    let marks = [
        MarkCondition::Marked,
        MarkCondition::Unmarked,
        marked("yes"),
        marked("no"),
    ];
    let beside = (
        vec(value, 0..=2),
        option::weighted(0.2, select(outcome.to_vec())),
        option::weighted(0.3, select(words.to_vec())),
        option::weighted(0.3, select(marks.to_vec())),
    );
    (filter, beside).prop_map(|(filter, (values, answer, words, marks))| {
        let (is_ok, is_retried, since, until, version, reference, actor) = filter;
        ResultSearch {
            filter: ResultFilter {
                is_ok,
                is_retried,
                since: since.map(moment),
                until: until.map(moment),
                version: version.and_then(VersionNumber::new),
                model: None,
                reference: reference.map(|it| Ref::saved(it.to_owned())),
                actor,
                run: None,
                is_of_run: None,
            },
            values: values
                .into_iter()
                .map(|(column, value)| column_value(column, value))
                .collect(),
            answers: answer.into_iter().collect(),
            words: words.flatten(),
            marks,
            references: Vec::new(),
        }
    })
}

pub(crate) fn column_value(column: &str, value: &str) -> ColumnValue {
    ColumnValue {
        column: ColumnName::parse(column).unwrap(),
        value: value.to_owned(),
    }
}

pub(crate) async fn find(
    it: &Fixture,
    saved: &Saved,
    wanted: &ResultSearch,
    page: SearchPage,
    limits: SearchLimits,
) -> FoundResults {
    let lens = Arc::new(saved.lens.clone());
    let found = it
        .refract
        .results()
        .search(&lens, wanted, page, limits)
        .await
        .unwrap();
    assert!(found.results.len() <= usize::try_from(limits.results).unwrap());
    found
}

pub(crate) fn ids(found: &FoundResults) -> Vec<ResultId> {
    found.results.iter().map(|row| row.result.id()).collect()
}

/// All pages from one on, towards newer or older results, newest result first.
async fn walk(
    it: &Fixture,
    saved: &Saved,
    wanted: &ResultSearch,
    begin: SearchPage,
    limits: SearchLimits,
) -> Vec<ResultId> {
    let mut all = Vec::new();
    let mut page = begin;
    // an empty page has a next one only if the search gave up
    for _ in 0..200 {
        let found = find(it, saved, wanted, page, limits).await;
        let ids = ids(&found);
        match begin {
            SearchPage::Newest | SearchPage::OlderThan(_) => {
                all.extend(ids);
                let Some(older) = found.older else { return all };
                page = SearchPage::OlderThan(older);
            }
            SearchPage::NewerThan(_) => {
                all.splice(0..0, ids);
                let Some(newer) = found.newer else { return all };
                page = SearchPage::NewerThan(newer);
            }
        }
    }
    panic!("the pages do not end");
}

async fn all_pages_of_a_search_are_all_that_it_should_find_in_either_direction(it: Fixture) {
    let it = &it;
    let config = Config {
        cases: 16,
        failure_persistence: None,
        ..Config::default()
    };
    let searches = vec((searches(), 1..6_u32, 1..12_u32), 8);
    let run = |(results, searches): (Vec<Described>, Vec<_>)| {
        let check = async {
            let account = account(&it.database).await;
            let saved = save_all(it, account, &results).await;
            mark_some(it, &saved).await;
            // results of another prism are never found
            save_all(it, account, &results).await;
            for (wanted, results, candidates) in searches {
                let limits = SearchLimits {
                    results,
                    candidates,
                    counted: candidates,
                };
                check_walks(it, &saved, &wanted, limits).await;
            }
        };
        tokio::task::block_in_place(|| Handle::current().block_on(check));
        Ok(())
    };
    TestRunner::new(config)
        .run(&(results(), searches), run)
        .unwrap();
}

/// Marks every other answered result as angry or not.
async fn mark_some(it: &Fixture, saved: &Saved) {
    for (id, described) in &saved.results {
        let Some(outcome) = described.marked() else {
            continue;
        };
        let account = saved.lens.prism.account;
        let result = it.refract.results().find(account, *id).await.unwrap();
        let question = QuestionKey::parse("angry").unwrap();
        let changes = vec![(question, Some(outcome.to_owned()))];
        let marks = it.refract.marks();
        marks
            .mark(&result, changes, &MarkOrigin::default())
            .await
            .unwrap();
    }
}

async fn check_walks(it: &Fixture, saved: &Saved, wanted: &ResultSearch, limits: SearchLimits) {
    let expected = expected(it, saved, wanted).await;
    let older = walk(it, saved, wanted, SearchPage::Newest, limits).await;
    assert_eq!(older, expected, "towards older ones: {wanted:?} {limits:?}");
    let count = find(it, saved, wanted, SearchPage::Newest, limits)
        .await
        .count;
    let matches = expected.len();
    match count.unwrap() {
        MatchCount::All(all) => assert_eq!(all, matches, "{wanted:?} {limits:?}"),
        MatchCount::MoreThan(few) => assert!(few < matches, "{few} {wanted:?} {limits:?}"),
        MatchCount::AmongNewest { matches: few, read } => {
            assert!(
                few <= matches && read == limits.candidates,
                "{wanted:?} {limits:?}"
            );
        }
    }
    check_neighbours(it, saved, wanted, &expected).await;
    let oldest = SearchPage::NewerThan(ResultId::LOWEST);
    let newer = walk(it, saved, wanted, oldest, limits).await;
    assert_eq!(newer, expected, "towards newer ones: {wanted:?} {limits:?}");
    // from any result on, and back from there
    for from in &expected {
        let found = find(it, saved, wanted, SearchPage::OlderThan(*from), limits).await;
        let newer = found.newer.unwrap();
        let mut back = walk(it, saved, wanted, SearchPage::NewerThan(newer), limits).await;
        back.extend(walk(it, saved, wanted, SearchPage::OlderThan(*from), limits).await);
        assert_eq!(back, expected, "back: {wanted:?} {limits:?}");
        let found = find(it, saved, wanted, SearchPage::NewerThan(*from), limits).await;
        let older = found.older.unwrap();
        let mut on = walk(it, saved, wanted, SearchPage::NewerThan(*from), limits).await;
        on.extend(walk(it, saved, wanted, SearchPage::OlderThan(older), limits).await);
        assert_eq!(on, expected, "on: {wanted:?} {limits:?}");
    }
    let (lens, results) = (saved.lens.clone(), it.refract.results());
    let found = results.of_search(lens, wanted.clone(), ResultOrder::NewestFirst);
    assert_eq!(
        read_all(found.unwrap()).await,
        expected,
        "a download: {wanted:?}"
    );
    let lens = &saved.lens;
    let counted = it.refract.results().count_matches(lens, wanted, None).await;
    let counted = counted.unwrap();
    assert_eq!(
        (counted.matches, counted.counted_to),
        (expected.len(), None),
        "{wanted:?}"
    );
    if let Some(first) = expected.first() {
        let rest = it
            .refract
            .results()
            .count_matches(lens, wanted, Some(*first))
            .await;
        assert_eq!(
            rest.unwrap().matches,
            expected.len() - 1,
            "after the first: {wanted:?}"
        );
    }
}

pub(crate) async fn read_all(mut results: PrismResults) -> Vec<ResultId> {
    let mut read = Vec::new();
    loop {
        let page = results.next_page().await.unwrap();
        if page.is_empty() {
            return read;
        }
        read.extend(page.iter().map(ReadableResult::id));
    }
}

async fn check_neighbours(it: &Fixture, saved: &Saved, wanted: &ResultSearch, list: &[ResultId]) {
    let (lens, limits) = (Arc::new(saved.lens.clone()), SearchLimits::default());
    let results = it.refract.results();
    let found = results.search_least_sure(&lens, wanted, None, limits);
    let ranked = ids(&found.await.unwrap());
    for (place, id) in list.iter().enumerate().take(3) {
        let found = results.neighbours(&lens, wanted, *id, limits).await;
        assert_eq!(found.unwrap(), beside(list, place), "{wanted:?}");
    }
    for (place, id) in ranked.iter().enumerate().take(3) {
        let found = results.least_sure_neighbours(&lens, wanted, *id, limits);
        assert_eq!(found.await.unwrap(), beside(&ranked, place), "{wanted:?}");
    }
}

fn beside(list: &[ResultId], place: usize) -> Neighbours {
    Neighbours {
        previous: place.checked_sub(1).map(|before| list[before]),
        next: list.get(place + 1).copied(),
    }
}

pub(crate) fn described(at: i64, answers: Option<(&'static str, u32)>) -> Described {
    Described {
        at,
        version: 2,
        answers,
        reference: None,
        actor: key(1),
        is_retried: false,
    }
}

async fn a_page_shows_who_made_each_result_and_what_retried_it(it: Fixture) {
    let by_person = Described {
        actor: person(7),
        is_retried: true,
        ..described(0, None)
    };
    let saved = save_all(&it, it.account, &[by_person, described(9, None)]).await;
    let [(failed, _), (retry, _), (last, _)] = saved.results.as_slice() else {
        panic!("{:?}", saved.results);
    };
    let everything = ResultSearch::default();
    let limits = SearchLimits::default();
    let found = find(&it, &saved, &everything, SearchPage::Newest, limits).await;
    let rows = found.results.iter();
    let rows: Vec<_> = rows
        .map(|row| (row.result.id(), row.actor, row.retried_as))
        .collect();
    assert_eq!(
        rows,
        [
            (*last, key(1), None),
            (*retry, person(7), None),
            (*failed, person(7), Some(*retry)),
        ]
    );
    assert_eq!(
        (found.newer, found.older, found.searched_to),
        (None, None, None)
    );
}

async fn a_search_that_finds_little_reports_how_far_it_looked_and_goes_on_there(it: Fixture) {
    let mut results = vec![described(0, Some(("returns", 90)))];
    results.extend((1..=9).map(|at| described(at, Some(("billing", 10)))));
    let saved = save_all(&it, it.account, &results).await;
    let wanted = ResultSearch {
        values: vec![column_value("angry", "yes")],
        ..ResultSearch::default()
    };
    let limits = SearchLimits {
        results: 3,
        candidates: 4,
        counted: 4,
    };
    let first = find(&it, &saved, &wanted, SearchPage::Newest, limits).await;
    assert!(ids(&first).is_empty());
    assert_eq!(first.searched_to, Some(moment(6)));
    let fourth = saved.results[6].0;
    assert_eq!((first.newer, first.older), (None, Some(fourth)));
    let second = find(&it, &saved, &wanted, SearchPage::OlderThan(fourth), limits).await;
    assert_eq!(second.searched_to, Some(moment(2)));
    let eighth = second.older.unwrap();
    let last = find(&it, &saved, &wanted, SearchPage::OlderThan(eighth), limits).await;
    assert_eq!(ids(&last), [saved.results[0].0]);
    assert_eq!((last.older, last.searched_to), (None, None));
    let first = saved.results[0].0;
    let back = find(&it, &saved, &wanted, SearchPage::NewerThan(first), limits).await;
    assert_eq!(back.searched_to, Some(moment(4)));
    assert_eq!(back.newer, Some(saved.results[4].0));
}
