//! `refract watch`: JSON lines, the table, requirements and what windows are compared with.

use std::fmt::Write as _;

use refract_test_stack::program::Ended;
use refract_test_stack::service::{Backend, PRISM, Service};
use refract_test_support::model_server::ScriptedReply;
use refract_test_support::on_both;
use serde_json::{Value, json};

on_both!(
    each_question_is_a_line_with_its_keys_in_order,
    the_window_is_compared_with_the_marked_sample,
    a_requirement_that_fails_is_exit_status_1,
);

/// An answer to the example prism's questions.
fn answering(model: &str, angry: f64) -> ScriptedReply {
    let answers = json!({
        "topic": {"type": "choice", "choice": "delivery", "confidence": 0.9,
                  "probabilities": {"delivery": 1}},
        "angry": {"type": "noul", "noul": angry},
        "urgency": {"type": "score", "probabilities": {"0": 1}}});
    let usage = json!({"input_tokens": 100, "output_tokens": 3});
    ScriptedReply::json(&json!({"model": model, "answers": answers, "usage": usage}))
}

/// The message of a command that ended with exit status 1.
fn failed(ended: &Ended) -> &str {
    assert_eq!(ended.code, Some(1), "{ended:?}");
    &ended.stderr
}

/// Answers with this probability of anger, under `ref`s from a prefix and a number.
async fn answered(service: &Service, prefix: &str, number: usize, angry: f64) {
    for place in 0..number {
        service.model.then_once(answering("jev-1.13", angry));
        let call = json!({"text": format!("{prefix} {place}"), "ref": format!("{prefix}{place}")});
        service.create(&call).await;
    }
}

async fn each_question_is_a_line_with_its_keys_in_order(backend: Backend) {
    let service = Service::start(backend).await;
    answered(&service, "a", 3, 0.9).await;
    service.failed(&json!({"text": "no answer"})).await;
    let printed = service.run(&["watch", PRISM, "--json"]).await.done();
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines.len(), 3);
    let angry = lines[1];
    let keys = [
        "\"question\":\"angry\"",
        "\"window\":{\"from\":",
        "\"against\":{\"from\":",
        "\"shares\":[{\"outcome\":\"yes\",\"now\":1.0,\"before\":null,\"difference\":null,\"low\":null,\"high\":null},",
        "\"psi\":null,\"js\":null,\"alarm\":false,\"models\":[{\"name\":\"jev-1.13\",\"now\":3,\"before\":0,\"since\":\"",
    ];
    let places: Vec<_> = keys.iter().map(|key| angry.find(key)).collect();
    assert!(
        places.iter().all(Option::is_some) && places.is_sorted(),
        "{angry}"
    );
    let line: Value = serde_json::from_str(angry).unwrap();
    assert_eq!(line["window"]["results"], json!(3));
    assert_eq!(line["against"]["results"], json!(0));
    // counted once: a second look sees the same
    let again: Value = service.run(&["watch", PRISM, "--json"]).await.lines()[1].clone();
    assert_eq!(again["window"]["results"], json!(3));

    let text = service
        .run(&["watch", PRISM, "--window", "2h"])
        .await
        .done();
    for expected in [
        "4 results from ",
        "angry: Is the writer angry?",
        "3 answers now, 0 before",
        "failed     0.250, before –",
        "model      jev-1.13: 3 answers now since ",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

async fn the_window_is_compared_with_the_marked_sample(backend: Backend) {
    let service = Service::start(backend).await;
    answered(&service, "calm", 12, 0.1).await;
    let mut marks = String::from("ref,angry\n");
    for place in 0..12 {
        let _ = writeln!(marks, "calm{place},no");
    }
    let file = service.folder.path().join("marks.csv");
    std::fs::write(&file, marks).unwrap();
    let import = ["marks", "import", PRISM, file.to_str().unwrap()];
    service.run(&import).await.done();
    answered(&service, "cross", 12, 0.9).await;
    let arguments = ["watch", PRISM, "--against", "marks", "--json"];
    let lines = service.run(&arguments).await.lines();
    let yes = &lines[1]["shares"][0];
    assert_eq!(
        (&yes["outcome"], &yes["now"], &yes["before"]),
        (&json!("yes"), &json!(0.5), &json!(0.0))
    );
    assert_eq!(lines[1]["against"]["results"], json!(12));
    assert!(lines[1]["psi"].is_number());
}

async fn a_requirement_that_fails_is_exit_status_1(backend: Backend) {
    let service = Service::start(backend).await;
    answered(&service, "a", 2, 0.9).await;
    let met = [
        "watch",
        PRISM,
        "--require",
        "angry.alarm<1",
        "--require",
        "angry.yes.now>=0.9",
    ];
    let text = service.run(&met).await.done();
    assert!(text.contains("ok      angry.alarm<1"), "{text}");
    let unmet = ["watch", PRISM, "--json", "--require", "angry.yes.now<0.5"];
    let ended = service.run(&unmet).await;
    let message = failed(&ended);
    assert!(
        message.contains("angry.yes.now is 1, required <0.5"),
        "{message}"
    );
    for (requirement, code, expected) in [
        (
            "angry.accuracy>=0.9",
            2,
            "no figure of a question's drift; there are alarm, psi, js, new_models",
        ),
        (
            "angry.perhaps.now>=0.9",
            1,
            "question `angry` has no outcome `perhaps`",
        ),
        ("anger.psi<0.1", 1, "angry"),
    ] {
        let ended = service
            .run(&["watch", PRISM, "--require", requirement])
            .await;
        assert_eq!(ended.code, Some(code), "{ended:?}");
        assert!(ended.stderr.contains(expected), "{ended:?}");
    }
}
