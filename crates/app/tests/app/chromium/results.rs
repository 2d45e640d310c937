//! The list of results and a single one: filters, pages, marks, a retry.

use refract_test_stack::service::{Backend, Service};
use refract_test_support::browser::{Browser, BrowserSettings};
use serde_json::json;

use super::{joined, open};

/// Results in addition to the failed one; more than one page.
const MORE: usize = 52;

#[tokio::test]
async fn results_are_filtered_paged_marked_and_retried() {
    if !Browser::available() {
        return;
    }
    let service = Service::start(Backend::Postgres).await;
    for number in 1..=MORE {
        let reference = if number == 1 { "the first" } else { "later" };
        let body = json!({"text": format!("message {number}"), "ref": reference});
        assert_eq!(service.create(&body).await.status, 200);
    }
    service
        .failed(&json!({"text": "message of a failure"}))
        .await;
    let settings = BrowserSettings::default();
    let browser = joined(&service, settings, "ada@example.com", "reviewer").await;
    open(&browser, &service, "/results").await;
    browser
        .wait_until_text("main", "53 results, newest first")
        .await;
    pages_lead_back_and_forth(&browser).await;
    filters_narrow(&browser).await;
    a_mark_is_made_and_taken_back(&browser).await;
    a_failed_result_is_retried(&browser, &service).await;
    assert_eq!(browser.console_errors().await, [""; 0]);
}

/// The refs of the visible rows.
async fn refs(browser: &Browser) -> Vec<String> {
    let headings = browser.texts("thead th").await;
    let column = headings.iter().position(|heading| heading == "Ref");
    let column = format!(
        "tbody tr > :nth-last-child({})",
        headings.len() - column.unwrap()
    );
    browser.texts(&column).await
}

async fn pages_lead_back_and_forth(browser: &Browser) {
    assert_eq!(refs(browser).await.len(), 50);
    assert!(!browser.offers("Newer").await);
    browser.follow_on("Older").await;
    assert_eq!(refs(browser).await, ["later", "later", "the first"]);
    assert!(!browser.offers("Older").await);
    browser.follow_on("Newer").await;
    assert_eq!(refs(browser).await.len(), 50);
    browser.back().await;
    assert_eq!(refs(browser).await.len(), 3);
}

async fn filters_narrow(browser: &Browser) {
    browser.fill_in("Ref", "the first").await;
    browser.choose_in("angry", "Yes").await;
    browser.follow_on("Filter").await;
    assert_eq!(refs(browser).await, ["the first"]);
    assert_eq!(browser.value_in("Ref").await, "the first");
    // a choice that was not sent yet goes with the period
    browser.fill_in("Words in the texts", "MESSAGE 1").await;
    for period in ["Today", "This week", "Last 7 days", "Last 30 days"] {
        browser.follow_on(period).await;
        assert_eq!(refs(browser).await, ["the first"], "{period}");
        browser
            .wait_until_text("main", "1 result, newest first")
            .await;
        assert_eq!(browser.value_in("Words in the texts").await, "MESSAGE 1");
        let chosen = browser.texts("main [aria-pressed=true]").await;
        // on a Monday, this week is today
        assert!(chosen.iter().any(|words| words == period), "{chosen:?}");
    }
    browser.fill_in("From (UTC)", "").await;
    browser.fill_date_in("To (UTC)", "2020-01-02").await;
    browser.follow_on("Filter").await;
    browser.wait_until_text("main", "No result matches.").await;
    assert_eq!(browser.value_in("To (UTC)").await, "2020-01-02");
    browser.follow_on("Clear the filters").await;
    browser.choose_in("Status", "failed").await;
    browser.follow_on("Filter").await;
    assert_eq!(refs(browser).await, [""]);
    browser.choose_in("Status", "any").await;
    browser.choose_in("Made by", "Ada").await;
    browser.follow_on("Filter").await;
    browser.wait_until_text("main", "No result matches.").await;
}

async fn a_mark_is_made_and_taken_back(browser: &Browser) {
    browser.follow_on("Clear the filters").await;
    browser.fill_in("Ref", "the first").await;
    browser.follow_on("Filter").await;
    browser.follow("tbody th a").await;
    browser.wait_until_text("main", "message 1").await;
    browser
        .choose_in("Right answer: Is the writer angry?", "No")
        .await;
    browser.follow_on("Save marks").await;
    browser
        .wait_until_text("main", "The marks are saved.")
        .await;
    browser.wait_until_text("main", "Marked by Ada").await;
    assert_eq!(
        browser.value_in("Right answer: Is the writer angry?").await,
        "no"
    );
    let differs = "Differs from the answer.";
    browser.wait_until_text("main", differs).await;
    browser
        .choose_in("Right answer: Is the writer angry?", "not marked")
        .await;
    browser.follow_on("Save marks").await;
    browser
        .wait_until_text("main", "The marks are saved.")
        .await;
    assert!(!browser.text("main").await.contains("Marked by"));
}

