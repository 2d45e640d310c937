//! Tests of first calls with one idempotency key.

use chrono::Utc;
use refract_domain::ids::{PrismId, ResultId};
use refract_domain::prism::VersionNumber;
use refract_domain::result::ResultStatus;
use refract_domain::submission::{FieldValues, Submission};
use uuid::Uuid;

use super::*;

fn key() -> IdempotencyKey {
    IdempotencyKey::saved("k".to_owned())
}

fn account() -> AccountId {
    AccountId::new(Uuid::now_v7())
}

fn result() -> SavedResult {
    SavedResult {
        id: ResultId::new(Uuid::now_v7()),
        prism: PrismId::new(Uuid::now_v7()),
        version: VersionNumber::FIRST,
        reference: None,
        submission: Submission::saved(FieldValues::new(Vec::new()), None),
        status: ResultStatus::Failed {
            error: "away".to_owned(),
        },
        took_ms: 1,
        created_at: Utc::now(),
        idempotency_key: Some(key()),
    }
}

fn first(role: FlightRole) -> FlightLeader {
    match role {
        FlightRole::Lead(first) => first,
        FlightRole::Follow(_) => panic!("another call asks"),
    }
}

fn other(role: FlightRole) -> FlightFollower {
    match role {
        FlightRole::Lead(_) => panic!("the call asks itself"),
        FlightRole::Follow(other) => other,
    }
}

#[tokio::test]
async fn calls_that_came_before_the_first_call_ended_get_its_result() {
    let (calls, account, result) = (SingleFlight::default(), account(), result());
    let (a, b, c) = (
        calls.enter(&key()),
        calls.enter(&key()),
        calls.enter(&key()),
    );
    let asks = first(a.role(account));
    let waits = other(b.role(account));
    asks.saved(&result);
    // the call that had read the database already takes part, although the first call has ended
    let late = other(c.role(account));
    assert_eq!(waits.saved().await.as_deref(), Some(&result));
    assert_eq!(late.saved().await.as_deref(), Some(&result));
}

#[tokio::test]
async fn a_call_that_comes_after_the_first_ended_begins_anew() {
    let (calls, account) = (SingleFlight::default(), account());
    let beside = calls.enter(&key());
    first(calls.enter(&key()).role(account)).saved(&result());
    let anew = first(calls.enter(&key()).role(account));
    drop(other(beside.role(account)));
    let waits = other(calls.enter(&key()).role(account));
    drop(anew);
    assert_eq!(waits.saved().await, None);
}

#[tokio::test]
async fn a_first_call_that_saves_nothing_lets_the_others_ask() {
    let (calls, account) = (SingleFlight::default(), account());
    let asks = first(calls.enter(&key()).role(account));
    let waits = other(calls.enter(&key()).role(account));
    drop(asks);
    assert_eq!(waits.saved().await, None);
}

#[tokio::test]
async fn accounts_do_not_wait_for_one_another() {
    let (calls, one, two) = (SingleFlight::default(), account(), account());
    let asks = first(calls.enter(&key()).role(one));
    let asks_too = first(calls.enter(&key()).role(two));
    let waits = other(calls.enter(&key()).role(two));
    let result = result();
    asks_too.saved(&result);
    drop(asks);
    assert_eq!(waits.saved().await.as_deref(), Some(&result));
}

#[test]
fn nothing_is_kept_of_calls_that_ended() {
    let (calls, account) = (SingleFlight::default(), account());
    let (a, b, c) = (
        calls.enter(&key()),
        calls.enter(&key()),
        calls.enter(&key()),
    );
    drop(a);
    let asks = first(b.role(account));
    let waits = other(c.role(account));
    asks.saved(&result());
    drop(waits);
    assert!(locked(&calls.0).is_empty());
    drop(calls.enter(&key()));
    drop(first(calls.enter(&key()).role(account)));
    assert!(locked(&calls.0).is_empty());
}
