//! A file run in a real Chromium: from upload to download, left and found again, by keyboard, on a
//! telephone. Without a browser these tests check nothing.

use refract_test_stack::service::{Backend, PRISM, Service};
use refract_test_support::browser::{Browser, BrowserSettings, Key};

use crate::chromium::{at, joined};

/// A semicolon file with Windows line ends.
fn write_messages(service: &Service, rows: usize) -> String {
    let rows = (1..=rows).map(|row| format!("{row};\"Message; number {row}\"\r\n"));
    let file = format!("Nr;Message\r\n{}", rows.collect::<String>());
    let path = service.write("messages.csv", file);
    path.to_str().unwrap().to_owned()
}

async fn run_a_file(settings: BrowserSettings) {
    let service = Service::start(Backend::Sqlite).await;
    let browser = joined(&service, settings, "ada@example.com", "editor").await;
    let path = write_messages(&service, 200);
    browser
        .open(&at(&service, &format!("/prisms/{PRISM}/runs")))
        .await;
    browser.press("#file", &path).await;
    let enter = Key::Enter.to_string();
    browser
        .follow_keys("form[enctype] button.main", &enter)
        .await;
    assert!(browser.text("main").await.contains("CSV with semicolons"));
    let sideways = "return document.documentElement.scrollWidth > innerWidth;";
    assert_eq!(
        browser.evaluate(sideways, &[]).await,
        false,
        "the page is as wide as the screen"
    );
    browser.choose("[id=\"column.text\"]", "Message").await;
    browser.follow_keys("form.narrow button.main", &enter).await;
    // the page follows by itself
    browser.wait_until_text("main", "ready to start").await;
    assert!(browser.text("main").await.contains("200 rows"));
    browser
        .follow_keys("form[action$=\"/preview\"] button", &enter)
        .await;
    browser.wait_until_text("main", "Five rows, answered").await;
    browser
        .follow_keys("form[action$=\"/start\"] button.main", &enter)
        .await;
    let address = browser.address().await;
    browser.open(&at(&service, "/")).await;
    browser.open(&address).await;
    browser.wait_until_text("main", "200 of 200 rows").await;
    browser.wait_until_text("main", "What was answered").await;
    browser
        .press("form[action$=\"/download\"] button", &enter)
        .await;
    let file = browser.wait_for_download(&format!("{PRISM}-run.csv")).await;
    let file = String::from_utf8(file).unwrap();
    let mut lines = file.lines();
    assert!(
        lines.next().unwrap().starts_with("Nr,Message,result_id,"),
        "{file}"
    );
    assert!(
        lines.next().unwrap().starts_with("1,Message; number 1,"),
        "{file}"
    );
    assert_eq!(lines.count(), 199);
    assert_eq!(service.asked(), 200);
    assert_eq!(
        browser.evaluate(sideways, &[]).await,
        false,
        "the page is as wide as the screen"
    );
    assert_eq!(browser.console_errors().await, [""; 0]);
}

#[tokio::test]
async fn a_file_is_run_by_keyboard_left_and_found_again() {
    if Browser::available() {
        run_a_file(BrowserSettings::default()).await;
    }
}

#[tokio::test]
async fn a_file_is_run_on_a_telephone() {
    if Browser::available() {
        let settings = BrowserSettings {
            width: 390,
            ..BrowserSettings::default()
        };
        run_a_file(settings).await;
    }
}
