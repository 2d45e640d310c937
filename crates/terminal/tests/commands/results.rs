//! `refract results`: listing saved results, showing one, and retrying failed ones.

use refract_test_stack::service::{Backend, PRISM, Service, TEXT, text};
use refract_test_support::model_server::ScriptedReply;
use refract_test_support::on_both;
use serde_json::{Value, json};

on_both!(
    a_result_is_shown_as_the_api_has_it_and_for_a_person,
    a_result_is_shown_whole_as_json,
    a_result_is_shown_without_its_texts,
    a_result_is_shown_by_its_ref,
    the_newest_results_are_listed_first,
    every_failed_result_is_retried_once,
    what_fails_again_is_left_for_the_next_time,
);

async fn a_result_is_shown_as_the_api_has_it_and_for_a_person(backend: Backend) {
    let service = Service::start(backend).await;
    let body = json!({"text": "First line\r\nsecond \u{1b}[31m line", "ref": "order 7"});
    let failed = text(&service.failed(&body).await.value(), "id");
    let ok = text(&service.retry(&failed).await.value(), "id");
    for id in [&ok, &failed] {
        for format in ["json", "raw", "csv", "tsv", "jsonl"] {
            let body = service.read(id, &format!("?format={format}")).await.body;
            let shown = ["results", "show", id, "--format", format];
            let shown = service.run(&shown).await.done();
            let end = if matches!(format, "json" | "raw") {
                "\n"
            } else {
                ""
            };
            assert_eq!(shown, format!("{body}{end}"), "{format}");
        }
    }
    let json = service
        .run(&["results", "show", &ok, "--format", "json"])
        .await;
    let usual = service.run(&["results", "show", &ok]).await;
    assert_eq!(usual.done(), json.done(), "without a terminal");
    let table = async |id| {
        let arguments = ["results", "show", id, "--format", "table"];
        service.run(&arguments).await.done()
    };
    let shown = table(&ok).await;
    assert!(shown.contains("Billing") && shown.contains(&ok), "{shown}");
    assert!(shown.contains("ref order 7"), "{shown}");
    assert!(!shown.contains('\u{1b}'), "{shown}");
    let end = "text   First line\n       second \\u001b[31m line\n";
    assert!(shown.ends_with(end), "{shown}");
    let asked = "\nasked  systemone, scripted-1, prompts ";
    assert!(shown.contains(asked), "{shown}");
    let shown = table(&failed).await;
    assert!(
        shown.contains("\nerror       The model server answered with status 400.\n"),
        "{shown}"
    );
    assert!(shown.contains(&format!("\nretried as  {ok}\n")), "{shown}");
    for unknown in ["x", "0190b8f2-0000-7000-8000-0000000000aa"] {
        let line = service.run(&["results", "show", unknown]).await.refused();
        let words = [
            "error: 'x' is no result's id: `refract results list PRISM` shows ids",
            "error: Result not found in the account 'default': 0190b8f2-0000-7000-8000-0000000000aa",
        ];
        assert!(words.contains(&line.as_str()), "{line}");
    }
    service.run(&["account", "create", "acme"]).await.done();
    let elsewhere = ["results", "show", &ok, "--account", "acme"];
    let line = service.run(&elsewhere).await.refused();
    let words = format!("error: Result not found in the account 'acme': {ok}");
    assert_eq!(line, words);
}

async fn a_result_is_shown_whole_as_json(backend: Backend) {
    let service = Service::start(backend).await;
    let body =
        json!({"text": "A text.", "context": "A context.", "ref": "r1", "idempotency_key": "k1"});
    let failed = text(&service.failed(&body).await.value(), "id");
    let ok = text(&service.retry(&failed).await.value(), "id");
    std::fs::write(
        service.folder.path().join("marks.csv"),
        "ref,angry\nr1,no\n",
    )
    .unwrap();
    let marks = ["marks", "import", PRISM, "marks.csv", "--by", "Ada"];
    service.run(&marks).await.done();
    let show = async |id: &str, more: &[&str]| {
        let all = [&["results", "show", id, "--json"], more].concat();
        service.run(&all).await.done()
    };
    let shown = show(&ok, &[]).await;
    // the envelope of the raw format comes first
    let raw = service.read(&ok, "?format=raw").await.body;
    assert!(shown.starts_with(raw.strip_suffix('}').unwrap()), "{shown}");
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["fields"], json!({"text": "A text."}));
    assert_eq!(
        (&shown["context"], &shown["idempotency_key"]),
        (&json!("A context."), &json!("k1"))
    );
    assert_eq!(
        shown["made_by"],
        json!({"kind": "key", "id": service.key_id})
    );
    assert_eq!(
        (&shown["retry_of"], &shown["retried_as"]),
        (&json!(failed), &Value::Null)
    );
    let mark = &shown["marks"][0];
    assert_eq!(
        (&mark["question"], &mark["outcome"], &mark["by"]),
        (&json!("angry"), &json!("no"), &json!("Ada"))
    );
    let provenance = &shown["provenance"];
    assert_eq!(
        (
            &provenance["model"],
            &provenance["protocol"],
            &provenance["requests"]
        ),
        (&json!("scripted-1"), &json!("systemone"), &json!(1))
    );
    assert!(provenance["input_tokens"].is_u64(), "{provenance}");
    let before: Value = serde_json::from_str(&show(&failed, &[]).await).unwrap();
    assert_eq!(
        (&before["answers"], &before["retried_as"]),
        (&Value::Null, &json!(ok))
    );
}

