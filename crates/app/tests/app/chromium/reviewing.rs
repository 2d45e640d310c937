//! Marking by keyboard alone.

use std::time::{Duration, Instant};

use refract_test_stack::service::{Backend, PRISM, Service};
use refract_test_support::browser::{Browser, BrowserSettings, BrowserTheme};
use serde_json::json;

use super::{at, joined, open};

/// The Enter and the Tab key.
const ENTER: &str = "\u{e007}";
const TAB: &str = "\u{e004}";
/// Upper bound on the waits for 40 texts, on a machine that is busy with other tests.
const MOST_WAITING: Duration = Duration::from_mins(1);

async fn made(service: &Service, count: usize) {
    for number in 0..count {
        let text =
            format!("My order {number} has not arrived, although it was promised for today.");
        service.create(&json!({"text": text})).await;
    }
}

/// Presses a key that opens the next page, and checks how many texts are left there.
async fn press(browser: &Browser, key: &str, left: usize) {
    browser.follow_keys("body", key).await;
    let sitting = browser.text(".sitting").await;
    assert!(sitting.contains(&format!("{left} left")), "{sitting}");
}

#[tokio::test]
async fn forty_texts_are_marked_by_keys_in_less_than_five_minutes() {
    let backend = Backend::Postgres;
    if !Browser::available() {
        return;
    }
    let service = Service::start(backend).await;
    made(&service, 41).await;
    let settings = BrowserSettings::default();
    let browser = joined(&service, settings, "ada@example.com", "reviewer").await;
    open(&browser, &service, "/review").await;
    browser.choose("#question", "angry").await;
    browser.follow_keys("button.main", "\u{e007}").await;
    let began = Instant::now();
    for number in 0..40 {
        press(&browser, ["y", "n", "y"][number % 3], 40 - number).await;
    }
    // all waits together: the rest of five minutes is for reading
    assert!(began.elapsed() < MOST_WAITING, "{:?}", began.elapsed());
    press(&browser, "u", 2).await;
    browser.press("body", "/").await;
    browser.press("#note", "sarcasm\u{e00c}").await;
    press(&browser, "s", 2).await;
    press(&browser, "c", 1).await;
    let marked = ["evaluate", PRISM, "--question", "angry", "--json"];
    let marked = service.run(&marked).await.lines();
    assert_eq!(marked[0]["marks"], json!(39));
    assert_eq!(browser.console_errors().await, [""; 0]);
}

#[tokio::test]
async fn no_step_of_a_review_has_a_barrier() {
    let backend = Backend::Sqlite;
    let Some(axe) = Browser::axe() else { return };
    let service = Service::start(backend).await;
    made(&service, 12).await;
    for (theme, width) in [(BrowserTheme::Light, 1440), (BrowserTheme::Dark, 390)] {
        let settings = BrowserSettings {
            theme,
            width,
            ..BrowserSettings::default()
        };
        let email = format!("ada{width}@example.com");
        let browser = joined(&service, settings, &email, "owner").await;
        for queue in ["random", "least_sure"] {
            open(&browser, &service, &format!("/review?queue={queue}")).await;
            browser.follow("button.main").await;
            for _ in 0..2 {
                let found = browser.accessibility_violations(&axe).await;
                assert_eq!(found, [""; 0], "{queue} {width}");
                let wide = "return document.documentElement.scrollWidth > window.innerWidth;";
                assert_eq!(browser.evaluate(wide, &[]).await, false, "{queue} {width}");
                browser.follow_keys("body", "1").await;
                assert!(browser.is_shown(".last-step").await, "{queue} {width}");
            }
        }
        open(&browser, &service, "/review").await;
        let found = browser.accessibility_violations(&axe).await;
        assert_eq!(found, [""; 0], "{width}");
    }
}

/// Texts by Tab and Enter alone: after each judgement the focus is on the next text.
#[tokio::test]
async fn after_a_judgement_the_next_text_has_the_focus() {
    if !Browser::available() {
        return;
    }
    let service = Service::start(Backend::Sqlite).await;
    made(&service, 4).await;
    let settings = BrowserSettings::default();
    let browser = joined(&service, settings, "ada@example.com", "reviewer").await;
    open(&browser, &service, "/review").await;
    browser.choose("#question", "angry").await;
    browser.follow_keys("button.main", ENTER).await;
    let focused = "const it = document.activeElement; \
         return [it.getAttribute('aria-label'), document.getElementById(it.getAttribute('aria-describedby'))?.textContent.includes('has not arrived')];";
    let yes = "return document.activeElement.textContent.trim();";
    browser.follow("a[data-key=s]").await;
    for left in [3, 2, 1] {
        assert_eq!(browser.evaluate(focused, &[]).await, json!(["Text", true]));
        browser.press("[autofocus]", TAB).await;
        assert_eq!(browser.evaluate(yes, &[]).await, "y Yes");
        browser.follow_keys("button[value=yes]", ENTER).await;
        let sitting = browser.text(".sitting").await;
        assert!(sitting.contains(&format!("{left} left")), "{sitting}");
    }
}

/// People who speak to the computer switch the single keys off.
#[tokio::test]
async fn single_keys_can_be_switched_off() {
    if !Browser::available() {
        return;
    }
    let service = Service::start(Backend::Sqlite).await;
    made(&service, 2).await;
    let settings = BrowserSettings::default();
    let browser = joined(&service, settings, "ada@example.com", "reviewer").await;
    browser.open(&at(&service, "/me")).await;
    browser.click("#keys input").await;
    browser.reload().await;
    let is_on = "return document.querySelector('#keys input').checked;";
    assert_eq!(browser.evaluate(is_on, &[]).await, false);
    open(&browser, &service, "/review").await;
    browser.choose("#question", "angry").await;
    browser.follow("button.main").await;
    browser.press("body", "y").await;
    assert!(browser.text(".sitting").await.contains("2 left"));
    assert!(!browser.is_shown("kbd").await, "no key is promised");
    browser.follow("button[value=yes]").await;
    assert!(browser.text(".sitting").await.contains("1 left"));
}
