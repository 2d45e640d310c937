//! `refract usage`, and what hosts report about their requests: on the terminal, in the app, in the
//! metrics and in the log.

use std::time::{Duration, Instant};

use refract_test_stack::browser::joined;
use refract_test_stack::service::{Backend, PRISM, Service, TEXT, text};
use refract_test_support::model_server::ScriptedReply;
use refract_test_support::on_both;
use serde_json::{Value, json};

on_both!(
    usage_is_added_up_by_what_is_asked_for,
    what_the_host_reports_is_shown_with_the_result,
    results_are_counted_by_prism,
    a_budget_is_set_and_removed,
    a_text_that_was_cut_is_marked,
);

/// An answer to the example prism's questions, with this usage.
fn answering(model: &str, usage: &Value) -> ScriptedReply {
    let answers = json!({
        "topic": {"type": "choice", "choice": "delivery", "confidence": 0.9,
                  "probabilities": {"delivery": 1}},
        "angry": {"type": "noul", "noul": 0.1},
        "urgency": {"type": "score", "probabilities": {"0": 1}}});
    ScriptedReply::json(&json!({"model": model, "answers": answers, "usage": usage}))
}

async fn created(service: &Service, reply: ScriptedReply, sent: &str) -> String {
    service.model.then_once(reply);
    let made = service.create(&json!({ "text": sent })).await;
    text(&made.value(), "id")
}

async fn usage_is_added_up_by_what_is_asked_for(backend: Backend) {
    let service = Service::start(backend).await;
    assert_eq!(service.run(&["usage", "--json"]).await.done(), "");
    let usage = json!({"input_tokens": 1_000, "cached_tokens": 600, "output_tokens": 30,
                       "cost": 0.1});
    for model in ["a", "a", "b"] {
        created(&service, answering(model, &usage), TEXT).await;
    }
    service.failed(&json!({"text": TEXT})).await;
    service.run(&["try", PRISM, "--text", TEXT]).await.done();

    let printed = service.run(&["usage", "--json"]).await.done();
    let of_a = concat!(
        r#"{"prism":"support-triage","key":null,"model":"a","day":null,"calls":2,"failed":0,"#,
        r#""model_requests":2,"input_tokens":2000,"cached_tokens":1200,"output_tokens":60,"#,
        r#""cost":0.2}"#,
    );
    assert!(printed.lines().any(|line| line == of_a), "{printed}");
    let run = async |more: &[&str]| {
        let arguments = [&["usage", "--json"], more].concat();
        service.run(&arguments).await.lines()
    };
    let by_key = run(&[PRISM, "--by", "key"]).await;
    let of_key = by_key
        .iter()
        .find(|line| line["key"] == json!(service.key_id));
    let of_key = of_key.unwrap();
    assert_eq!(
        (&of_key["calls"], &of_key["failed"]),
        (&json!(4), &json!(1))
    );
    assert_eq!(
        (&of_key["prism"], &of_key["model"]),
        (&Value::Null, &Value::Null)
    );
    let by_person = run(&["--by", "person"]).await;
    let members = |line: &Value| (line.get("person").is_some(), line.get("run").is_some());
    assert!(by_person.iter().all(|line| members(line) == (true, false)));
    let by_day = run(&["--by", "day,model"]).await;
    assert!(
        by_day
            .iter()
            .all(|line| line["day"].as_str().unwrap().len() == 10)
    );
    assert_eq!(run(&["--until", "2020-01-01"]).await, Vec::<Value>::new());
    let since = run(&["--since", "2020-01-01", "--until", "2100-01-01"]).await;
    assert_eq!(since, run(&[]).await);

    let table = service.run(&["usage"]).await.done();
    let head = table.lines().next().unwrap();
    let words: Vec<&str> = head.split_whitespace().collect();
    let expected = [
        "PRISM", "MODEL", "CALLS", "FAILED", "REQUESTS", "READ", "CACHED", "WRITTEN", "COST",
    ];
    assert_eq!(words, expected);
    let total = table.lines().last().unwrap();
    let words: Vec<&str> = total.split_whitespace().collect();
    assert_eq!(
        (words.first(), words.last()),
        (Some(&"total"), Some(&"0.3")),
        "{table}"
    );
    let csv = service.run(&["usage", "--csv", "--by", "model"]).await;
    let csv = csv.done();
    let header = "model,calls,failed,requests,read,cached,written,cost\r\n";
    assert!(csv.starts_with(header), "{csv}");
    assert!(csv.contains("\r\na,2,0,2,2000,1200,60,0.2\r\n"), "{csv}");
    // what was deleted was paid all the same
    let everything = ["results", "purge", PRISM, "--before", "2100-01-01"];
    service.run(&everything).await.done();
    assert_eq!(service.run(&["usage"]).await.done(), table);
    let line = service.run(&["usage", "no-such-prism"]).await.refused();
    assert!(line.contains("see `refract prism list`"), "{line}");
    assert_eq!(service.run(&["usage", "--by", "hour"]).await.code, Some(2));
}

