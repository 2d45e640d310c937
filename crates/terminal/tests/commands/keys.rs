//! `refract key`: networks, and keys that replace others.

use chrono::{DateTime, TimeDelta, Utc};
use refract_test_stack::http::Request;
use refract_test_stack::service::{Backend, PRISM, Service, events, text};
use refract_test_support::on_both;
use serde_json::{Value, json};

on_both!(
    networks_of_a_key_are_listed_and_changed,
    a_key_is_replaced_while_both_work,
    a_key_of_a_name_is_found_where_that_is_clear,
);

async fn listed(service: &Service) -> Vec<Value> {
    service.run(&["key", "list", "--json"]).await.lines()
}

async fn shown(service: &Service, id: &Value) -> Value {
    let keys = listed(service).await;
    keys.into_iter().find(|key| key["id"] == *id).unwrap()
}

async fn networks_of_a_key_are_listed_and_changed(backend: Backend) {
    let service = Service::start(backend).await;
    let create = ["key", "create", "--name", "ci"];
    let networks = ["--network", "2001:db8::/32", "--network", "10.0.0.0/8"];
    let made = service.run(&[&create[..], &networks].concat()).await;
    let made = made.object();
    let expected = json!(["10.0.0.0/8", "2001:db8::/32"]);
    assert_eq!(shown(&service, &made["id"]).await["networks"], expected);
    assert_eq!(listed(&service).await[0]["networks"], json!([]));
    let id = text(&made, "id");
    for (called, arguments, expected) in [
        (
            id.as_str(),
            vec!["--network", "192.0.2.7"],
            json!(["192.0.2.7/32"]),
        ),
        ("ci", vec!["--any-network"], json!([])),
        ("ci", vec!["--any-network"], json!([])),
        (
            "ci",
            vec!["--network", "::1, 10.0.0.0/8"],
            json!(["10.0.0.0/8", "::1/128"]),
        ),
    ] {
        let set = [&["key", "set", called][..], &arguments].concat();
        assert_eq!(service.run(&set).await.done(), "", "{set:?}");
        assert_eq!(shown(&service, &made["id"]).await["networks"], expected);
    }
    let all = events(&service).await;
    let changes = all.iter().filter(|event| event["action"] == "key_changed");
    let details = changes.map(|event| (text(event, "from"), text(event, "to")));
    let any = "from any network";
    let expected = [
        (any, "from 10.0.0.0/8, ::1/128"),
        ("from 192.0.2.7/32", any),
        ("from 10.0.0.0/8, 2001:db8::/32", "from 192.0.2.7/32"),
    ];
    let expected = expected.map(|(from, to)| (from.to_owned(), to.to_owned()));
    assert_eq!(details.collect::<Vec<_>>(), expected);
    for (arguments, words) in [
        (
            vec!["create", "--network", "office"],
            "'office' is no network",
        ),
        (
            vec!["create", "--network", "10.1.0.0/8"],
            "write 10.0.0.0/8",
        ),
        (
            vec!["create", "--network", " "],
            "name a network such as 10.0.0.0/8",
        ),
        (
            vec!["set", "ci", "--network", "10.0.0.0/40"],
            "is no network",
        ),
        (vec!["set", "nobody", "--any-network"], "refract key list"),
    ] {
        let arguments = [&["key"][..], &arguments].concat();
        let line = service.run(&arguments).await.refused();
        assert!(line.contains(words), "{line}");
    }
    let ended = service.run(&["key", "set", "ci"]).await;
    assert_eq!(ended.code, Some(2), "{ended:?}");
    let both = ["key", "set", "ci", "--any-network", "--network", "::1"];
    assert_eq!(service.run(&both).await.code, Some(2));
}

/// The status of a create with a key.
async fn status(service: &Service, key: &str) -> u16 {
    let create = Request::post(&format!("/prisms/{PRISM}/results"));
    let create = create.bearer(key).json(&json!({"text": "a text"}));
    service.send(create).await.status
}

