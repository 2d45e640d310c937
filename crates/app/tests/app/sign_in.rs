//! Sign-in under attack, over HTTP: who is blocked by wrong attempts, and who is not. Networks are
//! distinguished by `X-Forwarded-For`, as behind a proxy.

use refract_test_stack::browser::{PASSWORD, PlainBrowser, join_with, joined, path_of};
use refract_test_stack::http::Request;
use refract_test_stack::http::answer::HttpAnswer;
use refract_test_stack::service::{Backend, Service, Setup, text};
use refract_test_support::on_both;

on_both!(
    strangers_elsewhere_lock_nobody_out,
    ten_wrong_tries_stop_the_next_on_every_node,
    a_browser_that_signed_in_before_is_counted_by_itself,
    a_link_for_a_new_password_lets_its_person_in,
    many_addresses_from_one_network_slow_it_alone,
    a_cookie_planted_before_the_right_one_signs_nobody_out,
);

const OFFICE: &str = "203.0.113.5";
const ATTACKER: &str = "198.51.100.7";
const ADA: &str = "ada@example.com";

/// Nodes behind a proxy on loopback.
async fn behind_a_proxy(backend: Backend, nodes: usize) -> Service {
    let setup = Setup {
        nodes,
        settings: &[("REFRACT_APP_TRUSTED_PROXIES", "127.0.0.0/8")],
        ..Setup::default()
    };
    Service::with(backend, setup).await
}

/// Sends wrong passwords, in turn to each node, until further attempts are blocked.
async fn exhaust(browser: &mut PlainBrowser<'_>, nodes: usize) {
    for attempt in 0..10 {
        browser.node = attempt % nodes;
        let answer = browser.sign_in(ADA, "wrong").await;
        assert_eq!(answer.status, 401, "{answer:?}");
    }
    for node in 0..nodes {
        browser.node = node;
        assert_stopped(&browser.sign_in(ADA, PASSWORD).await);
    }
}

fn assert_stopped(answer: &HttpAnswer) {
    assert_eq!(answer.status, 429, "even the right password: {answer:?}");
    assert!(
        answer
            .body
            .contains("too many wrong tries for this address")
    );
    let seconds: u64 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=16 * 60).contains(&seconds), "{seconds}");
}

async fn ten_wrong_tries_stop_the_next_on_every_node(backend: Backend) {
    let mut service = Service::start(backend).await;
    service.start_node(&[]).await;
    joined(&service, "ada@example.com", "owner").await;
    let mut ada = PlainBrowser::new(&service);
    for attempt in 0..10 {
        ada.node = attempt % 2;
        assert_eq!(ada.sign_in("ada@example.com", "wrong").await.status, 401);
    }
    for node in 0..2 {
        ada.node = node;
        let answer = ada.sign_in("Ada@example.com", PASSWORD).await;
        assert_eq!(answer.status, 429, "even the right password");
        assert!(answer.body.contains("try again after <time datetime="));
        assert!(answer.body.contains("/times."), "{}", answer.body);
    }
    assert_eq!(
        ada.sign_in("grace@example.com", "wrong").await.status,
        401,
        "others may try"
    );
}

async fn a_browser_that_signed_in_before_is_counted_by_itself(backend: Backend) {
    let service = behind_a_proxy(backend, 2).await;
    let mut ada = join_with(PlainBrowser::from(&service, OFFICE), ADA, "owner").await;
    // an attacker in the same network, who cannot know which cookie is Ada's
    let mut eve = PlainBrowser::from(&service, OFFICE);
    exhaust(&mut eve, 2).await;
    eve.keep("refract_browser", &"a".repeat(43));
    assert_stopped(&eve.sign_in(ADA, PASSWORD).await);
    let stolen = ada.value_of("refract_browser").to_owned();
    for node in 0..2 {
        ada.node = node;
        ada.post("/sign-out", &[]).await;
        assert_eq!(ada.sign_in(ADA, PASSWORD).await.status, 303, "{node}");
    }
    assert_ne!(
        ada.value_of("refract_browser"),
        stolen,
        "another one each time"
    );
    eve.keep("refract_browser", &stolen);
    assert_stopped(&eve.sign_in(ADA, PASSWORD).await);
    // the cookie alone does not sign in
    eve.keep("refract_browser", ada.value_of("refract_browser"));
    eve.keep("refract", ada.value_of("refract_browser"));
    assert_eq!(eve.get("/").await.status, 303);
    // her own wrong attempts are limited too
    exhaust(&mut ada, 2).await;
}

