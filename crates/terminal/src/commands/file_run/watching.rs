//! The progress of a run, and the signals that stop it.

use std::time::Duration;

use refract_file_runs::{FileCheckError, RunTally};
use refract_service::runs::PinnedPrism;

use super::super::signals::StopSignals;
use super::input_errors::input_error;
use super::report::going;
use crate::commands::input_path::InputPath;
use crate::output;
use crate::terminal::Progress;

/// The interval between two updates of the progress.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

/// Waits for the check of a whole file, and shows its progress. A signal ends the program.
pub(crate) async fn check_watched<T>(
    input: &InputPath,
    checking: impl Future<Output = Result<T, FileCheckError>>,
    tally: &RunTally,
    signals: &mut StopSignals,
) -> anyhow::Result<T> {
    let progress = Progress::begin("rows checked", None);
    let showing = repeat(|| progress.show(tally.counts().checked, ""));
    let checked = tokio::select! {
        checked = checking => checked,
        () = signals.next() => {
            progress.end();
            output::say("error: stopped; nothing was asked");
            // nothing else stops the thread that reads the file
            std::process::exit(1);
        }
        never = showing => match never {},
    };
    progress.end();
    checked.map_err(|error| match error {
        FileCheckError::Input(error) => input_error(input, &error),
        FileCheckError::Lookup { .. } | FileCheckError::Lost => anyhow::anyhow!("{input}: {error}"),
    })
}

/// Waits for a run and shows its progress.
pub(crate) async fn watched<T>(
    run: impl Future<Output = T>,
    tally: &RunTally,
    prism: &PinnedPrism,
    progress: &Progress,
) -> T {
    let ended = tokio::select! {
        ended = run => ended,
        never = repeat(|| {
            let counts = tally.counts();
            let words = going(&counts) + &pace(prism.learned_per_minute());
            progress.show(counts.done(), &words);
        }) => match never {},
    };
    progress.end();
    ended
}

/// What the model's server is seen to take, in words after a progress line; empty if it refuses
/// nothing.
pub(crate) fn pace(per_minute: Option<u64>) -> String {
    match per_minute {
        None => String::new(),
        Some(per_minute @ 0..120) => {
            format!(", the model server allows {} a minute", per_minute.max(1))
        }
        Some(per_minute) => format!(", the model server allows {} a second", per_minute / 60),
    }
}

/// Waits for the first signal. A second signal ends the program.
pub(crate) async fn stop(mut signals: StopSignals, progress: &Progress) {
    signals.next().await;
    let words = "Stopping: calls under way are finished and saved. Once more stops at once.";
    progress.beside(|| output::say(words));
    tokio::spawn(async move {
        signals.next().await;
        output::say("error: stopped at once; what was saved is saved");
        std::process::exit(1);
    });
}

async fn repeat(show: impl Fn()) -> std::convert::Infallible {
    loop {
        tokio::time::sleep(PROGRESS_INTERVAL).await;
        show();
    }
}
