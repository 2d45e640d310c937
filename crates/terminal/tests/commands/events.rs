//! Events as owners and operators see them, and what they never contain.

use refract_test_stack::browser::{PASSWORD, PlainBrowser, id_of, invited, joined, path_of};
use refract_test_stack::service::events;
use refract_test_stack::service::{Backend, PRISM, Service, text};
use refract_test_support::on_both;
use serde_json::{Value, json};

on_both!(
    operators_list_events_by_who_and_since_when,
    owners_see_filter_and_download_events,
    no_event_holds_a_text_or_a_secret,
    the_page_of_a_prism_shows_from_what_to_what,
);

async fn by(service: &Service, who: &str) -> Vec<String> {
    let events = service
        .run(&["events", "--json", "--by", who])
        .await
        .lines();
    events.iter().map(|event| text(event, "action")).collect()
}

async fn operators_list_events_by_who_and_since_when(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "owner").await;
    ada.post(&format!("/prisms/{PRISM}/rename"), &[("name", "Inbox")])
        .await;
    let all = events(&service).await;
    let keys = "{\"id\":";
    let printed = service.run(&["events", "--json"]).await.done();
    assert!(printed.starts_with(keys), "{printed}");
    let order = [
        "id",
        "at",
        "by",
        "by_kind",
        "action",
        "target_kind",
        "target",
        "from",
        "to",
        "note",
        "request_id",
    ];
    let line = printed.lines().next().unwrap();
    let mut last = 0;
    for key in order {
        let place = line.find(&format!("\"{key}\":")).expect(line);
        assert!(place >= last, "{line}");
        last = place;
    }
    let renamed = &all[0];
    assert_eq!(renamed["action"], "prism_renamed");
    assert_eq!(
        (&renamed["target_kind"], &renamed["target"]),
        (&json!("prism"), &json!(PRISM))
    );
    assert_eq!(
        (&renamed["from"], &renamed["to"]),
        (&json!("Support triage"), &json!("Inbox"))
    );
    assert_eq!(
        by(&service, "ada@example.com").await,
        ["prism_renamed", "person_joined"]
    );
    assert_eq!(by(&service, "ADA@example.com").await.len(), 2);
    assert_eq!(by(&service, "operator").await.len(), all.len() - 2);
    assert_eq!(by(&service, "node").await, [""; 0]);
    assert_eq!(by(&service, &service.key_id).await, [""; 0]);
    let refused = service.run(&["events", "--by", "nobody"]).await.refused();
    assert!(
        refused.contains("nobody of the account is called 'nobody'"),
        "{refused}"
    );
    let since = |text: String| {
        let service = &service;
        async move {
            let arguments = ["events", "--json", "--since", &text];
            service.run(&arguments).await.lines().len()
        }
    };
    assert_eq!(since("2020-01-01".to_owned()).await, all.len());
    assert_eq!(since(text(renamed, "at")).await, 1);
    let table = service.run(&["events", "--limit", "2"]).await.done();
    assert_eq!(table.lines().count(), 3, "{table}");
    assert!(table.contains("prism support-triage") && table.contains("prism_renamed"));
    // a removed person is still found by their address
    let people = ada.get("/people").await;
    assert_eq!(people.status, 200);
    joined(&service, "grace@example.com", "owner").await;
    service
        .run(&["person", "remove", "ada@example.com"])
        .await
        .done();
    assert_eq!(by(&service, "ada@example.com").await.len(), 2);
}

