//! `POST /prisms/{prism}/results` and `GET /results/{result_id}`.

use refract_test_stack::expected::{ANSWERS, JSON, Saved, id_in};
use refract_test_stack::http::Request;
use refract_test_stack::program;
use refract_test_stack::service::{Backend, PRISM, Service, Setup, TEXT};
use refract_test_support::on_both;
use serde_json::{Value, json};

use crate::order_of_create::estimated_characters;

const FORMATS: [&str; 5] = ["json", "raw", "csv", "tsv", "jsonl"];

on_both!(
    a_text_is_answered_and_read_back_in_every_format,
    the_model_sees_what_was_sent_and_nothing_else,
    a_prism_is_found_by_its_id,
    rows_quote_what_spreadsheets_would_run,
    lengths_are_counted_in_characters_and_the_size_in_four_of_them,
);

async fn a_text_is_answered_and_read_back_in_every_format(backend: Backend) {
    let service = Service::start(backend).await;
    for made_in in FORMATS {
        let request = Request::post(&format!("/prisms/{PRISM}/results?format={made_in}"))
            .bearer(&service.key)
            .json(&json!({"text": TEXT, "ref": " ticket-17\n"}));
        let made = service.send(request).await;
        assert_eq!(made.status, 200, "{made:?}");
        let id = id_in(&made, made_in);
        let saved = Saved::of(&service.read(&id, "").await);
        assert_eq!(saved.reference.as_deref(), Some("ticket-17"));
        assert_eq!((saved.version, &saved.error), (1, &None));
        for read_in in FORMATS {
            let (content_type, body) = saved.in_format(read_in);
            if made_in == read_in {
                made.assert(200, content_type, &body);
            }
            let read = service.read(&id, &format!("?format={read_in}")).await;
            read.assert(200, content_type, &body);
        }
        let (content_type, body) = saved.in_format("json");
        for query in ["?", "?format", "?format=", "?format=json&other=1"] {
            service
                .read(&id, query)
                .await
                .assert(200, content_type, &body);
        }
    }
    assert_eq!(service.asked(), FORMATS.len(), "reads ask no model");
    assert_eq!(service.results_made().await, 5);
}

async fn the_model_sees_what_was_sent_and_nothing_else(backend: Backend) {
    let settings = [
        ("REFRACT_MODEL_API_KEY", "model-credential"),
        ("REFRACT_MODEL_NAME", "jev-latest"),
    ];
    let setup = Setup {
        settings: &settings,
        ..Setup::default()
    };
    let service = Service::with(backend, setup).await;
    let body = json!({
        "fields": {"text": TEXT},
        "context": " Order 7 was sent on Monday.",
        "ref": "ref-sentinel",
        "idempotency_key": "key-sentinel",
        "version": 1.0,
        "unknown": {"ignored": true},
    });
    let answer = service.create(&body).await;
    answer.assert(200, JSON, &Saved::of(&answer).envelope(ANSWERS));
    assert!(!answer.body.contains("Order 7"), "never returned");
    let requests = service.model.requests();
    let [request] = requests.as_slice() else {
        panic!("one request: {requests:?}");
    };
    assert_eq!(
        (request.method.as_str(), request.path.as_str()),
        ("POST", "/v1/systemone")
    );
    assert_eq!(
        request.header("authorization"),
        Some("Bearer model-credential")
    );
    let sent = request.json();
    assert_eq!(sent["model"], "jev-latest");
    let context = "We sell bicycles online.\nContext for this call:\n Order 7 was sent on Monday.";
    assert_eq!(sent["state"], json!({"context": context, "text": TEXT}));
    let questions = sent["questions"].as_object().unwrap();
    assert_eq!(questions.len(), 3);
    assert_eq!(
        questions["angry"],
        json!({"type": "noul", "instructions": "Is the writer angry?"})
    );
    for secret in ["ref-sentinel", "key-sentinel", &service.key] {
        assert!(!request.text().contains(secret));
    }
}

async fn a_prism_is_found_by_its_id(backend: Backend) {
    let service = Service::start(backend).await;
    let ids = [
        service.prism_id.clone(),
        service.prism_id.to_uppercase(),
        PRISM.replace('-', "%2d"),
    ];
    for id in ids {
        let body = json!({"text": TEXT, "context": " \n "});
        let answer = service.send(service.create_request(&id, &body)).await;
        answer.assert(200, JSON, &Saved::of(&answer).envelope(ANSWERS));
    }
    let sent = service.model.requests()[0].json();
    assert_eq!(sent["state"]["context"], "We sell bicycles online.");
    for unknown in ["01234567-89ab-7def-8123-456789abcdef", "support"] {
        let body = json!({"text": TEXT});
        let answer = service.send(service.create_request(unknown, &body)).await;
        answer.assert_error(404, "not_found", "Prism not found");
    }
}

