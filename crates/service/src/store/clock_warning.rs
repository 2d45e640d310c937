//! The clock of a node beside that of the database, which all nodes agree on.

use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};

/// The largest difference that is no fault: codes of a person's app are taken half a minute early or
/// late.
const MOST: TimeDelta = TimeDelta::seconds(30);
/// The pause between two warnings.
const PAUSE: Duration = Duration::from_hours(1);

/// Warns that the clocks of a node and of the database differ, once an hour.
#[derive(Default)]
pub(crate) struct ClockWarning {
    warned: Option<Instant>,
}

impl ClockWarning {
    /// Compares the two clocks, as they were read one right after the other.
    pub(crate) fn compare(&mut self, database: DateTime<Utc>, node: DateTime<Utc>) {
        if self.warned.is_some_and(|at| at.elapsed() < PAUSE) {
            return;
        }
        if let Some(difference) = difference(database, node) {
            tracing::warn!(
                "{difference}: set both by NTP; results of a node whose clock is over half an hour \
                 behind may never be counted"
            );
            self.warned = Some(Instant::now());
        }
    }
}

/// The difference in words, where it is too large.
fn difference(database: DateTime<Utc>, node: DateTime<Utc>) -> Option<String> {
    let ahead = node - database;
    let direction = if ahead > TimeDelta::zero() {
        "ahead of"
    } else {
        "behind"
    };
    let seconds = ahead.num_seconds().unsigned_abs();
    (ahead.abs() > MOST).then(|| {
        format!("this node's clock is {seconds} s {direction} that of the database server")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_of_over_half_a_minute_is_named_with_its_direction() {
        let found = |seconds| {
            let database = DateTime::UNIX_EPOCH;
            difference(database, database + TimeDelta::seconds(seconds))
        };
        for seconds in [-30, 0, 30] {
            assert_eq!(found(seconds), None);
        }
        for (seconds, words) in [(31, "31 s ahead of that"), (-3_601, "3601 s behind that")] {
            let difference = found(seconds).unwrap();
            assert!(difference.contains(words), "{difference}");
        }
    }

    #[test]
    fn a_difference_is_warned_of_once_an_hour() {
        let mut warning = ClockWarning::default();
        let database = DateTime::UNIX_EPOCH;
        warning.compare(database, database);
        assert_eq!(warning.warned, None);
        warning.compare(database, database + TimeDelta::hours(1));
        let first = warning.warned;
        assert!(first.is_some());
        warning.compare(database, database + TimeDelta::hours(1));
        assert_eq!(warning.warned, first);
    }
}
