//! The app's pages Try and Result, over HTTP and without scripts.

use refract_test_stack::browser::{PlainBrowser, joined};
use refract_test_stack::http::Request;
use refract_test_stack::http::answer::HttpAnswer;
use refract_test_stack::service::{Backend, PRISM, Service, Setup, TEXT, text};
use refract_test_support::model_server::{Script, ScriptedReply};
use refract_test_support::on_both;
use serde_json::json;

on_both!(
    a_try_is_a_result_like_all_others,
    a_text_that_is_too_long_is_refused_beside_its_input_and_kept,
    two_versions_answer_one_text,
    a_failed_result_is_retried_once,
    a_mark_is_saved_and_taken_back,
    a_result_of_a_key_names_the_key_and_leads_owners_to_it,
    what_is_not_the_account_s_does_not_exist,
);

const HOSTILE: &str = "=1+1 <script>alert(1)</script> \u{202e}abc 🦊";

async fn answered(ada: &mut PlainBrowser<'_>, text: &str) -> (HttpAnswer, String) {
    let address = format!("/prisms/{PRISM}/try");
    let values = [
        ("fields.text", text),
        ("version", "1"),
        ("ref", "r 7"),
        ("action", "answer"),
    ];
    let sent = ada.post(&address, &values).await;
    assert_eq!(sent.status, 303, "{sent:?}");
    let address = sent.header("location").unwrap().to_owned();
    let (_, id) = address.split_once("?result=").unwrap();
    (ada.get(&address).await, id.to_owned())
}

async fn a_try_is_a_result_like_all_others(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "reviewer").await;
    let empty = ada.get(&format!("/prisms/{PRISM}/try")).await;
    assert_eq!(empty.status, 200);
    let (page, id) = answered(&mut ada, HOSTILE).await;
    let escaped = "&lt;script&gt;alert(1)&lt;/script&gt; \u{202e}abc 🦊</textarea>";
    assert!(page.body.contains(escaped) && !page.body.contains("<script>"));
    assert!(page.body.contains("70.0 %") && page.body.contains("Confidence"));
    let came_from = "protocol systemone";
    assert!(page.body.contains(" ms · ") && page.body.contains(came_from));
    assert!(page.body.contains("Check the order of options"));
    assert!(page.body.contains("Your last tries"), "{}", page.body);
    let result = ada.get(&format!("/results/{id}")).await;
    assert_eq!(result.status, 200, "{result:?}");
    for part in ["r 7", "systemone", "Made by", "Ada"] {
        assert!(result.body.contains(part), "{part}: {}", result.body);
    }
    assert!(!result.body.contains("<script>"));
    let csv = ada.get(&format!("/results/{id}/as/csv")).await;
    let shown = service
        .run(&["results", "show", &id, "--format", "csv"])
        .await;
    assert_eq!(csv.body, shown.done());
    let before = service.model.requests().len();
    let checked = ada.post(&format!("/results/{id}/orders"), &[]).await;
    assert_eq!(checked.status, 200);
    assert!(checked.body.contains("Largest move"));
    assert!(service.model.requests().len() > before);
}

async fn a_text_that_is_too_long_is_refused_beside_its_input_and_kept(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "reviewer").await;
    let long = "ä".repeat(100_001);
    let values = [("fields.text", long.as_str()), ("action", "answer")];
    let refused = ada.post(&format!("/prisms/{PRISM}/try"), &values).await;
    assert_eq!(refused.status, 422);
    assert!(
        refused
            .body
            .contains("At most 100,000 characters; this has")
    );
    assert!(refused.body.contains(&long) && refused.body.contains("aria-invalid=\"true\""));
    assert!(service.model.requests().is_empty());
}

async fn two_versions_answer_one_text(backend: Backend) {
    let service = Service::start(backend).await;
    let file = refract_test_stack::service::PRISM_FILE;
    service.run(&["prism", "save", PRISM, file]).await.done();
    let mut ada = joined(&service, "ada@example.com", "reviewer").await;
    let values = [
        ("fields.text", "Where is it?"),
        ("version", "1"),
        ("against", "2"),
        ("action", "compare"),
    ];
    let sent = ada.post(&format!("/prisms/{PRISM}/try"), &values).await;
    assert_eq!(sent.status, 303, "{sent:?}");
    let page = ada.get(sent.header("location").unwrap()).await;
    assert!(page.body.contains("Both versions") && page.body.contains("alike"));
    assert_eq!(page.body.matches("protocol systemone").count(), 2);
    assert_eq!(service.model.requests().len(), 2);
}

