//! Measures the rows per second and the memory of a file run, and for comparison creates over HTTP
//! with the same binary, against a model server that answers at once:
//! `cargo bench -p refract --bench file_run -- [sqlite] [postgres] [app]`, where `app` alone measures
//! runs of the app beside those of the terminal.
//!
//! PostgreSQL is the server in `REFRACT_TEST_POSTGRES_URL`, with a new database.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a benchmark that meets the unexpected ends there, and prints what it measured"
)]

mod app_run;
mod creates;
mod watched;

use std::fmt::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use refract_test_support::model_server::{ModelServer, Script, ScriptedReply};
use refract_test_support::postgres;

use crate::app_run::THINKING;
use crate::watched::wait_and_watch;

const PRISM: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../docs/examples/support-triage.json"
);
const ROWS: [u32; 2] = [10_000, 100_000];
/// Rows of each run that is measured beside calls of the API.
const ROWS_OF_APP: u32 = 30_000;
const CREATES: u32 = 20_000;
const CONCURRENCY: u32 = 64;
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
    if asked.contains(&"app".to_owned()) {
        measure_app("SQLite", None, &runtime);
        let database = runtime.block_on(postgres::fresh_database());
        measure_app("PostgreSQL", Some(database.url().to_owned()), &runtime);
        return;
    }
    println!("| database | what | rows | seconds | a second | peak memory, MiB |");
    println!("|---|---|--:|--:|--:|--:|");
    if wanted("sqlite") {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", folder.path().join("bench.db").display());
        measure("SQLite", &url, &runtime);
    }
    if wanted("postgres") {
        let database = runtime.block_on(postgres::fresh_database());
        measure("PostgreSQL", database.url(), &runtime);
    }
}

fn measure(name: &str, database: &str, runtime: &tokio::runtime::Runtime) {
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
            .stdin(Stdio::null());
        command
    };
    assert!(binary(&["migrate"]).status().unwrap().success());
    assert!(
        binary(&["prism", "create", PRISM])
            .output()
            .unwrap()
            .status
            .success()
    );
    let creates = creates::measure(
        binary(&["key", "create"]),
        binary,
        runtime,
        CREATES,
        CONCURRENCY,
    );
    println!(
        "| {name} | creates over HTTP | {CREATES} | {:.1} | {:.0} | |",
        creates,
        f64::from(CREATES) / creates
    );
    for rows in ROWS {
        let file = rows_as_text(rows, "M");
        std::fs::write(folder.path().join("in.csv"), file).unwrap();
        let concurrency = CONCURRENCY.to_string();
        let name_of_run = rows.to_string();
        let run = [
            "run",
            "support-triage",
            "in.csv",
            "--output",
            "out.csv",
            "--concurrency",
            &concurrency,
            "--name",
            &name_of_run,
        ];
        for what in ["asked", "answered before"] {
            let began = Instant::now();
            let child = binary(&run).stderr(Stdio::null()).spawn().unwrap();
            let peak = wait_and_watch(child);
            let seconds = began.elapsed().as_secs_f64();
            let rate = f64::from(rows) / seconds;
            println!(
                "| {name} | file run, {what} | {rows} | {seconds:.1} | {rate:.0} | {:.1} |",
                f64::from(peak) / 1024.0
            );
        }
        let written = std::fs::read_to_string(folder.path().join("out.csv")).unwrap();
        assert_eq!(
            written.matches("\r\n").count(),
            usize::try_from(rows).unwrap() + 1
        );
    }
}

/// Measures runs of the app on one database.
fn measure_app(name: &str, postgres: Option<String>, runtime: &tokio::runtime::Runtime) {
    let measured = runtime.block_on(app_run::measure(postgres, ROWS_OF_APP));
    let rates = measured.rates.iter();
    let rates = rates.map(|(terminal, app)| format!("{:.2} ({app:.0})", app / terminal));
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    let p99 = |(quiet, busy): (Duration, Duration)| {
        let (quiet, busy) = (milliseconds(quiet), milliseconds(busy));
        format!(
            "{quiet:.1} ms, during a run {busy:.1} ms ({:.2})",
            busy / quiet
        )
    };
    let [at_once, thinking] = measured.call_p99.map(p99);
    let (before, peak) = measured.memory;
    println!(
        "\n{name}: runs of the app beside those of the terminal (rows a second): {}; p99 of calls \
         with a model that answers at once {at_once}, with one that takes {:.0} ms {thinking}; memory \
         of the node {:.0} MiB, at most {:.0} MiB",
        rates.collect::<Vec<_>>().join(", "),
        milliseconds(THINKING),
        f64::from(before) / 1024.0,
        f64::from(peak) / 1024.0,
    );
}

/// A file of messages with about two hundred characters each, whose refs begin alike.
fn rows_as_text(rows: u32, refs: &str) -> String {
    let mut text = String::from("ref,channel,text\r\n");
    for number in 1..=rows {
        let _ = write!(
            text,
            "{refs}-{number},mail,\"Hello, my order {number} was to arrive last week, and the tracking \
             says \"\"on its way\"\" since then. Could you look into it, please? I need the bike \
             for a tour that begins on Saturday. Kind regards, customer {number}\"\r\n"
        );
    }
    text
}
