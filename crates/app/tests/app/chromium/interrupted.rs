//! Typed text is not lost when a node stops or a session ends.

use refract_test_stack::browser;
use refract_test_stack::http::{HttpConnection, Request, within_patience};
use refract_test_stack::service::{Backend, PRISM, Service, text};
use refract_test_support::browser::{Browser, BrowserSettings};
use refract_test_support::model_server::ScriptedReply;

use super::{PASSWORD, joined, open};

const CONTEXT: &str = "We sell bicycles.\n\n  And <b>helmets</b>, \"since\" 1998.";

#[tokio::test]
async fn what_was_typed_survives_a_node_that_stops() {
    if !Browser::available() {
        return;
    }
    let mut service = Service::start(Backend::Sqlite).await;
    let settings = BrowserSettings::default();
    let browser = joined(&service, settings, "ada@example.com", "editor").await;
    let cookie = {
        let mut eve = browser::joined(&service, "eve@example.com", "reviewer").await;
        eve.get("/").await;
        eve.cookie()
    };
    open(&browser, &service, "/edit").await;
    browser.fill("[name=context]", CONTEXT).await;
    let held = drain(&service, &cookie).await;
    browser.follow_on("Add an option").await;
    is_asked_to_wait(&browser).await;
    restart(&mut service, held).await;
    browser.follow_on("Send again").await;
    browser
        .wait_for("[name=\"questions.0.options.3.label\"]")
        .await;
    assert_eq!(browser.value("[name=context]").await, CONTEXT);

    let held = drain(&service, &cookie).await;
    browser.press(":focus", "Warranty").await;
    browser.follow_on("Review changes").await;
    is_asked_to_wait(&browser).await;
    restart(&mut service, held).await;
    browser.follow_on("Send again").await;
    browser
        .wait_until_text("main", "The option 'Warranty'")
        .await;
    browser.follow_on("Save version 2").await;
    let shown = service.run(&["prism", "show", PRISM]).await.object();
    assert_eq!(shown["context"], CONTEXT);

    browser.follow_on("Try").await;
    browser.fill_in("Message", "Where is\nmy bike?").await;
    let held = drain(&service, &cookie).await;
    browser.click_on("Answer").await;
    is_asked_to_wait(&browser).await;
    restart(&mut service, held).await;
    browser.follow_on("Send again").await;
    browser.wait_until_text("#answer", "70.0 %").await;
    assert_eq!(browser.value_in("Message").await, "Where is\nmy bike?");
    for error in browser.console_errors().await {
        assert!(error.contains("503"), "{error}");
    }
}

/// Starts draining the node. It drains until the returned call of another client is answered.
async fn drain(service: &Service, cookie: &str) -> HttpConnection {
    let app = service.nodes[0].app;
    let asked = service.asked();
    service.model.then_once(ScriptedReply::answers().held());
    let call = Request::outside("POST", &format!("/prisms/{PRISM}/try"))
        .header("Sec-Fetch-Site", "same-origin")
        .header("Content-Type", "application/x-www-form-urlencoded")
        .header("Cookie", cookie)
        .body("fields.text=a+text&version=1&action=answer");
    let mut held = HttpConnection::open(app).await;
    held.send(&call.bytes()).await;
    service
        .model
        .wait_until(|counts| counts.requests > asked)
        .await;
    service.nodes[0].begin_stop().await;
    let page = Request::outside("GET", "/sign-in");
    within_patience(async { while page.send(app).await.status != 503 {} }).await;
    held
}

async fn is_asked_to_wait(browser: &Browser) {
    browser.wait_until_text("h1", "One moment").await;
    let page = browser.text("main").await;
    assert!(page.contains("The server is restarting"), "{page}");
}

/// Lets the node end, and starts another one at the same address.
async fn restart(service: &mut Service, mut held: HttpConnection) {
    service.model.release(1);
    assert_eq!(held.answer().await.status, 303, "the call in flight ends");
    let mut node = service.nodes.remove(0);
    assert_eq!(node.exit_code().await, Some(0));
    let address = node.app.to_string();
    service
        .start_node(&[("REFRACT_APP_LISTEN", &address)])
        .await;
}

#[tokio::test]
async fn what_was_typed_survives_the_end_of_the_session() {
    if !Browser::available() {
        return;
    }
    let service = Service::start(Backend::Postgres).await;
    let settings = BrowserSettings::default();
    let browser = joined(&service, settings, "ada@example.com", "editor").await;
    open(&browser, &service, "/edit").await;
    browser.fill("[name=context]", CONTEXT).await;
    end_sessions(&service).await;
    browser.follow_on("Add an option").await;
    sign_in_again(&browser).await;
    browser
        .wait_for("[name=\"questions.0.options.3.label\"]")
        .await;
    browser.press(":focus", "Warranty").await;
    assert_eq!(browser.value("[name=context]").await, CONTEXT);
    end_sessions(&service).await;
    browser.follow_on("Review changes").await;
    browser.fill_in("Email", "ada@example.com").await;
    browser.fill_in("Password", "a wrong password").await;
    browser.follow_on("Sign in").await;
    sign_in_again(&browser).await;
    browser
        .wait_until_text("main", "The option 'Warranty'")
        .await;
    browser.follow_on("Save version 2").await;
    let shown = service.run(&["prism", "show", PRISM]).await.object();
    assert_eq!(shown["context"], CONTEXT);

    browser.follow_on("Try").await;
    browser.fill_in("Message", "Where is\nmy bike?").await;
    end_sessions(&service).await;
    browser.click_on("Answer").await;
    sign_in_again(&browser).await;
    browser.wait_until_text("#answer", "70.0 %").await;
    assert_eq!(browser.value_in("Message").await, "Where is\nmy bike?");
    for error in browser.console_errors().await {
        assert!(error.contains("401"), "{error}");
    }
}

/// Ends Ada's sessions: she sets the same password again in another browser.
async fn end_sessions(service: &Service) {
    let made = service.run(&["person", "reset", "ada@example.com"]).await;
    let link = text(&made.object(), "link");
    let mut elsewhere = browser::PlainBrowser::new(service);
    assert_eq!(elsewhere.join(&link, "Ada").await.status, 303);
}

async fn sign_in_again(browser: &Browser) {
    browser.fill_in("Email", "ada@example.com").await;
    browser.fill_in("Password", PASSWORD).await;
    browser.follow_on("Sign in").await;
    browser.wait_until_text("h1", "Signed in again").await;
    browser.follow_on("Send what I typed").await;
}