async fn owners_see_filter_and_download_events(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "owner").await;
    let mut grace = joined(&service, "grace@example.com", "editor").await;
    assert_eq!(grace.get("/events").await.status, 403);
    assert!(!grace.get("/").await.body.contains("href=\"/events\""));
    for number in 0..60 {
        let name = format!("Name {number}");
        let rename = format!("/prisms/{PRISM}/rename");
        assert_eq!(grace.post(&rename, &[("name", &name)]).await.status, 303);
    }
    let rows = |body: &str| body.matches("data-label=\"Who\"").count();
    let page = ada.get("/events").await;
    assert_eq!((page.status, rows(&page.body)), (200, 50));
    assert!(page.body.contains("Name 58") && page.body.contains("renamed the prism"));
    let (_, older) = page.body.split_once("href=\"/events?older=").unwrap();
    let older = format!("/events?older={}", older.split('"').next().unwrap());
    let second = ada.get(&older).await;
    assert_eq!(rows(&second.body), events(&service).await.len() - 50);
    assert!(!second.body.contains("Name 58"));
    let (_, newer) = second.body.split_once("href=\"/events?newer=").unwrap();
    let newer = format!("/events?newer={}", newer.split('"').next().unwrap());
    assert_eq!(rows(&ada.get(&newer).await.body), 50);

    let id = id_of(&ada.get("/people").await, 1);
    for (query, expected) in [
        (format!("by=person:{id}&action=prism_renamed"), 50),
        ("action=person_joined".to_owned(), 2),
        (format!("target=person:{id}"), 2),
        (format!("target=person:{id}&by=operator"), 1),
        ("by=node".to_owned(), 0),
        ("to=2020-01-01".to_owned(), 0),
        (format!("target=key:{}", service.key_id), 1),
    ] {
        let page = ada.get(&format!("/events?{query}")).await;
        assert_eq!((page.status, rows(&page.body)), (200, expected), "{query}");
    }
    let wrong = ada.get("/events?by=nobody").await;
    assert_eq!(wrong.status, 422);
    assert!(wrong.body.contains("is none of the list"));

    let known = events(&service).await.len();
    let query = format!("by=person:{id}&action=prism_renamed");
    let path = format!("/events/download?{query}&format=csv");
    let file = ada.download(&path).await;
    assert_eq!(
        file.header("content-disposition"),
        Some("attachment; filename=\"events.csv\"")
    );
    let lines: Vec<_> = file.body.lines().collect();
    assert_eq!(lines.len(), 61);
    assert_eq!(
        lines[0],
        "id,at,by,by_kind,action,target_kind,target,from,to,note,request_id"
    );
    assert!(lines[1].contains(",grace@example.com,person,prism_renamed,prism,support-triage,"));
    let file = ada.download("/events/download?format=jsonl").await;
    let downloaded: Vec<Value> = file
        .body
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let all = events(&service).await;
    assert_eq!(all.len(), known + 2, "each download is an event");
    assert_eq!(all[0]["action"], "events_exported");
    assert_eq!(all[0]["note"], "jsonl");
    assert_eq!(downloaded, all[1..], "as the terminal has them");
}

/// Creates, saves and applies a prism and a lens whose texts all contain a marker word.
async fn define_marked(service: &Service) {
    let mut file = json!({
        "name": "Plain", "context": "marker-prism-context",
        "fields": [{"key": "text", "label": "marker-label"}],
        "questions": [{"key": "angry", "type": "yes_no", "text": "marker-question",
            "instructions": "marker-instructions"}],
    });
    let path = service.file("plain.prism.json", &file);
    service.run(&["prism", "create", &path]).await.done();
    service.run(&["prism", "save", "plain", &path]).await.done();
    let lens = |no_below: f64| {
        let column = json!({"question": "angry", "output": "label", "no_below": no_below});
        service.file("plain.lens.json", &json!({"columns": [column]}))
    };
    service
        .run(&["lens", "set", "plain", &lens(0.3)])
        .await
        .done();
    file["context"] = json!("marker-applied-context");
    service.file("plain.prism.json", &file);
    let apply = ["apply", &path, &lens(0.2), "--note", "kept on purpose"];
    let applied = service.run(&apply).await.done();
    assert_eq!(applied.matches("\"saved\"").count(), 2, "{applied}");
}

/// The values of the session and browser cookies.
fn cookies_of(browser: &PlainBrowser<'_>) -> [String; 2] {
    ["refract", "refract_browser"].map(|cookie| browser.value_of(cookie).to_owned())
}