async fn a_result_is_shown_without_its_texts(backend: Backend) {
    let service = Service::start(backend).await;
    let body = json!({"text": "A text.", "context": "A context."});
    let ok = text(&service.create(&body).await.value(), "id");
    let whole = ["results", "show", &ok, "--json"];
    let shown = service.run(&whole).await.object();
    let without = service
        .run(&[&whole[..], &["--no-text"]].concat())
        .await
        .done();
    assert!(
        !without.contains("A text.") && !without.contains("A context."),
        "{without}"
    );
    let mut expected = shown;
    expected["fields"]["text"] = Value::Null;
    expected["context"] = Value::Null;
    assert_eq!(serde_json::from_str::<Value>(&without).unwrap(), expected);
    let table = ["results", "show", &ok, "--format", "table"];
    let with_text = service.run(&table).await.done();
    assert!(
        with_text.contains("A text.") && with_text.contains("A context."),
        "{with_text}"
    );
    let table = service
        .run(&[&table[..], &["--no-text"]].concat())
        .await
        .done();
    assert!(
        !table.contains("A text.") && !table.contains("A context."),
        "{table}"
    );
    let rows = ["results", "show", &ok, "--format", "csv", "--no-text"];
    let line = service.run(&rows).await.refused();
    assert!(
        line.starts_with("error: --no-text cannot be used with rows"),
        "{line}"
    );
}

async fn a_result_is_shown_by_its_ref(backend: Backend) {
    let service = Service::start(backend).await;
    let failed = service
        .failed(&json!({"text": TEXT, "ref": "order 7"}))
        .await;
    let failed = text(&failed.value(), "id");
    let newest = text(&service.retry(&failed).await.value(), "id");
    service
        .create(&json!({"text": TEXT, "ref": "order 8"}))
        .await;
    for prism in [&[][..], &["--prism", PRISM]] {
        let arguments = ["results", "show", "--ref", "order 7"];
        let shown = service.run(&[&arguments[..], prism].concat()).await;
        let words = format!("2 results have this ref; shown is the newest. Others: {failed}\n");
        assert_eq!(shown.stderr, words);
        assert_eq!(text(&shown.object(), "id"), newest);
    }
    let alone = service.run(&["results", "show", "--ref", "order 8"]).await;
    assert_eq!(alone.stderr, "");
    let missing = service.run(&["results", "show", "--ref", "nobody"]).await;
    assert_eq!(
        missing.refused(),
        "error: no result has the ref 'nobody' in the account 'default'"
    );
    for wrong in [
        &["results", "show"][..],
        &["results", "show", &newest, "--ref", "order 7"],
        &["results", "show", &newest, "--prism", PRISM],
    ] {
        assert_eq!(service.run(wrong).await.code, Some(2), "{wrong:?}");
    }
}

async fn the_newest_results_are_listed_first(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ids = Vec::new();
    for number in 0..4 {
        let body = json!({"text": TEXT, "ref": format!("漢字 {number}\u{1b}[31m")});
        let answer = match number {
            2 => service.failed(&body).await,
            _ => service.create(&body).await,
        };
        ids.push(text(&answer.value(), "id"));
    }
    let list = async |arguments: &[&str]| {
        let mut all = vec!["results", "list", PRISM];
        all.extend(arguments);
        service.run(&all).await.done()
    };
    // each line equals the API's json
    let mut expected = String::new();
    for id in ids.iter().rev() {
        expected.push_str(&service.read(id, "").await.body);
        expected.push('\n');
    }
    assert_eq!(list(&["--json"]).await, expected);
    let newest = expected.split_inclusive('\n').next().unwrap();
    assert_eq!(list(&["--json", "--limit", "1"]).await, newest);
    let failed: Value =
        serde_json::from_str(&list(&["--json", "--status", "failed"]).await).unwrap();
    assert_eq!(failed["id"], *ids[2]);
    let table = list(&[]).await;
    let lines: Vec<_> = table.lines().collect();
    assert_eq!(lines.len(), 5, "{table}");
    assert!(lines[0].contains("TOPIC · ANGRY · URGENCY"), "{table}");
    for (line, id) in lines[1..].iter().zip(ids.iter().rev()) {
        assert!(line.contains(id.as_str()), "{table}");
    }
    assert!(lines[1].contains("漢字 3\\u001b[31m"), "{table}");
    assert!(lines[1].contains("Billing · Yes · Can wait"), "{table}");
    assert!(
        lines[2].contains("The model server answered with status 400."),
        "{table}"
    );
    assert_eq!(
        list(&["--since", "2999-01-01T00:00:00Z", "--json"]).await,
        ""
    );
    let line = service.run(&["results", "list", "suport-triage"]).await;
    let line = line.refused();
    assert_eq!(
        line,
        "error: Prism not found: did you mean `support-triage`?"
    );
    for wrong in [&["--limit", "0"][..], &["--status", "lost"]] {
        let mut arguments = vec!["results", "list", PRISM];
        arguments.extend(wrong);
        assert_eq!(service.run(&arguments).await.code, Some(2));
    }
}

