//! Imports of an account that are killed in the middle, and the CI script of the examples.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use refract_test_stack::http::within_patience;
use refract_test_stack::runs::numbered;
use refract_test_stack::service::{Backend, PRISM, Service, Setup, events, text};
use refract_test_support::on_both;
use tokio::process::Command;

use crate::program;
use crate::program::{setup, signal};

on_both!(a_killed_import_goes_on_and_doubles_nothing);

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/examples");
const ROWS: usize = 2_500;
/// How much longer each import may work before it is killed.
const LONGER: Duration = Duration::from_millis(40);

async fn without_nodes(backend: Backend) -> Service {
    let setup = Setup {
        nodes: 0,
        ..setup()
    };
    Service::with(backend, setup).await
}

async fn a_killed_import_goes_on_and_doubles_nothing(backend: Backend) {
    let service = without_nodes(Backend::Sqlite).await;
    service.write("in.csv", numbered(ROWS));
    let run = ["run", PRISM, "in.csv", "--output", "out.csv"];
    service.run(&run).await.done();
    service.run(&["export-account", "export"]).await.done();
    let export = service.folder.path().join("export");
    let there = without_nodes(backend).await;
    let import = [
        "import-account",
        export.to_str().unwrap(),
        "--account",
        "moved",
    ];
    let settings = [("DATABASE_URL", there.database_url.as_str())];
    let mut killed = 0;
    let last = loop {
        let mut command = program::command(there.folder.path(), &settings, &import);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = child.spawn().unwrap();
        if tokio::time::timeout(LONGER * (killed + 1), child.wait())
            .await
            .is_ok()
        {
            break child.wait_with_output().await.unwrap();
        }
        signal(&child, "KILL").await;
        within_patience(child.wait()).await.unwrap();
        killed += 1;
        assert!(killed < 100, "no import ended");
    };
    let words = String::from_utf8(last.stderr).unwrap();
    assert!(last.status.success(), "{words}");
    // the one before may have been killed after its last row
    let went_on = [
        "The import that had begun went on.",
        "already: nothing was done.",
    ];
    assert!(went_on.iter().any(|it| words.contains(it)), "{words}");
    let again = ["export-account", "again", "--account", "moved"];
    there.run(&again).await.done();
    let again = there.folder.path().join("again");
    for file in ["results.jsonl", "prism_versions.jsonl", "usage_days.jsonl"] {
        let read = |folder: &Path| std::fs::read_to_string(folder.join(file)).unwrap();
        assert!(read(&export) == read(&again), "{file}");
    }
    let results = std::fs::read_to_string(again.join("results.jsonl")).unwrap();
    assert_eq!(results.lines().count(), ROWS);
}

#[tokio::test]
async fn the_ci_script_applies_a_folder_and_changes_nothing_again() {
    let service = without_nodes(Backend::Sqlite).await;
    let examples = Path::new(EXAMPLES);
    let prisms = service.folder.path().join("prisms");
    std::fs::create_dir(&prisms).unwrap();
    for (from, to) in [
        ("support-triage.json", "triage.prism.json"),
        ("support-triage.lens.json", "triage.lens.json"),
    ] {
        std::fs::copy(examples.join(from), prisms.join(to)).unwrap();
    }
    // a prism keeps up to 100 examples
    let gold = std::fs::read_to_string(examples.join("gold.csv")).unwrap();
    let gold: String = gold.split_inclusive('\n').take(51).collect();
    std::fs::write(prisms.join("triage.gold.csv"), gold).unwrap();
    let run = async || {
        let program = Path::new(env!("CARGO_BIN_EXE_refract")).parent().unwrap();
        let script = Command::new(examples.join("ci/apply-prisms.sh"))
            .arg("prisms")
            .env_clear()
            .env("PATH", format!("{}:/usr/bin:/bin", program.display()))
            .env("DATABASE_URL", &service.database_url)
            .env("REFRACT_MODEL_URL", "builtin:lexical")
            .env("REQUIRE", "topic.accuracy>=0")
            .current_dir(service.folder.path())
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output();
        let ended = within_patience(script).await.unwrap();
        let printed = String::from_utf8(ended.stderr).unwrap();
        assert!(ended.status.success(), "{printed}");
        printed
    };
    run().await;
    let key = service.folder.path().join("refract-key.json");
    let key = std::fs::read_to_string(key).unwrap();
    assert!(key.contains("\"name\":\"ci\""), "{key}");
    let actions = async || -> Vec<String> {
        let found = events(&service).await;
        found.iter().map(|event| text(event, "action")).collect()
    };
    let made = actions().await;
    for action in [
        "prism_created",
        "lens_set",
        "examples_uploaded",
        "key_created",
    ] {
        assert!(
            made.iter().any(|found| found == action),
            "{action}: {made:?}"
        );
    }
    let printed = run().await;
    assert!(printed.contains("the key is there"), "{printed}");
    let again = actions().await;
    let new = &again[..again.len() - made.len()];
    assert!(
        new.iter().all(|action| action.starts_with("file_run_")),
        "only the check is recorded: {new:?}"
    );
}
