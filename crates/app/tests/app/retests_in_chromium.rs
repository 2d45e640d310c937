//! A retest in a real Chromium: from the page Quality to the flips, by keyboard, on a telephone.
//! Without a browser this test checks nothing.

use refract_test_stack::service::{Backend, PRISM, Service};
use refract_test_support::browser::{Browser, BrowserSettings, Key};

use crate::chromium::{at, joined};
use crate::retests::stored;

/// An editor's browser with a page of this width.
async fn on_a_telephone(service: &Service, width: u32) -> Browser {
    let settings = BrowserSettings {
        width,
        ..BrowserSettings::default()
    };
    joined(service, settings, "ada@example.com", "editor").await
}

/// The page is as wide as the screen and has no barrier.
async fn assert_fits(browser: &Browser) {
    let sideways = "return document.documentElement.scrollWidth > innerWidth;";
    let wide = browser.evaluate(sideways, &[]).await;
    assert_eq!(wide, false, "the page is as wide as the screen");
    if let Some(axe) = Browser::axe() {
        assert_eq!(browser.accessibility_violations(&axe).await, [""; 0]);
    }
}

#[tokio::test]
async fn a_retest_is_started_and_followed_by_keyboard_on_a_telephone() {
    if !Browser::available() {
        return;
    }
    let service = Service::start(Backend::Sqlite).await;
    stored(&service, 40).await;
    let browser = on_a_telephone(&service, 390).await;
    let enter = Key::Enter.to_string();
    let quality = format!("/prisms/{PRISM}/quality");
    browser.open(&at(&service, &quality)).await;
    browser.follow_keys("#retest a.button", &enter).await;
    assert_fits(&browser).await;
    browser.fill_in("Model", "m2").await;
    browser.follow_keys("form[method=get] button", &enter).await;
    browser
        .wait_until_text("#estimate", "40 texts: about")
        .await;
    assert_fits(&browser).await;
    browser.follow_keys("#estimate button.main", &enter).await;
    // the page follows by itself
    browser.wait_until_text("main", "40 of 40 texts").await;
    browser.wait_until_text("main", "The surest flips").await;
    assert_fits(&browser).await;
    browser.press("#flips a[download]", &enter).await;
    let file = browser
        .wait_for_download(&format!("{PRISM}-flips.csv"))
        .await;
    let file = String::from_utf8(file).unwrap();
    assert!(file.starts_with("result_id,ref,question,before,"), "{file}");
    browser.follow_keys("#flips tbody th a", &enter).await;
    assert!(browser.address().await.contains("/results/"));
    assert_eq!(browser.console_errors().await, [""; 0]);
}

#[tokio::test]
async fn a_draft_is_tried_on_stored_texts_by_keyboard_on_a_telephone() {
    if !Browser::available() {
        return;
    }
    let service = Service::start(Backend::Sqlite).await;
    stored(&service, 40).await;
    let browser = on_a_telephone(&service, 360).await;
    let enter = Key::Enter.to_string();
    let trial = format!("/prisms/{PRISM}/edit/trial?choice=least_sure&texts=25");
    browser.open(&at(&service, &trial)).await;
    assert_fits(&browser).await;
    browser.follow_keys("#estimate button.main", &enter).await;
    browser.fill_in("Context", "Other words.").await;
    browser
        .wait_until_text("#state", "Kept as your draft")
        .await;
    // what is still being typed is kept before the page is left
    browser.follow_keys("button[value=trial]", &enter).await;
    browser
        .wait_until_text("#estimate", "25 least sure texts: about")
        .await;
    assert_fits(&browser).await;
    browser.follow_keys("#estimate button.main", &enter).await;
    // the page follows by itself
    browser.wait_until_text("main", "25 of 25 texts").await;
    browser
        .wait_until_text("main", "Your draft, as its words are now.")
        .await;
    browser.wait_until_text("main", "flips of 25 answers").await;
    assert_fits(&browser).await;
    assert_eq!(browser.console_errors().await, [""; 0]);
}