/// Signs in with a wrong password that contains a marker word and with the right one, and sets a
/// name and a password that contain one.
async fn sign_in_marked(ada: &mut PlainBrowser<'_>) {
    ada.sign_in("ada@example.com", "marker-password").await;
    ada.sign_in("ada@example.com", PASSWORD).await;
    ada.post("/me/name", &[("name", "Second Marker-Name")])
        .await;
    let change = [
        ("present_password", PASSWORD),
        ("password", "marker 9kQ3 new"),
        ("password_again", "marker 9kQ3 new"),
    ];
    ada.post("/me/password", &change).await;
}

async fn no_event_holds_a_text_or_a_secret(backend: Backend) {
    let service = Service::start(backend).await;
    let link = invited(&service, "ada@example.com", "owner").await;
    let mut ada = PlainBrowser::new(&service);
    ada.join(&link, "Ada Marker-Name").await;
    let cookies = cookies_of(&ada);
    let body = json!({
        "text": "marker-text", "context": "marker-context", "ref": "marker-ref",
        "idempotency_key": "marker-idempotency",
    });
    let made = service.create(&body).await;
    let id = text(&made.value(), "id");
    define_marked(&service).await;
    let key = service
        .run(&["key", "create", "--name", "plain"])
        .await
        .object();
    let reset = service
        .run(&["person", "reset", "ada@example.com"])
        .await
        .object();
    let rows = service.folder.path().join("marker-file.csv");
    std::fs::write(&rows, "text,ref\nmarker-row,marker-row-ref\n").unwrap();
    service
        .run(&["run", PRISM, rows.to_str().unwrap()])
        .await
        .done();
    let marks = service.folder.path().join("marks.csv");
    std::fs::write(&marks, format!("result_id,angry\n{id},yes\n")).unwrap();
    let marks = marks.to_str().unwrap();
    let import = ["marks", "import", PRISM, marks, "--by", "Marker-By"];
    service.run(&import).await.done();
    ada.get(&format!(
        "/prisms/{PRISM}/results/download?ref=marker-ref&format=csv"
    ))
    .await;
    service
        .run(&["results", "erase", "--ref", "marker-ref"])
        .await
        .done();
    sign_in_marked(&mut ada).await;
    let second = cookies_of(&ada);
    let all = service.run(&["events", "--json"]).await.done();
    assert!(all.lines().count() > 12, "{all}");
    for action in [
        "sign_in_refused",
        "signed_in",
        "session_ended",
        "name_set",
        "password_changed",
    ] {
        assert!(all.contains(&format!("\"{action}\"")), "{action}: {all}");
    }
    let join_token = path_of(&link).replace("/join/", "");
    let reset_token = path_of(&text(&reset, "link")).replace("/join/", "");
    for secret in [
        "marker",
        "Marker",
        PASSWORD,
        &cookies[0],
        &cookies[1],
        &second[0],
        &second[1],
        &join_token,
        &reset_token,
        &service.key,
        &text(&key, "key"),
        text(&key, "key").split_at(7).0,
    ] {
        assert!(!all.contains(secret), "{secret}: {all}");
    }
    assert!(
        all.contains("of one ref"),
        "that there was one is said: {all}"
    );
}

async fn the_page_of_a_prism_shows_from_what_to_what(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "owner").await;
    let prism = format!("/prisms/{PRISM}");
    ada.post(&format!("{prism}/rename"), &[("name", "Inbox")])
        .await;
    for yes_from in ["60", "70"] {
        let columns = [
            ("columns.0.shows", "angry/label"),
            ("columns.0.no_below", "40"),
            ("columns.0.yes_from", yes_from),
        ];
        let saved = ada.post(&format!("{prism}/lens/save"), &columns).await;
        assert_eq!(saved.status, 303, "{saved:?}");
    }
    let page = ada.get(&prism).await.body;
    assert!(
        page.contains("<bdi>Support triage</bdi> → <bdi>Inbox</bdi>"),
        "{page}"
    );
    assert!(page.contains("angry: Yes from 60 → 70 %"), "{page}");
}
