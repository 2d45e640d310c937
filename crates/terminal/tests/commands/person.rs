//! `refract person`: people are invited, listed and removed from the terminal.

use refract_test_stack::program::Ended;
use refract_test_stack::service::{Backend, Service, Setup, text};
use refract_test_support::on_both;
use serde_json::Value;

on_both!(
    the_first_person_is_an_owner_and_others_review,
    a_new_link_replaces_the_one_before,
    a_removed_person_is_not_listed,
    what_cannot_be_done_is_refused_in_one_line,
);

async fn service(backend: Backend) -> Service {
    let setup = Setup {
        nodes: 0,
        ..Setup::default()
    };
    Service::with(backend, setup).await
}

async fn people(service: &Service) -> Vec<Value> {
    service.run(&["person", "list", "--json"]).await.lines()
}

async fn invite(service: &Service, arguments: &[&str]) -> Ended {
    service
        .run(&[&["person", "invite"], arguments].concat())
        .await
}

async fn the_first_person_is_an_owner_and_others_review(backend: Backend) {
    let service = service(backend).await;
    let ada = invite(&service, &[" Ada@Example.com "]).await.object();
    assert_eq!(
        (text(&ada, "email"), text(&ada, "role")),
        ("ada@example.com".into(), "owner".into())
    );
    let link = text(&ada, "link");
    let token = link.strip_prefix("http://127.0.0.1:8081/join/").unwrap();
    assert_eq!(token.len(), 43);
    assert_eq!(ada.as_object().unwrap().len(), 4);
    let grace = invite(&service, &["grace@example.com"]).await.object();
    assert_eq!(text(&grace, "role"), "reviewer");
    let url = [
        "--role",
        "editor",
        "--app-url",
        "https://refract.example.com",
    ];
    let joan = invite(&service, &[&["joan@example.com"][..], &url].concat())
        .await
        .object();
    assert_eq!(text(&joan, "role"), "editor");
    assert!(text(&joan, "link").starts_with("https://refract.example.com/join/"));
    let listed = people(&service).await;
    let shown: Vec<_> = listed
        .iter()
        .map(|it| (text(it, "email"), text(it, "role")))
        .collect();
    let expected = [
        ("ada@example.com", "owner"),
        ("grace@example.com", "reviewer"),
        ("joan@example.com", "editor"),
    ];
    assert_eq!(
        shown,
        expected.map(|(email, role)| (email.into(), role.into()))
    );
    for person in &listed {
        assert!(person["name"].is_null() && person["last_used_at"].is_null());
    }
    assert_eq!(listed[0]["link_expires_at"], ada["expires_at"]);
    let table = service.run(&["person", "list"]).await.done();
    assert!(
        table.contains("grace@example.com") && !table.contains(token),
        "{table}"
    );
}

async fn a_new_link_replaces_the_one_before(backend: Backend) {
    let service = service(backend).await;
    let first = invite(&service, &["ada@example.com"]).await.object();
    let again = invite(&service, &["ada@example.com", "--role", "editor"])
        .await
        .object();
    let reset = service
        .run(&["person", "reset", "ADA@example.com"])
        .await
        .object();
    assert_eq!(text(&reset, "role"), "editor");
    let links = [&first, &again, &reset].map(|it| text(it, "link"));
    assert!(links[0] != links[1] && links[1] != links[2]);
    let listed = people(&service).await;
    assert_eq!(listed.len(), 1);
    assert_eq!(text(&listed[0], "role"), "editor");
}

async fn a_removed_person_is_not_listed(backend: Backend) {
    let service = service(backend).await;
    invite(&service, &["ada@example.com"]).await.object();
    let removed = service.run(&["person", "remove", "ada@example.com"]).await;
    assert_eq!(removed.stderr, "The person is removed.\n");
    assert!(people(&service).await.is_empty());
    invite(&service, &["ada@example.com"]).await.object();
    assert_eq!(people(&service).await.len(), 1);
}

async fn what_cannot_be_done_is_refused_in_one_line(backend: Backend) {
    let service = service(backend).await;
    invite(&service, &["ada@example.com"]).await.object();
    for command in ["remove", "reset"] {
        let line = service
            .run(&["person", command, "grace@example.com"])
            .await
            .refused();
        assert!(line.contains("refract person list"), "{line}");
    }
    let line = invite(&service, &["ada"]).await.refused();
    assert_eq!(
        line,
        "error: EMAIL cannot be used: must be an email address such as ada@example.com"
    );
    service.run(&["account", "create", "acme"]).await.object();
    let line = invite(&service, &["ada@example.com", "--account", "acme"])
        .await
        .refused();
    assert!(
        line.contains("in use already") && !line.contains("default"),
        "{line}"
    );
    let wrong = invite(&service, &["b@example.com", "--role", "king"]).await;
    assert_eq!(wrong.code, Some(2));
    assert!(
        wrong.stderr.contains("reviewer, editor, owner"),
        "{wrong:?}"
    );
}