async fn a_failed_result_is_retried_once(backend: Backend) {
    let setup = Setup {
        script: Script::from(ScriptedReply::status(400)),
        ..Setup::default()
    };
    let service = Service::with(backend, setup).await;
    let mut ada = joined(&service, "ada@example.com", "reviewer").await;
    let (page, id) = answered(&mut ada, "Where is it?").await;
    assert!(page.body.contains("The result is failed") && page.body.contains("Retry"));
    service.model.then_always(ScriptedReply::answers());
    let address = format!("/results/{id}/retry");
    let retried = ada.post(&address, &[]).await;
    assert_eq!(retried.status, 303, "{retried:?}");
    let new = ada.get(retried.header("location").unwrap()).await;
    assert!(
        new.body.contains(&format!("/results/{id}")),
        "it names its origin"
    );
    let again = ada.post(&address, &[]).await;
    assert_eq!(again.status, 422);
    assert!(again.body.contains("This result was already retried as"));
}

async fn a_mark_is_saved_and_taken_back(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "reviewer").await;
    let (_, id) = answered(&mut ada, "Where is it?").await;
    let address = format!("/results/{id}/marks");
    let marked = ada
        .post(&address, &[("mark.angry", "no"), ("was.angry", "")])
        .await;
    assert_eq!(marked.status, 303, "{marked:?}");
    let page = ada.get(&format!("/results/{id}")).await;
    assert!(
        page.body.contains("Marked by <bdi>Ada</bdi>"),
        "{}",
        page.body
    );
    let wrong = ada
        .post(&address, &[("mark.angry", "maybe"), ("was.angry", "no")])
        .await;
    assert_eq!(wrong.status, 422);
    let stale = ada
        .post(&address, &[("mark.angry", ""), ("was.angry", "")])
        .await;
    assert_eq!(stale.status, 303);
    let page = ada.get(&format!("/results/{id}")).await;
    assert!(
        page.body.contains("Marked by"),
        "a form that changed nothing takes nothing back"
    );
    ada.post(&address, &[("mark.angry", ""), ("was.angry", "no")])
        .await;
    let page = ada.get(&format!("/results/{id}")).await;
    assert!(!page.body.contains("Marked by"));
}

async fn what_is_not_the_account_s_does_not_exist(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "reviewer").await;
    let (_, id) = answered(&mut ada, "Where is it?").await;
    let nobody = "0190b8f2-0000-7000-8000-0000000000aa";
    for address in [
        "/results/no-id".to_owned(),
        format!("/results/{nobody}"),
        format!("/results/{id}/as/xml"),
        "/prisms/nothing/try".to_owned(),
        format!("/prisms/{PRISM}/try?result={nobody}"),
        format!("/prisms/{PRISM}/try?version=9"),
    ] {
        assert_eq!(ada.get(&address).await.status, 404, "{address}");
    }
}

async fn a_result_of_a_key_names_the_key_and_leads_owners_to_it(backend: Backend) {
    let service = Service::start(backend).await;
    let made = service.run(&["key", "create", "--name", "ticket <importer>"]);
    let key = made.await.object();
    let fields = json!({ "fields": { "text": TEXT } });
    let create = Request::post(&format!("/prisms/{PRISM}/results"));
    let create = create.bearer(&text(&key, "key")).json(&fields);
    let result = text(&service.send(create).await.value(), "id");
    let address = format!("/results/{result}");
    let mut ada = joined(&service, "ada@example.com", "owner").await;
    let page = ada.get(&address).await.body;
    let link = format!("/keys#key-{}", text(&key, "id"));
    assert!(page.contains("API key ") && page.contains("ticket &lt;importer&gt;"));
    assert!(page.contains(&link), "{page}");
    let keys = ada.get("/keys").await.body;
    assert!(keys.contains(&format!("id=\"key-{}\"", text(&key, "id"))));
    let mut grace = joined(&service, "grace@example.com", "reviewer").await;
    let page = grace.get(&address).await.body;
    assert!(page.contains("ticket &lt;importer&gt;") && !page.contains("/keys#"));
}
