//! Signing on by a real provider, over HTTP and in a real Chromium: to it and back, out there too, and
//! with passwords switched off.

use refract_test_stack::browser::{PASSWORD, PlainBrowser, encoded, invited};
use refract_test_stack::http::answer::HttpAnswer;
use refract_test_stack::service::{Backend, PRISM, Service, Setup};
use refract_test_support::browser::{Browser, BrowserSettings};
use refract_test_support::on_both;
use refract_test_support::provider::{CLIENT_ID, CLIENT_SECRET, TestProvider};
use serde_json::json;

on_both!(
    a_person_signs_on_and_comes_back_to_where_they_were_going,
    what_fails_is_explained_and_repeats_nothing,
    without_passwords_the_provider_is_the_only_way,
    a_session_goes_on_in_chromium,
);

const ADA: &str = "ada@example.com";

/// A service whose app signs on by the provider.
async fn with_provider(
    backend: Backend,
    provider: &TestProvider,
    more: &[(&str, &str)],
) -> Service {
    let mut settings = vec![
        ("REFRACT_OIDC_ISSUER", provider.issuer.as_str()),
        ("REFRACT_OIDC_CLIENT_ID", CLIENT_ID),
        ("REFRACT_OIDC_CLIENT_SECRET", CLIENT_SECRET),
        ("REFRACT_OIDC_NAME", "Example & Co"),
        ("REFRACT_OIDC_ALLOWED_DOMAINS", "example.com"),
    ];
    settings.extend_from_slice(more);
    let setup = Setup {
        settings: &settings,
        ..Setup::default()
    };
    let service = Service::with(backend, setup).await;
    provider.serves(&app(&service)).await;
    service
}

fn app(service: &Service) -> String {
    format!("http://{}", service.nodes[0].app)
}

/// The path in the app to which the provider sends a browser back that opened `/sign-on`.
async fn there_and_back(
    service: &Service,
    provider: &TestProvider,
    browser: &mut PlainBrowser<'_>,
    then: &str,
) -> String {
    let begun = browser
        .get(&format!("/sign-on?then={}", encoded(then)))
        .await;
    assert_eq!(begun.status, 303, "{begun:?}");
    let back = provider.walk(begun.header("location").unwrap()).await;
    back.strip_prefix(&app(service)).unwrap().to_owned()
}

fn location(answer: &HttpAnswer) -> (u16, Option<&str>) {
    (answer.status, answer.header("location"))
}

async fn a_person_signs_on_and_comes_back_to_where_they_were_going(backend: Backend) {
    if !TestProvider::available() {
        return;
    }
    let provider = TestProvider::start().await;
    let service = with_provider(backend, &provider, &[]).await;
    let page = format!("/prisms/{PRISM}/results?ref=a%20b;c");
    let mut ada = PlainBrowser::new(&service);
    let sent = ada.get(&page).await;
    let sign_in = sent.header("location").unwrap().to_owned();
    let form = ada.get(&sign_in).await.body;
    assert!(
        form.contains("Sign in with <bdi>Example &amp; Co</bdi>"),
        "{form}"
    );
    assert!(
        form.contains("name=\"password\""),
        "passwords go on beside it"
    );
    let back = there_and_back(&service, &provider, &mut ada, &page).await;
    let answer = ada.get(&back).await;
    assert_eq!(location(&answer), (303, Some(page.as_str())));
    assert_eq!(ada.get(&page).await.status, 200);
    // another tab's answer leads on, and asks the provider nothing
    assert_eq!(location(&ada.get(&back).await), (303, Some("/")));
    let own = ada.get("/me").await.body;
    assert!(own.contains("Ada Lovelace") && !own.contains("name=\"password\""));
    assert_eq!(ada.get("/keys").await.status, 403, "a reviewer");
    // who is signed in needs no sign-on
    assert_eq!(
        location(&ada.get("/sign-on?then=%2Fme").await),
        (303, Some("/me"))
    );
    // two tabs, of which the first begun comes back last
    let mut tabs = PlainBrowser::new(&service);
    let one = there_and_back(&service, &provider, &mut tabs, "/me").await;
    let two = there_and_back(&service, &provider, &mut tabs, "/keys").await;
    assert_eq!(location(&tabs.get(&two).await), (303, Some("/keys")));
    assert_eq!(location(&tabs.get(&one).await), (303, Some("/me")));
    // somebody else's browser
    let (mut other, mut eve) = (PlainBrowser::new(&service), PlainBrowser::new(&service));
    let back = there_and_back(&service, &provider, &mut other, "/").await;
    assert_eq!(location(&eve.get("/me").await).0, 303);
    assert_eq!(eve.get(&back).await.status, 400);
    // out, here and there
    let out = ada.post("/sign-out", &[]).await;
    let refresh = out.header("refresh").unwrap();
    let ends = format!("0; url={}/session/end?id_token_hint=", provider.issuer);
    assert!(refresh.starts_with(&ends), "{refresh}");
    assert!(refresh.contains("post_logout_redirect_uri="), "{refresh}");
    assert_eq!(ada.get("/me").await.status, 303);
    // foreign addresses are not come back to
    let back = there_and_back(&service, &provider, &mut ada, "https://evil.example.com/").await;
    assert_eq!(location(&ada.get(&back).await), (303, Some("/")));
}

