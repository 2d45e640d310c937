//! A result is kept as an example, and reworded questions break it.

use refract_test_stack::service::{Backend, PRISM, Service, text};
use refract_test_support::browser::{Browser, BrowserSettings};
use refract_test_support::model_server::ScriptedReply;
use serde_json::json;

use super::{at, joined, open};

#[tokio::test]
async fn a_kept_result_is_seen_broken_before_and_after_a_version_is_saved() {
    if !Browser::available() {
        return;
    }
    let service = Service::start(Backend::Postgres).await;
    let made = service
        .create(&json!({"text": "This is the third time!"}))
        .await;
    let result = text(&made.value(), "id");
    let settings = BrowserSettings::default();
    let browser = joined(&service, settings, "ada@example.com", "editor").await;
    browser
        .open(&at(&service, &format!("/results/{result}")))
        .await;
    browser.follow_on("Keep as an example").await;
    assert_eq!(browser.value_in("Message").await, "This is the third time!");
    assert_eq!(browser.value("[name=\"expected.angry\"]").await, "yes");
    browser.follow_on("Keep the example").await;
    browser
        .wait_until_text("main", "The example is kept.")
        .await;
    browser.follow_on("Check 1 example").await;
    browser
        .wait_until_text("#standing", "✓ The example holds.")
        .await;

    open(&browser, &service, "/edit").await;
    let shares = json!({"billing": 0.7, "delivery": 0.1, "product": 0.1, "other": 0.05, "insufficient_information": 0.05});
    let answers = json!({
        "topic": {"type": "choice", "choice": "billing", "confidence": 0.6, "probabilities": shares},
        "angry": {"type": "noul", "noul": 0.1},
        "urgency": {"type": "score", "score": 0, "probabilities": {"0": 0.7, "1": 0.2, "2": 0.1}},
    });
    let reply = json!({"model": "scripted-1", "answers": answers});
    service
        .model
        .then_once(ScriptedReply::with(move |_| reply.clone()));
    browser
        .fill("[name=\"questions.1.text\"]", "Is the writer calm?")
        .await;
    browser.follow_on("Review changes").await;
    let seen = browser.text("#examples").await;
    let seen = seen.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "✕ 1 of 1 example is broken.",
        "Yes Yes 80.0 % → No 90.0 %",
        "You can save",
    ] {
        assert!(seen.contains(words), "{words}: {seen}");
    }
    let colour = "return getComputedStyle(document.querySelector('#examples .differs')).color;";
    let red = browser.evaluate(colour, &[]).await;
    let (r, rest) = channels(red.as_str().unwrap());
    assert!(rest.iter().all(|other| *other + 60 < r), "{red}");
    browser.follow_on("Save version 2").await;
    browser
        .wait_until_text("main", "The version is saved")
        .await;
    open(&browser, &service, "/examples").await;
    let standing = browser.text("#standing").await;
    assert!(
        standing.contains("✕ 1 of 1 example is broken."),
        "{standing}"
    );
    let results = service.run(&["results", "list", PRISM, "--json"]).await;
    assert_eq!(results.lines().len(), 1);
    assert_eq!(browser.console_errors().await, [""; 0]);
}

/// Red, then green and blue, of `rgb(163, 40, 31)`.
fn channels(colour: &str) -> (u32, [u32; 2]) {
    let numbers = colour.trim_start_matches("rgb(").trim_end_matches(')');
    let numbers: Vec<u32> = numbers
        .split(", ")
        .map(|one| one.parse().unwrap())
        .collect();
    (numbers[0], [numbers[1], numbers[2]])
}