async fn rows_quote_what_spreadsheets_would_run(backend: Backend) {
    let service = Service::start(backend).await;
    let text = "=1+1, \"quoted\"\r\nand\ta tab";
    let made = service.create(&json!({"text": text, "ref": "-7"})).await;
    let saved = Saved::of(&made);
    let created_at = made.value()["created_at"].as_str().unwrap().to_owned();
    let id = &saved.id;
    let header = "result_id,ref,version,status,error,created_at,text,topic,angry,urgency";
    let csv = format!(
        "{header}\r\n{id},'-7,1,ok,,{created_at},\"'=1+1, \"\"quoted\"\"\r\nand\ta tab\",Billing,Yes,Can wait\r\n"
    );
    let read = service.read(id, "?format=csv").await;
    read.assert(200, refract_test_stack::expected::CSV, &csv);
    let tsv = format!(
        "{}\n{id}\t'-7\t1\tok\t\t{created_at}\t'=1+1, \"quoted\" and a tab\tBilling\tYes\tCan wait\n",
        header.replace(',', "\t")
    );
    let read = service.read(id, "?format=tsv").await;
    read.assert(200, refract_test_stack::expected::TSV, &tsv);
    let line: Value = service.read(id, "?format=jsonl").await.value();
    assert_eq!((&line["text"], &line["ref"]), (&json!(text), &json!("-7")));
}

async fn lengths_are_counted_in_characters_and_the_size_in_four_of_them(backend: Backend) {
    let service = Service::start(backend).await;
    let longest = json!({
        "text": "ä".repeat(100_000),
        "ref": format!(" {} ", "ä".repeat(200)),
        "idempotency_key": "😀".repeat(200),
    });
    let answer = service.create(&longest).await;
    let saved = Saved::of(&answer);
    assert_eq!(saved.reference.map(|text| text.chars().count()), Some(200));
    assert_eq!(answer.status, 200);
    let too_long = json!({
        "text": "ä".repeat(100_001),
        "context": "c".repeat(100_001),
        "ref": "r".repeat(201),
        "version": 2_147_483_648_u64,
        "idempotency_key": "\u{3000}",
    });
    let message = "Invalid request: text: String must contain at most 100000 character(s); \
                   context: String must contain at most 100000 character(s); \
                   ref: String must contain at most 200 character(s); \
                   version: Number must be less than or equal to 2147483647; \
                   idempotency_key: String must contain at least 1 character(s)";
    let answer = service.create(&too_long).await;
    answer.assert_error(400, "validation_failed", message);
    // the limit of 26,000 tokens is 104,000 characters, measured on what the model receives
    let body = |characters| json!({"text": "ä".repeat(characters), "context": "c".repeat(50_000)});
    service.create(&body(0)).await;
    let asked = service.model.requests().pop().unwrap().text();
    let room = 104_000 - estimated_characters(&asked);
    assert_eq!(service.create(&body(room)).await.status, 200);
    let answer = service.create(&body(room + 1)).await;
    let message = "Request too large: about 26001 tokens of fields, context and the longest \
                   question, the limit is 26000";
    answer.assert_error(400, "validation_failed", message);
    assert_eq!((service.asked(), service.results_made().await), (3, 3));
}

#[tokio::test]
async fn two_nodes_start_at_once_on_an_empty_database_and_are_one_service() {
    let database = refract_test_support::postgres::fresh_database().await;
    let folder = tempfile::tempdir().unwrap();
    let settings = [
        ("DATABASE_URL", database.url()),
        ("REFRACT_MODEL_URL", "builtin:lexical"),
    ];
    let start = || {
        refract_test_stack::node::Node::start(program::Runner::InProcess, folder.path(), &settings)
    };
    let (one, two) = tokio::join!(start(), start());
    let run = |arguments| program::run(folder.path(), &settings, arguments);
    let key = run(&["key", "create"]).await.object();
    let key = refract_test_stack::service::text(&key, "key");
    run(&["prism", "create", refract_test_stack::service::PRISM_FILE])
        .await
        .done();
    let create = Request::post(&format!("/prisms/{PRISM}/results"))
        .bearer(&key)
        .json(&json!({"text": TEXT, "idempotency_key": "once"}));
    let made = create.send(one.api).await;
    assert_eq!(made.status, 200, "{made:?}");
    create.send(two.api).await.assert(200, JSON, &made.body);
    let id = Saved::of(&made).id;
    let read = Request::get(&format!("/results/{id}")).bearer(&key);
    read.send(two.api).await.assert(200, JSON, &made.body);
    one.stop().await;
    two.stop().await;
}
