//! `refract runs`: the app's file runs, made here by the use cases that the app calls.

use refract_domain::ids::{FileRunId, NodeId, PrismId};
use refract_domain::result::{FileRunChange, FileRunState};
use refract_identity::people::AccountActor;
use refract_service::Refract;
use refract_service::runs::{FileName, NewStoredRun, RunEnd, RunProgress, StoredMapping};
use refract_service::store::DatabaseSettings;
use refract_test_stack::service::{Backend, PRISM, Service, Setup, events, text};
use refract_test_support::on_both;
use serde_json::{Value, json};
use uuid::Uuid;

on_both!(
    runs_are_listed_and_shown,
    a_run_is_paused_resumed_and_cancelled,
    what_cannot_be_done_to_a_run_is_refused_in_one_line,
);

/// A service with two runs: one that waits for a person, and one that was started.
struct TwoRuns {
    service: Service,
    waiting: FileRunId,
    started: FileRunId,
}

/// The use cases on a service's database, and an operator of the account `default`.
async fn use_cases(service: &Service) -> (Refract, AccountActor) {
    let settings = DatabaseSettings {
        url: service.database_url.as_str().into(),
        pool: 4,
    };
    let refract = Refract::connect(&settings).await.unwrap();
    let account = refract.accounts().find("default").await.unwrap().id;
    (refract, AccountActor::operator(account))
}

/// Uploads a file and makes a run of it.
async fn made_run(refract: &Refract, actor: &AccountActor, prism: &str) -> FileRunId {
    let runs = refract.runs();
    let name = FileName::parse("messages.csv").unwrap();
    let mut writer = runs.begin_upload(actor, name, 100).await.unwrap();
    writer.write(b"Body\none\ntwo\n").await.unwrap();
    let new = NewStoredRun {
        id: FileRunId::new(Uuid::now_v7()),
        prism: PrismId::parse(prism).unwrap(),
        version: None,
        upload: writer.finish().await.unwrap(),
        mappings: vec![StoredMapping {
            column: "Body".to_owned(),
            field: "text".to_owned(),
        }],
    };
    runs.create_file_run(actor, new).await.unwrap().id
}

/// Makes a run of the example prism, checks it as a node does, and starts it.
pub(crate) async fn started_run(service: &Service) -> FileRunId {
    let (refract, actor) = use_cases(service).await;
    let run = made_run(&refract, &actor, &service.prism_id).await;
    let runs = refract.runs();
    let check = runs.change_file_run(&actor, run, FileRunChange::Check, None);
    check.await.unwrap();
    let node = NodeId::new(Uuid::now_v7());
    let taken = runs.take_file_run(node, &[]).await.unwrap().unwrap();
    let progress = RunProgress {
        rows: 2,
        refused: 3,
        answered_before: 4,
        answered: 5,
        failed: 6,
        model_requests: 7,
        failures: vec![("The model timed out.".to_owned(), 6)],
        ..RunProgress::default()
    };
    let end = RunEnd {
        state: Some(FileRunState::Ready),
        ..RunEnd::default()
    };
    assert!(runs.end_lease(taken.lease, end, &progress).await.unwrap());
    let start = runs.change_file_run(&actor, run, FileRunChange::Start, None);
    start.await.unwrap();
    run
}

impl TwoRuns {
    async fn on(backend: Backend) -> Self {
        let setup = Setup {
            nodes: 0,
            ..Setup::default()
        };
        let service = Service::with(backend, setup).await;
        let (refract, actor) = use_cases(&service).await;
        Self {
            waiting: made_run(&refract, &actor, &service.prism_id).await,
            started: started_run(&service).await,
            service,
        }
    }

    async fn state(&self, run: FileRunId) -> Value {
        let id = run.to_string();
        let shown = self.service.run(&["runs", "show", &id, "--json"]).await;
        shown.object()["state"].clone()
    }
}

