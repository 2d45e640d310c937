//! The main tasks of people in the app, over HTTP and without scripts.

use refract_test_stack::browser::forms::{inputs, post, post_through};
use refract_test_stack::browser::joined;
use refract_test_stack::http::Request;
use refract_test_stack::http::answer::HttpAnswer;
use refract_test_stack::service::{Backend, PRISM, Service, text};
use refract_test_support::model_server::ScriptedReply;
use refract_test_support::on_both;
use serde_json::json;

on_both!(
    a_moved_cutoff_changes_old_results,
    a_lens_that_breaks_rules_is_refused_beside_its_input,
    a_cutoff_that_no_answer_reaches_is_warned_about,
    two_people_change_a_lens_at_once,
    a_version_is_edited_reviewed_and_saved,
    two_people_edit_at_once_and_lose_nothing,
    results_are_found_and_taken_along,
    a_filter_that_cannot_be_read_is_reported,
    a_key_is_made_shown_once_and_revoked,
    prisms_are_made_renamed_archived_and_restored,
);

const LENS: &str = "/prisms/support-triage/lens";
const EDIT: &str = "/prisms/support-triage/edit";

async fn a_moved_cutoff_changes_old_results(backend: Backend) {
    let service = Service::start(backend).await;
    let id = text(
        &service.create(&json!({"text": "a text"})).await.value(),
        "id",
    );
    let before = service.read(&id, "").await.value();
    assert_eq!(before["answers"]["angry"], "yes");
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let page = ada.get(LENS).await;
    let form = inputs(&page, "<form id=\"lens\"");
    let cutoffs = [("columns.1.no_below", "90"), ("columns.1.yes_from", "95")];
    let preview = post(&mut ada, LENS, &form, &cutoffs).await;
    assert_eq!(preview.status, 200, "{preview:?}");
    assert!(
        preview
            .body
            .contains("data-count=\"changed\">1</b> of 1 stored result "),
        "{}",
        preview.body
    );
    assert_eq!(
        service.read(&id, "").await.value(),
        before,
        "nothing is saved yet"
    );
    let saved = post(&mut ada, &format!("{LENS}/save"), &form, &cutoffs).await;
    assert_eq!(saved.status, 303, "{saved:?}");
    let after = service.read(&id, "").await.value();
    assert_eq!(after["answers"]["angry"], "no");
    let page = ada.get(LENS).await;
    let form = inputs(&page, &format!("action=\"{LENS}/reset\""));
    let reset = post(&mut ada, &format!("{LENS}/reset"), &form, &[]).await;
    assert_eq!(reset.status, 303, "{reset:?}");
    assert_eq!(service.read(&id, "").await.value(), before);
    let history = ada.get("/prisms/support-triage").await.body;
    assert!(history.contains("changed the lens") && history.contains("reset the lens"));
}

async fn a_lens_that_breaks_rules_is_refused_beside_its_input(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let form = inputs(&ada.get(LENS).await, "<form id=\"lens\"");
    let broken = [("columns.0.name", "angry"), ("columns.1.no_below", "x")];
    let refused = post(&mut ada, &format!("{LENS}/save"), &form, &broken).await;
    assert_eq!(refused.status, 422, "{refused:?}");
    assert!(
        refused.body.contains("id=\"columns.1.no_below-fault\""),
        "{}",
        refused.body
    );
    let added = post(
        &mut ada,
        LENS,
        &form,
        &[("act", "add"), ("add", "urgency/average")],
    )
    .await;
    let grown = inputs(&added, "<form id=\"lens\"");
    assert!(grown.contains(&("columns.3.shows".to_owned(), "urgency/average".to_owned())));
    let mut eve = joined(&service, "eve@example.com", "reviewer").await;
    assert_eq!(eve.get(LENS).await.status, 200);
    assert_eq!(
        post(&mut eve, &format!("{LENS}/save"), &form, &[])
            .await
            .status,
        403
    );
}

