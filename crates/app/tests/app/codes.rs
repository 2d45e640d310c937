//! One-time codes over HTTP and without scripts: set up, asked for at sign-in, and required.

use refract_test_stack::browser::forms::{inputs, post};
use refract_test_stack::browser::{PASSWORD, PlainBrowser, id_of, invited, joined, path_of};
use refract_test_stack::http::answer::HttpAnswer;
use refract_test_stack::service::{Backend, Service, text};
use refract_test_support::on_both;
use serde_json::json;
use totp_rs::{Builder, Secret};

on_both!(
    a_person_sets_up_codes_and_signs_in_with_them,
    a_code_keeps_the_way_and_what_was_typed,
    wrong_codes_lead_back_to_the_password,
    required_codes_come_before_everything_else,
    an_owner_switches_off_the_codes_of_somebody_who_lost_their_phone,
);

const ADA: &str = "ada@example.com";

/// The text of an element with this id.
fn text_of(page: &HttpAnswer, id: &str) -> String {
    let (_, rest) = page
        .body
        .split_once(&format!("id=\"{id}\""))
        .expect(&page.body);
    let (_, text) = rest.split_once('>').unwrap();
    text.split('<').next().unwrap().to_owned()
}

/// The code of a secret, this many steps after now.
pub(crate) fn code(secret: &str, steps: u64) -> String {
    let secret = Secret::try_from_base32(secret.replace(' ', "")).unwrap();
    let totp = Builder::new().with_secret(secret).build().unwrap();
    let now = std::time::SystemTime::now();
    let now = now.duration_since(std::time::UNIX_EPOCH).unwrap();
    totp.generate(now.as_secs() + 30 * steps).to_string()
}

/// The values of a form with a password and a code.
pub(crate) fn typed<'a>(password: &'a str, code: &'a str) -> [(&'static str, &'a str); 2] {
    [("present_password", password), ("code", code)]
}

/// Codes that were set up.
pub(crate) struct SetUp {
    pub(crate) secret: String,
    /// The code that was typed in.
    pub(crate) used: String,
    /// The answer with the recovery codes.
    pub(crate) answer: HttpAnswer,
}

/// Sets up codes.
pub(crate) async fn set_up(browser: &mut PlainBrowser<'_>) -> SetUp {
    let begun = browser.post("/me/codes/begin", &[]).await;
    assert_eq!(begun.header("location"), Some("/me/codes"), "{begun:?}");
    let page = browser.get("/me/codes").await;
    let secret = text_of(&page, "secret");
    let used = code(&secret, 0);
    let answer = browser.post("/me/codes/on", &typed(PASSWORD, &used)).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    SetUp {
        secret,
        used,
        answer,
    }
}

pub(crate) fn recovery_codes(answer: &HttpAnswer) -> Vec<String> {
    let codes = text_of(answer, "recovery-codes");
    codes.lines().map(str::to_owned).collect()
}

/// Submits the page that asks for a code.
pub(crate) async fn type_code(
    browser: &mut PlainBrowser<'_>,
    page: &HttpAnswer,
    code: &str,
) -> HttpAnswer {
    let form = inputs(page, "action=\"/sign-in/code\"");
    post(browser, "/sign-in/code", &form, &[("code", code)]).await
}

