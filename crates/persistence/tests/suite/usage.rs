//! What results used, added up by prism, key, person, file run, model and day.

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use refract_domain::ids::{ApiKeyId, FileRunId, PersonId, PrismId, ResultId};
use refract_domain::result::Cost;
use refract_persistence::{
    CopiedExamples, DeletionEvent, NewResult, Provenance, Usage, UsageDimension, UsageGroup,
    UsageScope,
};
use refract_test_support::on_both;
use uuid::Uuid;

use crate::fixture::{Fixture, account, answered, failed, moment, new_key, new_stamp, prism};

on_both!(
    without_dimensions_everything_is_one_group,
    each_dimension_parts_what_differs_in_it,
    a_period_ends_before_its_end,
    costs_are_added_up_exactly,
    numbers_that_nobody_reported_add_nothing,
    people_and_file_runs_are_distinguished,
    deleted_results_still_count_by_whole_days,
    other_accounts_stay_out,
);

/// A result that was saved at this moment, with numbers.
pub(crate) fn used(it: &Fixture, saved: DateTime<Utc>, model: &str) -> NewResult {
    let mut new = it.result(answered(), None);
    new.result.id = ResultId::new(Uuid::from_u128(
        ResultId::first_of(saved).uuid().as_u128() | (new.result.id.uuid().as_u128() & 0xffff_ffff),
    ));
    new.result.created_at = saved;
    new.provenance = Provenance {
        model: Some(model.to_owned()),
        input_tokens: Some(100),
        cached_tokens: Some(60),
        output_tokens: Some(7),
        requests: Some(3),
        cost: Cost::parse("0.1"),
        ..Provenance::default()
    };
    new
}

pub(crate) async fn save(it: &Fixture, new: NewResult) {
    it.database.save_result(&new).await.unwrap();
}

pub(crate) async fn list(it: &Fixture, scope: UsageScope) -> Vec<UsageGroup> {
    let mut groups = it.database.list_usage(it.account, scope).await.unwrap();
    groups.sort_by_key(|group| (group.prism, group.api_key, group.model.clone(), group.day));
    groups
}

pub(crate) fn by<const N: usize>(dimensions: [UsageDimension; N]) -> UsageScope {
    UsageScope {
        by: dimensions.into(),
        ..UsageScope::default()
    }
}

/// The usage of so many results of [`used`].
pub(crate) fn times(calls: u64) -> Usage {
    Usage {
        calls,
        failed: 0,
        model_requests: 3 * calls,
        input_tokens: 100 * calls,
        cached_tokens: 60 * calls,
        output_tokens: 7 * calls,
        cost: Cost::parse(&format!("{}.{}", calls / 10, calls % 10)),
    }
}

async fn without_dimensions_everything_is_one_group(it: Fixture) {
    assert_eq!(list(&it, UsageScope::default()).await, []);
    for _ in 0..3 {
        save(&it, used(&it, moment(0), "m")).await;
    }
    let mut unsuccessful = used(&it, moment(0), "m");
    unsuccessful.result.status = failed();
    save(&it, unsuccessful).await;
    let expected = Usage {
        failed: 1,
        ..times(4)
    };
    assert_eq!(
        list(&it, UsageScope::default()).await,
        [everything(expected)]
    );
}

/// The group of all results.
pub(crate) fn everything(usage: Usage) -> UsageGroup {
    UsageGroup {
        prism: None,
        api_key: None,
        person: None,
        file_run: None,
        model: None,
        day: None,
        usage,
    }
}

