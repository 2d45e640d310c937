//! One-time codes in a browser, in both themes and at both widths.

use refract_test_stack::service::{Backend, Service};
use refract_test_support::browser::{Browser, BrowserSettings, BrowserTheme};

use super::{PASSWORD, at, joined};
use crate::codes::code;

#[tokio::test]
async fn codes_are_set_up_and_typed_in_without_a_barrier() {
    if !Browser::available() {
        return;
    }
    let service = Service::start(Backend::Sqlite).await;
    for (theme, width) in [(BrowserTheme::Light, 1440), (BrowserTheme::Dark, 360)] {
        let settings = BrowserSettings {
            theme,
            width,
            ..BrowserSettings::default()
        };
        let email = format!("ada{width}@example.com");
        let browser = joined(&service, settings, &email, "owner").await;
        browser.open(&at(&service, "/me")).await;
        browser.follow_on("Set up one-time codes").await;
        look(&browser, "off", width).await;
        browser.follow_on("Set up").await;
        browser.wait_for("svg.qr").await;
        let is_square = "const box = document.querySelector('svg.qr').getBoundingClientRect(); \
                         return box.width > 150 && Math.abs(box.width - box.height) < 1;";
        assert_eq!(browser.evaluate(is_square, &[]).await, true);
        look(&browser, "set-up", width).await;
        let secret = browser.text("#secret").await;
        browser.fill_in("Your password", PASSWORD).await;
        browser
            .fill_in("The code that the app shows now", &code(&secret, 0))
            .await;
        browser.follow_on("Switch on").await;
        browser.wait_for("#recovery-codes").await;
        look(&browser, "recovery", width).await;
        browser.open(&at(&service, "/me/codes")).await;
        look(&browser, "on", width).await;
        browser.open(&at(&service, "/people")).await;
        look(&browser, "people", width).await;

        let home = Browser::start(settings).await;
        home.open(&at(&service, "/sign-in")).await;
        home.fill_in("Email", &email).await;
        home.fill_in("Password", PASSWORD).await;
        home.follow_on("Sign in").await;
        home.wait_until_text("h1", "One more step").await;
        look(&home, "code", width).await;
        home.fill_in("Code of your app, or a recovery code", &code(&secret, 1))
            .await;
        home.follow_on("Sign in").await;
        home.wait_for("nav[aria-label=Sections]").await;
        assert_eq!(browser.console_errors().await, [""; 0]);
        assert_eq!(home.console_errors().await, [""; 0]);
    }
}

/// Checks a state of a page, and keeps a picture of it in the folder that a variable names.
async fn look(browser: &Browser, state: &str, width: u32) {
    if let Some(axe) = Browser::axe() {
        let found = browser.accessibility_violations(&axe).await;
        assert_eq!(found, [""; 0], "{state} {width}");
    }
    let wide = "return document.documentElement.scrollWidth > window.innerWidth;";
    assert_eq!(browser.evaluate(wide, &[]).await, false, "{state} {width}");
    if let Ok(folder) = std::env::var("REFRACT_TEST_PICTURES") {
        let file = format!("{folder}/codes-{state}-{width}.png");
        std::fs::write(file, browser.picture().await).unwrap();
    }
}