async fn a_person_sets_up_codes_and_signs_in_with_them(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, ADA, "reviewer").await;
    assert!(ada.get("/me").await.body.contains("Set up one-time codes"));
    let page = ada.get("/me/codes").await;
    assert!(page.body.contains("action=\"/me/codes/begin\""), "{page:?}");
    ada.post("/me/codes/begin", &[]).await;
    let page = ada.get("/me/codes").await;
    let secret = text_of(&page, "secret");
    assert_eq!(secret.len(), 39, "{secret}");
    let link = format!(
        "otpauth://totp/Refract:ada%40example%2Ecom?secret={}&amp;issuer=Refract",
        secret.replace(' ', "")
    );
    assert!(page.body.contains(&link), "{link}: {}", page.body);
    assert!(page.body.contains("<svg class=\"qr\"") && page.body.contains("<path d=\"M4 4h7"));
    let right = code(&secret, 0);
    for (password, code, input) in [
        (PASSWORD, "12345", "code"),
        ("wrong", &*right, "present_password"),
    ] {
        let refused = ada.post("/me/codes/on", &typed(password, code)).await;
        assert_eq!(refused.status, 422, "{refused:?}");
        let fault = format!("id=\"{input}-fault\"");
        assert!(refused.body.contains(&fault), "{refused:?}");
        assert_eq!(text_of(&refused, "secret"), secret);
    }
    let first = code(&secret, 0);
    let on = ada.post("/me/codes/on", &typed(PASSWORD, &first)).await;
    assert_eq!(on.status, 200, "{on:?}");
    let recovery = recovery_codes(&on);
    assert_eq!(recovery.len(), 10);
    let page = ada.get("/me/codes").await;
    assert!(page.body.contains("10 unused recovery codes"), "{page:?}");
    for shown in [&secret, &recovery[0]] {
        assert!(!page.body.contains(shown), "it is shown once");
    }

    let mut home = PlainBrowser::new(&service);
    let asked = home.sign_in(ADA, PASSWORD).await;
    assert_eq!((asked.status, asked.header("set-cookie")), (200, None));
    assert!(asked.body.contains("autocomplete=\"one-time-code\""));
    assert_eq!(home.get("/me").await.status, 303, "nothing is open yet");
    let refused = type_code(&mut home, &asked, "no code").await;
    assert_eq!(refused.status, 422, "{refused:?}");
    let used = type_code(&mut home, &refused, &first).await;
    assert_eq!(used.status, 401, "{used:?}");
    let signed_in = type_code(&mut home, &used, &code(&secret, 1)).await;
    assert_eq!(signed_in.header("location"), Some("/"), "{signed_in:?}");
    assert_eq!(home.get("/me").await.status, 200);

    // new recovery codes, and off
    let values = typed(PASSWORD, &recovery[0]);
    let renewed = home.post("/me/codes/recovery", &values).await;
    let renewed = recovery_codes(&renewed);
    let again = home.post("/me/codes/recovery", &values).await;
    assert_eq!(again.status, 422, "{again:?}");
    let values = typed(PASSWORD, &renewed[0]);
    let off = home.post("/me/codes/off", &values).await;
    assert_eq!(
        off.header("location"),
        Some("/me/codes?done=off"),
        "{off:?}"
    );
    let gone = home
        .post("/me/codes/off", &typed(PASSWORD, &renewed[1]))
        .await;
    assert_eq!(gone.status, 409, "{gone:?}");
    let mut other = PlainBrowser::new(&service);
    assert_eq!(other.sign_in(ADA, PASSWORD).await.status, 303);
}

async fn a_code_keeps_the_way_and_what_was_typed(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, ADA, "owner").await;
    let SetUp {
        secret, answer: on, ..
    } = set_up(&mut ada).await;
    let mut home = PlainBrowser::new(&service);
    let values = [
        ("email", ADA),
        ("password", PASSWORD),
        ("then", "/events?action=codes_on"),
    ];
    let asked = home.post("/sign-in", &values).await;
    let signed_in = type_code(&mut home, &asked, &code(&secret, 1)).await;
    let expected = Some("/events?action=codes_on");
    assert_eq!(signed_in.header("location"), expected, "{signed_in:?}");

    let values = [
        ("email", ADA),
        ("password", PASSWORD),
        ("kept.address", "/people"),
        ("kept.value.email", "grace@example.com"),
        ("kept.value.role", "editor"),
    ];
    let asked = home.post("/sign-in", &values).await;
    let asked = type_code(&mut home, &asked, "000").await;
    let recovery = recovery_codes(&on);
    let given_back = type_code(&mut home, &asked, &recovery[0]).await;
    assert_eq!(given_back.status, 200, "{given_back:?}");
    assert!(
        given_back.body.contains("action=\"/people\"")
            && given_back.body.contains("grace@example.com"),
        "{given_back:?}"
    );
    assert!(!given_back.body.contains(&recovery[0]));
    let foreign = [
        ("email", ADA),
        ("password", PASSWORD),
        ("then", "//evil.com"),
    ];
    let asked = home.post("/sign-in", &foreign).await;
    let signed_in = type_code(&mut home, &asked, &recovery[1]).await;
    assert_eq!(signed_in.header("location"), Some("/"));
}

async fn wrong_codes_lead_back_to_the_password(backend: Backend) {
    let mut service = Service::start(backend).await;
    service.start_node(&[]).await;
    let mut ada = joined(&service, ADA, "owner").await;
    let secret = set_up(&mut ada).await.secret;
    let wrong = "aaaa-aaaa-aaaa-aaaa";
    let mut eve = PlainBrowser::new(&service);
    for _ in 0..2 {
        let asked = eve.sign_in(ADA, PASSWORD).await;
        for attempt in 0..5 {
            eve.node = attempt % 2;
            let answer = type_code(&mut eve, &asked, wrong).await;
            assert_eq!(answer.status, 401, "{answer:?}");
            let is_over = answer.body.contains("sign in again");
            assert_eq!(is_over, attempt == 4, "{answer:?}");
            assert_eq!(answer.body.contains("name=\"password\""), is_over);
        }
    }
    let asked = eve.sign_in(ADA, PASSWORD).await;
    let blocked = type_code(&mut eve, &asked, &code(&secret, 1)).await;
    assert_eq!(blocked.status, 429, "{blocked:?}");
    assert!(blocked.header("retry-after").is_some());
    let made_up = [("pending", "x"), ("code", "123456")];
    let answer = eve.post("/sign-in/code", &made_up).await;
    assert_eq!(answer.status, 401, "{answer:?}");
}