async fn what_fails_is_explained_and_repeats_nothing(backend: Backend) {
    if !TestProvider::available() {
        return;
    }
    let provider = TestProvider::start().await;
    let service = with_provider(backend, &provider, &[]).await;
    let mut ada = PlainBrowser::new(&service);
    let refused = json!({ "email": "eve@example.org", "email_verified": true });
    provider.knows("eve", &refused).await;
    let back = there_and_back(&service, &provider, &mut ada, "/people").await;
    let answer = ada.get(&back).await;
    assert_eq!(answer.status, 403);
    assert!(
        answer.body.contains("a domain that may not sign in here"),
        "{}",
        answer.body
    );
    assert!(answer.body.contains("href=\"/sign-on?then=%2Fpeople\""));
    let code = back
        .split("code=")
        .nth(1)
        .unwrap()
        .split('&')
        .next()
        .unwrap();
    assert!(!answer.body.contains(code) && !answer.body.contains("example.org"));
    provider.steer("account", &json!(null)).await;
    let back = there_and_back(&service, &provider, &mut ada, "/").await;
    let answer = ada.get(&back).await;
    assert_eq!(answer.status, 403);
    assert!(answer.body.contains("refused: access_denied") && !answer.body.contains("<b>refused"));
    let made_up = "/sign-on/callback?state=x&code=y&error=%3Cb%3E";
    let answer = ada.get(made_up).await;
    assert_eq!(answer.status, 400);
    assert!(!answer.body.contains("<b>"));
    provider.steer("away", &json!(true)).await;
    let mut service = service;
    service
        .start_node(&[
            ("REFRACT_OIDC_ISSUER", &provider.issuer),
            ("REFRACT_OIDC_CLIENT_ID", CLIENT_ID),
        ])
        .await;
    let mut other = PlainBrowser::new(&service);
    other.use_node(1);
    let answer = other.get("/sign-on").await;
    assert_eq!(
        (answer.status, answer.header("retry-after")),
        (503, Some("30"))
    );
    assert!(answer.body.contains("does not answer"), "{}", answer.body);
}

async fn without_passwords_the_provider_is_the_only_way(backend: Backend) {
    if !TestProvider::available() {
        return;
    }
    let provider = TestProvider::start().await;
    let off = [("REFRACT_APP_PASSWORDS", "off")];
    let service = with_provider(backend, &provider, &off).await;
    let link = invited(&service, ADA, "owner").await;
    let mut ada = PlainBrowser::new(&service);
    let form = ada.get("/sign-in").await.body;
    assert!(
        form.contains("/sign-on") && !form.contains("name=\"password\""),
        "{form}"
    );
    let joining = ada.join(&link, "Ada").await;
    assert_eq!(joining.status, 200);
    assert!(
        joining.body.contains("Passwords do not sign in here"),
        "{}",
        joining.body
    );
    assert_eq!(ada.sign_in(ADA, PASSWORD).await.status, 403);
    let back = there_and_back(&service, &provider, &mut ada, "/people").await;
    assert_eq!(location(&ada.get(&back).await), (303, Some("/people")));
    assert_eq!(
        ada.get("/people").await.status,
        200,
        "an owner, as she was invited"
    );
    // what was typed while the session ended waits beside the way to the provider
    ada.keep("refract", &"a".repeat(43));
    let values = [("name", "Countess"), ("password", "secret words")];
    let kept = ada.post("/me/name", &values).await;
    assert!(kept.body.contains("Countess") && !kept.body.contains("secret words"));
    assert!(kept.body.contains("in a new tab"), "{}", kept.body);
}

async fn a_session_goes_on_in_chromium(backend: Backend) {
    if !TestProvider::available() || !Browser::available() {
        return;
    }
    let provider = TestProvider::start().await;
    let service = with_provider(backend, &provider, &[]).await;
    let browser = Browser::start(BrowserSettings::default()).await;
    let page = format!("{}/prisms/{PRISM}", app(&service));
    browser.open(&page).await;
    browser.follow("a[href^=\"/sign-on\"]").await;
    // the cookies of the sign-on come back from another site, and the session's is set there
    browser.wait_until_text("h1", "Support triage").await;
    assert_eq!(browser.address().await, page);
    browser.open(&format!("{}/me", app(&service))).await;
    browser.wait_until_text("h1", "Ada Lovelace").await;
    assert_eq!(browser.console_errors().await, [""; 0]);
}