/// Saves results of two prisms, two keys and none, two models and two days. Returns the prism and
/// the key that are not the fixture's.
pub(crate) async fn save_different_ones(it: &Fixture) -> (Option<PrismId>, Option<ApiKeyId>) {
    let other_prism = prism(&it.database, it.account, "Other").await;
    let other_key = new_key(it.account, 2);
    let made = new_stamp(it.account, 0);
    it.database.create_api_key(&other_key, made).await.unwrap();
    save(it, used(it, moment(0), "m")).await;
    save(it, used(it, moment(86_399_000), "m")).await;
    // the fixed moment is 123 ms after midnight
    save(it, used(it, moment(-124), "m")).await;
    save(it, used(it, moment(0), "n")).await;
    let mut without_key = used(it, moment(0), "m");
    without_key.api_key = None;
    save(it, without_key).await;
    let mut elsewhere = used(it, moment(0), "m");
    elsewhere.result.prism = other_prism.id;
    elsewhere.api_key = Some(other_key.id);
    save(it, elsewhere).await;
    (Some(other_prism.id), Some(other_key.id))
}

async fn each_dimension_parts_what_differs_in_it(it: Fixture) {
    let (theirs, other) = save_different_ones(&it).await;
    let (ours, key) = (Some(it.prism.id), Some(it.key.id));
    let today = NaiveDate::from_ymd_opt(2026, 1, 1);
    let before = NaiveDate::from_ymd_opt(2025, 12, 31);
    let group = |prism, api_key, model: Option<&str>, day, calls| UsageGroup {
        prism,
        api_key,
        model: model.map(str::to_owned),
        day,
        ..everything(times(calls))
    };
    for (dimension, expected) in [
        (
            UsageDimension::Prism,
            vec![
                group(ours, None, None, None, 5),
                group(theirs, None, None, None, 1),
            ],
        ),
        (
            UsageDimension::Key,
            vec![
                group(None, None, None, None, 1),
                group(None, key, None, None, 4),
                group(None, other, None, None, 1),
            ],
        ),
        (
            UsageDimension::Model,
            vec![
                group(None, None, Some("m"), None, 5),
                group(None, None, Some("n"), None, 1),
            ],
        ),
        (
            UsageDimension::Day,
            vec![
                group(None, None, None, before, 1),
                group(None, None, None, today, 5),
            ],
        ),
    ] {
        assert_eq!(list(&it, by([dimension])).await, expected, "{dimension:?}");
    }
    let all = by([
        UsageDimension::Day,
        UsageDimension::Model,
        UsageDimension::Key,
        UsageDimension::Prism,
    ]);
    let of_theirs = group(theirs, other, Some("m"), today, 1);
    assert_eq!(
        list(&it, all.clone()).await,
        [
            group(ours, None, Some("m"), today, 1),
            group(ours, key, Some("m"), before, 1),
            group(ours, key, Some("m"), today, 2),
            group(ours, key, Some("n"), today, 1),
            of_theirs.clone(),
        ]
    );
    let of_prism = UsageScope {
        prism: theirs,
        ..all
    };
    assert_eq!(list(&it, of_prism).await, [of_theirs]);
    let of_key = UsageScope {
        key,
        ..by([UsageDimension::Key])
    };
    let groups = list(&it, of_key).await;
    let found: Vec<_> = groups.iter().map(|group| group.api_key).collect();
    assert_eq!(found, [key]);
    assert_eq!(groups[0].usage, times(4));
}

async fn a_period_ends_before_its_end(it: Fixture) {
    for milliseconds in [0, 1, 2, 600_000] {
        save(&it, used(&it, moment(milliseconds), "m")).await;
    }
    for (since, until, calls) in [
        (None, None, 4),
        (Some(1), None, 3),
        (None, Some(2), 2),
        (Some(1), Some(2), 1),
        (Some(3), Some(600_001), 1),
    ] {
        let scope = UsageScope {
            since: since.map(moment),
            until: until.map(moment),
            ..UsageScope::default()
        };
        let groups = list(&it, scope).await;
        assert_eq!(groups[0].usage, times(calls), "{since:?} {until:?}");
    }
    let scope = UsageScope {
        since: Some(moment(0) + TimeDelta::days(1)),
        ..UsageScope::default()
    };
    assert_eq!(list(&it, scope).await, []);
}