async fn a_failed_result_is_retried(browser: &Browser, service: &Service) {
    let asked = service.asked();
    browser.follow_on("Results").await;
    browser.choose_in("Status", "failed and not retried").await;
    browser.follow_on("Filter").await;
    browser.follow("tbody th a").await;
    browser
        .wait_until_text("main", "The result is failed")
        .await;
    browser.follow_on("Retry").await;
    browser.wait_until_text("main", "Retry of").await;
    browser.wait_until_text("main", "70.0 %").await;
    assert_eq!(service.asked(), asked + 1);
    browser.follow_on("Results").await;
    browser.choose_in("Status", "failed and not retried").await;
    browser.follow_on("Filter").await;
    browser.wait_until_text("main", "No result matches.").await;
    browser.choose_in("Status", "failed").await;
    browser.follow_on("Filter").await;
    browser.follow_on("retried").await;
    browser.wait_until_text("main", "Retry of").await;
}

#[tokio::test]
async fn results_are_marked_by_single_keys() {
    if !Browser::available() {
        return;
    }
    let service = Service::start(Backend::Sqlite).await;
    for text in ["first", "second"] {
        assert_eq!(service.create(&json!({"text": text})).await.status, 200);
    }
    let settings = BrowserSettings::default();
    let browser = joined(&service, settings, "ada@example.com", "reviewer").await;
    open(&browser, &service, "/results").await;
    browser.follow("tbody th a").await;
    browser.wait_until_text("main", "second").await;
    let marks = async || {
        let script =
            "return [...document.querySelectorAll('#marks select')].map((it) => it.value);";
        browser.evaluate(script, &[]).await
    };
    // a letter means something only where the focus is among the answers, as after a digit
    browser.press("body", "n").await;
    assert_eq!(marks().await, json!(["", "", ""]));
    browser.press("body", "2n").await;
    browser.wait_until_text("#mark-state", "Saved.").await;
    assert_eq!(marks().await, json!(["delivery", "no", ""]));
    let current = "section[data-current]";
    browser.press(current, "u").await;
    assert_eq!(marks().await, json!(["delivery", "", ""]));
    browser.press(current, "y3").await;
    assert_eq!(marks().await, json!(["delivery", "yes", "today"]));
    browser.wait_until_text("#mark-state", "Saved.").await;
    browser.follow_on("Next").await;
    browser.wait_until_text("main", "first").await;
    assert_eq!(marks().await, json!(["", "", ""]));
    browser.follow_on("Previous").await;
    browser.wait_until_text("main", "Marked by Ada").await;
    assert_eq!(marks().await, json!(["delivery", "yes", "today"]));
    assert_eq!(browser.console_errors().await, [""; 0]);
}

#[tokio::test]
async fn times_and_days_are_the_readers() {
    if !Browser::has_devtools() {
        return;
    }
    let service = Service::start(Backend::Sqlite).await;
    assert_eq!(service.create(&json!({"text": "now"})).await.status, 200);
    let settings = BrowserSettings::default();
    let browser = joined(&service, settings, "ada@example.com", "reviewer").await;
    // a clock that is always 13 hours ahead of UTC: its day began at 11:00 UTC
    let zone = json!({"timezoneId": "Etc/GMT-13"});
    browser.cdp("Emulation.setTimezoneOverride", zone).await;
    open(&browser, &service, "/results").await;
    let script = "const time = document.querySelector('tbody time'), at = new Date(time.dateTime); \
         const there = new Date(at.getTime() + 13 * 3600000).toISOString().slice(11, 16); \
         return [time.textContent.slice(-5) === there, time.title.endsWith('(Etc/GMT-13)')];";
    assert_eq!(browser.evaluate(script, &[]).await, json!([true, true]));

    browser.follow_on("Today").await;
    browser.wait_until_text("main", "1 result").await;
    let address = browser.address().await;
    assert!(address.contains("%2B13%3A00"), "{address}");
    assert_eq!(
        browser
            .texts("main [aria-pressed=true]")
            .await
            .first()
            .map(String::as_str),
        Some("Today")
    );
    browser.wait_until_text(".chips", "(UTC+13:00)").await;
    // a form that is sent again keeps the reader's day, and what it leads to speaks of the same set
    let day = browser.value_in("From").await;
    browser.fill_in("Words in the texts", "now").await;
    browser.follow_on("Filter").await;
    assert_eq!(browser.value_in("From").await, day);
    browser.wait_until_text("main", "1 result").await;
    assert_eq!(browser.console_errors().await, [""; 0]);
    browser.fill_date_in("To", "2020-01-02").await;
    browser.follow_on("Filter").await;
    browser
        .wait_until_text("main", "is before the first day")
        .await;
}
