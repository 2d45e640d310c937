//! The page of a question's quality in Chromium: in both themes, at both widths, by keyboard.

use refract_test_stack::marked_texts::marked_texts;
use refract_test_stack::service::{Backend, Service};
use refract_test_support::browser::{Browser, BrowserSettings, BrowserTheme};
use refract_test_support::on_both;

use super::{joined, open};

on_both!(advice_leads_into_the_lens_by_keyboard,);

#[tokio::test]
async fn pictures_and_tables_have_no_barrier() {
    let backend = Backend::Sqlite;
    let Some(axe) = Browser::axe() else { return };
    let service = Service::start(backend).await;
    service.ask_and_mark(&marked_texts(130)).await;
    for (theme, width) in [(BrowserTheme::Light, 390), (BrowserTheme::Dark, 1440)] {
        let settings = BrowserSettings {
            theme,
            width,
            ..BrowserSettings::default()
        };
        let email = format!("eve{width}@example.com");
        let browser = joined(&service, settings, &email, "reviewer").await;
        for query in [
            "topic",
            "angry&marks=all",
            "urgency&goal=recall&wanted=x",
            "topic&version=9",
        ] {
            open(&browser, &service, &format!("/quality?question={query}")).await;
            let found = browser.accessibility_violations(&axe).await;
            assert_eq!(found, [""; 0], "{width} {query}");
            let wide = "return document.documentElement.scrollWidth > window.innerWidth;";
            assert_eq!(browser.evaluate(wide, &[]).await, false, "{width} {query}");
        }
        assert_eq!(browser.console_errors().await, [""; 0]);
    }
}

async fn advice_leads_into_the_lens_by_keyboard(backend: Backend) {
    if !Browser::available() {
        return;
    }
    let service = Service::start(backend).await;
    service.ask_and_mark(&marked_texts(130)).await;
    let settings = BrowserSettings::default();
    let browser = joined(&service, settings, "ada@example.com", "editor").await;
    open(&browser, &service, "/quality").await;
    browser
        .press("nav[aria-label=Questions] a:nth-child(2)", "\u{e007}")
        .await;
    browser
        .wait_until_text("main", "Is the writer angry?")
        .await;
    let most = "Number";
    browser.fill_in(most, "250").await;
    browser.press_in(most, "\u{e007}").await;
    let wanted = "At most 250 of 1,000 automatic answers wrong";
    browser.wait_until_text("#cutoffs", wanted).await;
    let draft = browser.attribute(".recommended a", "href").await.unwrap();
    browser.press(".recommended a", "\u{e007}").await;
    browser.wait_for("#lens").await;
    assert!(browser.address().await.ends_with(&draft));
    assert_eq!(browser.console_errors().await, [""; 0]);
}