async fn a_link_for_a_new_password_lets_its_person_in(backend: Backend) {
    let service = behind_a_proxy(backend, 1).await;
    join_with(PlainBrowser::from(&service, OFFICE), ADA, "owner").await;
    let mut ada = PlainBrowser::from(&service, "203.0.113.99");
    exhaust(&mut ada, 1).await;
    let made = service.run(&["person", "reset", ADA]).await.object();
    let path = path_of(&text(&made, "link"));
    assert_eq!(ada.join(&path, "Ada").await.status, 303);
    ada.post("/sign-out", &[]).await;
    let mut elsewhere = PlainBrowser::from(&service, "203.0.113.7");
    for browser in [&mut ada, &mut elsewhere] {
        assert_eq!(browser.sign_in(ADA, PASSWORD).await.status, 303);
    }
}

async fn many_addresses_from_one_network_slow_it_alone(backend: Backend) {
    let service = behind_a_proxy(backend, 2).await;
    let mut known = join_with(PlainBrowser::from(&service, ATTACKER), ADA, "owner").await;
    known.post("/sign-out", &[]).await;
    let mut attacker = PlainBrowser::from(&service, ATTACKER);
    let mut answer = None;
    for attempt in 0..21 {
        attacker.node = attempt % 2;
        let email = format!("somebody-{attempt}@example.com");
        let tried = attacker.sign_in(&email, "Sommer2026!!").await;
        if attempt < 20 {
            assert_eq!(tried.status, 401, "{attempt}: {tried:?}");
        }
        answer = Some(tried);
    }
    let slowed = answer.unwrap();
    // on a slow machine the limit may already have expired
    if slowed.status != 401 {
        assert_eq!(slowed.status, 429, "{slowed:?}");
        assert!(
            slowed
                .body
                .contains("many sign-ins from your network failed")
        );
        let seconds: u64 = slowed.header("retry-after").unwrap().parse().unwrap();
        assert!((1..=5).contains(&seconds), "{seconds}");
        assert!(slowed.body.contains("value=\"somebody-20@example.com\""));
    }
    assert_eq!(known.sign_in(ADA, PASSWORD).await.status, 303);
    let mut office = PlainBrowser::from(&service, OFFICE);
    assert_eq!(office.sign_in(ADA, PASSWORD).await.status, 303);
}

async fn a_cookie_planted_before_the_right_one_signs_nobody_out(backend: Backend) {
    let service = Service::start(backend).await;
    let ada = joined(&service, ADA, "owner").await;
    let planted = format!("refract=x; refract={}; {}", "a".repeat(43), ada.cookie());
    let send = |method, path| {
        let request = Request::outside(method, path).header("Cookie", &planted);
        let request = request.header("Sec-Fetch-Site", "same-origin");
        let app = service.nodes[0].app;
        async move { request.send(app).await }
    };
    assert_eq!(send("GET", "/people").await.status, 200);
    assert_eq!(send("POST", "/sign-out").await.status, 303);
    assert_eq!(
        send("GET", "/people").await.status,
        303,
        "that one was ended"
    );
}

async fn strangers_elsewhere_lock_nobody_out(backend: Backend) {
    let mut service = behind_a_proxy(backend, 2).await;
    // a node that trusts no proxy ignores the header
    service.start_node(&[]).await;
    join_with(PlainBrowser::from(&service, OFFICE), ADA, "owner").await;
    exhaust(&mut PlainBrowser::from(&service, ATTACKER), 2).await;
    let mut neighbour = PlainBrowser::from(&service, "198.51.100.200");
    assert_stopped(&neighbour.sign_in(ADA, PASSWORD).await);
    let chained = "203.0.113.5, 198.51.100.7";
    let mut liar = PlainBrowser::from(&service, chained);
    assert_stopped(&liar.sign_in(ADA, PASSWORD).await);
    for node in 0..2 {
        let mut ada = PlainBrowser::from(&service, "203.0.113.99");
        ada.node = node;
        assert_eq!(ada.sign_in(ADA, PASSWORD).await.status, 303, "{node}");
    }
    let mut direct = PlainBrowser::from(&service, ATTACKER);
    direct.node = 2;
    assert_eq!(direct.sign_in(ADA, PASSWORD).await.status, 303);
}