async fn a_cutoff_that_no_answer_reaches_is_warned_about(backend: Backend) {
    let service = Service::start(backend).await;
    let shares = json!({"billing": 1, "delivery": 0, "product": 0, "other": 0, "insufficient_information": 0});
    let answers = json!({
        "topic": {"type": "choice", "choice": "billing", "confidence": 1, "probabilities": shares},
        "angry": {"type": "noul", "noul": 0.99},
        "urgency": {"type": "score", "score": 0, "probabilities": {"0": 1, "1": 0, "2": 0}},
    });
    let reply = json!({"model": "clips", "answers": answers});
    let reply = ScriptedReply::with(move |_| reply.clone());
    service.model.then_always(reply);
    for _ in 0..100 {
        let answer = service.create(&json!({"text": "a text"})).await;
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let page = ada.get(LENS).await;
    let warning = "angry is never Yes: “Yes from” 99.5 % is above 99 %, the highest probability \
        of yes in 100 answers of the present model.";
    assert!(!page.body.contains("is never"), "{}", page.body);
    let form = inputs(&page, "<form id=\"lens\"");
    let cutoffs = [("columns.1.no_below", "50"), ("columns.1.yes_from", "99.5")];
    let drafted = post(&mut ada, LENS, &form, &cutoffs).await;
    assert!(drafted.body.contains(warning), "{}", drafted.body);
    let saved = post(&mut ada, &format!("{LENS}/save"), &form, &cutoffs).await;
    assert_eq!(saved.status, 303, "{saved:?}");
    let page = ada.get(LENS).await;
    assert!(page.body.contains(warning), "{}", page.body);
}

async fn two_people_change_a_lens_at_once(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let mut eve = joined(&service, "eve@example.com", "editor").await;
    let form = inputs(&ada.get(LENS).await, "<form id=\"lens\"");
    let save = format!("{LENS}/save");
    let first = post(&mut ada, &save, &form, &[("columns.0.name", "adas_topic")]).await;
    assert_eq!(first.status, 303);
    let second = post(&mut eve, &save, &form, &[("columns.0.name", "eves_topic")]).await;
    assert_eq!(second.status, 409, "{second:?}");
    assert!(second.body.contains("adas_topic") && second.body.contains("eves_topic"));
    let again = inputs(&second, "<form id=\"lens\"");
    assert_eq!(post(&mut eve, &save, &again, &[]).await.status, 303);
    let lens = service.run(&["lens", "show", PRISM]).await.object();
    assert_eq!(lens["columns"][0]["name"], "eves_topic");
}

async fn a_version_is_edited_reviewed_and_saved(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let page = ada.get(EDIT).await;
    assert_eq!(page.status, 200, "{page:?}");
    let form = inputs(&page, &format!("action=\"{EDIT}\""));
    let add = [("act", "questions.0.options.add")];
    let more = post_through(&mut ada, EDIT, &form, &add).await;
    let form = inputs(&more, &format!("action=\"{EDIT}\""));
    let label = form.iter().find(|(name, value)| {
        name.starts_with("questions.0.options.")
            && name.rsplit('.').next() == Some("label")
            && value.is_empty()
    });
    let label = label.expect("an empty option").0.clone();
    let refused = post_through(&mut ada, EDIT, &form, &[("act", "review")]).await;
    let fault = format!("id=\"{label}-fault\"");
    assert!(refused.body.contains(&fault), "an option without a label");
    let form = inputs(&refused, &format!("action=\"{EDIT}\""));
    let review = [("act", "review"), (label.as_str(), "Warranty")];
    let review = post_through(&mut ada, EDIT, &form, &review).await;
    assert_eq!(review.status, 200, "{review:?}");
    assert!(review.body.contains("warranty"), "{}", review.body);
    let form = inputs(&review, "id=\"before-saving\"");
    let saved = post(
        &mut ada,
        &format!("{EDIT}/draft"),
        &form,
        &[("act", "save")],
    )
    .await;
    assert_eq!(saved.status, 303, "{saved:?}");
    let shown = service
        .run(&["prism", "show", PRISM, "--version", "2"])
        .await
        .object();
    assert_eq!(shown["questions"][0]["options"][3]["key"], "warranty");
    let page = ada.get("/prisms/support-triage").await.body;
    assert!(
        page.contains("Version 2") && page.contains("for callers"),
        "{page}"
    );
    let version = ada.get("/prisms/support-triage/versions/2").await;
    assert!(version.body.contains("Ada"), "{version:?}");
    let file = ada.get("/prisms/support-triage/versions/2/file").await;
    assert_eq!(file.value(), shown);
}

async fn two_people_edit_at_once_and_lose_nothing(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let mut eve = joined(&service, "eve@example.com", "editor").await;
    let action = format!("action=\"{EDIT}\"");
    let form = inputs(&ada.get(EDIT).await, &action);
    let review = [("act", "review"), ("context", "Ada wrote this.")];
    let adas = post_through(&mut ada, EDIT, &form, &review).await;
    let adas = inputs(&adas, "id=\"before-saving\"");
    let form = inputs(&eve.get(EDIT).await, &action);
    let review = [("act", "review"), ("context", "Eve wrote that.")];
    let eves = post_through(&mut eve, EDIT, &form, &review).await;
    let eves = inputs(&eves, "id=\"before-saving\"");
    let draft = format!("{EDIT}/draft");
    let save = [("act", "save")];
    assert_eq!(post(&mut ada, &draft, &adas, &save).await.status, 303);
    let second = post_through(&mut eve, &draft, &eves, &save).await;
    assert!(second.body.contains("Ada wrote this.") && second.body.contains("Eve wrote that."));
    let shown = service.run(&["prism", "show", PRISM]).await.object();
    assert_eq!(shown["context"], "Ada wrote this.");
}

async fn results_are_found_and_taken_along(backend: Backend) {
    let service = Service::start(backend).await;
    for (text, reference) in [("one", "first"), ("two", "second"), ("three", "first")] {
        let body = json!({"text": text, "ref": reference});
        assert_eq!(service.create(&body).await.status, 200);
    }
    let failed = service.failed(&json!({"text": "four"})).await;
    let mut ada = joined(&service, "ada@example.com", "reviewer").await;
    let list = |query: &str| format!("/prisms/{PRISM}/results{query}");
    let all = ada.get(&list("")).await;
    assert_eq!(all.status, 200, "{all:?}");
    let rows = |page: &HttpAnswer| page.body.matches("href=\"/results/").count();
    assert_eq!(rows(&all), 4, "{}", all.body);
    for (query, expected) in [
        ("?ref=first", 2),
        ("?status=failed", 1),
        ("?status=unretried", 1),
        ("?status=ok&version=1", 3),
        ("?value=angry:yes&version=1", 3),
        ("?value=angry:no", 0),
        ("?by=terminal", 0),
        ("?from=2020-01-01&to=2020-01-02", 0),
    ] {
        let page = ada.get(&list(query)).await;
        assert_eq!(
            (page.status, rows(&page)),
            (200, expected),
            "{query} {}",
            page.body
        );
    }
    let address = list("/download?format=csv&value=angry:yes&version=1");
    let download = ada.download(&address).await.body;
    let exported = service
        .run(&["results", "export", PRISM, "--status", "ok"])
        .await;
    assert_eq!(download, exported.done());
    let id = text(&failed.value(), "id");
    let retried = ada.post(&format!("/results/{id}/retry"), &[]).await;
    assert_eq!(retried.status, 303, "{retried:?}");
    assert_eq!(rows(&ada.get(&list("?status=unretried")).await), 0);
}

async fn a_filter_that_cannot_be_read_is_reported(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "reviewer").await;
    for query in [
        "version=x",
        "from=yesterday",
        "status=good",
        "value=nothing:yes",
        "by=me",
    ] {
        let page = ada.get(&format!("/prisms/{PRISM}/results?{query}")).await;
        assert_eq!(page.status, 422, "{query} {page:?}");
        assert!(page.body.contains("class=\"fault\""), "{query}");
    }
}

