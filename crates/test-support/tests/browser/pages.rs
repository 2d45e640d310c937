//! What a test can do and see on a page.

use refract_test_support::browser::{Browser, BrowserSettings, BrowserTheme, Key};
use serde_json::{Value, json};

use crate::page_server::{Page, serve};

const HTML: &str = "Content-Type: text/html; charset=utf-8\r\n";
const STRICT: &str = "Content-Type: text/html; charset=utf-8\r\n\
    Content-Security-Policy: default-src 'none'; script-src 'self'; require-trusted-types-for 'script'\r\n";

const PAGES: &[Page] = &[
    (
        "/form",
        "Content-Type: text/html; charset=utf-8\r\nSet-Cookie: mark=7; HttpOnly; SameSite=Lax\r\n",
        "<!doctype html><html lang=en><title>A form</title><main><h1>Say</h1><a href=/form>Again</a><form action=/said>\
         <p id=who>a plain page</p><noscript><p id=still>it has no scripts</p></noscript>\
         <label>Text <textarea name=text data-place=first>before</textarea></label>\
         <label>Tone <select name=tone><option value=calm>Calm<option value=loud>Loud</select></label>\
         <label>Share <input name=share type=range min=5 max=95 value=50></label>\
         <button>Send</button></form><p class=line>one<p class=line>two<p class=line hidden>three\
         <script src=/script.js></script></main></html>",
    ),
    (
        "/script.js",
        "Content-Type: text/javascript\r\n",
        "document.querySelector('#who').textContent = 'a page with scripts';\
         document.querySelector('textarea').addEventListener('input', (event) => {\
           const text = document.createElement('p'); text.id = 'later'; text.textContent = event.target.value.length;\
           setTimeout(() => document.querySelector('main').append(text), 50); });",
    ),
    (
        "/said",
        HTML,
        "<!doctype html><title>Said</title><p>It was said",
    ),
    (
        "/strict",
        STRICT,
        "<!doctype html><html lang=en><title>Strict</title><main><h1>Strict</h1><p>All is well</main></html>",
    ),
    (
        "/faulty",
        STRICT,
        "<!doctype html><html lang=en><title>Faulty</title><main><h1>Faulty</h1><input id=nameless></main>\
         <script>document.title = 'changed'</script></html>",
    ),
    (
        "/tall",
        HTML,
        "<!doctype html><title>Tall</title><style>body { margin: 0 } p { margin: 0; height: 3000px }\
         @media (width <= 400px) { p { height: 5000px } }</style><p>tall",
    ),
    (
        "/table",
        "Content-Type: text/csv\r\nContent-Disposition: attachment; filename=table.csv\r\n",
        "ref,answer\n1,yes\n",
    ),
];

async fn open(path: &str, settings: BrowserSettings) -> Browser {
    let address = serve(PAGES).await;
    let browser = Browser::start(settings).await;
    browser.open(&format!("{address}{path}")).await;
    browser
}

async fn is_dark(browser: &Browser) -> Value {
    let query = "return matchMedia('(prefers-color-scheme: dark)').matches";
    browser.evaluate(query, &[]).await
}

#[tokio::test]
async fn a_form_is_filled_and_sent() {
    if !Browser::available() {
        return;
    }
    let browser = open("/form", BrowserSettings::default()).await;
    assert_eq!(browser.title().await, "A form");
    assert_eq!(browser.text("#who").await, "a page with scripts");
    assert!(!browser.is_shown("#still").await);
    assert_eq!(browser.texts(".line").await, ["one", "two", ""]);
    assert!(browser.is_shown(".line").await);
    assert!(!browser.is_shown(".line[hidden]").await);
    let place = browser.attribute("textarea", "data-place").await;
    assert_eq!(place.as_deref(), Some("first"));
    assert_eq!(browser.attribute("textarea", "data-other").await, None);

    assert_eq!(browser.value("textarea").await, "before");
    browser.fill("textarea", "gut 👍").await;
    browser.press("textarea", "!").await;
    assert_eq!(browser.value("textarea").await, "gut 👍!");
    browser.wait_for("#later").await;
    browser.wait_until_text("#later", "7").await;
    browser.choose("select", "loud").await;
    browser.press("[type=range]", &Key::Right.to_string()).await;
    assert_eq!(browser.value("[type=range]").await, "51");

    browser.follow("button").await;
    assert_eq!(browser.title().await, "Said");
    let address = browser.address().await;
    let query = "/said?text=gut+%F0%9F%91%8D%21&tone=loud&share=51";
    assert!(address.ends_with(query), "{address}");
    assert_eq!(browser.console_errors().await, Vec::<String>::new());

    browser.back().await;
    assert_eq!(browser.title().await, "A form");
    browser.click("h1").await;
    browser.follow("a").await;
    assert_eq!(browser.title().await, "A form");
}