async fn required_codes_come_before_everything_else(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, ADA, "owner").await;
    let mut grace = joined(&service, "grace@example.com", "owner").await;
    set_up(&mut ada).await;
    let required = ada.post("/people/codes", &[("require", "on")]).await;
    assert_eq!(required.header("location"), Some("/people?done=required"));
    assert!(ada.get("/people").await.body.contains("Make them optional"));
    for path in ["/", "/people", "/me", "/events/download"] {
        let answer = grace.get(path).await;
        assert_eq!(answer.header("location"), Some("/me/codes"), "{path}");
    }
    let typed = [("email", "eve@example.com"), ("role", "editor")];
    let refused = grace.post("/people", &typed).await;
    assert_eq!(refused.status, 403, "{refused:?}");
    assert!(refused.body.contains("eve@example.com"), "it is given back");
    assert!(refused.body.contains("href=\"/me/codes\""), "{refused:?}");
    let page = grace.get("/me/codes").await;
    assert!(page.body.contains("Your account requires"), "{page:?}");
    // signing in leads there too, and signing out is possible
    grace.post("/sign-out", &[]).await;
    let signed_in = grace.sign_in("grace@example.com", PASSWORD).await;
    assert_eq!(signed_in.status, 303, "{signed_in:?}");
    let answer = grace.get("/").await;
    assert_eq!(answer.header("location"), Some("/me/codes"));
    set_up(&mut grace).await;
    assert_eq!(grace.get("/").await.status, 200);
    assert_eq!(grace.post("/people", &typed).await.status, 200);
    let optional = grace.post("/people/codes", &[("require", "off")]).await;
    assert_eq!(optional.header("location"), Some("/people?done=optional"));
    assert_eq!(grace.post("/people/codes", &[]).await.status, 400);
    let mut kay = joined(&service, "kay@example.com", "reviewer").await;
    assert_eq!(kay.get("/").await.status, 200);
    assert_eq!(
        kay.post("/people/codes", &[("require", "on")]).await.status,
        403
    );
}

async fn an_owner_switches_off_the_codes_of_somebody_who_lost_their_phone(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, ADA, "owner").await;
    let mut grace = joined(&service, "grace@example.com", "editor").await;
    set_up(&mut grace).await;
    let list = ["person", "list", "--json"];
    let listed = service.run(&list).await.lines();
    let codes: Vec<_> = listed.iter().map(|person| &person["codes"]).collect();
    assert_eq!(codes, [&json!(false), &json!(true)]);
    let people = ada.get("/people").await;
    assert_eq!(people.body.matches("/codes-off\"").count(), 1, "{people:?}");
    let id = id_of(&people, 1);
    let off = ada.post(&format!("/people/{id}/codes-off"), &[]).await;
    assert_eq!(off.header("location"), Some("/people?done=codes"));
    let notice = grace.get("/").await;
    assert!(
        notice.body.contains("switched off your one-time codes"),
        "{notice:?}"
    );

    // by the operator, and by a link that announces it
    set_up(&mut grace).await;
    let arguments = ["person", "codes", "grace@example.com", "--json"];
    let shown = service.run(&arguments).await.object();
    assert_eq!(shown, json!({"email": "grace@example.com", "codes": true}));
    let arguments = [&arguments[..], &["--off"]].concat();
    let shown = service.run(&arguments).await.object();
    assert_eq!(shown["codes"], json!(false));
    set_up(&mut grace).await;
    let reset = ["person", "reset", "grace@example.com"];
    let link = text(&service.run(&reset).await.object(), "link");
    let page = grace.get(&path_of(&link)).await;
    assert!(
        page.body.contains("codes are switched off with it"),
        "{page:?}"
    );
    assert_eq!(grace.join(&link, "Grace").await.status, 303);
    let mut home = PlainBrowser::new(&service);
    let signed_in = home.sign_in("grace@example.com", PASSWORD).await;
    assert_eq!(signed_in.status, 303, "{signed_in:?}");
    let link = invited(&service, "kay@example.com", "reviewer").await;
    let page = home.get(&path_of(&link)).await;
    assert!(!page.body.contains("codes"), "{page:?}");
}
