//! The app's notice of changes by others, and expired keys.

use std::time::{Duration, Instant};

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use refract_test_stack::browser::{PlainBrowser, id_of, invited, joined};
use refract_test_stack::http::Request;
use refract_test_stack::service::events;
use refract_test_stack::service::{Backend, PRISM, Service, text};
use refract_test_support::on_both;
use serde_json::json;

on_both!(
    somebody_learns_who_changed_their_role,
    somebody_learns_by_whose_link_their_password_was_replaced,
    a_key_that_ended_is_refused_at_the_next_request,
);

/// The text of the notice.
const NOTICE: &str = "Somebody changed your role or sign-in";

async fn somebody_learns_who_changed_their_role(backend: Backend) {
    let mut service = Service::start(backend).await;
    service.start_node(&[]).await;
    let mut ada = joined(&service, "ada@example.com", "owner").await;
    let link = invited(&service, "grace@example.com", "reviewer").await;
    let mut grace = PlainBrowser::new(&service);
    grace.join(&link, "Grace").await;
    assert!(!grace.get("/").await.body.contains(NOTICE));
    let id = id_of(&ada.get("/people").await, 1);
    let role = format!("/people/{id}/role");
    assert_eq!(ada.post(&role, &[("role", "editor")]).await.status, 303);
    assert!(!ada.get("/").await.body.contains(NOTICE), "Ada knows");
    for node in [0, 1] {
        grace.use_node(node);
        let page = grace.get("/").await;
        let words =
            "<bdi>Ada</bdi> changed your role from <bdi>reviewer</bdi> to <bdi>editor</bdi>";
        assert!(page.body.contains(words), "{}", page.body);
        let elsewhere = grace.get(&format!("/prisms/{PRISM}")).await;
        assert!(
            elsewhere.body.contains(NOTICE),
            "a link leads there from every page"
        );
    }
    let page = grace.get("/").await;
    let (_, up_to) = page.body.split_once("name=\"up_to\" value=\"").unwrap();
    let up_to = up_to.split('"').next().unwrap().to_owned();
    // a change between viewing and dismissing the notice is shown next
    assert_eq!(ada.post(&role, &[("role", "reviewer")]).await.status, 303);
    assert_eq!(grace.post("/seen", &[("up_to", &up_to)]).await.status, 303);
    let page = grace.get("/").await;
    assert!(
        !page
            .body
            .contains("from <bdi>reviewer</bdi> to <bdi>editor</bdi>")
    );
    assert!(
        page.body
            .contains("from <bdi>editor</bdi> to <bdi>reviewer</bdi>")
    );
    let (_, up_to) = page.body.split_once("name=\"up_to\" value=\"").unwrap();
    let up_to = up_to.split('"').next().unwrap().to_owned();
    assert_eq!(grace.post("/seen", &[("up_to", &up_to)]).await.status, 303);
    assert!(!grace.get("/").await.body.contains(NOTICE));
}

async fn somebody_learns_by_whose_link_their_password_was_replaced(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "owner").await;
    let link = invited(&service, "grace@example.com", "editor").await;
    let mut grace = PlainBrowser::new(&service);
    grace.join(&link, "Grace").await;
    let id = id_of(&ada.get("/people").await, 1);
    let page = ada.post(&format!("/people/{id}/link"), &[]).await;
    let (_, link) = page.body.split_once("/join/").unwrap();
    let link = format!("/join/{}", link.split('<').next().unwrap());
    assert!(
        !grace.get("/").await.body.contains(NOTICE),
        "nothing changed yet"
    );
    let mut somebody = PlainBrowser::new(&service);
    assert_eq!(somebody.join(&link, "Grace").await.status, 303);
    let page = somebody.get("/").await;
    assert!(
        page.body.contains("Your password was replaced"),
        "{}",
        page.body
    );
    assert!(
        page.body.contains("by a link that <bdi>Ada</bdi> made on"),
        "{}",
        page.body
    );
    // the link may have been used by somebody other than Grace: the notice reappears with her next
    // link
    let (_, up_to) = page.body.split_once("name=\"up_to\" value=\"").unwrap();
    let up_to = up_to.split('"').next().unwrap();
    assert_eq!(
        somebody.post("/seen", &[("up_to", up_to)]).await.status,
        303
    );
    assert!(!somebody.get("/").await.body.contains(NOTICE));
    let reset = ["person", "reset", "grace@example.com"];
    let link = text(&service.run(&reset).await.object(), "link");
    assert_eq!(grace.join(&link, "Grace").await.status, 303);
    let page = grace.get("/").await;
    for actor in ["an operator at the terminal", "<bdi>Ada</bdi>"] {
        let words = format!("by a link that {actor} made on");
        assert!(page.body.contains(&words), "{actor}: {}", page.body);
    }
    // a link made for oneself gives no notice
    let own = id_of(&ada.get("/people").await, 0);
    let page = ada.post(&format!("/people/{own}/link"), &[]).await;
    let (_, link) = page.body.split_once("/join/").unwrap();
    let link = format!("/join/{}", link.split('<').next().unwrap());
    assert_eq!(ada.join(&link, "Ada").await.status, 303);
    assert!(!ada.get("/").await.body.contains(NOTICE));
}

