//! Deleting results: `refract results purge` and `erase`.

use refract_test_stack::browser::{PlainBrowser, joined};
use refract_test_stack::expected::Saved;
use refract_test_stack::http::Request;
use refract_test_stack::service::{Backend, PRISM, Service, Setup, TEXT, text};
use refract_test_support::model_server::ScriptedReply;
use refract_test_support::on_both;
use serde_json::{Value, json};
use tokio::task::JoinSet;

on_both!(
    a_purge_deletes_what_was_saved_before_and_frees_its_keys,
    a_purge_without_a_prism_is_of_all_and_one_of_a_status_of_those,
    a_purged_original_leaves_its_retry,
    what_cannot_be_purged_or_erased_is_reported,
    results_erased_by_ref_leave_nothing_behind,
    a_result_erased_by_its_id_takes_what_was_sent_again_with_it,
    calls_go_on_while_everything_is_purged,
);

const LONG_AGO: &str = "2020-01-01T00:00:00Z";
const FAR_AHEAD: &str = "2100-01-01T00:00:00Z";

pub(crate) async fn export(service: &Service) -> Vec<Value> {
    let arguments = ["results", "export", PRISM, "--format", "jsonl"];
    service.run(&arguments).await.lines()
}

/// Fails unless the app's page about the prism's results contains this text.
async fn assert_in_app(ada: &mut PlainBrowser<'_>, results: &str) {
    let page = ada.get(&format!("/prisms/{PRISM}")).await;
    assert!(page.body.contains(&format!(">{results}</a>")), "{page:?}");
}

async fn a_purge_deletes_what_was_saved_before_and_frees_its_keys(backend: Backend) {
    let service = Service::start(backend).await;
    let body = json!({"text": TEXT, "ref": "old", "idempotency_key": "k"});
    let old = service.create(&body).await.value();
    let old_id = text(&old, "id");
    let file = service.folder.path().join("marks.csv");
    std::fs::write(file, "ref,topic\nold,billing\nyoung,other\n").unwrap();
    let young = loop {
        // repeated until it is saved in another millisecond, which needs no sleep
        let young = service.create(&json!({"text": TEXT, "ref": "young"})).await;
        let young = young.value();
        if young["created_at"] != old["created_at"] {
            break young;
        }
        service
            .run(&["results", "erase", &text(&young, "id")])
            .await
            .done();
    };
    service
        .run(&["marks", "import", PRISM, "marks.csv"])
        .await
        .done();
    let mut ada = joined(&service, "ada@example.com", "owner").await;
    assert_in_app(&mut ada, "2 results").await;
    let before = text(&young, "created_at");
    let purge = ["results", "purge", PRISM, "--before", &before];
    let dry = service.run(&[&purge[..], &["--dry-run"]].concat()).await;
    assert_eq!(
        dry.stderr,
        "support-triage: 1 result would be deleted\nNothing is deleted.\n"
    );
    assert_eq!(dry.object(), json!({"results": 1}));
    assert_eq!(export(&service).await.len(), 2);
    let purged = service.run(&purge).await;
    assert_eq!(purged.stderr, "support-triage: 1 result deleted\n");
    assert_eq!(purged.object(), json!({"results": 1}));
    let gone = service.read(&old_id, "").await;
    gone.assert_error(404, "not_found", "Result not found");
    let left = export(&service).await;
    assert_eq!((left.len(), &left[0]["result_id"]), (1, &young["id"]));
    let marks = ["marks", "export", PRISM, "--format", "jsonl"];
    let marks = service.run(&marks).await.lines();
    assert_eq!((marks.len(), &marks[0]["ref"]), (1, &json!("young")));
    assert_eq!(service.results_made().await, 1);
    assert_in_app(&mut ada, "1 result").await;
    // the key is free: a call with it counts as a first call
    let asked = service.asked();
    let again = service.create(&body).await;
    assert_eq!(again.status, 200);
    assert_eq!(service.asked(), asked + 1);
    assert_ne!(text(&again.value(), "id"), old_id);
    let nothing = service.run(&purge).await;
    assert_eq!(nothing.stderr, "");
    assert_eq!(nothing.object(), json!({"results": 0}));
}

async fn a_purge_without_a_prism_is_of_all_and_one_of_a_status_of_those(backend: Backend) {
    let service = Service::start(backend).await;
    let other = service.another_prism("Other").await;
    service.run(&["prism", "archive", &other]).await.done();
    service.run(&["prism", "restore", &other]).await.done();
    service.create(&json!({"text": TEXT})).await;
    service.failed(&json!({"text": TEXT})).await;
    let body = json!({"text": TEXT});
    service.send(service.create_request(&other, &body)).await;
    service.run(&["prism", "archive", &other]).await.done();
    let results = async |arguments: &[&str]| {
        let all = ["results", "purge", "--before", FAR_AHEAD];
        service.run(&[&all[..], arguments].concat()).await.object()["results"].clone()
    };
    assert_eq!(results(&["--dry-run"]).await, 3);
    assert_eq!(results(&["--dry-run", "--status", "failed"]).await, 1);
    assert_eq!(results(&["--dry-run", "--status", "ok"]).await, 2);
    assert_eq!(results(&["--status", "failed"]).await, 1);
    assert_eq!(export(&service).await.len(), 1);
    service.run(&["account", "create", "acme"]).await.done();
    assert_eq!(results(&["--account", "acme"]).await, 0);
    assert_eq!(results(&[]).await, 2);
    assert_eq!(export(&service).await.len(), 0);
    let long_ago = ["results", "purge", "--before", LONG_AGO];
    assert_eq!(service.run(&long_ago).await.object(), json!({"results": 0}));
}

