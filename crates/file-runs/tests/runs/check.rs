//! `refract check`: what it asks, what it measures, and when it fails.

use refract_test_stack::runs::{GOLD, service};
use refract_test_stack::service::{Backend, PRISM};
use refract_test_support::model_server::{ReceivedRequest, ScriptedReply, system_one_answers};
use refract_test_support::on_both;
use serde_json::{Value, json};

on_both!(
    a_gold_file_is_asked_about_once_and_measured,
    a_corrected_expectation_asks_nothing,
    answers_of_several_models_are_reported,
    failed_rows_are_reported_and_asked_again,
    requirements_decide_the_exit_status,
    the_lens_decides_what_a_probability_of_yes_means,
);

/// JSON lines.
#[track_caller]
pub(crate) fn objects(lines: &str) -> Vec<Value> {
    let lines = lines.lines();
    lines
        .map(|line| serde_json::from_str(line).expect(line))
        .collect()
}

async fn a_gold_file_is_asked_about_once_and_measured(backend: Backend) {
    let service = service(backend).await;
    service.write("gold.csv", GOLD);
    let words = service.check("gold.csv", &[]).await.done();
    assert_eq!(service.asked(), 3);
    for expected in [
        "3 marks, 3 of them answered; version 1; model scripted-1",
        "accuracy 0.667 (0.208 to 0.939)",
        "Answers that are not right: 3\n",
    ] {
        assert!(words.contains(expected), "{expected}: {words}");
    }
    assert!(!words.contains("secret"), "{words}");
    // results are saved, and a wrong answer is named by the id of its result
    let exported = service.run(&["results", "export", PRISM, "--format", "jsonl"]);
    let results = objects(&exported.await.done());
    assert_eq!(results.len(), 3);
    let second = results.iter().find(|row| row["ref"] == "r2").unwrap();
    let rows: Vec<Vec<&str>> = words
        .lines()
        .skip_while(|line| !line.starts_with("LINE"))
        .map(|line| line.split_whitespace().collect())
        .collect();
    let id = second["result_id"].as_str().unwrap();
    assert_eq!(
        rows[1],
        [
            "3", "r2", "topic", "delivery", "0.075", "billing", "0.700", id
        ]
    );
    assert_eq!(rows[2][..6], ["4", "angry", "no", "0.200", "yes", "0.800"]);
    assert_eq!(
        rows[3][..6],
        ["4", "urgency", "today", "0.150", "can_wait", "0.700"]
    );
    assert_eq!(rows.len(), 4);
    // the same check again, as JSON: from the saved results
    let lines = service.check("gold.csv", &["--json"]).await.lines();
    assert_eq!(service.asked(), 3);
    let questions: Vec<_> = lines.iter().map(|line| line["question"].clone()).collect();
    assert_eq!(questions, ["topic", "angry", "urgency"]);
    assert_eq!(lines[0]["type"], "choice");
    assert_eq!(
        (&lines[0]["version"], &lines[0]["marks"]),
        (&json!(1), &json!(3))
    );
    assert_eq!(lines[2]["marks"], 2);
    assert_eq!(
        lines[2]["mean_absolute_error"], 1.0,
        "two levels off in one of two rows: {}",
        lines[2]
    );
}

async fn a_corrected_expectation_asks_nothing(backend: Backend) {
    let service = service(backend).await;
    service.write("gold.csv", GOLD);
    service.check("gold.csv", &["--json"]).await.done();
    // a run's answers are reused by a check of the same texts, and the reverse
    service.write(
        "texts.csv",
        "text,ref\nmy secret text,r1\nanother secret,r2\nthird secret,\n",
    );
    service.run_file("texts.csv", &[]).await.done();
    assert_eq!(service.asked(), 3);
    service.write("gold.csv", GOLD.replace("r2,delivery", "r2,billing"));
    let lines = service.check("gold.csv", &["--json"]).await.lines();
    assert_eq!(lines[0]["accuracy"], 1.0);
    assert_eq!(service.asked(), 3);
    // other columns: only one question has expected answers, under another name
    service.write(
        "gold.tsv",
        "text\tref\ttopic\nmy secret text\tr1\tproduct\n",
    );
    let arguments = ["--json", "--map", "topic=expected_topic"];
    let lines = service.check("gold.tsv", &arguments).await.lines();
    assert_eq!((lines.len(), &lines[0]["accuracy"]), (1, &json!(0.0)));
    assert_eq!(service.asked(), 3);
    // under another name the model is asked again
    let arguments = ["--json", "--name", "other-model"];
    service.check("gold.csv", &arguments).await.done();
    assert_eq!(service.asked(), 6);
}

async fn answers_of_several_models_are_reported(backend: Backend) {
    let service = service(backend).await;
    service.write("gold.csv", GOLD);
    let ended = service.check("gold.csv", &[]).await;
    assert!(!ended.stderr.contains("several"), "{}", ended.stderr);
    service.write("gold.csv", GOLD.to_owned() + "one more,,billing,,\n");
    let renamed = |request: &ReceivedRequest| {
        let mut answers = system_one_answers(request);
        answers["model"] = json!("scripted-2");
        answers
    };
    service.model.then_always(ScriptedReply::with(renamed));
    let ended = service.check("gold.csv", &["--json"]).await;
    let words = "The saved answers are of several models (scripted-1, scripted-2): another --name \
                 asks one about all rows.";
    assert!(ended.stderr.contains(words), "{}", ended.stderr);
    assert_eq!(ended.lines()[0]["model"], Value::Null);
    let lines = service
        .check("gold.csv", &["--json", "--name", "2"])
        .await
        .lines();
    assert_eq!(lines[0]["model"], "scripted-2");
}

