//! Changes by the operator that take effect at once: lenses, versions, archived prisms, accounts,
//! keys.

use refract_test_stack::expected::{ANSWERS, CSV, JSON, JSONL, STORED, Saved};
use refract_test_stack::http::Request;
use refract_test_stack::service::{
    Backend, LENS_FILE, PRISM, PRISM_FILE, Service, Setup, TEXT, example_prism, text,
};
use refract_test_support::on_both;
use serde_json::json;

on_both!(
    a_lens_changes_what_old_results_return,
    a_new_version_answers_unless_another_is_pinned,
    an_archived_prism_answers_nothing_but_reads,
    accounts_see_nothing_of_each_other,
    a_revoked_key_is_refused_at_the_next_request,
    a_renamed_prism_keeps_its_slug,
);

async fn a_lens_changes_what_old_results_return(backend: Backend) {
    let service = Service::start(backend).await;
    let made = service.create(&json!({"text": TEXT})).await;
    let saved = Saved::of(&made);
    let id = saved.id.as_str();
    service.run(&["lens", "set", PRISM, LENS_FILE]).await.done();
    let custom = r#"{"topic":"billing","topic_probability":0.7,"is_angry":"yes","urgency":"can_wait","urgency_average":1.45}"#;
    let read = service.read(id, "").await;
    read.assert(200, JSON, &saved.envelope(custom));
    let row = format!(
        "result_id,ref,version,status,error,created_at,text,topic,topic_probability,is_angry,urgency,urgency_average\r\n\
         {id},,1,ok,,{},{TEXT},Billing,0.7,Yes,Can wait,1.45\r\n",
        text(&made.value(), "created_at")
    );
    let read = service.read(id, "?format=csv").await;
    read.assert(200, CSV, &row);
    let unsure = json!({"columns": [
        {"name": "all_of_it", "question": "topic", "output": "all"},
        {"question": "angry", "output": "label", "no_below": 0.5, "yes_from": 0.9},
        {"question": "urgency", "output": "number"},
    ]});
    let file = service.file("lens.json", &unsure);
    service.run(&["lens", "set", PRISM, &file]).await.done();
    let answers = r#"{"all_of_it":{"billing":0.7,"delivery":0.075,"product":0.075,"other":0.075,"insufficient_information":0.075},"angry":"unsure","urgency_number":1}"#;
    let read = service.read(id, "").await;
    read.assert(200, JSON, &saved.envelope(answers));
    let read = service.read(id, "?format=raw").await;
    read.assert(200, JSON, &saved.envelope(STORED));
    service.run(&["lens", "reset", PRISM]).await.done();
    let read = service.read(id, "").await;
    read.assert(200, JSON, &saved.envelope(ANSWERS));
    assert_eq!(service.asked(), 1);
}

async fn a_new_version_answers_unless_another_is_pinned(backend: Backend) {
    let service = Service::start(backend).await;
    let mut next = example_prism();
    next["fields"] = json!([
        {"key": "text", "label": "Message"},
        {"key": "subject", "label": "Subject"},
    ]);
    next["questions"].as_array_mut().unwrap().remove(1);
    let file = service.file("next.json", &next);
    let old = service.create(&json!({"text": TEXT})).await;
    service.run(&["prism", "save", PRISM, &file]).await.done();
    let missing = service.create(&json!({"text": TEXT})).await;
    missing.assert_error(400, "validation_failed", "Missing fields: subject");
    // unknown fields come in the order sent, which `json!` would not keep
    let unknown = r#"{"fields":{"b":"","text":"","subject":"","a":""}}"#;
    let unknown = Request::post(&format!("/prisms/{PRISM}/results"))
        .bearer(&service.key)
        .header("Content-Type", "application/json")
        .body(unknown);
    let unknown = service.send(unknown).await;
    unknown.assert_error(400, "validation_failed", "Unknown fields: b, a");
    let both = json!({"fields": {"b": "", "text": ""}});
    let both = service.create(&both).await;
    both.assert_error(400, "validation_failed", "Missing fields: subject");
    let body = json!({"fields": {"subject": "", "text": TEXT}});
    let latest = service.create(&body).await;
    let saved = Saved::of(&latest);
    assert_eq!(saved.version, 2);
    let answers = r#"{"topic":"billing","urgency":"can_wait"}"#;
    latest.assert(200, JSON, &saved.envelope(answers));
    let pinned = service.create(&json!({"text": TEXT, "version": 1})).await;
    let saved = Saved::of(&pinned);
    assert_eq!(saved.version, 1);
    pinned.assert(200, JSON, &saved.envelope(answers));
    // an old result shows its answers under the columns and fields of the latest version
    let old = Saved::of(&old);
    let read = service.read(&old.id, "?format=raw").await;
    read.assert(200, JSON, &old.envelope(STORED));
    let line = service.read(&old.id, "?format=jsonl").await;
    let created_at = text(&line.value(), "created_at");
    let row = format!(
        "{{\"result_id\":\"{}\",\"ref\":null,\"version\":1,\"status\":\"ok\",\"error\":null,\"created_at\":\"{created_at}\",\"text\":\"{TEXT}\",\"subject\":\"\",\"topic\":\"billing\",\"urgency\":\"can_wait\"}}\n",
        old.id
    );
    line.assert(200, JSONL, &row);
    let none = service.create(&json!({"text": TEXT, "version": 3})).await;
    none.assert_error(404, "not_found", "Prism version not found");
    assert_eq!((service.asked(), service.results_made().await), (3, 3));
}

