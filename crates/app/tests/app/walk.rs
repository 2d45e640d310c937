//! A walk over the app's whole route table: every route makes the checks common to all routes.

use refract_app::{RouteFacts, route_table};
use refract_domain::account::Role;
use refract_test_stack::browser::{PlainBrowser, joined};
use refract_test_stack::http::Request;
use refract_test_stack::http::answer::HttpAnswer;
use refract_test_stack::service::{Backend, PRISM, Service, text};
use refract_test_support::on_both;
use serde_json::json;

use crate::examples::kept;

on_both!(
    what_is_written_is_shown_as_text_on_every_page,
    strangers_are_sent_to_sign_in,
    other_sites_change_nothing,
    a_role_may_what_the_table_allows,
    other_accounts_things_do_not_exist,
    no_form_is_too_large_to_be_refused,
);

const HOSTILE: &str = "<script>alert(1)</script>\u{202e}\"'=1+1 🦊";

/// The address of a route with this prism and id.
fn address(route: &RouteFacts, prism: &str, id: &str) -> String {
    let pattern = route.pattern.replace("{slug}", prism).replace("{id}", id);
    let pattern = pattern.replace("{n}", "1").replace("{token}", "x");
    let pattern = pattern.replace("{sitting}", id).replace("{example}", id);
    let pattern = pattern.replace("{format}", "csv");
    let name = pattern.replace("{folder}", "x");
    name.replace("{name}", "app.css")
}

fn for_people() -> impl Iterator<Item = (RouteFacts, Role)> {
    route_table().filter_map(|route| Some((route, route.least_role?)))
}

async fn made_result(service: &Service, words: &str) -> String {
    let made = service.create(&json!({"text": words, "ref": "r"})).await;
    text(&made.value(), "id")
}

async fn visit(browser: &mut PlainBrowser<'_>, route: &RouteFacts, address: &str) -> HttpAnswer {
    if route.is_action {
        browser.post(address, &[("role", "editor")]).await
    } else {
        browser.get(address).await
    }
}

async fn strangers_are_sent_to_sign_in(backend: Backend) {
    let service = Service::start(backend).await;
    let id = made_result(&service, "a text").await;
    for cookie in ["", "refract=stolen", &format!("refract={}", "a".repeat(43))] {
        for (route, _) in for_people() {
            let address = address(&route, PRISM, &id);
            let method = if route.is_action { "POST" } else { "GET" };
            let request = Request::outside(method, &address)
                .header("Sec-Fetch-Site", "same-origin")
                .header("Cookie", cookie);
            let answer = request.send(service.nodes[0].app).await;
            assert_eq!(answer.status, 303, "{method} {address} {answer:?}");
            let location = answer.header("location").unwrap();
            assert!(location.starts_with("/sign-in"), "{address}: {location}");
            assert_eq!(location.contains("then="), !route.is_action, "{address}");
        }
    }
}

async fn other_sites_change_nothing(backend: Backend) {
    let service = Service::start(backend).await;
    let ada = joined(&service, "ada@example.com", "owner").await;
    let id = made_result(&service, "a text").await;
    let senders = [
        vec![("Sec-Fetch-Site", "cross-site")],
        vec![("Sec-Fetch-Site", "same-site")],
        vec![("Sec-Fetch-Site", "none")],
        vec![("Origin", "https://evil.example.com")],
        vec![("Origin", "null")],
        vec![],
    ];
    for route in route_table().filter(|route| route.is_action) {
        for headers in &senders {
            let address = address(&route, PRISM, &id);
            let mut request = Request::outside("POST", &address)
                .header("Cookie", &ada.cookie())
                .header("Content-Type", "application/x-www-form-urlencoded")
                .body("name=x");
            for (name, value) in headers {
                request = request.header(name, value);
            }
            let answer = request.send(service.nodes[0].app).await;
            assert_eq!(answer.status, 403, "{address} {headers:?}");
        }
    }
    let prisms = service.run(&["prism", "list", "--json"]).await.lines();
    assert_eq!((prisms.len(), &prisms[0]["archived"]), (1, &json!(false)));
}

async fn a_role_may_what_the_table_allows(backend: Backend) {
    let service = Service::start(backend).await;
    let id = made_result(&service, "a text").await;
    for role in Role::ALL {
        let email = format!("{role}@example.com");
        let mut person = joined(&service, &email, role.name()).await;
        for (route, least) in for_people() {
            // an address with no object of this account, so that nothing is changed
            let address = address(&route, "no-such-prism", &id);
            let answer = visit(&mut person, &route, &address).await;
            let is_refused = answer.status == 403;
            assert_eq!(is_refused, !role.may(least), "{role} {address} {answer:?}");
            if is_refused {
                assert!(answer.body.contains(least.name()), "{address}: {answer:?}");
            }
        }
    }
}