async fn a_key_is_made_shown_once_and_revoked(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "owner").await;
    let refused = ada.post("/keys", &[("name", " ")]).await;
    assert_eq!(refused.status, 422, "{refused:?}");
    let made = ada.post("/keys", &[("name", "ticket importer")]).await;
    assert_eq!(
        (made.status, made.header("cache-control")),
        (200, Some("no-store"))
    );
    let (_, key) = made.body.split_once("export REFRACT_KEY='").unwrap();
    let key = key.split('\'').next().unwrap();
    assert!(
        made.body.contains("curl -sS") && made.body.contains("/v1/prisms/support-triage/results")
    );
    let call = Request::post(&format!("/prisms/{PRISM}/results"))
        .bearer(key)
        .json(&json!({"fields": {"text": "a text"}}));
    assert_eq!(service.send(call.clone()).await.status, 200);
    let page = ada.get("/keys").await;
    assert!(
        !page.body.contains(key) && page.body.contains(key.split_at(7).0),
        "{page:?}"
    );
    let keys = service.run(&["key", "list", "--json"]).await.lines();
    let ours = keys
        .iter()
        .find(|key| key["name"] == "ticket importer")
        .unwrap();
    let revoke = format!("/keys/{}/revoke", text(ours, "id"));
    assert_eq!(ada.post(&revoke, &[]).await.status, 303);
    assert_eq!(service.send(call).await.status, 401);
}

async fn prisms_are_made_renamed_archived_and_restored(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let refused = ada
        .post("/prisms/new", &[("pasted", r#"{"name": "<b>"}"#)])
        .await;
    assert_eq!(refused.status, 422);
    assert!(
        refused
            .body
            .contains("{&quot;name&quot;: &quot;&lt;b&gt;&quot;}"),
        "{}",
        refused.body
    );
    let made = ada
        .post("/prisms/new", &[("example", "review-moderation")])
        .await;
    assert_eq!(
        made.header("location"),
        Some("/prisms/review-moderation?done=created")
    );
    let page = "/prisms/review-moderation";
    let renamed = ada
        .post(&format!("{page}/rename"), &[("name", "Reviews")])
        .await;
    assert_eq!(renamed.status, 303);
    assert_eq!(
        ada.post(&format!("{page}/rename"), &[("name", "")])
            .await
            .status,
        422
    );
    assert_eq!(ada.post(&format!("{page}/archive"), &[]).await.status, 303);
    let list = ada.get("/").await.body;
    assert!(
        list.contains("Archived: 1 prism") && list.contains("Reviews"),
        "{list}"
    );
    assert_eq!(ada.post(&format!("{page}/restore"), &[]).await.status, 303);
    let body = ada.get(page).await.body;
    for change in [
        "renamed the prism",
        "archived the prism",
        "restored the prism",
    ] {
        assert!(body.contains(change), "{change}: {body}");
    }
    let named_new = json!({"name": "New", "fields": [{"key": "text", "label": "Text"}],
        "questions": [{"key": "angry", "type": "yes_no", "text": "Angry?"}]});
    let made = ada
        .post("/prisms/new", &[("pasted", &named_new.to_string())])
        .await;
    let address = made
        .header("location")
        .unwrap()
        .split('?')
        .next()
        .unwrap()
        .to_owned();
    assert_ne!(address, "/prisms/new");
    assert!(ada.get(&address).await.body.contains("<bdi>New</bdi>"));
}