async fn every_failed_result_is_retried_once(backend: Backend) {
    let service = Service::start(backend).await;
    let mut failed = Vec::new();
    for number in 0..40 {
        let key = format!("key {number}");
        let body = json!({"text": TEXT, "ref": number.to_string(), "idempotency_key": key});
        if number % 4 == 0 {
            service.create(&body).await;
        } else {
            failed.push(text(&service.failed(&body).await.value(), "id"));
        }
    }
    // one failed result was retried before
    service.retry(&failed[0]).await;
    let asked = service.asked();
    let retry = ["results", "retry", PRISM, "--failed", "--concurrency", "4"];
    let summary = service.run(&retry).await.object();
    assert_eq!(summary, json!({"retried": 29, "ok": 29, "failed": 0}));
    assert_eq!(service.asked() - asked, 29);
    for id in &failed {
        let refused = service.retry(id).await;
        assert_eq!(refused.status, 409, "{refused:?}");
    }
    // the key moved to the retry, so a repeated call gets the retry's answer
    let body = json!({"text": TEXT, "idempotency_key": "key 1"});
    let repeated = service.create(&body).await;
    assert_eq!(
        (repeated.status, &repeated.value()["ref"]),
        (200, &json!("1"))
    );
    let again = service.run(&retry).await.object();
    assert_eq!(again, json!({"retried": 0, "ok": 0, "failed": 0}));
    assert_eq!(service.asked() - asked, 29);
    // `--failed` names the default
    let again = service.run(&["results", "retry", PRISM]).await.object();
    assert_eq!(again, json!({"retried": 0, "ok": 0, "failed": 0}));
}

async fn what_fails_again_is_left_for_the_next_time(backend: Backend) {
    let service = Service::start(backend).await;
    for _ in 0..3 {
        service.failed(&json!({"text": TEXT})).await;
    }
    service.model.then_once(ScriptedReply::status(400));
    let retry = ["results", "retry", PRISM, "--failed", "--concurrency", "1"];
    let ended = service.run(&retry).await;
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert_eq!(ended.stdout, "{\"retried\":3,\"ok\":2,\"failed\":1}\n");
    assert_eq!(
        ended.stderr,
        "1 × The model server answered with status 400.\n\
         error: 1 result failed again: the same command retries them\n"
    );
    let arguments = [
        "results",
        "retry",
        PRISM,
        "--failed",
        "--until",
        "2020-01-01T00:00:00Z",
    ];
    let none = service.run(&arguments).await.object();
    assert_eq!(none["retried"], 0);
    service.run(&["prism", "archive", PRISM]).await.done();
    let line = service.run(&retry).await.refused();
    assert_eq!(line, "error: This prism is archived, so it cannot answer.");
    service.run(&["prism", "restore", PRISM]).await.done();
    let summary = service.run(&retry).await.object();
    assert_eq!(summary, json!({"retried": 1, "ok": 1, "failed": 0}));
}

#[tokio::test]
async fn a_model_that_is_away_is_not_asked_about_everything() {
    let service = Service::start(Backend::Sqlite).await;
    for _ in 0..60 {
        service.failed(&json!({"text": TEXT})).await;
    }
    let asked = service.asked();
    service.model.then_once(ScriptedReply::answers());
    service.model.then_always(ScriptedReply::status(401));
    let retry = ["results", "retry", PRISM, "--failed", "--concurrency", "1"];
    let ended = service.run(&retry).await;
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let last = ended.stderr.lines().last();
    let words = "error: the model failed 51 times in a row: The model server answered with status \
        401. The same command goes on with the rest";
    assert_eq!(last, Some(words));
    assert_eq!(service.asked() - asked, 52);
    // `--keep-going` continues despite failures, and retries results that failed again
    let going = [&retry[..], &["--keep-going"]].concat();
    let ended = service.run(&going).await;
    assert!(ended.stdout.starts_with("{\"retried\":59,"), "{ended:?}");
    service.model.then_always(ScriptedReply::answers());
    let rest = service.run(&retry).await.object();
    assert_eq!(rest, json!({"retried": 59, "ok": 59, "failed": 0}));
}