async fn runs_are_listed_and_shown(backend: Backend) {
    let it = TwoRuns::on(backend).await;
    let listed = it.service.run(&["runs", "list", "--json"]).await.done();
    let lines: Vec<&str> = listed.lines().collect();
    let [started, waiting] = lines[..] else {
        panic!("{listed}");
    };
    let expected = format!(
        "{{\"id\":\"{}\",\"prism\":\"{PRISM}\",\"version\":1,\"state\":\"running\",\"rows\":2,\
         \"answered\":9,\"failed\":6,\"refused\":3,\"created_at\":\"",
        it.started
    );
    assert!(started.starts_with(&expected), "{started}");
    assert!(started.ends_with("\",\"by\":null}"), "{started}");
    assert!(waiting.contains("\"state\":\"matching\""), "{waiting}");
    let of_prism = it.service.run(&["runs", "list", PRISM, "--json"]).await;
    assert_eq!(of_prism.done(), listed);
    let other = it.service.another_prism("Other").await;
    let of_other = it.service.run(&["runs", "list", &other, "--json"]).await;
    assert_eq!(of_other.done(), "");
    let table = it.service.run(&["runs", "list"]).await.done();
    assert!(table.contains(&it.waiting.to_string()), "{table}");
    assert!(table.contains("operator"), "{table}");

    let show = ["runs", "show", &it.started.to_string()];
    let json = it.service.run(&[&show[..], &["--json"]].concat()).await;
    let json = json.object();
    assert_eq!(json["file"], "messages.csv");
    assert_eq!(
        json["columns"],
        json!([{"column": "Body", "field": "text"}])
    );
    assert_eq!(
        json["failures"],
        json!([{"error": "The model timed out.", "rows": 6}])
    );
    assert_eq!(
        (&json["answered"], &json["answered_before"]),
        (&json!(9), &json!(4))
    );
    let table = it.service.run(&show).await.done();
    for part in ["messages.csv", "Body as text", "6: The model timed out."] {
        assert!(table.contains(part), "{table}");
    }
}

async fn a_run_is_paused_resumed_and_cancelled(backend: Backend) {
    let it = TwoRuns::on(backend).await;
    let run = it.started.to_string();
    for (command, state, line) in [
        (
            "pause",
            "paused",
            "The run is paused: rows in flight are finished.\n",
        ),
        (
            "resume",
            "running",
            "The run goes on as soon as a node takes it.\n",
        ),
        (
            "cancel",
            "cancelled",
            "The run is cancelled. Its results are kept.\n",
        ),
    ] {
        let ended = it.service.run(&["runs", command, &run]).await;
        assert_eq!((ended.code, &*ended.stderr), (Some(0), line));
        assert_eq!(ended.stdout, "");
        assert_eq!(it.state(it.started).await, state);
    }
    let events = events(&it.service).await;
    let story = events[..3].iter().map(|event| {
        let part = |key| text(event, key);
        format!(
            "{} {} {} {}",
            part("by"),
            part("action"),
            part("from"),
            part("to")
        )
    });
    assert_eq!(
        story.collect::<Vec<_>>(),
        [
            "operator file_run_ended running cancelled",
            "operator file_run_changed paused running",
            "operator file_run_changed running paused",
        ]
    );
}

async fn what_cannot_be_done_to_a_run_is_refused_in_one_line(backend: Backend) {
    let it = TwoRuns::on(backend).await;
    let (waiting, unknown) = (it.waiting.to_string(), Uuid::now_v7().to_string());
    let missing = "error: the account default has no file run of this id: see `refract runs list`";
    for (arguments, line) in [
        (
            ["pause", &waiting],
            "error: the run is matching: only a run that is running can be paused",
        ),
        (
            ["resume", &waiting],
            "error: the run is matching: only a run that is paused can be resumed",
        ),
        (["show", &unknown], missing),
        (["cancel", &unknown], missing),
        (["pause", "7"], "error: ID cannot be used: Invalid uuid"),
    ] {
        let ended = it.service.run(&["runs", arguments[0], arguments[1]]).await;
        assert_eq!(ended.refused(), line);
    }
    assert_eq!(it.state(it.waiting).await, "matching");
    let unknown = it.service.run(&["runs", "list", "nothing"]).await.refused();
    assert!(unknown.starts_with("error: "), "{unknown}");
}
