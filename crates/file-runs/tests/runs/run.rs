//! File runs: what they ask, what they write, and how the next run resumes.

use refract_test_stack::runs::{numbered, service, texts};
use refract_test_stack::service::{Backend, PRISM, text};
use refract_test_support::model_server::ScriptedReply;
use refract_test_support::on_both;
use serde_json::{Value, json};

on_both!(
    a_row_of_the_output_is_the_row_of_the_api,
    every_row_is_asked_once_and_comes_out_in_its_place,
    running_again_asks_only_what_has_no_answer,
    a_row_that_failed_twice_is_retried_again,
    shards_share_a_file,
    an_archived_prism_is_not_asked,
);

async fn a_row_of_the_output_is_the_row_of_the_api(backend: Backend) {
    let mut service = service(backend).await;
    let rows = "\u{feff}note;ref;text;context\r\n\
        x;r1;\"a \"\"quoted\"\"; text\r\nwith breaks\tand, more\";\r\n\
        y;;=1+1;about the writer\r\n\
        z; r3 ;;\r\n";
    service.write("in.csv", rows);
    for format in ["csv", "tsv", "jsonl"] {
        let output = format!("out.{format}");
        let ended = service
            .run_file("in.csv", &["--output", &output, "--blank-rows"])
            .await;
        assert_eq!(ended.done(), "");
    }
    // only the first run asked the model
    assert_eq!(service.asked(), 3);
    let mut states: Vec<_> = service
        .model
        .requests()
        .iter()
        .map(|r| r.json()["state"].clone())
        .collect();
    states.sort_by_key(Value::to_string);
    assert_eq!(
        states,
        [
            json!({"context": "We sell bicycles online.", "text": ""}),
            json!({"context": "We sell bicycles online.", "text": "a \"quoted\"; text\r\nwith breaks\tand, more"}),
            json!({"context": "We sell bicycles online.\nContext for this call:\nabout the writer", "text": "=1+1"}),
        ]
    );
    let lines: Vec<Value> = service
        .written("out.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let refs: Vec<_> = lines.iter().map(|row| row["ref"].clone()).collect();
    assert_eq!(refs, [json!("r1"), Value::Null, json!("r3")]);
    service.start_node(&[]).await;
    for format in ["csv", "tsv", "jsonl"] {
        let mut expected = String::new();
        for (index, row) in lines.iter().enumerate() {
            let body = service
                .read(&text(row, "result_id"), &format!("?format={format}"))
                .await
                .body;
            let is_more = index > 0 && format != "jsonl";
            let row = if is_more {
                body.split_once('\n').unwrap().1
            } else {
                &body
            };
            expected.push_str(row);
        }
        assert_eq!(service.written(&format!("out.{format}")), expected);
    }
}

async fn every_row_is_asked_once_and_comes_out_in_its_place(backend: Backend) {
    let service = service(backend).await;
    service.write("in.csv", numbered(300));
    let ended = service
        .run_file("in.csv", &["--format", "jsonl", "--concurrency", "7"])
        .await;
    let rows = texts(&ended.done());
    let expected: Vec<_> = (1..=300).map(|number| format!("row {number}")).collect();
    assert_eq!(rows, expected);
    let mut sorted = expected;
    sorted.sort();
    assert_eq!(service.asked_texts(), sorted);
    let made = service.run(&["key", "list", "--json"]).await.lines();
    assert_eq!(made[0]["results_made"], 0, "no key made them");
}

async fn running_again_asks_only_what_has_no_answer(backend: Backend) {
    let service = service(backend).await;
    service.write("in.csv", numbered(6));
    service.model.then_once(ScriptedReply::status(400));
    service.model.then_once(ScriptedReply::answers().cut());
    let output = &["--output", "out.jsonl", "--concurrency", "1"];
    let ended = service.run_file("in.csv", output).await;
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
    let last = ended.stderr.lines().last().unwrap();
    let words = "error: 2 rows failed: run the same command again to retry what failed";
    assert_eq!(last, words);
    assert!(
        ended
            .stderr
            .contains("The model server answered with status 400."),
        "{}",
        ended.stderr
    );
    let first = service.written("out.jsonl");
    assert_eq!(first.lines().count(), 6);
    assert_eq!(first.matches("\"status\":\"failed\"").count(), 2);
    // one new row, one changed row, four rows with an answer
    service.write("in.csv", numbered(7).replace("row 5,", "row five,"));
    let asked = service.asked();
    service.run_file("in.csv", output).await.done();
    let second = service.written("out.jsonl");
    assert_eq!(second.lines().count(), 7);
    assert_eq!(second.matches("\"status\":\"ok\"").count(), 7);
    assert_eq!(
        service.asked() - asked,
        4,
        "two failed, one new, one changed"
    );
    for place in [2, 3, 5] {
        assert_eq!(first.lines().nth(place), second.lines().nth(place));
    }
    // every row has its answer now
    let asked = service.asked();
    service.run_file("in.csv", output).await.done();
    assert_eq!(service.asked(), asked);
    assert_eq!(service.written("out.jsonl"), second);
    // another name makes another run, and so does another version
    service
        .run_file("in.csv", &["--name", "again"])
        .await
        .done();
    assert_eq!(service.asked() - asked, 7);
    service
        .run(&[
            "prism",
            "save",
            PRISM,
            refract_test_stack::service::PRISM_FILE,
        ])
        .await
        .done();
    service.run_file("in.csv", &["--version", "1"]).await.done();
    assert_eq!(service.asked() - asked, 7);
    let ended = service
        .run_file("in.csv", &["--format", "jsonl"])
        .await
        .done();
    assert_eq!(service.asked() - asked, 14);
    assert_eq!(ended.matches("\"version\":2").count(), 7);
}

async fn a_row_that_failed_twice_is_retried_again(backend: Backend) {
    let service = service(backend).await;
    service.write("in.csv", "text\nonly\n");
    service.model.then_always(ScriptedReply::status(400));
    for _ in 0..3 {
        let ended = service.run_file("in.csv", &["--format", "jsonl"]).await;
        assert_eq!(ended.code, Some(1));
        assert!(ended.stdout.contains("\"status\":\"failed\""), "{ended:?}");
    }
    service.model.then_always(ScriptedReply::answers());
    let done = service
        .run_file("in.csv", &["--format", "jsonl"])
        .await
        .done();
    assert!(done.contains("\"status\":\"ok\""), "{done}");
    assert_eq!(service.asked(), 4);
}

async fn shards_share_a_file(backend: Backend) {
    let service = service(backend).await;
    service.write("in.csv", numbered(5));
    let mut rows = Vec::new();
    for shard in ["1/2", "2/2"] {
        let ended = service
            .run_file("in.csv", &["--shard", shard, "--format", "jsonl"])
            .await;
        rows.push(texts(&ended.done()));
    }
    assert_eq!(rows[0], ["row 1", "row 3", "row 5"]);
    assert_eq!(rows[1], ["row 2", "row 4"]);
    // the shards together asked about all rows of the file
    let ended = service
        .run_file("in.csv", &["--format", "jsonl"])
        .await
        .done();
    assert_eq!(ended.lines().count(), 5);
    assert_eq!(service.asked(), 5);
}

async fn an_archived_prism_is_not_asked(backend: Backend) {
    let service = service(backend).await;
    service.write("in.csv", numbered(2));
    service.run(&["prism", "archive", PRISM]).await.done();
    let line = service.run_file("in.csv", &[]).await.refused();
    assert_eq!(line, "error: Prism not found");
    let line = service.run(&["run", "nothing", "in.csv"]).await.refused();
    assert_eq!(line, "error: Prism not found: see `refract prism list`");
    service.run(&["prism", "restore", PRISM]).await.done();
    let line = service
        .run_file("in.csv", &["--version", "9"])
        .await
        .refused();
    assert_eq!(line, "error: Prism version not found");
    assert_eq!(service.asked(), 0);
}

#[tokio::test]
async fn columns_of_other_names_are_mapped_and_missing_ones_refused() {
    let service = service(Backend::Sqlite).await;
    service.write(
        "in.jsonl",
        "{\"body\":\"x\",\"id\":\"7\",\"other\":{\"a\":1}}\n",
    );
    let line = service.run_file("in.jsonl", &[]).await.refused();
    let words = "error: in.jsonl: it lacks the column text: it has body, id, other; \
        name another one with --map COLUMN=FIELD";
    assert_eq!(line, words);
    let line = service
        .run_file("in.jsonl", &["--map", "body=nothing"])
        .await
        .refused();
    assert!(
        line.contains("'nothing' is no field of the prism"),
        "{line}"
    );
    assert_eq!(service.asked(), 0);
    let mapped = ["--map", "body=text", "--map", "id=ref", "--format", "tsv"];
    let row = service.run_file("in.jsonl", &mapped).await.done();
    let cells: Vec<_> = row.lines().nth(1).unwrap().split('\t').collect();
    assert_eq!((cells[1], cells[6]), ("7", "x"));
    let ended = service.run_file("in.jsonl", &["--map", "body"]).await;
    assert_eq!(ended.code, Some(2), "{ended:?}");
}
