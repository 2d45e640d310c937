//! `refract model check`: small trials that show whether the configured model is usable.

use refract_service::model::{
    FailedTrial, ModelError, ModelGateway, ModelSettings, ModelTrials, TrialEnd, TrialRun,
    TrialScope, other_address,
};

use super::trial_report::{HEADERS, SERVER_HEADER};
use super::{advice, quote, trial_report, waiting};
use crate::output;

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
        output::list(as_json, &headers, &trials.reports, trial_report::cells)?;
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
        let ended = waiting::for_call(name, run.ask_next()).await?;
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

/// Why a server is unusable, and what to do about it.
async fn reason(settings: &ModelSettings, failed: FailedTrial) -> anyhow::Result<String> {
    let quoted = quote::of(settings, failed.message.as_ref());
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
