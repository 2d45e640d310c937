//! Measures file runs against a model server that refuses what comes beyond its limit, and calls of
//! the API meanwhile: `cargo bench -p refract --bench pace`. A minute of the server is six seconds.
//!
//! PostgreSQL is the server in `REFRACT_TEST_POSTGRES_URL`, with a new database for each measurement.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    reason = "a benchmark that meets the unexpected ends there, and prints what it measured"
)]

mod calls;
mod limited_server;

use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use refract_test_support::postgres;
use serde_json::{Value, json};

use crate::calls::ApiCalls;
use crate::limited_server::{Limit, LimitedServer};

const ROWS: u32 = 10_000;
/// 1,200 requests in six seconds.
const USUAL: f64 = 200.0;
const BURST: f64 = 20.0;
const ANSWERS_AFTER: Duration = Duration::from_millis(40);
/// A second in the middle of a run, since the calls began, which have the server alone for 20 seconds.
const REFUSES: Range<Duration> = Duration::from_secs(35)..Duration::from_secs(36);

/// One measurement.
struct Measurement {
    what: &'static str,
    limit: Limit,
    /// Processes that run the file, a shard each.
    runs: u32,
    /// When the server refuses everything, since its first request.
    refuses: Option<Range<Duration>>,
}

fn main() {
    println!(
        "| what | rows | failed | answered, of what is allowed | refused | back at 0.9 after | p95 of calls, alone | beside | ratio | failed |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    for measurement in [
        Measurement {
            what: "one run",
            limit: |_| USUAL,
            runs: 1,
            refuses: None,
        },
        Measurement {
            what: "one run, all refused for a second",
            limit: |time| if REFUSES.contains(&time) { 0.0 } else { USUAL },
            runs: 1,
            refuses: Some(REFUSES),
        },
        Measurement {
            what: "two runs, the limit halves and doubles",
            limit: |time| match time.as_secs() {
                15..30 => USUAL / 2.0,
                _ => USUAL,
            },
            runs: 2,
            refuses: None,
        },
    ] {
        measurement.measure();
    }
}

impl Measurement {
    fn measure(&self) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let database = runtime.block_on(postgres::fresh_database());
        let folder = tempfile::tempdir().unwrap();
        let (server, url) = LimitedServer::start(self.limit, BURST, ANSWERS_AFTER);
        let refract = |arguments: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_refract"));
            command
                .args(arguments)
                .env_clear()
                .env("DATABASE_URL", database.url())
                .env("REFRACT_MODEL_URL", &url)
                .env("REFRACT_OPS_LISTEN", "off")
                .env("REFRACT_APP_LISTEN", "off")
                .current_dir(folder.path())
                .stdin(Stdio::null());
            command
        };
        write_files(folder.path());
        done(refract(&["migrate"]));
        done(refract(&["prism", "create", "angry.json"]));
        let key: Value = serde_json::from_str(&done(refract(&["key", "create"]))).unwrap();
        let calls = ApiCalls::start(refract(&["serve", "--listen", "127.0.0.1:0"]), &key);

        let (alone, _) = calls.p95_while(|began| began.elapsed() < Duration::from_secs(20));
        let before = server.taken();
        let began = Instant::now();
        let mut runs: Vec<Child> = (1..=self.runs)
            .map(|shard| {
                let shard_name = format!("{shard}/{}", self.runs);
                let output = format!("out-{shard}.csv");
                let mut run = refract(&["run", "angry", "in.csv", "--shard", &shard_name]);
                run.args(["--output", &output, "--concurrency", "32"]);
                run.stderr(Stdio::null()).spawn().unwrap()
            })
            .collect();
        let is_running = |run: &mut Child| run.try_wait().unwrap().is_none();
        let (beside, failed_calls) = calls.p95_while(|_| runs.iter_mut().any(is_running));
        let after = server.taken();
        let failed = failed_rows(folder.path(), self.runs);
        let answered = f64::from(after.answered - before.answered);
        let share = answered / (after.allowed - before.allowed);
        let refused = f64::from(after.refused - before.refused) / answered;
        let back = self
            .refuses
            .as_ref()
            .map(|refuses| back_after(&server.answered_at(), refuses));
        let back = back.map_or_else(
            || "–".to_owned(),
            |back| format!("{:.1} s", back.as_secs_f64()),
        );
        println!(
            "| {} | {ROWS} in {:.0} s | {failed} | {share:.3} | {refused:.3} | {back} | {:.0} ms | {:.0} ms | {:.2} | {failed_calls} |",
            self.what,
            began.elapsed().as_secs_f64(),
            alone.as_secs_f64() * 1e3,
            beside.as_secs_f64() * 1e3,
            beside.as_secs_f64() / alone.as_secs_f64(),
        );
    }
}

/// How long after the refusals a second begins in which the server answers 0.9 of what it answered in a
/// second before them; 30 s if it does not.
fn back_after(answered_at: &[Duration], refuses: &Range<Duration>) -> Duration {
    let second = Duration::from_secs(1);
    let answered = |from: Duration, time: Duration| {
        let within = |at: &&Duration| (from..from + time).contains(*at);
        answered_at.iter().filter(within).count()
    };
    let before = answered(refuses.start.saturating_sub(10 * second), 10 * second);
    let mut moments = (0..300).map(|tenth| Duration::from_millis(100 * tenth));
    let is_back = |after: &Duration| 100 * answered(refuses.end + *after, second) >= 9 * before;
    moments.find(is_back).unwrap_or(30 * second)
}

/// The output of a command that succeeds.
fn done(mut command: Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn write_files(folder: &Path) {
    let prism = json!({
        "name": "Angry",
        "fields": [{"key": "text", "label": "Message"}],
        "questions": [{"key": "angry", "type": "yes_no", "text": "Is the writer angry?"}],
    });
    std::fs::write(folder.join("angry.json"), prism.to_string()).unwrap();
    let mut rows = String::from("text\r\n");
    for number in 1..=ROWS {
        let _ = write!(rows, "Where is order {number}?\r\n");
    }
    std::fs::write(folder.join("in.csv"), rows).unwrap();
}

/// Rows of the outputs that are no answer, or are missing.
fn failed_rows(folder: &Path, runs: u32) -> u32 {
    let mut answered = 0;
    for shard in 1..=runs {
        let written = std::fs::read_to_string(folder.join(format!("out-{shard}.csv")));
        let written = written.unwrap_or_default();
        answered += written
            .lines()
            .skip(1)
            .filter(|line| line.contains(",ok,"))
            .count();
    }
    ROWS.saturating_sub(u32::try_from(answered).unwrap())
}