async fn a_purged_original_leaves_its_retry(backend: Backend) {
    let service = Service::start(backend).await;
    let body = json!({"text": TEXT, "ref": "r", "idempotency_key": "k"});
    let failed = Saved::of(&service.failed(&body).await);
    let retry = service.retry(&failed.id).await;
    let retry_id = Saved::of(&retry).id;
    let purge = ["results", "purge", PRISM, "--before", FAR_AHEAD, "--status"];
    let of = |status| [&purge[..], &[status]].concat();
    assert_eq!(
        service.run(&of("failed")).await.object(),
        json!({"results": 1})
    );
    assert_eq!(service.read(&failed.id, "").await.status, 404);
    assert_eq!(service.retry(&failed.id).await.status, 404);
    assert_eq!(service.read(&retry_id, "").await.body, retry.body);
    let mut ada = joined(&service, "ada@example.com", "owner").await;
    let page = ada.get(&format!("/results/{retry_id}")).await;
    assert_eq!(page.status, 200);
    assert!(!page.body.contains(&failed.id), "{}", page.body);
    // the key had moved to the retry, and is still held
    assert_eq!(service.create(&body).await.body, retry.body);
    // a purged retry leaves an original that was never retried, and its key is free
    let failed = Saved::of(
        &service
            .failed(&json!({"text": TEXT, "idempotency_key": "l"}))
            .await,
    );
    assert_eq!(service.retry(&failed.id).await.status, 200);
    assert_eq!(service.retry(&failed.id).await.status, 409);
    service.run(&of("ok")).await.done();
    assert_eq!(service.retry(&failed.id).await.status, 200);
}

async fn what_cannot_be_purged_or_erased_is_reported(backend: Backend) {
    let service = Service::with(
        backend,
        Setup {
            nodes: 0,
            ..Setup::default()
        },
    )
    .await;
    let unknown = "0190b8f2-0000-7000-8000-0000000000aa";
    for (arguments, words) in [
        (
            &["results", "purge", "suport-triage", "--before", LONG_AGO][..],
            "error: Prism not found: did you mean `support-triage`?",
        ),
        (
            &["results", "erase", unknown, "nonsense"],
            "error: ID cannot be used: Invalid uuid",
        ),
        (
            &["results", "erase", "--ref", " "],
            "error: --ref cannot be used: String must contain at least 1 character(s)",
        ),
    ] {
        assert_eq!(service.run(arguments).await.refused(), words);
    }
    // a script erases again for calls that were in flight, and mostly finds nothing
    for (arguments, words) in [
        (
            &["results", "erase", unknown][..],
            "Result not found: 0190b8f2-0000-7000-8000-0000000000aa\n",
        ),
        (
            &["results", "erase", "--ref", "nobody", "--json"],
            "No result and no example of the account has this --ref.\n",
        ),
    ] {
        let ended = service.run(arguments).await;
        assert_eq!(ended.stderr, words);
        assert_eq!(ended.done(), "{\"results\":0}\n");
    }
    for wrong in [
        &["results", "purge", PRISM][..],
        &["results", "purge", PRISM, "--before", "yesterday"],
        &[
            "results", "purge", PRISM, "--before", LONG_AGO, "--status", "so",
        ],
        &["results", "erase"],
        &["results", "erase", unknown, "--ref", "r"],
    ] {
        let ended = service.run(wrong).await;
        assert_eq!(
            (ended.code, ended.stdout.as_str()),
            (Some(2), ""),
            "{wrong:?}"
        );
        assert_ne!(ended.stderr, "");
    }
}

/// Whether a text occurs in the files of an SQLite database, including its write-ahead log.
fn is_in_files(service: &Service, words: &str) -> bool {
    let files = std::fs::read_dir(service.folder.path()).unwrap();
    let files = files.map(|file| std::fs::read(file.unwrap().path()).unwrap());
    files.into_iter().any(|bytes| {
        let mut windows = bytes.windows(words.len());
        windows.any(|window| window == words.as_bytes())
    })
}

/// A call about Ada for even numbers, about Bob for odd ones.
fn call_about_somebody(number: usize) -> Value {
    let name = ["Ada-Sentinel", "Bob"][number % 2];
    json!({
        "text": format!("A text of {name} {number}"),
        "ref": name,
        "context": format!("About {name}"),
        "idempotency_key": format!("{name} {number}"),
    })
}

async fn assert_nothing_of_ada(service: &Service, backend: Backend) {
    match backend {
        Backend::Sqlite => assert!(!is_in_files(service, "Ada-Sentinel")),
        Backend::Postgres => service.assert_in_no_table("Ada-Sentinel").await,
    }
}

