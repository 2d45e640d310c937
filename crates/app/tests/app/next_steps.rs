//! What a page offers next to people of each role, and the words by which it names things.

use refract_test_stack::browser::joined;
use refract_test_stack::service::{Backend, PRISM, Service, TEXT};
use refract_test_support::on_both;
use serde_json::json;

use crate::runs::checked;

on_both!(
    reviewers_are_led_to_marking_and_editors_to_a_file,
    a_link_leads_past_the_filters_to_the_first_result,
    options_are_described_where_they_are_marked,
    events_name_the_file_of_a_run,
    the_days_that_are_added_up_are_named,
);

async fn reviewers_are_led_to_marking_and_editors_to_a_file(backend: Backend) {
    let service = Service::start(backend).await;
    service.create(&json!({"text": TEXT})).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let mut bob = joined(&service, "bob@example.com", "reviewer").await;
    let prism = format!("/prisms/{PRISM}");
    let (review, runs) = (
        format!("class=\"button main\" href=\"{prism}/review\""),
        format!("href=\"{prism}/runs\">Upload a file"),
    );
    for path in ["/", &prism] {
        let (of_ada, of_bob) = (ada.get(path).await.body, bob.get(path).await.body);
        assert!(of_ada.contains(&runs), "{path}: {of_ada}");
        assert!(!of_ada.contains(&review), "{path}: {of_ada}");
        assert!(of_bob.contains(&review), "{path}: {of_bob}");
        assert!(!of_bob.contains("Upload a file"), "{path}: {of_bob}");
    }
}

async fn a_link_leads_past_the_filters_to_the_first_result(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "reviewer").await;
    let results = format!("/prisms/{PRISM}/results");
    let none = ada.get(&results).await.body;
    assert!(!none.contains("Skip to the results"), "{none}");
    service.create(&json!({"text": TEXT})).await;
    let page = ada.get(&results).await.body;
    assert!(
        page.contains("href=\"#rows\">Skip to the results"),
        "{page}"
    );
    let (_, after) = page.split_once("id=\"rows\"").expect("the place");
    let (between, _) = after.split_once("<a class=\"text\"").expect("a row");
    for reached in ["<a ", "<input", "<select", "<button", "<summary"] {
        assert!(!between.contains(reached), "{reached}: {between}");
    }
}

async fn options_are_described_where_they_are_marked(backend: Backend) {
    let service = Service::start(backend).await;
    service.create(&json!({"text": TEXT})).await;
    let mut bob = joined(&service, "bob@example.com", "reviewer").await;
    let wanted = [
        ("queue", "random"),
        ("question", "topic"),
        ("versions", "latest"),
    ];
    let begun = bob.post(&format!("/prisms/{PRISM}/review"), &wanted).await;
    let sitting = bob.get(begun.header("location").unwrap()).await.body;
    let (_, billing) = sitting.split_once("value=\"billing\"").unwrap();
    let (billing, _) = billing.split_once("</li>").unwrap();
    assert!(
        billing.contains("<p class=\"hint\" dir=\"auto\">"),
        "{billing}"
    );
}

async fn events_name_the_file_of_a_run(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "owner").await;
    let run = checked(&mut ada, "<b>.csv", b"text\na text\n").await;
    let events = ada.get("/events").await.body;
    let id = run.rsplit('/').next().unwrap();
    let link = format!("run <a href=\"{run}\" title=\"{id}\"><bdi>&lt;b&gt;.csv</bdi></a>");
    assert!(events.contains(&link), "{events}");
}

async fn the_days_that_are_added_up_are_named(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "owner").await;
    let usual = ada.get("/usage?by=day").await.body;
    assert!(usual.contains("<strong>Last 30 days</strong>"), "{usual}");
    let Some((before, _)) = usual.split_once("\">This month</a>") else {
        // on the 30th both are the same days
        assert!(usual.contains("<strong>This month</strong>"), "{usual}");
        return;
    };
    let link = before
        .rsplit("href=\"")
        .next()
        .unwrap()
        .replace("&amp;", "&");
    assert!(link.starts_with("/usage?by=day&from="), "{link}");
    let month = ada.get(&link).await.body;
    assert!(month.contains("<strong>This month</strong>"), "{month}");
    let chosen = ada.get("/usage?from=2026-01-01&to=2026-01-31").await.body;
    let words = "<strong>From 2026-01-01 to 2026-01-31</strong>";
    assert!(chosen.contains(words), "{chosen}");
}
