//! A text is answered without a reload, also while the model or the node is unavailable.

use refract_test_stack::http::within_patience;
use refract_test_stack::service::{Backend, Service};
use refract_test_support::browser::{Browser, BrowserSettings, Key};
use refract_test_support::model_server::{ModelServer, ScriptedReply};

use super::{joined, open};

#[tokio::test]
async fn a_try_without_a_model_is_retried_when_it_is_back() {
    if !Browser::available() {
        return;
    }
    let mut service = Service::start(Backend::Sqlite).await;
    let settings = BrowserSettings::default();
    let browser = joined(&service, settings, "ada@example.com", "reviewer").await;
    open(&browser, &service, "/try").await;
    // nothing listens at the model's address now
    let port = service.model.port();
    service.model = ModelServer::start(ScriptedReply::answers());
    browser.fill_in("Message", "Where is\nmy bike?").await;
    browser.click_on("Answer").await;
    browser
        .wait_until_text("#answer", "The result is failed")
        .await;
    let failed = browser.text("#answer").await;
    assert!(!failed.contains('%'), "{failed}");
    let failed = browser.attribute("#answer a", "href").await.unwrap();

    service.model = ModelServer::start_on(port, ScriptedReply::answers());
    browser.follow_on("Retry").await;
    browser.wait_until_text("#answer", "70.0 %").await;
    assert!(!browser.offers("Retry").await);
    assert_eq!(browser.value_in("Message").await, "Where is\nmy bike?");
    let new = browser.attribute("#answer a", "href").await.unwrap();
    assert_ne!(new, failed);
    browser
        .follow_on("This result: tokens, attempts, marks")
        .await;
    let origin = format!("p a[href=\"{failed}\"]");
    browser.follow(&origin).await;
    browser
        .wait_until_text("main", "The result is failed")
        .await;
    browser.wait_for(&format!("p a[href=\"{new}\"]")).await;
    assert!(!browser.offers("Retry").await, "it was retried already");
    assert_eq!(browser.console_errors().await, [""; 0]);
}

#[tokio::test]
async fn texts_are_tried_in_place() {
    if !Browser::available() {
        return;
    }
    let mut service = Service::start(Backend::Postgres).await;
    let settings = BrowserSettings::default();
    let browser = joined(&service, settings, "ada@example.com", "reviewer").await;
    open(&browser, &service, "/try").await;
    browser.fill_in("Message", "first").await;
    let send = format!("{}{}", Key::Control, Key::Enter);
    browser.press_in("Message", &send).await;
    browser.wait_until_text("#answer", "70.0 %").await;
    browser.wait_until_text("#progress", "Answered.").await;
    let first = browser.address().await;
    browser.click_on("Check the order of options").await;
    browser.wait_until_text("#orders", "Largest move").await;
    assert_eq!(browser.value_in("Message").await, "first");

    browser.fill_in("Message", "second").await;
    browser.click_on("Answer").await;
    until_address_is_not(&browser, &first).await;
    // the answer shown without a reload is a page of the browser's history
    browser.back().await;
    browser.wait_until_text("#answer", "70.0 %").await;
    assert_eq!(browser.address().await, first);
    until_message(&browser, "first").await;

    let long = "a".repeat(100_001);
    browser.fill_in("Message", &long).await;
    browser.click_on("Answer").await;
    browser
        .wait_until_text("main", "Nothing was asked or saved.")
        .await;
    let words = "At most 100,000 characters; this has 100,001.";
    assert!(browser.beside("Message").await.contains(words));
    browser.wait_for_focus("Message").await;
    assert!(browser.value_in("Message").await == long, "it is kept");

    browser.fill_in("Message", "  ").await;
    browser.click_on("Answer").await;
    browser
        .wait_until_text("main", "There is no text yet.")
        .await;
    assert!(browser.offers("Answer the empty text").await);

    browser.fill_in("Message", "third").await;
    let node = service.nodes.remove(0);
    let address = node.app.to_string();
    drop(node);
    browser.click_on("Answer").await;
    let words = "The server could not be reached. What you typed is still here.";
    browser.wait_until_text("#progress", words).await;
    service
        .start_node(&[("REFRACT_APP_LISTEN", &address)])
        .await;
    browser.click_on("Answer").await;
    browser.wait_until_text("#progress", "Answered.").await;
    assert_eq!(browser.value_in("Message").await, "third");
    let page = browser.text("main").await;
    assert!(
        !page.contains("Nothing was asked"),
        "an old refusal: {page}"
    );
}

/// Waits until the browser's address changes.
async fn until_address_is_not(browser: &Browser, address: &str) {
    let changed = async {
        while browser.address().await == address {
            tokio::task::yield_now().await;
        }
    };
    within_patience(changed).await;
}

/// Waits until the form contains this text.
async fn until_message(browser: &Browser, text: &str) {
    let changed = async { while browser.value_in("Message").await != text {} };
    within_patience(changed).await;
}