async fn what_the_host_reports_is_shown_with_the_result(backend: Backend) {
    let service = Service::start(backend).await;
    let usage = json!({"input_tokens": 1_000, "input_tokens_details": {"cached_tokens": 900},
                       "output_tokens": 30, "cost": 0.000_012_345_678_9});
    let reply = answering("jev-1", &usage).header("x-typesafe-request-id", "req_7");
    let id = created(&service, reply, TEXT).await;
    let shown = service
        .run(&["results", "show", &id, "--json"])
        .await
        .done();
    let provenance = concat!(
        r#""input_tokens":1000,"cached_tokens":900,"output_tokens":30,"cost":0.0000123456789,"#,
        r#""host_request_id":"req_7","requests":1,"attempts":1,"truncated_to":null,"#,
    );
    assert!(shown.contains(provenance), "{shown}");
    let table = ["results", "show", &id, "--format", "table"];
    let table = service.run(&table).await.done();
    for words in [
        "request  req_7",
        "from the cache 900",
        "cost 0.0000123456789",
    ] {
        assert!(table.contains(words), "{table}");
    }
    for format in ["json", "raw", "csv", "tsv", "jsonl"] {
        let read = service.read(&id, &format!("?format={format}")).await.body;
        assert!(
            !read.contains("req_7") && !read.contains("123456789"),
            "{read}"
        );
    }
    let mut ada = joined(&service, "ada@example.com", "owner").await;
    let page = ada.get(&format!("/results/{id}")).await.body;
    for words in ["req_7", "0.0000123456789", "Tokens from the cache"] {
        assert!(page.contains(words), "{page}");
    }
    assert!(!page.contains("read only"), "{page}");
    let metrics = service.nodes[0].ops("/metrics").await.body;
    for sample in [
        r#"refract_model_tokens_total{kind="cached"} 900"#,
        r#"refract_model_tokens_total{kind="input"} 1000"#,
        "refract_model_requests_total 1",
        "refract_model_texts_truncated_total 0",
    ] {
        assert!(metrics.contains(sample), "{metrics}");
    }
    let cost = metrics
        .lines()
        .find_map(|line| line.strip_prefix("refract_model_cost_total "));
    let cost: f64 = cost.unwrap().parse().unwrap();
    assert!((cost - 0.000_012_345_678_9).abs() < 1e-15, "{cost}");
}

async fn a_text_that_was_cut_is_marked(backend: Backend) {
    let service = Service::start(backend).await;
    let long = "The parcel has not arrived yet. ".repeat(2_000);
    let cut = answering("m", &json!({"input_tokens": 4_096}));
    let id = created(&service, cut, &long).await;
    let shown = service
        .run(&["results", "show", &id, "--json"])
        .await
        .object();
    assert_eq!(shown["status"], "ok");
    assert_eq!(shown["provenance"]["truncated_to"], 4_096);
    let table = ["results", "show", &id, "--format", "table", "--no-text"];
    let table = service.run(&table).await.done();
    let words = "the model server read only 4,096 tokens of a text that has far more";
    assert!(table.contains(words), "{table}");
    let mut ada = joined(&service, "ada@example.com", "owner").await;
    let page = ada.get(&format!("/results/{id}")).await.body;
    assert!(
        page.contains("read only 4,096 tokens of this text"),
        "{page}"
    );
    let metrics = service.nodes[0].ops("/metrics").await.body;
    assert!(
        metrics.contains("refract_model_texts_truncated_total 1"),
        "{metrics}"
    );
}

