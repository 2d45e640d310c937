//! Texts that look like script, markup, formulas or instructions to the page are shown as text.

use refract_test_stack::service::{Backend, Service};
use refract_test_support::browser::{Browser, BrowserSettings};

use super::{joined, open};

const HOSTILE: [&str; 5] = [
    "<script>alert(1)</script><img src=x onerror=alert(2)>",
    "</textarea></div><h1>Owned</h1><!-- \"' onfocus=alert(3) autofocus",
    "\u{202e}backwards\u{202c} \u{2067}left\u{2069} שלום مرحبا",
    "👩‍👩‍👧‍👦 🦊 e\u{301} 世界 𝒳",
    "=HYPERLINK(\"http://evil.invalid\",\"x\") +1 -1 @SUM(A1) {{7*7}} ${7*7}",
];

/// Elements that a text must not create.
const MADE: &str =
    "return document.querySelectorAll('main :is(script, img, .text *, textarea *)').length;";

/// The text on a result's page: everything below its label, including folded parts.
const SENT: &str = "
    const parts = [];
    let part = document.querySelector('[aria-label=\"What was sent\"] h3').nextElementSibling;
    for (; part.tagName !== 'H3'; part = part.nextElementSibling) {
        parts.push((part.matches('.text') ? part : part.querySelector('.text')).textContent);
    }
    return parts.join('');";

#[tokio::test]
async fn texts_are_shown_as_texts() {
    if !Browser::available() {
        return;
    }
    let service = Service::start(Backend::Sqlite).await;
    let settings = BrowserSettings::default();
    let browser = joined(&service, settings, "ada@example.com", "editor").await;
    open(&browser, &service, "/try").await;
    for hostile in HOSTILE {
        is_shown_as_text(&browser, hostile, hostile).await;
    }
    let line = "<i>🌍</i>,".repeat(111);
    let long = format!("{line}\n").repeat(100);
    assert_eq!(long.chars().count(), 100_000);
    is_shown_as_text(&browser, &long, "long").await;
    browser.click_on("and 98,000 more characters").await;
    browser.follow_on("Results").await;
    assert_eq!(browser.texts("tbody tr").await.len(), HOSTILE.len() + 1);
    for page in ["Results", "Lens"] {
        browser.follow_on(page).await;
        if page == "Lens" {
            browser.follow_on("Newest").await;
        }
        assert_eq!(browser.evaluate(MADE, &[]).await, 0, "{page}");
        let shown = browser.text("main").await;
        for hostile in HOSTILE {
            assert!(shown.contains(hostile), "{page}: {hostile}");
        }
    }
    assert_eq!(browser.console_errors().await, [""; 0]);
}

/// Tries a text and checks it on the page of its result.
async fn is_shown_as_text(browser: &Browser, hostile: &str, reference: &str) {
    browser.follow_on("Try").await;
    browser.fill_in("Message", hostile).await;
    let beginning: String = hostile.chars().take(40).collect();
    browser.fill_in("Context", &beginning).await;
    browser.fill_in("Ref", reference).await;
    browser.click_on("Answer").await;
    browser.wait_until_text("main", "Answered.").await;
    assert_eq!(browser.evaluate(MADE, &[]).await, 0);
    browser
        .follow_on("This result: tokens, attempts, marks")
        .await;
    assert_eq!(browser.evaluate(MADE, &[]).await, 0);
    let sent = browser.evaluate(SENT, &[]).await;
    assert!(
        sent == *hostile,
        "{reference}: another text is shown: {sent}"
    );
}
