//! A model that is away while a text is tried.

use refract_test_support::browser::{Browser, BrowserSettings};
use refract_test_support::model_server::{ModelServer, ScriptedReply};

use super::{joined, open};
use crate::service::{Backend, Service};

#[tokio::test]
async fn a_try_without_a_model_is_retried_when_it_is_back() {
    if !Browser::available() {
        return;
    }
    let mut service = Service::start(Backend::Sqlite).await;
    let settings = BrowserSettings::default();
    let browser = joined(&service, settings, "ada@example.com", "reviewer").await;
    open(&browser, &service, "/try").await;
    // nothing listens at the model's address any more
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
    browser.follow_on("This result: model, tokens, marks").await;
    let origin = format!("dd a[href=\"{failed}\"]");
    browser.follow(&origin).await;
    browser
        .wait_until_text("main", "The result is failed")
        .await;
    browser.wait_for(&format!("dd a[href=\"{new}\"]")).await;
    assert!(!browser.offers("Retry").await, "it was retried already");
    assert_eq!(browser.console_errors().await, [""; 0]);
}
