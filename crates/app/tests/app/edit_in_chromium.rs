//! The form of a prism in a real Chromium: focus, announcements, and large prisms. Without a
//! browser these tests check nothing.

use refract_test_stack::browser::invited;
use refract_test_stack::service::{Backend, PRISM, Service, text};
use refract_test_support::browser::{Browser, BrowserSettings, Key};
use serde_json::json;

const PASSWORD: &str = "zy!3kQ9 dab.x";
const STATUS: &str = "#edit-status";

/// A browser with a signed-in editor, on a page.
async fn opened(service: &Service, path: &str) -> Browser {
    opened_at(service, path, 1440).await
}

async fn opened_at(service: &Service, path: &str, width: u32) -> Browser {
    let link = invited(service, "ada@example.com", "editor").await;
    let (_, token) = link.split_once("/join/").unwrap();
    let at = |path: &str| format!("http://{}{path}", service.nodes[0].app);
    let settings = BrowserSettings {
        width,
        ..BrowserSettings::default()
    };
    let browser = Browser::start(settings).await;
    browser.open(&at(&format!("/join/{token}"))).await;
    browser.fill("#name", "Ada").await;
    browser.fill("#password", PASSWORD).await;
    browser.fill("#password_again", PASSWORD).await;
    browser.follow("button.main").await;
    browser.open(&at(path)).await;
    browser
}

/// Waits for an announcement, and returns the id of the focused element.
async fn focus_after(browser: &Browser, announced: &str) -> String {
    browser.wait_until_text(STATUS, announced).await;
    let id = browser.evaluate("return document.activeElement.id;", &[]);
    id.await.as_str().unwrap().to_owned()
}

#[tokio::test]
async fn the_focus_stays_where_one_works_and_what_happened_is_reported() {
    if !Browser::available() {
        return;
    }
    let service = Service::start(Backend::Sqlite).await;
    let browser = opened_at(&service, &format!("/prisms/{PRISM}/edit"), 360).await;
    let label = "[id=\"questions.0.options.2.label\"]";
    let up = format!("{}{}", Key::Alt, Key::Up);
    browser.press(label, &up).await;
    let focus = focus_after(&browser, "Option 3 is number 2 of 3.").await;
    assert_eq!(focus, "questions.0.options.1.label", "the input that moved");
    for (button, announced, expected) in [
        (
            "questions.0.options.1.remove",
            "Option 2 is removed. 2 left.",
            "questions.0.options.1.remove",
        ),
        (
            "questions.0.options.1.remove",
            "Option 2 is removed. 1 left.",
            "questions.0.options.0.remove",
        ),
        (
            "questions.0.options.add",
            "Option 2 is new.",
            "questions.0.options.1.label",
        ),
        (
            "questions.2.remove",
            "Question 3 is removed. 2 left.",
            "questions.1.remove",
        ),
        (
            "questions.0.remove",
            "Question 1 is removed. 1 left.",
            "questions.0.remove",
        ),
        (
            "questions.0.remove",
            "Question 1 is removed. 0 left.",
            "questions.add.choice",
        ),
        (
            "questions.add.scale",
            "Question 1 is new.",
            "questions.0.text",
        ),
        (
            "fields.0.remove",
            "Field 1 is removed. 0 left.",
            "fields.add",
        ),
    ] {
        browser.click(&format!("[id=\"{button}\"]")).await;
        assert_eq!(focus_after(&browser, announced).await, expected, "{button}");
    }
    assert_eq!(browser.console_errors().await, [""; 0]);
}

#[tokio::test]
async fn errors_stand_beside_what_was_typed_and_follow_it() {
    if !Browser::available() {
        return;
    }
    let service = Service::start(Backend::Sqlite).await;
    let browser = opened(&service, "/prisms/new/edit?from=support-triage").await;
    browser.click("[id=\"questions.0.options.add\"]").await;
    browser.wait_until_text(STATUS, "is new.").await;
    assert_eq!(browser.texts(".fault").await, [""; 0], "nothing was typed");
    let key = |place: usize| format!("[id=\"questions.0.options.{place}.key\"]");
    browser.fill(&key(0), "no key").await;
    browser.wait_for("p.fault").await;
    let words = browser.text("p.fault").await;
    assert_eq!(browser.text(STATUS).await, words, "it is said too");
    // the validation error moves with the option
    browser.click("[id=\"questions.0.options.0.down\"]").await;
    browser
        .wait_until_text(STATUS, "Option 1 is number 2")
        .await;
    let error = "[id=\"questions.0.options.1.key-fault\"]";
    assert_eq!(browser.text(error).await, words);
    assert_eq!(browser.texts("p.fault").await.len(), 1);
    browser.fill(&key(1), "fine").await;
    browser.wait_for("form:not(:has(p.fault))").await;
    assert_eq!(browser.console_errors().await, [""; 0]);
}

#[tokio::test]
async fn a_prism_of_the_largest_size_is_changed_and_saved() {
    if !Browser::available() {
        return;
    }
    let service = Service::start(Backend::Sqlite).await;
    let options: Vec<_> = (0..253)
        .map(|n| json!({ "label": format!("Option {n}"), "description": format!("It is number {n}.") }))
        .collect();
    let questions: Vec<_> = (0..100)
        .map(|n| json!({ "key": format!("q{n}"), "type": "choice", "text": format!("Which {n}?"), "options": options }))
        .collect();
    let file = json!({ "name": "Large", "fields": [{ "key": "text", "label": "Text" }], "questions": questions });
    let path = service.file("large.json", &file);
    let made = service.run(&["prism", "create", &path]).await.object();
    let slug = text(&made, "slug");
    let browser = opened(&service, &format!("/prisms/{slug}/edit")).await;
    browser.click("[id=\"questions.41.open\"]").await;
    let focus = focus_after(&browser, "Question 42 is open.").await;
    assert_eq!(focus, "questions.41.text");
    let label = "[id=\"questions.41.options.252.label\"]";
    let erase = Key::Backspace.to_string().repeat("Option 252".len());
    browser.press(label, &format!("{}{erase}", Key::End)).await;
    browser.wait_for("p.fault").await;
    browser.press(label, "Zebra").await;
    browser.wait_for("form:not(:has(p.fault))").await;
    browser.follow("button[value=review]").await;
    browser
        .wait_until_text("main", "reads 'Zebra' instead of 'Option 252'")
        .await;
    browser.follow("button[value=save]").await;
    browser
        .wait_until_text(".notice", "The version is saved")
        .await;
    let shown = service.run(&["prism", "show", &slug]).await.object();
    let option = &shown["questions"][41]["options"][252];
    assert_eq!(
        (&option["label"], &option["key"]),
        (&json!("Zebra"), &json!("option_252"))
    );
    assert_eq!(browser.console_errors().await, [""; 0]);
}
