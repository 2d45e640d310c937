//! The page of what results used, over HTTP.

use refract_test_stack::browser::joined;
use refract_test_stack::service::{Backend, PRISM, Service, TEXT};
use refract_test_support::model_server::{ReceivedRequest, ScriptedReply, system_one_answers};
use refract_test_support::on_both;
use serde_json::{Value, json};

on_both!(
    owners_read_what_results_used,
    owners_set_a_budget_and_are_warned,
    a_cost_that_nobody_knows_is_stated,
);

fn with_usage(request: &ReceivedRequest) -> Value {
    let mut reply = system_one_answers(request);
    reply["usage"] = json!({"input_tokens": 1_200, "cached_tokens": 700, "output_tokens": 30,
                            "cost": 0.25});
    reply
}

async fn owners_read_what_results_used(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "owner").await;
    let empty = ada.get("/usage").await;
    assert!(
        empty.body.contains("No result was saved in this period."),
        "{}",
        empty.body
    );
    service.model.then_always(ScriptedReply::with(with_usage));
    for _ in 0..2 {
        service.create(&json!({"text": TEXT})).await;
    }
    let tried = format!("/prisms/{PRISM}/try");
    ada.post(&tried, &[("fields.text", TEXT)]).await;

    let page = ada.get("/usage").await.body;
    for words in [
        "data-label=\"Results\">3<",
        "data-label=\"Tokens read\">3,600<",
        "data-label=\"From the cache\">2,100<",
        "data-label=\"Tokens written\">90<",
        "data-label=\"Cost\">0.75<",
        "href=\"/prisms/support-triage\"><bdi>Support triage</bdi>",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let by_key = ada.get("/usage?by=key").await.body;
    assert!(
        by_key.contains(&format!("/keys#key-{}", service.key_id)),
        "{by_key}"
    );
    assert!(by_key.contains("no key"), "{by_key}");
    let by_person = ada.get("/usage?by=person").await.body;
    assert!(by_person.contains("<bdi>no person</bdi>"), "{by_person}");
    assert!(
        by_person.contains("data-label=\"Cost\">0.25<"),
        "{by_person}"
    );

    let file = ada.get("/usage/download?by=model").await;
    assert_eq!(file.header("content-type"), Some("text/csv; charset=utf-8"));
    let lines: Vec<_> = file.body.lines().collect();
    let header = "model,calls,failed,requests,read,cached,written,cost";
    assert_eq!(lines, [header, "scripted-1,3,0,3,3600,2100,90,0.75"]);
    let long_ago = ada.get("/usage?from=2020-01-01&to=2020-01-31").await.body;
    assert!(long_ago.contains("No result was saved"), "{long_ago}");
    let refused = ada.get("/usage?from=yesterday").await;
    assert_eq!(refused.status, 422);
    assert!(refused.body.contains("write it like 2026-05-04"));

    let mut eve = joined(&service, "eve@example.com", "editor").await;
    assert_eq!(eve.get("/usage").await.status, 403);
    assert_eq!(eve.get("/usage/download").await.status, 403);
}

async fn owners_set_a_budget_and_are_warned(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "owner").await;
    let refused = ada.post("/usage/budget", &[("budget", "1")]).await;
    assert_eq!(refused.status, 422);
    let words = "No price is known, so a budget would never be used up";
    assert!(refused.body.contains(words), "{}", refused.body);
    service.model.then_always(ScriptedReply::with(with_usage));
    service.create(&json!({"text": TEXT})).await;
    for typed in ["0", "1,5", "much"] {
        let refused = ada.post("/usage/budget", &[("budget", typed)]).await;
        assert_eq!(refused.status, 422, "{typed}");
        let kept = format!("value=\"{typed}\"");
        assert!(refused.body.contains(&kept), "{}", refused.body);
        assert!(
            refused.body.contains("a decimal over 0"),
            "{}",
            refused.body
        );
    }
    let set = ada.post("/usage/budget", &[("budget", " 1.25 ")]).await;
    assert_eq!(set.status, 303);
    let page = ada.get(set.header("location").unwrap()).await.body;
    for words in [
        "The budget is saved.",
        "value=\"1.25\"",
        "0.25 so far: 20 %",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let warning = "of this month's budget of 1.25 are used";
    assert!(!page.contains(warning), "{page}");
    for _ in 0..3 {
        service.create(&json!({"text": TEXT})).await;
    }
    for page in ["/", "/usage"] {
        let page = ada.get(page).await.body;
        assert!(page.contains(&format!("80 % {warning}")), "{page}");
    }
    service.create(&json!({"text": TEXT})).await;
    let page = ada.get("/").await.body;
    assert!(page.contains("budget of 1.25 is used up"), "{page}");
    // calls of the API go on
    let called = service.create(&json!({"text": TEXT})).await;
    assert_eq!(called.status, 200, "{called:?}");
    let events = ada.get("/events").await.body;
    assert!(events.contains("80 % of the month"), "{events}");
    assert_eq!(ada.post("/usage/budget", &[]).await.status, 400);
    assert!(ada.get("/usage").await.body.contains("value=\"1.25\""));
    ada.post("/usage/budget", &[("budget", "")]).await;
    let page = ada.get("/usage").await.body;
    assert!(!page.contains("so far") && !page.contains("1.25"), "{page}");

    let mut eve = joined(&service, "eve@example.com", "editor").await;
    let refused = eve.post("/usage/budget", &[("budget", "1")]).await;
    assert_eq!(refused.status, 403);
    assert!(!eve.get("/").await.body.contains("budget"));
}

async fn a_cost_that_nobody_knows_is_stated(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "owner").await;
    service.create(&json!({"text": TEXT})).await;
    let page = ada.get("/usage").await.body;
    for words in [
        "data-label=\"Cost\"><span class=\"soft\">unknown<",
        "Cost unknown for 1 result: ",
        "REFRACT_MODEL_PRICES",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    // another model's cost is known, so that there can be a budget
    service.model.then_once(ScriptedReply::with(|request| {
        let mut reply = with_usage(request);
        reply["model"] = json!("priced-1");
        reply
    }));
    service.create(&json!({"text": TEXT})).await;
    let set = ada.post("/usage/budget", &[("budget", "5")]).await;
    assert_eq!(set.status, 303);
    let page = ada.get("/usage").await.body;
    let words = "The budget cannot see the cost of 1 result of this month: ";
    assert!(page.contains(words), "{page}");
}
