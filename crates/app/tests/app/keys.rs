//! `/keys`: networks of keys, keys that replace others, and reminders.

use std::time::Duration;

use chrono::{TimeDelta, Utc};
use refract_test_stack::browser::{PlainBrowser, joined};
use refract_test_stack::http::{Request, within_patience};
use refract_test_stack::service::{Backend, PRISM, Service, text};
use refract_test_support::on_both;
use serde_json::{Value, json};

on_both!(
    an_owner_limits_a_key_to_networks,
    an_owner_replaces_a_key_that_is_still_accepted,
    owners_are_reminded_of_keys_in_use_that_end,
);

async fn listed(service: &Service) -> Vec<Value> {
    service.run(&["key", "list", "--json"]).await.lines()
}

/// The status of a create with a key.
async fn status(service: &Service, key: &str) -> u16 {
    let create = Request::post(&format!("/prisms/{PRISM}/results"));
    let create = create.bearer(key).json(&json!({"text": "a text"}));
    service.send(create).await.status
}

/// The new key on a page.
fn shown_key(page: &str) -> String {
    let (_, key) = page.split_once("rk_").unwrap();
    let random: String = key.chars().take(32).collect();
    format!("rk_{random}")
}

async fn an_owner_limits_a_key_to_networks(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "owner").await;
    let form = [("name", "ci"), ("expires", ""), ("networks", "10.1.0.0/8")];
    let page = ada.post("/keys", &form).await;
    assert_eq!(page.status, 422);
    assert!(page.body.contains("write 10.0.0.0/8"), "{}", page.body);
    assert!(page.body.contains("value=\"10.1.0.0/8\""), "{}", page.body);
    let form = [
        ("name", "ci"),
        ("expires", ""),
        ("networks", "10.0.0.0/8, ::1"),
    ];
    let page = ada.post("/keys", &form).await;
    assert_eq!(page.status, 200, "{page:?}");
    assert_eq!(status(&service, &shown_key(&page.body)).await, 401);
    let key = listed(&service).await[1].clone();
    assert_eq!(key["networks"], json!(["10.0.0.0/8", "::1/128"]));
    let events = ada.get("/events?action=key_created").await.body;
    let named = format!("<a href=\"/keys#key-{}\"><bdi>ci</bdi>", text(&key, "id"));
    assert!(events.contains(&named), "{named}: {events}");
    let address = format!("/keys/{}/networks", text(&key, "id"));
    let refused = ada.post(&address, &[("networks", "office <b>")]).await;
    assert_eq!(refused.status, 422);
    assert!(
        refused.body.contains("value=\"office &lt;b&gt;\""),
        "{}",
        refused.body
    );
    assert_eq!(ada.post(&address, &[]).await.status, 400);
    assert_eq!(listed(&service).await[1]["networks"], key["networks"]);
    for (networks, expected) in [("127.0.0.1", 200), ("192.0.2.0/24", 401), ("", 200)] {
        let saved = ada.post(&address, &[("networks", networks)]).await;
        assert_eq!(saved.header("location"), Some("/keys?done=networks"));
        let answered = status(&service, &shown_key(&page.body)).await;
        assert_eq!(answered, expected, "{networks}");
    }
    let listing = ada.get("/keys?done=networks").await.body;
    assert!(listing.contains("The networks are saved"), "{listing}");
    let usage = format!("/usage?by=day&amp;key={}", text(&key, "id"));
    assert!(listing.contains(&usage), "{listing}");
    let usage = ada.get(&usage.replace("&amp;", "&")).await;
    assert_eq!(usage.status, 200, "{usage:?}");
    assert!(usage.body.contains("selected>ci<"), "{}", usage.body);
}

async fn an_owner_replaces_a_key_that_is_still_accepted(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "owner").await;
    let address = format!("/keys/{}/replace", service.key_id);
    for days in ["", "0", "91", "many"] {
        let refused = ada.post(&address, &[("days", days)]).await;
        assert_eq!(refused.status, 422, "{days}");
        assert!(refused.body.contains("from 1 to 90"), "{}", refused.body);
    }
    let page = ada.post(&address, &[("days", "30")]).await;
    assert_eq!(page.status, 200);
    assert!(
        page.body.contains("The old key is accepted until"),
        "{}",
        page.body
    );
    let key = shown_key(&page.body);
    for key in [&service.key, &key] {
        assert_eq!(status(&service, key).await, 200);
    }
    let keys = listed(&service).await;
    assert_eq!(keys[1]["replaces"], keys[0]["id"]);
    assert!(keys[0]["expires_at"].is_string());
    let again = ada.post(&address, &[("days", "30")]).await;
    assert_eq!(again.status, 409);
    assert!(again.body.contains("was replaced before"), "{}", again.body);
    assert_eq!(listed(&service).await.len(), 2);
    service
        .run(&["key", "revoke", &service.key_id])
        .await
        .done();
    let ended = ada.post(&address, &[("days", "30")]).await;
    assert_eq!(ended.status, 409);
    assert!(ended.body.contains("make a new key"), "{}", ended.body);
}

/// Waits until the last use of the key at this place of the list is saved.
async fn until_used(service: &Service, place: usize) {
    within_patience(async {
        while listed(service).await[place]["last_used_at"].is_null() {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    })
    .await;
}

async fn pages(browser: &mut PlainBrowser<'_>) -> [String; 2] {
    [browser.get("/").await.body, browser.get("/keys").await.body]
}

async fn owners_are_reminded_of_keys_in_use_that_end(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "owner").await;
    let mut grace = joined(&service, "grace@example.com", "editor").await;
    let end = (Utc::now() + TimeDelta::days(10)).to_rfc3339();
    let create = ["key", "create", "--name", "importer", "--expires", &end];
    let key = service.run(&create).await.object();
    let reminder = "Keys need your attention";
    for page in pages(&mut ada).await {
        assert!(!page.contains(reminder), "nobody uses it: {page}");
    }
    assert_eq!(status(&service, &text(&key, "key")).await, 200);
    until_used(&service, 1).await;
    for page in pages(&mut ada).await {
        assert!(page.contains(reminder), "{page}");
        assert!(page.contains("is in use and ends in 10 days"), "{page}");
    }
    assert!(!grace.get("/").await.body.contains(reminder), "no owner");
    let id = text(&key, "id");
    let page = ada
        .post(&format!("/keys/{id}/replace"), &[("days", "30")])
        .await;
    let successor = shown_key(&page.body);
    for page in pages(&mut ada).await {
        assert!(page.contains("is in use and ends in 10 days"), "{page}");
    }
    assert_eq!(status(&service, &text(&key, "key")).await, 200);
    within_patience(async {
        while !ada
            .get("/")
            .await
            .body
            .contains("nobody uses its successor")
        {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    })
    .await;
    assert_eq!(status(&service, &successor).await, 200);
    until_used(&service, 2).await;
    for page in pages(&mut ada).await {
        assert!(
            page.contains("is in use and ends in 10 days"),
            "both are used: {page}"
        );
    }
}
