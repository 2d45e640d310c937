//! `refract evaluate --advise QUESTION --error E`: certified cutoffs, or why there are none.

use refract_test_stack::marked_texts::{MarkedText, assert_close, marked_texts};
use refract_test_stack::runs::service;
use refract_test_stack::service::{Backend, PRISM, Service};
use refract_test_support::on_both;
use serde_json::{Value, json};

on_both!(
    right_answers_are_certified_and_written_into_a_lens_file,
    a_choice_gets_a_confidence_and_no_lens_file,
    too_few_marks_say_how_many_more_would_do,
    answers_that_are_often_wrong_are_out_of_reach,
    what_certifies_nothing_is_refused,
    no_order_of_rows_changes_a_figure,
);

/// Texts whose answers to `angry` and `topic` are all right.
fn right_texts(count: usize) -> Vec<MarkedText> {
    let mut texts = marked_texts(count);
    for text in &mut texts {
        text.is_angry = text.angry_percent >= 50;
        text.marked_topic = text.topic;
    }
    texts
}

async fn certified(service: &Service, question: &str, more: &[&str]) -> Value {
    let mut arguments = vec!["evaluate", PRISM, "--json", "--advise", question];
    arguments.extend(["--error", "0.05"]);
    arguments.extend_from_slice(more);
    service.run(&arguments).await.object()
}

async fn message(service: &Service, question: &str) -> String {
    let arguments = ["evaluate", PRISM, "--advise", question, "--error", "0.05"];
    let words = service.run(&arguments).await.done();
    let wanted = "At most 50 of 1,000 automatic answers wrong\n";
    assert!(words.starts_with(wanted), "{words}");
    words
}

async fn right_answers_are_certified_and_written_into_a_lens_file(backend: Backend) {
    let service = service(backend).await;
    service.ask_and_mark(&right_texts(100)).await;
    let found = certified(&service, "angry", &["--write", "lens.json"]).await;
    assert_eq!(found["target"], json!({"error": 0.05, "sure": 0.95}));
    assert_eq!(
        (&found["no_below"], &found["yes_from"], &found["marks"]),
        (&json!(0.5), &json!(0.5), &json!(100))
    );
    let certificate = &found["certified"];
    assert_eq!(certificate["more_marks_needed"], 0);
    assert_eq!(
        (&certificate["answered"], &certificate["wrong"]),
        (&json!(100), &json!(0))
    );
    // a third of the level is spent on the first test
    let bound = 1.0 - (0.05_f64 / 3.0).powf(0.01);
    assert_close(&certificate["error_at_most"], bound);
    assert_eq!(found["held_out"]["coverage"], 1.0);
    let arguments = [
        "evaluate", PRISM, "--advise", "angry", "--error", "0.05", "--json",
    ];
    let line = service.run(&arguments).await.done();
    let keys = "\"certified\":{\"error\":0.05,\"sure\":0.95,\"marks\":100,\"more_marks_needed\":0,";
    assert!(line.contains(keys), "{line}");
    let words = message(&service, "angry").await;
    let most = (bound * 1000.0).ceil();
    let outlook = format!(
        "\nKeep the cutoffs as they are now.\n\
         All new texts are answered automatically. Of 1,000 such answers at most {most} are wrong. You \
         can be 95 % sure of that: of 20 such samples of marks, one promises too much.\n\
         For a stricter guarantee, at most 20 wrong of 1,000, mark about 50 more results, drawn at random, and look \
         again only when all are done.\n"
    );
    assert!(words.contains(&outlook), "{words}");
    let row = words
        .lines()
        .find(|line| line.contains("Guarantee"))
        .unwrap();
    let cells: Vec<_> = row
        .split("  ")
        .map(str::trim)
        .filter(|cell| !cell.is_empty())
        .collect();
    let limit = format!("at most {most}");
    assert_eq!(
        cells,
        ["Guarantee", "0.5", "0.5", "1.000", "0 of 100", &limit]
    );
    let file: Value = serde_json::from_str(&service.written("lens.json")).unwrap();
    let columns = file["columns"].as_array().unwrap();
    let angry = columns.iter().find(|column| column["question"] == "angry");
    assert_eq!(angry.unwrap()["no_below"], 0.5);
}