async fn results_erased_by_ref_leave_nothing_behind(backend: Backend) {
    let service = Service::start(backend).await;
    let other = service.another_prism("Other").await;
    for number in 0..20 {
        service.create(&call_about_somebody(number)).await;
    }
    let failed = Saved::of(&service.failed(&call_about_somebody(20)).await);
    assert_eq!(service.retry(&failed.id).await.status, 200);
    let of_other = service.create_request(&other, &call_about_somebody(22));
    service.send(of_other).await;
    let marks = service.folder.path().join("marks.csv");
    std::fs::write(&marks, "ref,topic\nAda-Sentinel,billing\nBob,other\n").unwrap();
    let import = ["marks", "import", PRISM, "marks.csv"];
    service.run(&import).await.done();
    std::fs::remove_file(marks).unwrap();
    if backend == Backend::Sqlite {
        assert!(is_in_files(&service, "Ada-Sentinel"));
    }
    let erase = ["results", "erase", "--ref", " Ada-Sentinel"];
    let erased = service.run(&erase).await;
    assert_eq!(erased.stderr, "13 results are erased.\n");
    assert_eq!(erased.object(), json!({"results": 13, "examples": 0}));
    assert_nothing_of_ada(&service, backend).await;
    let left = export(&service).await;
    assert_eq!(left.len(), 10);
    assert!(left.iter().all(|row| row["ref"] == "Bob"));
    assert_eq!(service.results_made().await, 10);
    assert_eq!(service.run(&erase).await.done(), "{\"results\":0}\n");
    // the node continues with the rewritten file
    let created = service.create(&call_about_somebody(24)).await;
    assert_eq!(created.status, 200);
    let read = service.read(&Saved::of(&created).id, "").await;
    assert_eq!(read.body, created.body);
}

async fn a_result_erased_by_its_id_takes_what_was_sent_again_with_it(backend: Backend) {
    let service = Service::start(backend).await;
    let body = call_about_somebody(0);
    let failed = Saved::of(&service.failed(&body).await);
    let retry = Saved::of(&service.retry(&failed.id).await);
    let kept = Saved::of(&service.create(&call_about_somebody(1)).await);
    let unknown = "0190b8f2-0000-7000-8000-0000000000aa";
    let erased = service.run(&["results", "erase", &retry.id, unknown]).await;
    assert_eq!(erased.code, Some(0));
    assert_eq!(erased.stdout, "{\"examples\":0,\"results\":2}\n");
    assert_eq!(
        erased.stderr,
        format!(
            "2 results are erased, 1 of them linked by a retry to a named result.\n\
             Result not found: {unknown}\n"
        )
    );
    for id in [&failed.id, &retry.id] {
        assert_eq!(service.read(id, "").await.status, 404);
    }
    assert_nothing_of_ada(&service, backend).await;
    assert_eq!(service.read(&kept.id, "").await.status, 200);
    // without rewriting the file, which takes long with millions of results
    let failed = Saved::of(&service.failed(&body).await);
    let quick = ["results", "erase", &failed.id, "--no-rewrite"];
    assert_eq!(
        service.run(&quick).await.object(),
        json!({"results": 1, "examples": 0})
    );
    assert_eq!(service.read(&failed.id, "").await.status, 404);
}

async fn calls_go_on_while_everything_is_purged(backend: Backend) {
    const CALLS: usize = 150;
    let service = Service::start(backend).await;
    let mut calls = JoinSet::new();
    for worker in 0..4 {
        let (key, api) = (service.key.clone(), service.api());
        calls.spawn(async move {
            for call in 0..CALLS {
                let body = json!({"text": TEXT, "idempotency_key": format!("{worker} {call}")});
                let create = Request::post(&format!("/prisms/{PRISM}/results"));
                let made = create.bearer(&key).json(&body).send(api).await;
                assert!(matches!(made.status, 200 | 502), "{made:?}");
                let made = Saved::of(&made);
                let retry = Request::post(&format!("/results/{}/retry", made.id));
                let retried = retry.bearer(&key).send(api).await;
                // the result was `ok`, or purged before the retry
                let is_known = matches!(retried.status, 200 | 404 | 409 | 502);
                assert!(is_known, "{retried:?}");
            }
        });
    }
    let asked = service.asked();
    let mut purged = 0;
    let purge = ["results", "purge", "--before", FAR_AHEAD];
    while !calls.is_empty() {
        for _ in 0..20 {
            service.model.then_once(ScriptedReply::status(400));
        }
        let ended = service.run(&purge).await.object();
        purged += ended["results"].as_u64().unwrap();
        while let Some(ended) = calls.try_join_next() {
            ended.unwrap();
        }
    }
    let last = service.run(&purge).await.object();
    purged += last["results"].as_u64().unwrap();
    assert_eq!(export(&service).await.len(), 0);
    // every answer of the model was saved once and deleted once
    let answered = u64::try_from(service.asked() - asked).unwrap();
    assert_eq!(purged, answered);
    let mut ada = joined(&service, "ada@example.com", "owner").await;
    assert_in_app(&mut ada, "0 results").await;
}