async fn other_accounts_things_do_not_exist(backend: Backend) {
    let service = Service::start(backend).await;
    let id = made_result(&service, "a secret text").await;
    let mut ada = joined(&service, "ada@example.com", "owner").await;
    let example = kept(&mut ada, PRISM, "a secret example").await;
    service.run(&["account", "create", "other"]).await.done();
    let arguments = ["person", "invite", "eve@example.com", "--account", "other"];
    let link = text(&service.run(&arguments).await.object(), "link");
    let mut eve = PlainBrowser::new(&service);
    assert_eq!(eve.join(&link, "Eve").await.status, 303);
    for prism in [PRISM, &service.prism_id] {
        for (route, _) in for_people() {
            if !route.pattern.contains("{slug}") && !route.pattern.contains("{id}") {
                continue;
            }
            let (_, example) = example.rsplit_once('/').unwrap();
            let id = if route.pattern.contains("{example}") {
                example
            } else {
                &id
            };
            let address = address(&route, prism, id);
            let answer = visit(&mut eve, &route, &address).await;
            assert_eq!(answer.status, 404, "{address} {answer:?}");
            assert!(!answer.body.contains("secret"), "{address}");
        }
    }
    let key = format!("/keys/{}/revoke", service.key_id);
    assert_eq!(eve.post(&key, &[]).await.status, 404);
    assert_eq!(
        service.read(&id, "").await.status,
        200,
        "the key still works"
    );
}

async fn no_form_is_too_large_to_be_refused(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "owner").await;
    let large = "a".repeat(17 * 1024 * 1024);
    let request = Request::outside("POST", "/prisms/new")
        .header("Sec-Fetch-Site", "same-origin")
        .header("Content-Type", "application/x-www-form-urlencoded")
        .body(format!("pasted={large}"));
    let answer = ada.send(request).await;
    assert_eq!(answer.status, 413, "{answer:?}");
}

async fn what_is_written_is_shown_as_text_on_every_page(backend: Backend) {
    let service = Service::start(backend).await;
    let file = json!({
        "name": HOSTILE,
        "fields": [{"key": "text", "label": HOSTILE}],
        "context": HOSTILE,
        "questions": [
            {"key": "topic", "type": "choice", "text": HOSTILE, "instructions": HOSTILE,
             "options": [{"key": "a", "label": HOSTILE, "description": HOSTILE}, {"key": "b", "label": "b"}]},
            {"key": "angry", "type": "yes_no", "text": HOSTILE},
        ],
    });
    let file = service.file("hostile.json", &file);
    let made = service.run(&["prism", "create", &file]).await.object();
    let slug = text(&made, "slug");
    let body = json!({"text": HOSTILE, "ref": HOSTILE, "context": HOSTILE});
    let made = service.send(service.create_request(&slug, &body)).await;
    let id = text(&made.value(), "id");
    let arguments = ["key", "create", "--name", HOSTILE];
    service.run(&arguments).await.done();
    let mut ada = joined(&service, "ada@example.com", "owner").await;
    let mut pages = 0;
    let example = kept(&mut ada, &slug, HOSTILE).await;
    ada.post(&format!("/prisms/{slug}/examples/check"), &[])
        .await;
    for (route, _) in for_people().filter(|(route, _)| !route.is_action) {
        let is_of_example = route.pattern.ends_with("/{example}");
        let address = if is_of_example {
            example.clone()
        } else {
            address(&route, &slug, &id)
        };
        let answer = ada.get(&address).await;
        let is_html = answer
            .header("content-type")
            .unwrap()
            .starts_with("text/html");
        if !is_html {
            continue;
        }
        pages += 1;
        assert!(
            answer.status == 200 || answer.status == 404,
            "{address} {answer:?}"
        );
        assert!(!answer.body.contains("<script>alert"), "{address}");
        assert!(
            !answer.body.contains(" style="),
            "{address}: an inline style"
        );
        assert!(
            !answer.body.contains(" onclick="),
            "{address}: an inline script"
        );
        let policy = answer.header("content-security-policy").unwrap();
        assert!(
            policy.contains("script-src 'self'") && !policy.contains("unsafe"),
            "{policy}"
        );
        assert_eq!(
            answer.header("cache-control"),
            Some("no-store"),
            "{address}"
        );
    }
    assert!(pages > 8, "{pages}");
}
