//! The log of the app: each page has a line, and no secret or text is in one.

use refract_test_stack::browser::{PASSWORD, PlainBrowser, invited, join_with, joined, path_of};
use refract_test_stack::service::{Backend, PRISM, Service, Setup, example_prism, text};
use refract_test_support::on_both;
use serde_json::json;

use crate::program::{setup, start};

on_both!(
    no_token_and_no_address_is_logged,
    no_password_that_is_changed_is_logged,
    a_node_that_is_reached_directly_names_the_setting_of_its_proxies,
    the_line_of_a_page_names_the_person_by_id,
    no_text_of_a_page_is_logged,
);

const ADA: &str = "ada@example.com";
const HOSTILE: &str = "<script>alert(1)</script>";

async fn no_token_and_no_address_is_logged(backend: Backend) {
    let service = start(backend).await;
    let link = invited(&service, "ada@example.com", "owner").await;
    let mut ada = PlainBrowser::new(&service);
    ada.get(&path_of(&link)).await;
    ada.join(&link, "Ada").await;
    ada.sign_in("ada@example.com", "wrong words").await;
    ada.sign_in("ada@example.com", PASSWORD).await;
    let is_last = |line: &str| line.contains("/sign-in") && line.contains("303");
    service.nodes[0].logged(is_last).await;
    let log = service.nodes[0].log().join("\n");
    let token = path_of(&link).replace("/join/", "");
    for secret in [
        token.as_str(),
        ada.value_of("refract"),
        ada.value_of("refract_browser"),
        "ada@example.com",
        "wrong words",
        PASSWORD,
    ] {
        assert!(!log.contains(secret), "{log}");
    }
}

async fn no_password_that_is_changed_is_logged(backend: Backend) {
    let service = start(backend).await;
    let mut ada = joined(&service, ADA, "owner").await;
    let new = "another 4 words, said";
    for (present, status) in [("wrong words", 422), (PASSWORD, 303)] {
        let values = [
            ("present_password", present),
            ("password", new),
            ("password_again", new),
        ];
        let answer = ada.post("/me/password", &values).await;
        assert_eq!(answer.status, status, "{answer:?}");
    }
    let is_last = |line: &str| line.contains("/me/password") && line.contains("303");
    service.nodes[0].logged(is_last).await;
    let log = service.nodes[0].log().join("\n");
    for secret in [PASSWORD, new, "wrong words", ada.value_of("refract")] {
        assert!(!log.contains(secret), "{log}");
    }
}

async fn a_node_that_is_reached_directly_names_the_setting_of_its_proxies(backend: Backend) {
    let setup = Setup {
        settings: &[("REFRACT_APP_TRUSTED_PROXIES", "127.0.0.0/8")],
        ..setup()
    };
    let mut service = Service::with(backend, setup).await;
    service.start_node(&[]).await;
    join_with(PlainBrowser::from(&service, "203.0.113.5"), ADA, "owner").await;
    let mut direct = PlainBrowser::from(&service, "198.51.100.7");
    direct.node = 1;
    assert_eq!(direct.sign_in(ADA, PASSWORD).await.status, 303);
    let setting = "REFRACT_APP_TRUSTED_PROXIES";
    service.nodes[1].logged(|line| line.contains(setting)).await;
    let log = service.nodes[0].log();
    assert!(!log.iter().any(|line| line.contains(setting)), "{log:?}");
}

async fn the_line_of_a_page_names_the_person_by_id(backend: Backend) {
    let service = start(backend).await;
    let mut ada = joined(&service, ADA, "owner").await;
    let page = ada.get("/people").await;
    let (_, id) = page.body.split_once("action=\"/people/").unwrap();
    let id = id.split('/').next().unwrap();
    let path = format!("/prisms/{PRISM}");
    ada.get(&path).await;
    let of_page = |line: &str| line.contains("/prisms/{slug}\"") && line.contains("\"page\"");
    let line = service.nodes[0].logged(of_page).await;
    assert!(line.contains(&format!("\"person\":\"{id}\"")), "{line}");
    assert!(line.contains("\"client\":\"127.0.0.1\""), "{line}");
    let mut stranger = PlainBrowser::new(&service);
    stranger.get("/sign-in").await;
    let of_page = |line: &str| line.contains("\"/sign-in\"") && line.contains("\"page\"");
    let line = service.nodes[0].logged(of_page).await;
    assert!(!line.contains("\"person\""), "{line}");
    let log = service.nodes[0].log().join("\n");
    assert!(!log.contains(ADA) && !log.contains("Ada"), "{log}");
}

async fn no_text_of_a_page_is_logged(backend: Backend) {
    let service = start(backend).await;
    let mut prism = example_prism();
    prism["name"] = json!(HOSTILE);
    prism["context"] = json!(HOSTILE);
    prism["questions"][0]["text"] = json!(HOSTILE);
    let file = service.file("hostile.json", &prism);
    let made = service.run(&["prism", "create", &file]).await.object();
    let slug = text(&made, "slug");
    let body = json!({"text": HOSTILE, "ref": HOSTILE});
    let made = service.send(service.create_request(&slug, &body)).await;
    let id = text(&made.value(), "id");
    let mut ada = joined(&service, ADA, "owner").await;
    let pages = [
        "/".to_owned(),
        format!("/prisms/{slug}"),
        format!("/prisms/{slug}/try"),
        format!("/prisms/{slug}/edit"),
        format!("/prisms/{slug}/lens"),
        format!("/prisms/{slug}/results"),
        format!("/results/{id}"),
    ];
    for page in &pages {
        assert_eq!(ada.get(page).await.status, 200, "{page}");
    }
    let is_last = |line: &str| line.contains("/results/{");
    service.nodes[0].logged(is_last).await;
    let log = service.nodes[0].log();
    let of_app = log.iter().filter(|line| line.contains("refract_app"));
    let of_app: Vec<_> = of_app.collect();
    assert!(of_app.len() >= pages.len(), "{log:?}");
    for line in of_app {
        assert!(!line.contains("alert") && !line.contains(&id), "{line}");
    }
}
