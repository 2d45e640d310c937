//! A new key is copied, and shown once.

use refract_test_stack::service::{Backend, Service};
use refract_test_support::browser::{Browser, BrowserSettings, Key};
use serde_json::json;

use super::{at, joined};

/// Grants or denies pages write access to the clipboard.
async fn set_clipboard(browser: &Browser, setting: &str) {
    let permission = json!({"permission": {"name": "clipboard-write"}, "setting": setting});
    browser.cdp("Browser.setPermission", permission).await;
}

#[tokio::test]
async fn a_key_is_copied_and_not_shown_again() {
    if !Browser::has_devtools() {
        return;
    }
    let service = Service::start(Backend::Sqlite).await;
    let settings = BrowserSettings::default();
    let browser = joined(&service, settings, "ada@example.com", "owner").await;
    browser.follow_on("Keys").await;
    browser.fill_in("Name of the new key", "importer").await;
    browser.follow_on("Make a key").await;
    let shown = browser.text("#key").await;
    let key = shown.as_str();
    assert!(!browser.address().await.contains(key), "no address has it");

    let copy = "button[data-copy=key]";
    set_clipboard(&browser, "denied").await;
    browser.click(copy).await;
    let asked = "Selected: now copy it";
    browser.wait_until_text(copy, asked).await;
    let selected = "return getSelection().toString();";
    assert_eq!(browser.evaluate(selected, &[]).await, shown);

    set_clipboard(&browser, "granted").await;
    browser.click(copy).await;
    browser.wait_until_text(copy, "Copied").await;
    browser.follow_on("I have copied it").await;
    let paste = format!("{}v", Key::Control);
    let name = "Name of the new key";
    browser.press_in(name, &paste).await;
    assert_eq!(browser.value_in(name).await, shown);

    browser.back().await;
    let page = browser.evaluate("return document.documentElement.outerHTML;", &[]);
    assert!(!page.await.as_str().unwrap().contains(key), "going back");
    browser.fill_in(name, "another").await;
    browser.follow_on("Make a key").await;
    let shown = browser.text("#key").await;
    browser.reload().await;
    browser.wait_until_text("h1", "Keys").await;
    let rows = browser.texts("tbody th").await;
    assert_eq!(rows.len(), 3, "reloading makes no other key: {rows:?}");
    assert!(!browser.text("body").await.contains(&shown));
    assert_eq!(browser.address().await, at(&service, "/keys"));
    assert_eq!(browser.console_errors().await, [""; 0]);
}
