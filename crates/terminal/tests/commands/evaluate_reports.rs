//! `evaluate --agreement`, and the file of `evaluate --html`.

use std::fmt::Write as _;

use refract_test_stack::marked_texts::marked_texts;
use refract_test_stack::runs::service;
use refract_test_stack::service::{Backend, PRISM};
use refract_test_support::on_both;
use serde_json::{Value, json};

on_both!(
    how_far_people_agree_is_measured,
    a_file_to_attach_has_tables_and_plots_and_no_texts,
);

async fn how_far_people_agree_is_measured(backend: Backend) {
    let service = service(backend).await;
    let refs: Vec<_> = (0..50).map(|number| format!("r{number}")).collect();
    let refs: Vec<_> = refs.iter().map(String::as_str).collect();
    service.answered(&refs).await;
    // 20 both yes, 5 and 10 differ, 15 both no
    let mut file = "ref,person,angry,topic\n".to_owned();
    for (number, reference) in refs.iter().enumerate() {
        let ada = if number < 25 { "yes" } else { "no" };
        let olga = if number < 20 || (25..35).contains(&number) {
            "yes"
        } else {
            "no"
        };
        writeln!(file, "{reference},Ada,{ada},other").unwrap();
        writeln!(file, "{reference},Olga,{olga},other").unwrap();
    }
    service.import("m.csv", file).await;
    let agreement = async |arguments: &[&str]| {
        let mut all = vec!["evaluate", PRISM, "--agreement"];
        all.extend(arguments);
        service.run(&all).await
    };
    let lines = agreement(&["--json"]).await.lines();
    let [topic, angry, urgency] = &lines[..] else {
        panic!("{lines:?}");
    };
    assert_eq!(
        (&angry["people"], &angry["texts"], &angry["agreement"]),
        (&json!(2), &json!(50), &json!(0.7))
    );
    let kappa = angry["kappa"].as_f64().unwrap();
    assert!((kappa - 0.4).abs() < 1e-12, "{kappa}");
    assert_eq!(
        (&angry["alpha_level"], &angry["undefined"]),
        (&json!("nominal"), &Value::Null)
    );
    assert_eq!(
        (&topic["agreement"], &topic["alpha"]),
        (&json!(1.0), &Value::Null)
    );
    let alike = "All marks are the same answer, so agreement cannot be distinguished from chance.";
    assert_eq!(topic["undefined"], json!(alike));
    assert_eq!(
        (&urgency["texts"], &urgency["agreement"]),
        (&json!(0), &Value::Null)
    );
    assert_eq!(
        (&urgency["alpha_level"], &urgency["quadratic_kappa"]),
        (&json!("ordinal"), &Value::Null)
    );
    // no report of it is written
    let report = agreement(&["--html", "a.html"]).await;
    assert_eq!(report.code, Some(2), "{report:?}");
    let printed = agreement(&["--question", "angry"]).await;
    assert_eq!(printed.stderr, "Ada: 100 marks; Olga: 100 marks\n");
    assert!(
        printed
            .stdout
            .contains("50 texts marked by 2 people\nagreement 0.700 (0."),
        "{printed:?}"
    );
    assert!(
        printed.stdout.contains("kappa 0.400   alpha (nominal) 0.4"),
        "{printed:?}"
    );
    // the figures of answers count the mark that counts, each text once
    let measured = service.evaluated(&["--question", "angry"]).await;
    assert_eq!(measured[0]["marks"], json!(50));
}

async fn a_file_to_attach_has_tables_and_plots_and_no_texts(backend: Backend) {
    let service = service(backend).await;
    let texts = marked_texts(60);
    service.ask_and_mark(&texts).await;
    let path = service.folder.path().join("quality.html");
    let evaluate = ["evaluate", PRISM, "--html", path.to_str().unwrap()];
    let printed = service.run(&evaluate).await.done();
    let file = std::fs::read_to_string(path).unwrap();
    let accuracy = printed
        .lines()
        .find_map(|line| line.strip_prefix("accuracy "))
        .and_then(|figures| figures.split("   ").next())
        .unwrap();
    assert!(
        file.contains(&format!("<b>{accuracy}</b>")),
        "{accuracy} {file}"
    );
    // a reliability plot and a histogram for each of three questions
    assert_eq!(file.matches("<svg ").count(), 6);
    let wrong = texts.iter().map(|text| {
        usize::from(text.topic != text.marked_topic) + usize::from(text.level != text.marked_level)
    });
    let wrong: usize = wrong.sum();
    let shown = file.split_once("Wrong answers: ").unwrap().1;
    let shown: usize = shown.split('<').next().unwrap().parse().unwrap();
    assert!(shown >= wrong, "{shown} {wrong}");
    for word in ["<script", "http:", "https:", "src=", "url(", "\"a\":"] {
        assert!(!file.contains(word), "{word}");
    }
}
