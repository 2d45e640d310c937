//! `refract lens preview` and `refract lens cutoffs`: lenses tried on stored results, without the
//! model.

use refract_test_stack::service::{Backend, LENS_FILE, PRISM, Service, TEXT};
use refract_test_support::model_server::ScriptedReply;
use refract_test_support::on_both;
use serde_json::{Value, json};

on_both!(
    a_preview_counts_what_setting_the_lens_would_change,
    cutoffs_are_seen_over_the_stored_probabilities,
    a_cutoff_that_the_server_clips_away_is_warned_about,
);

/// A service with results whose probabilities of anger are 0.05, 0.15, … 0.95, and a failed one.
async fn service(backend: Backend) -> Service {
    let service = Service::start(backend).await;
    for tenth in 0..10 {
        let noul = f64::from(tenth) / 10.0 + 0.05;
        let reply = move |request: &Value| {
            let criteria = &request["questions"]["topic"]["criteria"];
            let shares = criteria.as_object().unwrap().keys();
            let shares: Value = shares.map(|key| (key.clone(), json!(0.2))).collect();
            json!({"model": "m", "answers": {
                "topic": {"type": "choice", "choice": "billing", "confidence": 0.5, "probabilities": shares},
                "angry": {"type": "noul", "noul": noul},
                "urgency": {"type": "score", "score": 0, "probabilities": {"0": 0.5, "1": 0.5, "2": 0}},
            }})
        };
        service
            .model
            .then_always(ScriptedReply::with(move |request| reply(&request.json())));
        let answer = service.create(&json!({"text": TEXT})).await;
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    service.failed(&json!({"text": TEXT})).await;
    service
}

async fn a_preview_counts_what_setting_the_lens_would_change(backend: Backend) {
    let service = service(backend).await;
    let asked = service.asked();
    let lens = service.run(&["lens", "show", PRISM]).await.object();
    let other = json!({"columns": [
        {"name": "angry", "question": "angry", "output": "label", "no_below": 0.3, "yes_from": 0.7},
        {"question": "topic", "output": "top"},
        {"question": "urgency", "output": "average"},
    ]});
    let file = service.file("other.json", &other);
    let preview = ["lens", "preview", PRISM, &file, "--json"];
    let seen = service.run(&preview).await.object();
    assert_eq!((&seen["results"], &seen["cells"]), (&json!(10), &json!(20)));
    // probabilities from 0.3 to below 0.7 become unsure
    assert_eq!(seen["changed"], 4);
    let angry = &seen["columns"][0];
    assert_eq!(angry["changed"], 4);
    let counts = |tally: &Value| {
        let values = tally["values"].as_array().unwrap().iter();
        values
            .map(|it| it["cells"].as_u64().unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(counts(&angry["after"]), [3, 4, 3], "yes, unsure, no");
    assert_eq!(counts(&angry["before"]), [5, 0, 5]);
    assert_eq!(seen["columns"][1]["changed"], 0);
    assert_eq!(seen["columns"][2]["changed"], Value::Null);
    assert_eq!(seen["dropped"], json!(["urgency"]));
    // the two newest results have 0.85 and 0.95
    let sample = ["lens", "preview", PRISM, &file, "--json", "--sample", "2"];
    let sampled = service.run(&sample).await.object();
    assert_eq!(
        (&sampled["results"], &sampled["changed"]),
        (&json!(2), &json!(0))
    );
    let words = service.run(&["lens", "preview", PRISM, &file]).await.done();
    assert!(
        words.starts_with("10 answered results: 4 of 20 cells would change.\n"),
        "{words}"
    );
    assert!(
        words.contains("\nangry (label of angry): 4 cells change (40.0 %)\n  Yes    ██████"),
        "{words}"
    );
    assert!(words.contains("\nurgency would be gone.\n"), "{words}");
    assert!(!words.contains('\u{1b}'), "{words}");
    // the preview set nothing and asked no model, and setting the lens changes what it counted
    assert_eq!(service.run(&["lens", "show", PRISM]).await.object(), lens);
    let export = async || {
        let arguments = ["results", "export", PRISM, "--format", "jsonl"];
        service.run(&arguments).await.lines()
    };
    let before = export().await;
    service.run(&["lens", "set", PRISM, &file]).await.done();
    let after = export().await;
    let changed = before.iter().zip(&after);
    assert_eq!(
        changed
            .filter(|(one, other)| one["angry"] != other["angry"])
            .count(),
        4
    );
    let again = service.run(&preview).await.object();
    assert_eq!(
        (&again["changed"], &again["dropped"]),
        (&json!(0), &json!([]))
    );
    assert_eq!(service.asked(), asked);
    // a lens that `lens set` refuses is refused here too
    let wrong = json!({"columns": [{"question": "nothing", "output": "top"}]});
    let file = service.file("wrong.json", &wrong);
    let line = service
        .run(&["lens", "preview", PRISM, &file])
        .await
        .refused();
    assert!(
        line.starts_with("error: Invalid request: columns.0.question: "),
        "{line}"
    );
}

async fn cutoffs_are_seen_over_the_stored_probabilities(backend: Backend) {
    let service = service(backend).await;
    let seen = service
        .run(&["lens", "cutoffs", PRISM, "angry", "--json"])
        .await
        .object();
    assert_eq!(
        (&seen["results"], &seen["question"]),
        (&json!(10), &json!("angry"))
    );
    assert_eq!(seen["now"], json!({"yes": 5, "unsure": 0, "no": 5}));
    assert_eq!(
        (&seen["no_below"], &seen["yes_from"]),
        (&json!(0.5), &Value::Null)
    );
    let steps = seen["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 101);
    assert_eq!(
        steps[15],
        json!({"percent": 15, "results": 1, "no": 1, "yes": 9})
    );
    assert_eq!(
        steps[16],
        json!({"percent": 16, "results": 0, "no": 2, "yes": 8})
    );
    let words = service
        .run(&["lens", "cutoffs", PRISM, "angry", "--step", "10"])
        .await
        .done();
    assert!(
        words.contains("angry (angry): Is the writer angry?\n10 answered results"),
        "{words}"
    );
    let lines: Vec<_> = words.lines().collect();
    assert_eq!(lines.len(), 4 + 11, "{words}");
    assert!(
        lines.iter().all(|line| line.chars().count() <= 100),
        "{words}"
    );
    let marked: Vec<_> = lines.iter().filter(|line| line.contains("< Yes")).collect();
    assert!(
        marked.len() == 1 && marked[0].trim_start().starts_with("50 %"),
        "{words}"
    );
    service.run(&["lens", "set", PRISM, LENS_FILE]).await.done();
    let seen = service
        .run(&["lens", "cutoffs", PRISM, "is_angry", "--json"])
        .await
        .object();
    assert_eq!(seen["now"], json!({"yes": 4, "unsure": 2, "no": 4}));
    let refused = async |column: &str| {
        let arguments = ["lens", "cutoffs", PRISM, column];
        service.run(&arguments).await.refused()
    };
    let line = "error: the lens has no column 'is_angri': did you mean `is_angry`?";
    assert_eq!(refused("is_angri").await, line);
    let line = "error: the column 'topic' reads no Yes / No question; columns that do: is_angry";
    assert_eq!(refused("topic").await, line);
    let ended = service
        .run(&["lens", "cutoffs", PRISM, "is_angry", "--step", "0"])
        .await;
    assert_eq!(ended.code, Some(2));
}

async fn a_cutoff_that_the_server_clips_away_is_warned_about(backend: Backend) {
    let service = Service::start(backend).await;
    // the server clips the probability of yes to 0.01 and 0.99
    let reply = |request: &Value| {
        let number: f64 = request["state"]["text"].as_str().unwrap().parse().unwrap();
        json!({"model": "clips", "answers": {
            "topic": {"type": "choice", "choice": "billing", "confidence": 0.5,
                "probabilities": {"billing": 1, "delivery": 0, "product": 0, "other": 0, "insufficient_information": 0}},
            "angry": {"type": "noul", "noul": (number / 100.0).clamp(0.01, 0.99)},
            "urgency": {"type": "score", "score": 0, "probabilities": {"0": 0.5, "1": 0.5, "2": 0}},
        }})
    };
    service
        .model
        .then_always(ScriptedReply::with(move |request| reply(&request.json())));
    let set = async |no_below: f64, yes_from: f64| {
        let lens = json!({"columns": [{"name": "is_angry", "question": "angry", "output": "label",
            "no_below": no_below, "yes_from": yes_from}]});
        let file = service.file("clipped.json", &lens);
        let ended = service.run(&["lens", "set", PRISM, &file]).await;
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert!(ended.stdout.contains("is_angry"), "{ended:?}");
        ended.stderr
    };
    let rows = |numbers: std::ops::Range<i32>| -> Vec<Value> {
        let row = |number: i32| json!({"text": (number - 15).to_string()});
        numbers.map(row).collect()
    };
    service.ask_rows("few", &rows(0..95)).await;
    assert_eq!(set(0.4, 0.995).await, "");
    service.ask_rows("more", &rows(95..130)).await;
    let line = "Warning: is_angry is never Yes: yes_from 0.995 is above 0.99, the highest \
        probability of yes in 130 answers of the present model.\n";
    assert_eq!(set(0.4, 0.995).await, line);
    let line = "Warning: is_angry is never No: no_below 0.005 is not above 0.01, the lowest \
        probability of yes in 130 answers of the present model.\n";
    assert_eq!(set(0.005, 0.6).await, line);
    assert_eq!(set(0.02, 0.99).await, "");
}
