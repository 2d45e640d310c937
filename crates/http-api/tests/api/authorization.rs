//! Every form of `Authorization` (spec 5), on all three endpoints.

use refract_test_stack::expected::Saved;
use refract_test_stack::http::{HttpConnection, Request};
use refract_test_stack::order::{NO_KEY, NO_RESULT, WRONG_KEY};
use refract_test_stack::service::{Backend, PRISM, Service, TEXT};
use refract_test_support::on_both;
use serde_json::json;

on_both!(keys_of_other_accounts_and_revoked_ones_do_not_count);

/// One request for each endpoint, without a key; with a valid key each ends before the model is
/// asked.
fn requests() -> [Request; 3] {
    let id = "01234567-89ab-7def-8123-456789abcdef";
    [
        Request::post(&format!("/prisms/{PRISM}/results"))
            .json(&json!({"text": TEXT, "version": 9})),
        Request::get(&format!("/results/{id}")),
        Request::post(&format!("/results/{id}/retry")),
    ]
}

/// The answers to [`requests`] with a valid key.
const ACCEPTED: [(u16, &str, &str); 3] = [
    (404, "not_found", "Prism version not found"),
    NO_RESULT,
    NO_RESULT,
];

async fn assert_all(
    service: &Service,
    header: Option<(&str, &str)>,
    expected: [(u16, &str, &str); 3],
) {
    for (request, (status, code, message)) in requests().into_iter().zip(expected) {
        let request = match header {
            Some((name, value)) => request.header(name, value),
            None => request,
        };
        let answer = service.send(request).await;
        assert_eq!(answer.status, status, "{header:?}: {answer:?}");
        answer.assert_error(status, code, message);
    }
}

#[tokio::test]
async fn anything_but_bearer_one_space_and_a_key_is_no_authentication() {
    let service = Service::start(Backend::Sqlite).await;
    let key = service.key.as_str();
    assert_all(&service, None, [NO_KEY; 3]).await;
    for value in [
        String::new(),
        "Bearer".to_owned(),
        "Bearer ".to_owned(),
        key.to_owned(),
        format!("bearer {key}"),
        format!("BEARER {key}"),
        format!("Basic {key}"),
        format!("Token {key}"),
        format!("Bearer  {key}"),
        format!("Bearer\t{key}"),
        format!("Bearer{key}"),
        format!("Bearer:{key}"),
        format!("Bearer {key} {key}"),
        format!("Bearer {key}\t") + "x",
        format!("Bearer, Bearer {key}"),
    ] {
        assert_all(&service, Some(("Authorization", &value)), [NO_KEY; 3]).await;
    }
    for name in ["X-Api-Key", "Api-Key", "Proxy-Authorization"] {
        let value = format!("Bearer {key}");
        assert_all(&service, Some((name, &value)), [NO_KEY; 3]).await;
    }
    let target =
        format!("/results/01234567-89ab-7def-8123-456789abcdef?api_key={key}&access_token={key}");
    let answer = service.send(Request::get(&target)).await;
    answer.assert_error(NO_KEY.0, NO_KEY.1, NO_KEY.2);
}

#[tokio::test]
async fn a_key_without_the_prefix_or_unknown_is_invalid() {
    let service = Service::start(Backend::Sqlite).await;
    let key = service.key.as_str();
    let random = key.strip_prefix("rk_").unwrap();
    for token in [
        "x".to_owned(),
        random.to_owned(),
        format!("sk_{random}"),
        format!("RK_{random}"),
        format!("rk-{random}"),
        format!("rk_{}", "A".repeat(32)),
        format!("{key}x"),
        format!("{key},"),
        format!("\"{key}\""),
        key.chars().take(34).collect(),
        "rk_".to_owned(),
        format!("rk_{}", "!".repeat(32)),
        "Bearer".to_owned(),
        "é".to_owned(),
        "x".repeat(4_000),
        // characters that have a meaning in SQL
        "rk_%".to_owned(),
        format!("rk_{}'--", random.chars().skip(3).collect::<String>()),
    ] {
        let value = format!("Bearer {token}");
        assert_all(&service, Some(("Authorization", &value)), [WRONG_KEY; 3]).await;
    }
}

#[tokio::test]
async fn the_headers_name_has_any_case_and_space_around_its_value_is_http() {
    let service = Service::start(Backend::Sqlite).await;
    let value = format!("Bearer {}", service.key);
    for name in ["Authorization", "authorization", "AUTHORIZATION"] {
        assert_all(&service, Some((name, &value)), ACCEPTED).await;
    }
    let padded = format!("  {value} \t");
    assert_all(&service, Some(("Authorization", &padded)), ACCEPTED).await;
}

async fn keys_of_other_accounts_and_revoked_ones_do_not_count(backend: Backend) {
    let service = Service::start(backend).await;
    let made = service.create(&json!({"text": TEXT})).await;
    let id = Saved::of(&made).id;
    let second = service.run(&["key", "create"]).await.object();
    let second_key = second["key"].as_str().unwrap();
    // every key of an account reads all results of the account
    let read = Request::get(&format!("/results/{id}")).bearer(second_key);
    assert_eq!(service.send(read.clone()).await.body, made.body);
    // revocation also affects a kept connection
    let mut connection = HttpConnection::open(service.api()).await;
    assert_eq!(connection.call(&read).await.status, 200);
    let second_id = second["id"].as_str().unwrap();
    service.run(&["key", "revoke", second_id]).await.done();
    let answer = connection.call(&read).await;
    answer.assert_error(WRONG_KEY.0, WRONG_KEY.1, WRONG_KEY.2);
    let value = format!("Bearer {second_key}");
    assert_all(&service, Some(("Authorization", &value)), [WRONG_KEY; 3]).await;
    // the other key is still valid, and the result remains
    assert_eq!(service.read(&id, "").await.body, made.body);
    let keys = service.run(&["key", "list", "--json"]).await.lines();
    let results_of = |id: &str| {
        let key = keys.iter().find(|key| key["id"] == id).unwrap();
        key["results_made"].as_u64()
    };
    assert_eq!(
        (results_of(&service.key_id), results_of(second_id)),
        (Some(1), Some(0))
    );
}
