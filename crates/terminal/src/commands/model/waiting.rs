//! Shows what a command waits for while a model server is asked.

use std::time::Duration;

use tokio::time::{Instant, interval_at};

use crate::output;

/// The interval between two lines about one call.
const BETWEEN_LINES: Duration = Duration::from_secs(5);

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
