//! The form of a prism: validation errors at inputs, moving, adding and removing, reviewing and
//! saving.

use refract_test_stack::service::{Backend, PRISM, Service};
use refract_test_support::browser::{Browser, BrowserSettings, Key};

use super::{joined, open, with_scripts};

const THIRD_OPTION: &str = "[name=\"questions.0.options.2.label\"]";
const FOURTH_OPTION: &str = "[name=\"questions.0.options.3.label\"]";

#[tokio::test]
async fn what_is_wrong_is_reported_beside_its_input_while_typing() {
    if !Browser::available() {
        return;
    }
    let service = Service::start(Backend::Sqlite).await;
    let settings = BrowserSettings::default();
    let browser = joined(&service, settings, "ada@example.com", "editor").await;
    open(&browser, &service, "/edit").await;
    browser.press_in("Name", &erasing("Support triage")).await;
    browser.wait_for("[name=name][aria-invalid=true]").await;
    assert_eq!(browser.beside("Name").await, "Fill this in.");
    browser.press_in("Name", "Triage").await;
    browser.wait_for("[name=name]:not([aria-invalid])").await;
    assert_eq!(browser.beside("Name").await, "");
    assert_eq!(browser.value_in("Name").await, "Triage");
    browser.wait_for_focus("Name").await;
    assert_eq!(browser.console_errors().await, [""; 0]);
}

#[tokio::test]
async fn what_was_typed_a_moment_before_leaving_is_kept() {
    if !Browser::available() {
        return;
    }
    let service = Service::start(Backend::Sqlite).await;
    let settings = BrowserSettings::default();
    let browser = joined(&service, settings, "ada@example.com", "editor").await;
    open(&browser, &service, "/edit").await;
    // the draft is kept after a pause, for which nobody waits here
    browser.press_in("Name", " of today").await;
    open(&browser, &service, "/results").await;
    assert_eq!(
        kept_name(&browser, &service, " of today").await,
        "Support triage of today"
    );
    browser.press_in("Name", ", by Ada").await;
    browser.back().await;
    assert_eq!(
        kept_name(&browser, &service, ", by Ada").await,
        "Support triage of today, by Ada"
    );
}

/// The name on the page that edits, once it ends like this: what was typed is sent while the next page
/// is shown.
async fn kept_name(browser: &Browser, service: &Service, end: &str) -> String {
    let mut name = String::new();
    for _ in 0..20 {
        open(browser, service, "/edit").await;
        name = browser.value_in("Name").await;
        if name.ends_with(end) {
            break;
        }
    }
    name
}

/// The keys that delete a text from its end.
fn erasing(text: &str) -> String {
    let erase = Key::Backspace.to_string().repeat(text.chars().count());
    format!("{}{erase}", Key::End)
}

#[tokio::test]
async fn questions_are_moved_by_keyboard_by_mouse_and_by_buttons() {
    if !Browser::available() {
        return;
    }
    let service = Service::start(Backend::Postgres).await;
    let settings = BrowserSettings {
        height: 2_000,
        ..BrowserSettings::default()
    };
    let browser = joined(&service, settings, "ada@example.com", "editor").await;
    open(&browser, &service, "/edit").await;
    let up = format!("{}{}", Key::Alt, Key::Up);
    browser.press("[name=\"questions.1.text\"]", &up).await;
    until_order(&browser, ["angry", "topic", "urgency"]).await;
    browser.wait_for(":focus").await;
    // the shortcut keeps moving the same item
    let down = format!("{}{}", Key::Alt, Key::Down);
    browser.press(":focus", &down).await;
    until_order(&browser, ["topic", "angry", "urgency"]).await;

    browser
        .drag(
            "[data-item=\"questions.2\"] > .question-tools .handle",
            "[data-item=\"questions.0\"] legend",
        )
        .await;
    until_order(&browser, ["urgency", "topic", "angry"]).await;
    browser.wait_for(":focus").await;
    browser.click_on("Move down question 1").await;
    until_order(&browser, ["topic", "urgency", "angry"]).await;
    browser.follow_on("Review changes").await;
    browser
        .wait_until_text("main", "The questions stand in another order")
        .await;
    browser.follow_on("Save version 2").await;
    let shown = service.run(&["prism", "show", PRISM]).await.object();
    let questions = shown["questions"].as_array().unwrap();
    let keys: Vec<_> = questions.iter().map(|question| &question["key"]).collect();
    assert_eq!(keys, ["topic", "urgency", "angry"]);
    assert_eq!(browser.console_errors().await, [""; 0]);
}