async fn an_archived_prism_answers_nothing_but_reads(backend: Backend) {
    let service = Service::start(backend).await;
    let ok = service.create(&json!({"text": TEXT})).await;
    let failed = service.failed(&json!({"text": TEXT})).await;
    service.run(&["prism", "archive", PRISM]).await.done();
    for prism in [PRISM, &service.prism_id] {
        let refused = service
            .send(service.create_request(prism, &json!({"text": TEXT})))
            .await;
        refused.assert_error(404, "not_found", "Prism not found");
    }
    let failed_id = Saved::of(&failed).id;
    let refused = service.retry(&failed_id).await;
    let message = "This prism is archived, so it cannot answer.";
    refused.assert_error(404, "not_found", message);
    for answer in [&ok, &failed] {
        let read = service.read(&Saved::of(answer).id, "").await;
        read.assert(200, JSON, &answer.body);
    }
    assert_eq!(service.asked(), 2);
    service.run(&["prism", "restore", PRISM]).await.done();
    assert_eq!(service.retry(&failed_id).await.status, 200);
}

async fn accounts_see_nothing_of_each_other(backend: Backend) {
    let service = Service::start(backend).await;
    service.run(&["account", "create", "acme"]).await.done();
    let key = service.run(&["key", "create", "--account", "acme"]).await;
    let acme = text(&key.object(), "key");
    let ours = service
        .create(&json!({"text": TEXT, "idempotency_key": "k"}))
        .await;
    let failed = Saved::of(&service.failed(&json!({"text": TEXT})).await);
    let body = json!({"text": TEXT, "idempotency_key": "k"});
    let create = |prism: &str| {
        Request::post(&format!("/prisms/{prism}/results"))
            .bearer(&acme)
            .json(&body)
    };
    for prism in [PRISM, &service.prism_id] {
        let refused = service.send(create(prism)).await;
        refused.assert_error(404, "not_found", "Prism not found");
    }
    for request in [
        Request::get(&format!("/results/{}", Saved::of(&ours).id)),
        Request::post(&format!("/results/{}/retry", failed.id)),
    ] {
        let refused = service.send(request.bearer(&acme)).await;
        refused.assert_error(404, "not_found", "Result not found");
    }
    // another account may use the slug and the idempotency key of this one
    let made = service
        .run(&["prism", "create", PRISM_FILE, "--account", "acme"])
        .await;
    assert_eq!(text(&made.object(), "slug"), PRISM);
    let theirs = service.send(create(PRISM)).await;
    assert_eq!(theirs.status, 200);
    assert_ne!(Saved::of(&theirs).id, Saved::of(&ours).id);
    let again = service.create(&body).await;
    again.assert(200, JSON, &ours.body);
}

async fn a_revoked_key_is_refused_at_the_next_request(backend: Backend) {
    let setup = Setup {
        script: refract_test_support::model_server::ScriptedReply::answers()
            .held()
            .into(),
        ..Setup::default()
    };
    let service = Service::with(backend, setup).await;
    let other = text(&service.run(&["key", "create"]).await.object(), "key");
    let body = json!({"text": TEXT, "idempotency_key": "k"});
    let create = service.create_request(PRISM, &body);
    let waiting = tokio::spawn({
        let (api, create) = (service.api(), create.clone());
        async move { create.send(api).await }
    });
    service
        .model
        .wait_until(|counts| counts.requests == 1)
        .await;
    let key_id = service.key_id.clone();
    service.run(&["key", "revoke", &key_id]).await.done();
    for request in [
        create.clone(),
        Request::get("/results/01234567-89ab-7def-8123-456789abcdef").bearer(&service.key),
        Request::post("/results/01234567-89ab-7def-8123-456789abcdef/retry").bearer(&service.key),
    ] {
        let refused = service.send(request).await;
        refused.assert_error(401, "unauthorized", "Invalid API key");
    }
    // a call in flight still finishes and is saved
    service.model.release_all();
    let made = waiting.await.unwrap();
    let saved = Saved::of(&made);
    made.assert(200, JSON, &saved.envelope(ANSWERS));
    assert_eq!(service.results_made().await, 1);
    let read = Request::get(&format!("/results/{}", saved.id)).bearer(&other);
    service.send(read).await.assert(200, JSON, &made.body);
}

async fn a_renamed_prism_keeps_its_slug(backend: Backend) {
    let service = Service::start(backend).await;
    service
        .run(&["prism", "rename", PRISM, "Something else"])
        .await
        .done();
    let answer = service.create(&json!({"text": TEXT})).await;
    answer.assert(200, JSON, &Saved::of(&answer).envelope(ANSWERS));
    let taken = service.another_prism("Support triage").await;
    assert_eq!(taken, "support-triage-2");
}