#[tokio::test]
async fn a_browser_without_scripts_shows_and_fills_pages() {
    if !Browser::available() {
        return;
    }
    let settings = BrowserSettings {
        scripts: false,
        ..BrowserSettings::default()
    };
    let browser = open("/form", settings).await;
    assert_eq!(browser.text("#who").await, "a plain page");
    assert!(browser.is_shown("#still").await);
    assert_eq!(
        browser
            .evaluate("return 6 * arguments[0]", &[json!(7)])
            .await,
        42
    );
    browser.fill("textarea", "still").await;
    browser.follow("button").await;
    browser.wait_until_text("p", "It was said").await;
    assert!(browser.address().await.contains("text=still&tone=calm"));
}

#[tokio::test]
async fn a_text_of_100_000_characters_is_filled_in_whole() {
    if !Browser::available() {
        return;
    }
    let browser = open("/form", BrowserSettings::default()).await;
    let text = "Grüße, 世界 🌍\n".repeat(7_700);
    browser.fill("textarea", &text).await;
    assert!(browser.value("textarea").await == text, "the text differs");
}

#[tokio::test]
async fn a_browser_has_cookies_of_its_own_and_deletes_them() {
    if !Browser::available() {
        return;
    }
    let browser = open("/form", BrowserSettings::default()).await;
    let other = Browser::start(BrowserSettings::default()).await;
    other
        .open(&browser.address().await.replace("/form", "/said"))
        .await;
    assert!(other.cookies().await.is_empty());

    let cookies = browser.cookies().await;
    let [cookie] = cookies.as_slice() else {
        panic!("one cookie, not {cookies:?}");
    };
    assert_eq!(cookie["name"], "mark");
    assert_eq!(cookie["value"], "7");
    assert_eq!(cookie["httpOnly"], true);
    browser.clear_cookies().await;
    assert!(browser.cookies().await.is_empty());
    browser.reload().await;
    assert_eq!(browser.cookies().await.len(), 1);
}

#[tokio::test]
async fn a_page_is_asked_for_the_theme() {
    if !Browser::available() {
        return;
    }
    let light = open("/form", BrowserSettings::default()).await;
    assert_eq!(is_dark(&light).await, false);
    let settings = BrowserSettings {
        theme: BrowserTheme::Dark,
        ..BrowserSettings::default()
    };
    let dark = open("/form", settings).await;
    assert_eq!(is_dark(&dark).await, true);
    dark.follow("button").await;
    assert_eq!(is_dark(&dark).await, true);
}

#[tokio::test]
async fn a_picture_shows_the_whole_page_in_the_width_of_the_browser() {
    if !Browser::has_devtools() {
        return;
    }
    for (width, height) in [(360, 5_000), (1_440, 3_000)] {
        let settings = BrowserSettings {
            width,
            ..BrowserSettings::default()
        };
        let picture = open("/tall", settings).await.picture().await;
        assert_eq!(size_of_png(&picture), (width, height));
    }
}

#[tokio::test]
async fn a_defect_and_a_blocked_script_are_found_under_a_strict_policy() {
    if !Browser::has_devtools() {
        return;
    }
    let browser = open("/strict", BrowserSettings::default()).await;
    let axe = Browser::axe();
    if let Some(axe) = &axe {
        let violations = browser.accessibility_violations(axe).await;
        assert_eq!(violations, Vec::<String>::new());
    }
    assert_eq!(browser.console_errors().await, Vec::<String>::new());

    let other = browser.address().await.replace("/strict", "/faulty");
    browser.open(&other).await;
    assert_eq!(browser.title().await, "Faulty");
    let errors = browser.console_errors().await;
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(
        errors.concat().contains("Content Security Policy"),
        "{errors:?}"
    );
    if let Some(axe) = &axe {
        let violations = browser.accessibility_violations(axe).await;
        assert_eq!(violations, ["label: <input id=\"nameless\">"]);
    }
}

#[tokio::test]
async fn a_file_that_a_page_offers_is_downloaded() {
    if !Browser::available() {
        return;
    }
    let browser = open("/form", BrowserSettings::default()).await;
    let table = browser.address().await.replace("/form", "/table");
    browser
        .evaluate("location.href = arguments[0]", &[json!(table)])
        .await;
    let content = browser.wait_for_download("table.csv").await;
    assert_eq!(String::from_utf8_lossy(&content), "ref,answer\n1,yes\n");
}

/// The width and height at the beginning of a PNG file.
fn size_of_png(picture: &[u8]) -> (u32, u32) {
    assert_eq!(&picture[..8], b"\x89PNG\r\n\x1a\n");
    let number = |place: usize| u32::from_be_bytes(picture[place..place + 4].try_into().unwrap());
    (number(16), number(20))
}