/// Waits until the form has the questions with these keys, in this order.
async fn until_order(browser: &Browser, keys: [&str; 3]) {
    let place = |(place, key)| format!(":has([name=\"questions.{place}.saved_key\"][value={key}])");
    let places: String = keys.into_iter().enumerate().map(place).collect();
    browser.wait_for(&format!("form{places}")).await;
}

#[tokio::test]
async fn options_come_and_go_and_a_version_is_saved_with_scripts() {
    options_come_and_go(Backend::Sqlite, true).await;
}

#[tokio::test]
async fn options_come_and_go_and_a_version_is_saved_without_scripts() {
    options_come_and_go(Backend::Postgres, false).await;
}

async fn options_come_and_go(backend: Backend, scripts: bool) {
    if !Browser::available() {
        return;
    }
    let service = Service::start(backend).await;
    let email = "ada@example.com";
    let browser = joined(&service, with_scripts(scripts), email, "editor").await;
    open(&browser, &service, "/edit").await;
    browser.click_on("Add an option").await;
    browser.wait_for(FOURTH_OPTION).await;
    browser.wait_for_focus("Label").await;
    browser.press(":focus", "Warranty").await;
    browser.click_on("Move up option 4").await;
    until_value(&browser, THIRD_OPTION, "Warranty").await;
    browser.wait_for_focus("Move up option 3").await;
    browser.click_on("Remove option 1").await;
    browser
        .wait_for(&format!("#edit:not(:has({FOURTH_OPTION}))"))
        .await;
    browser.wait_for(":focus").await;
    browser.fill("[name=\"questions.1.text\"]", "").await;
    browser.follow_on("Review changes").await;
    let error = browser.text("[name=\"questions.1.text\"] ~ .fault").await;
    assert!(error.contains("Fill this in"), "{error}");
    browser
        .fill("[name=\"questions.1.text\"]", "Is somebody angry?")
        .await;
    browser.follow_on("Review changes").await;
    let review = browser.text("main").await;
    for words in [
        "for callers The option 'Warranty' of 'topic' is new: readers must expect the value 'warranty'.",
        "for callers The option 'Billing' of 'topic' is gone: no new answer has the value 'billing'.",
        "answers may change The question 'angry' is worded differently.",
    ] {
        assert!(review.contains(words), "{words}: {review}");
    }
    browser.follow_on("Go on editing").await;
    let typed = browser.value("[name=\"questions.1.text\"]").await;
    assert_eq!(typed, "Is somebody angry?");
    browser.follow_on("Review changes").await;
    browser.follow_on("Save version 2").await;
    browser
        .wait_until_text("main", "The version is saved")
        .await;
    let shown = service.run(&["prism", "show", PRISM]).await.object();
    let options = shown["questions"][0]["options"].as_array().unwrap();
    let labels: Vec<_> = options.iter().map(|option| &option["label"]).collect();
    assert_eq!(labels, ["Delivery", "Warranty", "Product"], "{shown}");
    let refusals = browser.console_errors().await;
    assert_eq!(refusals, [""; 0]);
}

/// Waits until an input has this value.
async fn until_value(browser: &Browser, css: &str, value: &str) {
    browser.wait_for(&format!("{css}[value=\"{value}\"]")).await;
}