async fn failed_rows_are_reported_and_asked_again(backend: Backend) {
    let service = service(backend).await;
    let long = "x".repeat(120_000);
    let rows = format!(
        "{}\n{}\n{}\n",
        json!({"text": "one", "expected_topic": "billing"}),
        json!({"text": long, "expected_topic": "billing"}),
        json!({"text": "two", "expected_topic": null, "expected_angry": "yes"}),
    );
    service.write("gold.jsonl", rows);
    service.model.then_once(ScriptedReply::status(400));
    let arguments = ["--json", "--concurrency", "1", "--junit", "check.xml"];
    let ended = service.check("gold.jsonl", &arguments).await;
    assert_eq!(ended.code, Some(1));
    let last = ended.stderr.lines().last().unwrap();
    let words = "error: 1 row failed and 1 row cannot be asked about: run the same command again to \
                 retry what failed";
    assert_eq!(last, words);
    let lines = objects(&ended.stdout);
    assert_eq!(
        (&lines[0]["marks"], &lines[0]["accuracy"]),
        (&json!(0), &Value::Null)
    );
    assert_eq!(
        (&lines[1]["marks"], &lines[1]["accuracy"]),
        (&json!(1), &json!(1.0))
    );
    assert!(service.written("check.xml").contains("1 row failed"));
    let ended = service.check("gold.jsonl", &["--json"]).await;
    assert_eq!(ended.code, Some(1));
    assert!(
        ended
            .stderr
            .ends_with("error: 1 row cannot be asked about\n")
    );
    assert_eq!(objects(&ended.stdout)[0]["marks"], 1);
    assert_eq!(service.asked(), 3, "the failed row once more");
}

async fn requirements_decide_the_exit_status(backend: Backend) {
    let service = service(backend).await;
    service.write("gold.csv", GOLD);
    let holding = [
        "--require",
        "topic.accuracy >= 0.6",
        "--require",
        "topic.billing.recall>=1",
    ];
    let words = service.check("gold.csv", &holding).await.done();
    assert!(
        words.contains("ok      topic.accuracy>=0.6      0.666667\n"),
        "{words}"
    );
    let mut arguments = holding.to_vec();
    arguments.extend([
        "--require",
        "angry.no.recall>0",
        "--require",
        "angry.no.precision>0",
    ]);
    arguments.extend(["--junit", "check.xml"]);
    let ended = service.check("gold.csv", &arguments).await;
    assert_eq!(ended.code, Some(1));
    assert!(
        ended
            .stdout
            .contains("FAILED  angry.no.recall>0        0\n"),
        "{}",
        ended.stdout
    );
    assert!(ended.stdout.contains("not defined"), "{}", ended.stdout);
    assert!(
        ended
            .stderr
            .ends_with(
                "\nerror: angry.no.recall is 0, required >0; angry.no.precision is not defined, required >0\n"
            ),
        "{}",
        ended.stderr
    );
    let report = service.written("check.xml");
    assert!(
        !report.contains("secret") && !report.contains("r2"),
        "{report}"
    );
    let report = quick_junit::Report::deserialize_from_str(&report).unwrap();
    assert_eq!((report.tests, report.failures), (5, 2));
    let suite = &report.test_suites[0];
    assert_eq!(suite.name.as_str(), "support-triage version 1");
    let names: Vec<_> = suite
        .test_cases
        .iter()
        .map(|case| case.name.as_str())
        .collect();
    let expected = [
        "topic.accuracy>=0.6",
        "topic.billing.recall>=1",
        "angry.no.recall>0",
        "angry.no.precision>0",
        "every row is answered",
    ];
    assert_eq!(names, expected);
    let wrong = suite.system_out.as_ref().unwrap().as_str();
    assert!(
        wrong.contains(": topic expected delivery, answered billing"),
        "{wrong}"
    );
    arguments.push("--json");
    let ended = service.check("gold.csv", &arguments).await;
    assert_eq!(ended.code, Some(1));
    let lines = objects(&ended.stdout);
    let expected = json!({"requirement": "angry.no.precision>0", "value": null, "holds": false});
    assert_eq!((lines.len(), lines.last()), (7, Some(&expected)));
    assert_eq!(lines[3]["holds"], true);
    assert_eq!(service.asked(), 3);
}

async fn the_lens_decides_what_a_probability_of_yes_means(backend: Backend) {
    let service = service(backend).await;
    service.write("gold.csv", GOLD);
    let lens = r#"{"columns": [{"question": "angry", "output": "label", "no_below": 0.3, "yes_from": 0.9}]}"#;
    service.write("lens.json", lens);
    service
        .run(&["lens", "set", PRISM, "lens.json"])
        .await
        .done();
    let lines = service.check("gold.csv", &["--json"]).await.lines();
    assert_eq!(
        (&lines[1]["marks"], &lines[1]["answered"]),
        (&json!(3), &json!(0))
    );
    let words = service.check("gold.csv", &[]).await.done();
    let unsure = words.lines().find(|line| line.contains("unsure")).unwrap();
    let cells: Vec<_> = unsure.split_whitespace().collect();
    assert_eq!(cells[..6], ["2", "r1", "angry", "yes", "0.800", "unsure"]);
}
