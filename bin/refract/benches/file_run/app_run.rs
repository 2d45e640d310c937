//! Measures a run of the app beside one of the terminal, the memory of its node, and calls of the API
//! with and without a run.

use std::time::{Duration, Instant};

use refract_test_stack::browser::{PlainBrowser, joined};
use refract_test_stack::http::{HttpConnection, Request};
use refract_test_stack::program::Runner;
use refract_test_stack::service::{PRISM, Service, Setup};
use refract_test_support::model_server::{Script, ScriptedReply};
use serde_json::json;
use tokio::time::{MissedTickBehavior, interval, sleep};

use crate::watched::peak_of;
use crate::{ANSWER, rows_as_text};

/// Rounds, each of the terminal's run and the app's.
const ROUNDS: u32 = 3;
/// Rows in flight of a run, as in the app.
const CONCURRENCY: &str = "32";
/// Interval at which calls begin, and the time for which they are measured without a run.
const CALL: Duration = Duration::from_millis(20);
const WITHOUT_RUN: Duration = Duration::from_secs(10);

/// The time that a model takes for an answer.
pub(crate) const THINKING: Duration = Duration::from_millis(50);
/// The share of the rows of a run that is measured with such a model.
const PART: u32 = 5;

/// What was measured on one database.
pub(crate) struct AppRun {
    /// Rows a second of the terminal's runs and of the app's, in pairs.
    pub(crate) rates: Vec<(f64, f64)>,
    /// The 99th percentile of calls without a run, and during one: with a model that answers at once,
    /// and with one that takes [`THINKING`].
    pub(crate) call_p99: [(Duration, Duration); 2],
    /// The node's memory before the first run, and its peak, in KiB.
    pub(crate) memory: (u32, u32),
}

/// Measures on a new PostgreSQL database, or else on SQLite.
pub(crate) async fn measure(postgres: Option<String>, rows: u32) -> AppRun {
    let setup = Setup {
        runner: Runner::Binary(env!("CARGO_BIN_EXE_refract")),
        script: Script::from(ScriptedReply::body(ANSWER)).unrecorded(),
        settings: &[("REFRACT_APP_UPLOAD_MIB", "100")],
        ..Setup::default()
    };
    let service = Service::on(postgres, setup).await;
    let mut person = joined(&service, "ada@example.com", "editor").await;
    let node = service.nodes[0].child().id().unwrap();
    let quiet = call_p99(&service, sleep(WITHOUT_RUN)).await;
    let before = peak_of(node).unwrap();
    let mut rates = Vec::new();
    for round in 0..ROUNDS {
        let terminal = terminal_run(&service, &rows_as_text(rows, &format!("t{round}"))).await;
        let app = app_run(&mut person, &rows_as_text(rows, &format!("a{round}"))).await;
        rates.push((f64::from(rows) / terminal, f64::from(rows) / app));
    }
    let at_once = (quiet, busy_p99(&service, &mut person, rows).await);
    let thinking = ScriptedReply::body(ANSWER).later(THINKING);
    service.model.then_always(thinking);
    let quiet = call_p99(&service, sleep(WITHOUT_RUN)).await;
    let thinking = (quiet, busy_p99(&service, &mut person, rows / PART).await);
    AppRun {
        rates,
        call_p99: [at_once, thinking],
        memory: (before, peak_of(node).unwrap()),
    }
}

/// The 99th percentile of calls during a run of so many rows.
async fn busy_p99(service: &Service, person: &mut PlainBrowser<'_>, rows: u32) -> Duration {
    let file = rows_as_text(rows, &format!("beside{rows}"));
    call_p99(service, async {
        app_run(person, &file).await;
    })
    .await
}

/// Runs a file in the terminal, and returns the seconds.
async fn terminal_run(service: &Service, file: &str) -> f64 {
    service.write("in.csv", file);
    let began = Instant::now();
    let arguments = [
        "run",
        PRISM,
        "in.csv",
        "--output",
        "out.csv",
        "--concurrency",
        CONCURRENCY,
    ];
    service.run(&arguments).await.done();
    let seconds = began.elapsed().as_secs_f64();
    std::fs::remove_file(service.folder.path().join("out.csv")).unwrap();
    seconds
}

/// Runs a file in the app, and returns the seconds from its start to its end.
async fn app_run(person: &mut PlainBrowser<'_>, file: &str) -> f64 {
    let runs = format!("/prisms/{PRISM}/runs");
    let upload = Request::upload(&runs, "in.csv", file.as_bytes());
    let uploaded = person.send(upload).await;
    let run = uploaded.header("location").unwrap().to_owned();
    person.post(&format!("{run}/check"), &[]).await;
    until_state(person, &run, "ready").await;
    let began = Instant::now();
    assert_eq!(person.post(&format!("{run}/start"), &[]).await.status, 303);
    until_state(person, &run, "done").await;
    began.elapsed().as_secs_f64()
}

async fn until_state(person: &mut PlainBrowser<'_>, run: &str, state: &str) {
    loop {
        let progress = person.get(&format!("{run}/progress")).await;
        if progress.header("x-run-state") == Some(state) {
            return;
        }
        sleep(Duration::from_millis(100)).await;
    }
}

/// The 99th percentile of calls over one connection, as long as something takes.
async fn call_p99(service: &Service, as_long: impl Future<Output = ()>) -> Duration {
    let mut times = Vec::new();
    let calls = async {
        let mut client = HttpConnection::open(service.api()).await;
        let mut ticks = interval(CALL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let request =
                service.create_request(PRISM, &json!({"text": format!("call {}", times.len())}));
            let began = Instant::now();
            client.send(&request.bytes()).await;
            let answer = client.answer().await;
            times.push(began.elapsed());
            assert_eq!(answer.status, 200);
        }
    };
    tokio::select! {
        () = as_long => {}
        () = calls => {}
    }
    times.sort_unstable();
    times[times.len() * 99 / 100]
}