async fn costs_are_added_up_exactly(it: Fixture) {
    for cost in [
        "0.1",
        "0.2",
        "0.000000000999999999",
        "0.000000000000000001",
        "5",
    ] {
        let mut new = used(&it, moment(0), "m");
        new.provenance.cost = Cost::parse(cost);
        save(&it, new).await;
    }
    let groups = list(&it, UsageScope::default()).await;
    let cost = groups[0].usage.cost.unwrap();
    assert_eq!(cost.to_string(), "5.300000001");
}

async fn numbers_that_nobody_reported_add_nothing(it: Fixture) {
    save(&it, it.result(answered(), None)).await;
    let groups = list(&it, by([UsageDimension::Model])).await;
    let expected = Usage {
        calls: 1,
        ..Usage::default()
    };
    assert_eq!((&groups[0].model, groups[0].usage), (&None, expected));
    let mut new = used(&it, moment(0), "m");
    new.provenance.model = None;
    save(&it, new).await;
    let groups = list(&it, by([UsageDimension::Model])).await;
    let expected = Usage {
        calls: 2,
        ..times(1)
    };
    assert_eq!((groups.len(), groups[0].usage), (1, expected));
}

async fn people_and_file_runs_are_distinguished(it: Fixture) {
    let (person, run) = (
        PersonId::new(Uuid::now_v7()),
        FileRunId::new(Uuid::now_v7()),
    );
    save(&it, used(&it, moment(0), "m")).await;
    let mut of_person = used(&it, moment(0), "m");
    (of_person.api_key, of_person.made_by) = (None, Some(person));
    save(&it, of_person).await;
    let mut of_run = used(&it, moment(0), "m");
    (of_run.api_key, of_run.made_by, of_run.file_run) = (None, Some(person), Some(run));
    save(&it, of_run).await;
    let calls = |groups: Vec<UsageGroup>| {
        let calls = groups.into_iter();
        calls
            .map(|group| (group.person, group.file_run, group.usage.calls))
            .collect::<Vec<_>>()
    };
    let by_person = calls(list(&it, by([UsageDimension::Person])).await);
    assert_eq!(by_person, [(None, None, 1), (Some(person), None, 2)]);
    let by_run = calls(list(&it, by([UsageDimension::Run])).await);
    assert_eq!(by_run, [(None, None, 2), (None, Some(run), 1)]);
}

pub(crate) async fn delete(it: &Fixture, ids: Vec<ResultId>) {
    let event = DeletionEvent::Elsewhere;
    let deleting = it.database.delete_results(ids, CopiedExamples::Kept, event);
    deleting.await.unwrap();
}

async fn deleted_results_still_count_by_whole_days(it: Fixture) {
    let hour = 3_600_000;
    let deleted = used(&it, moment(5 * hour), "m");
    let id = deleted.result.id;
    save(&it, deleted).await;
    save(&it, used(&it, moment(6 * hour), "m")).await;
    delete(&it, vec![id]).await;
    let midnight = -123;
    for (since, until, calls) in [
        (None, None, 2),
        // its hour is not known any more, but its day
        (Some(6 * hour), None, 2),
        (None, Some(hour), 1),
        (Some(midnight + 24 * hour), None, 0),
        (None, Some(midnight + 24 * hour), 2),
        (None, Some(midnight), 0),
    ] {
        let scope = UsageScope {
            since: since.map(moment),
            until: until.map(moment),
            ..UsageScope::default()
        };
        let groups = list(&it, scope).await;
        let found = groups.first().map_or(0, |group| group.usage.calls);
        assert_eq!(found, calls, "{since:?} {until:?}");
    }
}

async fn other_accounts_stay_out(it: Fixture) {
    let deleted = used(&it, moment(0), "m");
    let id = deleted.result.id;
    save(&it, deleted).await;
    save(&it, used(&it, moment(0), "m")).await;
    delete(&it, vec![id]).await;
    let elsewhere = account(&it.database, "elsewhere").await;
    let scope = UsageScope::default();
    assert_eq!(it.database.list_usage(elsewhere, scope).await.unwrap(), []);
}