async fn a_choice_gets_a_confidence_and_no_lens_file(backend: Backend) {
    let service = service(backend).await;
    service.ask_and_mark(&right_texts(70)).await;
    let found = certified(&service, "topic", &[]).await;
    assert_eq!(found["no_below"], Value::Null);
    assert_close(&found["certified"]["confidence"], 0.0);
    assert_eq!(found["certified"]["answered"], 70);
    let words = message(&service, "topic").await;
    assert!(
        words.contains("Guarantee") && words.contains("0 of 70"),
        "{words}"
    );
    let arguments = ["evaluate", PRISM, "--advise", "topic", "--error", "0.05"];
    let writing = [&arguments[..], &["--write", "lens.json"]].concat();
    let line = service.run(&writing).await.refused();
    assert!(
        line.contains("'topic' is a choice: a lens has no cutoff"),
        "{line}"
    );
}

async fn too_few_marks_say_how_many_more_would_do(backend: Backend) {
    let service = service(backend).await;
    let none = certified(&service, "angry", &[]).await;
    assert_eq!(none["certified"]["more_marks_needed"], 59);
    assert_eq!(none["yes_from"], Value::Null);
    service.ask_and_mark(&right_texts(20)).await;
    let found = certified(&service, "angry", &[]).await;
    assert_eq!(found["certified"]["more_marks_needed"], 40);
    assert_eq!(found["certified"]["error_at_most"], Value::Null);
    let words = message(&service, "angry").await;
    let needed = "\nguarantee: about 40 more marks needed\n";
    assert!(words.contains(needed), "{words}");
    let next = "\nTo guarantee at most 50 wrong of 1,000, mark about 40 more results, ";
    assert!(words.contains(next), "{words}");
    let arguments = ["evaluate", PRISM, "--advise", "angry", "--error", "0.05"];
    let writing = [&arguments[..], &["--write", "lens.json"]].concat();
    let ended = service.run(&writing).await;
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended.stderr.contains("lens.json is not written"),
        "{ended:?}"
    );
    assert!(!service.folder.path().join("lens.json").exists());
}

async fn answers_that_are_often_wrong_are_out_of_reach(backend: Backend) {
    let service = service(backend).await;
    let mut texts = marked_texts(60);
    for (number, text) in texts.iter_mut().enumerate() {
        text.is_angry = number % 2 == 0;
    }
    service.ask_and_mark(&texts).await;
    let found = certified(&service, "angry", &[]).await;
    assert_eq!(found["certified"]["more_marks_needed"], Value::Null);
    let words = message(&service, "angry").await;
    let reason = "\nguarantee: out of reach, answers are wrong too often\n";
    assert!(words.contains(reason), "{words}");
}

async fn what_certifies_nothing_is_refused(backend: Backend) {
    let service = service(backend).await;
    let arguments = ["evaluate", PRISM, "--advise", "angry", "--error", "0.05"];
    let line = service
        .run(&[&arguments[..], &["--marks", "all"]].concat())
        .await
        .refused();
    assert!(line.contains("leave out `--marks all`"), "{line}");
    for wrong in [
        &["--error", "0.05"][..],
        &["--advise", "angry", "--error", "1"],
        &["--advise", "angry", "--error", "0.05", "--sure", "1"],
        &["--advise", "angry", "--error", "0.05", "--precision", "0.9"],
        &["--advise", "angry", "--precision", "0.9", "--sure", "0.9"],
    ] {
        let ended = service.run(&[&["evaluate", PRISM], wrong].concat()).await;
        assert_eq!(
            (ended.code, ended.stdout.as_str()),
            (Some(2), ""),
            "{wrong:?}"
        );
    }
}

async fn no_order_of_rows_changes_a_figure(backend: Backend) {
    let figures = async |texts: &[MarkedText]| {
        let service = service(backend).await;
        service.ask_and_mark(texts).await;
        let mut all = service.evaluated(&[]).await;
        all.extend(
            service
                .evaluated(&["--advise", "angry", "--precision", "0.8"])
                .await,
        );
        all.extend(
            service
                .evaluated(&["--advise", "topic", "--error", "0.6"])
                .await,
        );
        let required = [
            "--json",
            "--require",
            "topic.ece<=0.1",
            "--require",
            "urgency.ece<=0.3",
        ];
        let checked = service.check("rows.jsonl", &required).await;
        (all, checked.code, checked.stdout)
    };
    let mut texts = marked_texts(60);
    let in_order = figures(&texts).await;
    texts.reverse();
    texts.rotate_left(17);
    assert_eq!(in_order, figures(&texts).await);
}