async fn a_key_that_ended_is_refused_at_the_next_request(backend: Backend) {
    let service = Service::start(backend).await;
    let end = Utc::now() + TimeDelta::seconds(3);
    let expires = end.to_rfc3339_opts(SecondsFormat::Millis, true);
    let create = ["key", "create", "--name", "brief", "--expires", &expires];
    let made = service.run(&create).await;
    assert!(made.stderr.contains("The key ends"), "{made:?}");
    let made = made.object();
    assert_eq!(made.as_object().unwrap().len(), 4);
    let id = text(
        &service.create(&json!({"text": "a text"})).await.value(),
        "id",
    );
    let read = Request::get(&format!("/results/{id}")).bearer(&text(&made, "key"));
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let asked_at = Utc::now();
        let answer = service.send(read.clone()).await;
        if answer.status != 200 {
            answer.assert_error(401, "unauthorized", "Invalid API key");
            assert!(Utc::now() >= end, "it ended early");
            break;
        }
        assert!(asked_at < end, "it opens after its end");
        assert!(Instant::now() < deadline);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let create = Request::post(&format!("/prisms/{PRISM}/results"));
    let create = create
        .bearer(&text(&made, "key"))
        .json(&json!({"text": "a text"}));
    service
        .send(create)
        .await
        .assert_error(401, "unauthorized", "Invalid API key");
    let keys = service.run(&["key", "list", "--json"]).await.lines();
    assert_eq!(keys[0]["expires_at"], json!(null));
    assert_eq!(
        keys[1]["expires_at"],
        end.to_rfc3339_opts(SecondsFormat::Secs, true)
    );
    let all = events(&service).await;
    let created = all.iter().find(|event| event["target"] == made["id"]);
    let shown = text(created.unwrap(), "to");
    let shown: DateTime<Utc> = shown.strip_prefix("ends ").unwrap().parse().unwrap();
    assert_eq!(Ok(shown), expires.parse());
    let mut ada = joined(&service, "ada@example.com", "owner").await;
    service
        .run(&["key", "revoke", &service.key_id])
        .await
        .done();
    let page = ada.get("/keys").await.body;
    assert!(
        page.contains(">ended<") && page.contains("by <bdi>operator</bdi>"),
        "{page}"
    );
    let keys = service.run(&["key", "list", "--json"]).await.lines();
    assert_eq!(
        (&keys[0]["revoked_by"], &keys[1]["revoked_by"]),
        (&json!("operator"), &json!(null))
    );
    for past in ["2020-01-01", "2020-01-01T00:00:00Z"] {
        let create = ["key", "create", "--expires", past];
        let refused = service.run(&create).await.refused();
        assert!(refused.contains("must be in the future"), "{refused}");
        let form = [("name", "late"), ("expires", "2020-01-01")];
        let page = ada.post("/keys", &form).await;
        assert_eq!(page.status, 422);
        assert!(
            page.body.contains("must be in the future") && page.body.contains("value=\"late\"")
        );
    }
    let form = [("name", "late"), ("expires", "tomorrow")];
    let page = ada.post("/keys", &form).await;
    assert_eq!(page.status, 422);
    assert!(page.body.contains("is no day"));
}
