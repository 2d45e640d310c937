//! `refract model check`: small trials that show whether the configured model is usable, in a table
//! with a row for each trial.

use std::time::Duration;

use refract_domain::answer::Probability;
use refract_service::model::{
    FailedTrial, ModelError, ModelGateway, ModelSettings, ModelTrials, TrialEnd, TrialReport,
    TrialRun, TrialScope, other_address,
};
use tokio::time::{Instant, interval_at};

use super::advice;
use crate::output;

/// The interval between two lines about one call.
const BETWEEN_LINES: Duration = Duration::from_secs(5);

/// Tries each server, and fails if one is unusable.
pub(super) async fn run(
    settings: &ModelSettings,
    as_json: bool,
    scope: TrialScope,
) -> anyhow::Result<()> {
    let servers = settings.of_each_server();
    if let [only] = servers.as_slice() {
        return check_server(only, None, as_json, scope)
            .await?
            .map_err(|reason| anyhow::anyhow!(reason));
    }
    let mut failed = Vec::new();
    for server in &servers {
        let address = server.endpoint.to_string();
        let checked = check_server(server, Some(&address), as_json, scope).await?;
        if let Err(reason) = checked {
            output::say(&format!("Asked {address}: {reason}"));
            failed.push(address);
        }
    }
    let all = servers.len();
    match failed.len() {
        0 => Ok(()),
        failures => anyhow::bail!(
            "{failures} of {all} model servers cannot serve: {}",
            failed.join(", ")
        ),
    }
}

/// Runs the trials on a server and prints the reports, with the server's address if it has one.
/// Returns the reason if a trial failed.
async fn check_server(
    settings: &ModelSettings,
    address: Option<&str>,
    as_json: bool,
    scope: TrialScope,
) -> anyhow::Result<Result<(), String>> {
    let gateway = ModelGateway::new(settings.clone())?;
    let mut trials = ask(&gateway, settings, scope).await?;
    for report in &mut trials.reports {
        report.server = address.map(str::to_owned);
    }
    if !trials.reports.is_empty() {
        let headers = address.map(|_| SERVER_HEADER).into_iter().chain(HEADERS);
        let headers: Vec<&str> = headers.collect();
        output::list(as_json, &headers, &trials.reports, cells)?;
    }
    if let Some(failed) = trials.failed {
        return Ok(Err(reason(settings, failed).await?));
    }
    output::say(&format!(
        "Asked {}: {}.",
        gateway.describe(),
        advice::reading(settings)
    ));
    for line in advice::findings(settings, &trials) {
        output::say(&line);
    }
    Ok(Ok(()))
}

/// Runs the trials, with a line on stderr for each one as it ends.
async fn ask(
    gateway: &ModelGateway,
    settings: &ModelSettings,
    scope: TrialScope,
) -> anyhow::Result<ModelTrials> {
    let mut run = TrialRun::new(gateway, settings, scope);
    while let Some(name) = run.next_name() {
        let ended = for_call(name, run.ask_next()).await?;
        // a failure that ends the run is the command's error
        let is_over = run.has_failed();
        if let Some(end) = ended.filter(|_| !is_over) {
            output::say(&line(&end));
        }
    }
    Ok(run.end())
}

fn line(end: &TrialEnd) -> String {
    let milliseconds = end.took.as_millis();
    match &end.failure {
        None if milliseconds < 1_000 => format!("{}: answered in {milliseconds} ms", end.trial),
        None => format!("{}: answered in {:.1} s", end.trial, end.took.as_secs_f64()),
        Some(failure) => format!("{}: {failure}", end.trial),
    }
}

/// Runs the quick trials on a server, without a word; returns the reason if one failed.
pub(in crate::commands) async fn quick_failure(
    settings: &ModelSettings,
) -> anyhow::Result<Option<String>> {
    let gateway = ModelGateway::new(settings.clone())?;
    let mut run = TrialRun::new(&gateway, settings, TrialScope::Quick);
    while run.next_name().is_some() {
        run.ask_next().await?;
    }
    match run.end().failed {
        Some(failed) => Ok(Some(reason(settings, failed).await?)),
        None => Ok(None),
    }
}

/// Why a server is unusable, and what to do about it.
async fn reason(settings: &ModelSettings, failed: FailedTrial) -> anyhow::Result<String> {
    let quoted = advice::server_words(settings, failed.message.as_ref());
    let FailedTrial { trial, failure, .. } = failed;
    let other = if failure == ModelError::Status(404) {
        other_address(settings).await?
    } else {
        None
    };
    let advice = match other {
        Some(endpoint) => format!(" It answers at {endpoint}: set REFRACT_MODEL_URL to that."),
        None => advice::after(&failure, settings, settings.protocol),
    };
    Ok(format!(
        "this model cannot serve ({trial}): {failure}{quoted}{advice}"
    ))
}

/// The headers of the table of reports.
const HEADERS: [&str; 11] = [
    "call",
    "answer",
    "right",
    "probability",
    "readable",
    "code",
    "on codes",
    "unread",
    "requests",
    "attempts",
    "ms",
];

/// The header of the first column if there are several servers.
const SERVER_HEADER: &str = "server";

/// The cells of the report's row: its server if it has one, then the cells below [`HEADERS`].
pub(super) fn cells(report: &TrialReport) -> Vec<String> {
    let right = match report.right {
        Some(true) => "yes",
        Some(false) => "no",
        None => "",
    };
    let decimals =
        |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.3}"));
    let mut cells = Vec::from_iter(report.server.clone());
    cells.extend([
        report.trial.to_owned(),
        report.answer.clone(),
        right.to_owned(),
        format!("{:.3}", report.probability),
        format!("{} of {}", report.readable, report.outcomes),
        code(report),
        decimals(report.on_codes),
        decimals(report.unread.map(Probability::to_f64)),
        report.requests.to_string(),
        report.attempts.to_string(),
        report.took_ms.to_string(),
    ]);
    cells
}

/// How the code was split into tokens.
fn code(report: &TrialReport) -> String {
    let tokens = match report.code_tokens {
        None => return String::new(),
        Some(1) => "1 token".to_owned(),
        Some(tokens) => format!("{tokens} tokens"),
    };
    match report.tokens_before {
        None | Some(0) => tokens,
        Some(before) => format!("{tokens} after {before}"),
    }
}

/// Awaits the work and says on stderr every few seconds what it is.
pub(super) async fn for_call<T>(name: &str, work: impl Future<Output = T>) -> T {
    let begin = Instant::now();
    let mut ticks = interval_at(begin + BETWEEN_LINES, BETWEEN_LINES);
    tokio::pin!(work);
    loop {
        tokio::select! {
            done = &mut work => return done,
            _ = ticks.tick() => {
                let seconds = begin.elapsed().as_secs();
                output::say(&format!("Waiting for {name}, {seconds} s so far."));
            }
        }
    }
}