async fn a_key_is_replaced_while_both_work(backend: Backend) {
    let service = Service::start(backend).await;
    let create = [
        "key",
        "create",
        "--name",
        "importer",
        "--network",
        "127.0.0.1",
    ];
    let old = service.run(&create).await.object();
    let rotate = ["key", "rotate", "importer"];
    let asked_at = Utc::now();
    let new = service.run(&rotate).await.object();
    assert_eq!(new["replaces"], old["id"]);
    let ends_at: DateTime<Utc> = text(&new, "replaced_ends_at").parse().unwrap();
    let days = ends_at - asked_at;
    assert!(
        (TimeDelta::days(7) - days).abs() < TimeDelta::minutes(2),
        "{days}"
    );
    for key in [&old, &new] {
        assert_eq!(status(&service, &text(key, "key")).await, 200);
    }
    let made = shown(&service, &new["id"]).await;
    assert_eq!(
        (&made["name"], &made["expires_at"]),
        (&json!("importer"), &json!(null))
    );
    assert_eq!(made["networks"], json!(["127.0.0.1/32"]));
    assert_eq!(made["replaces"], old["id"]);
    // of the two, the name means neither
    let set = ["key", "set", "importer", "--any-network"];
    let line = service.run(&set).await.refused();
    assert!(line.contains("2 keys are called 'importer'"), "{line}");
    assert_eq!(
        shown(&service, &old["id"]).await["expires_at"],
        new["replaced_ends_at"]
    );
    // run again, it changes nothing, and shows no key
    let before = events(&service).await;
    let again = service.run(&rotate).await.object();
    assert_eq!((&again["id"], &again["key"]), (&new["id"], &json!(null)));
    assert_eq!(again["replaced_ends_at"], new["replaced_ends_at"]);
    assert_eq!(events(&service).await, before);
    // a lost successor is revoked, and another one made
    let lost = text(&new, "id");
    service.run(&["key", "revoke", &lost]).await.done();
    let id = text(&old, "id");
    let end = "2100-01-01";
    let options = ["--days", "1", "--expires", end];
    let arguments = [&["key", "rotate", &id][..], &options].concat();
    let another = service.run(&arguments).await.object();
    assert_eq!(status(&service, &text(&new, "key")).await, 401);
    assert_eq!(status(&service, &text(&another, "key")).await, 200);
    let made = shown(&service, &another["id"]).await;
    assert_eq!(made["expires_at"], "2100-01-01T00:00:00Z");
    let of_key = ["usage", "--key", &id, "--by", "key", "--json"];
    let usage = service.run(&of_key).await.lines();
    assert_eq!((usage.len(), &usage[0]["calls"]), (1, &json!(1)));
    // nothing uses a revoked key
    service.run(&["key", "revoke", &id]).await.done();
    let line = service.run(&["key", "rotate", &id]).await.refused();
    assert!(line.contains("make a new key"), "{line}");
    for (arguments, words) in [
        (vec!["--days", "0"], "from 1 to 90"),
        (vec!["--expires", "2020-01-01"], "must be in the future"),
    ] {
        let arguments = [&["key", "rotate", &service.key_id][..], &arguments].concat();
        let ended = service.run(&arguments).await;
        assert_ne!(ended.code, Some(0));
        assert!(format!("{ended:?}").contains(words), "{ended:?}");
    }
}

async fn a_key_of_a_name_is_found_where_that_is_clear(backend: Backend) {
    let service = Service::start(backend).await;
    for _ in 0..2 {
        service
            .run(&["key", "create", "--name", "twin"])
            .await
            .done();
    }
    let line = service.run(&["key", "rotate", "twin"]).await.refused();
    assert!(line.contains("2 keys have this name"), "{line}");
    let first = listed(&service).await[1].clone();
    let id = text(&first, "id");
    let line = service.run(&["key", "revoke", "twin"]).await.refused();
    assert!(
        line.starts_with("error: 2 keys are called 'twin': name one by its id: ")
            && line.contains(&id),
        "{line}"
    );
    service.run(&["key", "revoke", &id]).await.done();
    let rotated = service.run(&["key", "rotate", "twin"]).await;
    assert!(
        rotated.stderr.contains("The new key never ends"),
        "{rotated:?}"
    );
    let rotated = rotated.object();
    assert_eq!(
        (&rotated["name"], &rotated["expires_at"]),
        (&json!("twin"), &json!(null))
    );
    // the key and its successor share a name
    service.run(&["key", "revoke", "twin"]).await.refused();
    service
        .run(&["key", "revoke", &text(&rotated, "replaces")])
        .await
        .done();
    service.run(&["key", "revoke", "twin"]).await.done();
    assert_eq!(status(&service, &text(&rotated, "key")).await, 401);
    let line = service.run(&["key", "rotate", "twins"]).await.refused();
    assert!(line.contains("no key with this id"), "{line}");
}