async fn results_are_counted_by_prism(backend: Backend) {
    let service = Service::start(backend).await;
    let usage = json!({"input_tokens": 1_000, "cache_read_input_tokens": 900,
                       "cache_creation_input_tokens": 40, "output_tokens": 30, "cost": 0.25});
    for _ in 0..2 {
        created(&service, answering("m", &usage), TEXT).await;
    }
    service.failed(&json!({"text": TEXT})).await;
    let begun = Instant::now();
    let metrics = loop {
        let metrics = service.nodes[0].ops("/metrics").await.body;
        if metrics.contains("refract_prism_results_total{") {
            break metrics;
        }
        assert!(begun.elapsed() < Duration::from_mins(1), "{metrics}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    let of = r#"account="default",prism="support-triage""#;
    for sample in [
        format!("refract_prism_results_total{{{of},status=\"ok\"}} 2\n"),
        format!("refract_prism_results_total{{{of},status=\"failed\"}} 1\n"),
        format!("refract_prism_unsure_results_total{{{of}}} 0\n"),
        format!("refract_prism_model_tokens_total{{{of},kind=\"input\"}} 2000\n"),
        format!("refract_prism_model_tokens_total{{{of},kind=\"cached\"}} 1800\n"),
        format!("refract_prism_model_tokens_total{{{of},kind=\"output\"}} 60\n"),
        format!("refract_prism_model_tokens_total{{{of},kind=\"cache_written\"}} 80\n"),
        format!("refract_prism_model_cost_total{{{of}}} 0.5\n"),
        "refract_model_tokens_total{kind=\"cache_written\"} 80\n".to_owned(),
    ] {
        assert!(metrics.contains(&sample), "{sample}: {metrics}");
    }
    // the default cutoffs have no unsure
    let lens = json!({"columns": [{"question": "angry", "output": "label",
                                   "no_below": 0.05, "yes_from": 0.5}]});
    let lens = service.file("unsure.json", &lens);
    service.run(&["lens", "set", PRISM, &lens]).await.done();
    created(&service, answering("m", &usage), TEXT).await;
    let metrics = service.nodes[0].ops("/metrics").await.body;
    let sample = format!("refract_prism_unsure_results_total{{{of}}} 1\n");
    assert!(metrics.contains(&sample), "{metrics}");
}

async fn a_budget_is_set_and_removed(backend: Backend) {
    let service = Service::start(backend).await;
    let run = async |arguments: &[&str]| {
        let all = [&["account", "set"], arguments].concat();
        service.run(&all).await
    };
    let line = run(&["--budget", "1", "--require-codes", "on"]).await;
    let line = line.refused();
    assert!(
        line.starts_with("error: no price is known, so a budget"),
        "{line}"
    );
    let codes = run(&["--no-budget", "--json"]).await.object();
    assert_eq!(codes["budget"], Value::Null);
    let usage = json!({"cost": 0.1});
    created(&service, answering("m", &usage), TEXT).await;
    let set = run(&["--budget", "0.40", "--json"]).await.done();
    let line = "{\"account\":\"default\",\"budget\":0.4,\"spent\":0.1}\n";
    assert_eq!(set, line);
    assert_eq!(run(&["--budget", "0.4", "--json"]).await.done(), line);
    let reported = run(&["--budget", "0.4"]).await;
    assert!(
        reported.stderr.contains("25 % are used (0.1)"),
        "{reported:?}"
    );
    let listed = service.run(&["account", "list", "--json"]).await.object();
    assert_eq!(listed["budget"], json!(0.4));
    let removed = run(&["--no-budget", "--json"]).await.object();
    assert_eq!(removed["budget"], Value::Null);
    let listed = service.run(&["account", "list", "--json"]).await.object();
    assert_eq!(listed["budget"], Value::Null);
    for wrong in [
        &["--budget", "0"][..],
        &["--budget", "-1"],
        &["--budget", "1,5"],
        &["--budget", "1", "--no-budget"],
        &[],
    ] {
        assert_eq!(run(wrong).await.code, Some(2), "{wrong:?}");
    }
    let unknown = run(&["--budget", "1", "--account", "acme"]).await.refused();
    assert!(unknown.contains("no account 'acme'"), "{unknown}");
}
