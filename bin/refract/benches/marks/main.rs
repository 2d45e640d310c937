//! Measures imports, the export and the evaluation of 100,000 marks on 100,000 answered results:
//! `cargo bench -p refract --bench marks -- [sqlite] [postgres]`.
//!
//! PostgreSQL is the server in `REFRACT_TEST_POSTGRES_URL`, with a new database.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark that meets the unexpected ends there, and prints what it measured"
)]

#[path = "../file_run/watched.rs"]
mod watched;

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use refract_test_support::model_server::{ModelServer, Script, ScriptedReply};
use refract_test_support::postgres;

use crate::watched::wait_and_watch;

const PRISM: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../docs/examples/support-triage.json"
);
const RESULTS: usize = 100_000;
/// The body of every reply of the model server.
const ANSWER: &str = r#"{"model":"instant-1","answers":{
    "topic":{"type":"choice","choice":"delivery","confidence":0.9,"probabilities":{"billing":0.02,"delivery":0.9,"product":0.04,"other":0.02,"insufficient_information":0.02}},
    "angry":{"type":"noul","noul":0.12},
    "urgency":{"type":"score","score":0.7,"probabilities":{"0":0.4,"1":0.5,"2":0.1}}},
    "usage":{"input_tokens":318,"output_tokens":34}}"#;

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let wanted =
        |name: &str| asked.iter().all(|it| it.starts_with('-')) || asked.contains(&name.to_owned());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    println!("| database | what | marks | seconds | peak memory, MiB |");
    println!("|---|---|--:|--:|--:|");
    if wanted("sqlite") {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", folder.path().join("bench.db").display());
        measure("SQLite", &url);
    }
    if wanted("postgres") {
        let database = runtime.block_on(postgres::fresh_database());
        measure("PostgreSQL", database.url());
    }
}

fn measure(name: &str, database: &str) {
    let model = ModelServer::start(Script::from(ScriptedReply::body(ANSWER)).unrecorded());
    let folder = tempfile::tempdir().unwrap();
    let binary = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_refract"));
        command
            .args(arguments)
            .env_clear()
            .env("DATABASE_URL", database)
            .env("REFRACT_MODEL_URL", model.url())
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    };
    let done = |arguments: &[&str]| {
        let status = binary(arguments).status().unwrap();
        assert!(status.success(), "{arguments:?}");
    };
    done(&["migrate"]);
    done(&["prism", "create", PRISM]);
    write_texts(&folder.path().join("texts.csv"));
    let output = ["--output", "out.csv", "--concurrency", "64"];
    done(&[&["run", "support-triage", "texts.csv"], &output[..]].concat());
    write_marks(folder.path());
    let import = |file| ["marks", "import", "support-triage", file];
    let export = ["marks", "export", "support-triage", "--output", "marks.csv"];
    for (what, arguments) in [
        ("import by id, all new", &import("by-id.csv")[..]),
        ("import by id, all there already", &import("by-id.csv")),
        ("import by ref, all changed", &import("by-ref.csv")),
        ("export", &export),
        ("evaluate", &["evaluate", "support-triage", "--json"]),
    ] {
        let began = Instant::now();
        let peak = wait_and_watch(binary(arguments).spawn().unwrap());
        let seconds = began.elapsed().as_secs_f64();
        let peak = f64::from(peak) / 1024.0;
        println!("| {name} | {what} | {RESULTS} | {seconds:.1} | {peak:.1} |");
    }
    let exported = std::fs::read_to_string(folder.path().join("marks.csv")).unwrap();
    assert_eq!(exported.matches(",billing,").count(), RESULTS);
}

fn write_texts(path: &Path) {
    let mut text = String::from("ref,text\r\n");
    for number in 1..=RESULTS {
        let _ = write!(text, "M-{number},Where is my order {number}?\r\n");
    }
    std::fs::write(path, text).unwrap();
}

/// Writes two files that mark every result of the run: one by id, the other by `ref` and with other
/// outcomes.
fn write_marks(folder: &Path) {
    let rows = std::fs::read_to_string(folder.join("out.csv")).unwrap();
    let mut by_id = String::from("result_id,topic\r\n");
    let mut by_ref = String::from("ref,topic\r\n");
    for row in rows.lines().skip(1) {
        let (id, rest) = row.split_once(',').unwrap();
        let (reference, _) = rest.split_once(',').unwrap();
        let _ = write!(by_id, "{id},delivery\r\n");
        let _ = write!(by_ref, "{reference},billing\r\n");
    }
    std::fs::write(folder.join("by-id.csv"), by_id).unwrap();
    std::fs::write(folder.join("by-ref.csv"), by_ref).unwrap();
}
