//! Whether a round of purging is plausible: whether its clock is right, and whether it deletes only
//! what it should.
//!
//! A clock that is wrong by up to a day is accepted: results are then deleted up to a day early.

use std::time::Instant;

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use refract_domain::ids::{AccountId, PrismId};
use refract_persistence::{Database, PersistenceError, PurgeRange, RetentionRoundRow};

/// How far a clock may be ahead of what confirms it, and how far the age limit may move from one
/// round to the next without a check.
const TRUSTED: TimeDelta = TimeDelta::days(1);

/// Why a round deleted nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImplausibleRoundError {
    /// There was no round yet, and the newest result does not confirm the clock.
    #[error(
        "the clock says {}, but the newest result is from {}: set the clock right. If it is right, \
         purging begins after the next result that is saved, or on a node that is started with \
         REFRACT_RETENTION_UNCHECKED=on",
        shown(*now), shown(*newest_result)
    )]
    ClockAhead {
        /// The time by the clock.
        now: DateTime<Utc>,
        /// When the newest result was made.
        newest_result: DateTime<Utc>,
    },
    /// The last round does not confirm the clock, or not for long enough.
    #[error(
        "the clock says {}, but the last round ended {}: set the clock right. If it is right, as \
         after all nodes were stopped for days, purging goes on by itself from {} on when results are \
         saved, or now on a node that is started with REFRACT_RETENTION_UNCHECKED=on",
        shown(*now), shown(*last_round), shown(*believed_from)
    )]
    ClockInDoubt {
        /// The time by the clock.
        now: DateTime<Utc>,
        /// When the last round ended.
        last_round: DateTime<Utc>,
        /// The moment from which new results confirm the clock.
        believed_from: DateTime<Utc>,
    },
    /// The clock advanced by more than the time that passed.
    #[error(
        "the clock says {}, but by the time that passed since this node looked before it is {}: set \
         the clock right. If it is right, as after the machine was suspended, restart this node",
        shown(*now), shown(*expected)
    )]
    ClockJumped {
        /// The time by the clock.
        now: DateTime<Utc>,
        /// The time without the jump.
        expected: DateTime<Utc>,
    },
    /// Most results of a prism would be deleted.
    #[error(
        "{results} results of prism {prism} are older than they are kept, more than half of all. If \
         they are to go, as when REFRACT_RETENTION_DAYS was just set or lowered, start a node with \
         REFRACT_RETENTION_UNCHECKED=on until it has purged them, or run `refract results purge`; \
         else set the clock or the days right"
    )]
    LargeShare {
        /// The first such prism.
        prism: PrismId,
        /// Number of its results that the round would delete and that no earlier round should have
        /// deleted.
        results: u64,
    },
}

impl ImplausibleRoundError {
    /// The kind of the reason in one word, for metrics.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::ClockAhead { .. } | Self::ClockInDoubt { .. } | Self::ClockJumped { .. } => {
                "clock"
            }
            Self::LargeShare { .. } => "share",
        }
    }
}

fn shown(moment: DateTime<Utc>) -> String {
    moment.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// Checks that a clock advances by as much time as passes.
#[derive(Debug, Default)]
pub(super) struct ClockWatch {
    /// The last plausible reading of the clock.
    last: Option<(DateTime<Utc>, Instant)>,
}

impl ClockWatch {
    /// Checks the clock's time at an instant. The clock stays implausible until it is set right.
    pub(super) fn check(
        &mut self,
        now: DateTime<Utc>,
        instant: Instant,
    ) -> Result<(), ImplausibleRoundError> {
        if let Some((before, at)) = self.last {
            let passed = instant.saturating_duration_since(at);
            let expected = before + TimeDelta::from_std(passed).unwrap_or_default();
            if now - expected > TRUSTED {
                return Err(ImplausibleRoundError::ClockJumped { now, expected });
            }
        }
        self.last = Some((now, instant));
        Ok(())
    }
}

/// Checks the clock against what is stored. Without results there is nothing to purge either.
///
/// The last round confirms a clock that is up to a day ahead of it. A clock further ahead is in
/// doubt for a day, whatever results were saved by it, so that an operator can see the refusals and
/// set it right. After that day, results of the last day confirm it. `doubted_since` is when that
/// day began, if it did.
pub(super) fn check_clock(
    now: DateTime<Utc>,
    newest_result: Option<DateTime<Utc>>,
    last_round: Option<RetentionRoundRow>,
    doubted_since: Option<DateTime<Utc>>,
) -> Result<(), ImplausibleRoundError> {
    let Some(newest_result) = newest_result else {
        return Ok(());
    };
    let is_idle = now - newest_result > TRUSTED;
    match last_round.map(|round| round.ended_at) {
        None if is_idle => Err(ImplausibleRoundError::ClockAhead { now, newest_result }),
        Some(last_round) if now - last_round > TRUSTED => {
            let believed_from = doubted_since.unwrap_or(now) + TRUSTED;
            if is_idle || now < believed_from {
                Err(ImplausibleRoundError::ClockInDoubt {
                    now,
                    last_round,
                    believed_from,
                })
            } else {
                Ok(())
            }
        }
        None | Some(_) => Ok(()),
    }
}

/// Checks that a round deletes no more than half of the results of any prism. Results that became
/// too old since the last round do not count: otherwise the last results of an unused prism would
/// never be deleted.
pub(super) async fn check_shares(
    database: &Database,
    prisms: &[(AccountId, PrismId)],
    before: DateTime<Utc>,
    last_round: Option<RetentionRoundRow>,
) -> Result<Result<(), ImplausibleRoundError>, PersistenceError> {
    let cleared = last_round.map(|round| round.cleared_before);
    let counted_before = match cleared {
        Some(cleared) if before - cleared <= TRUSTED => cleared.min(before),
        Some(_) | None => before,
    };
    for &(_, prism) in prisms {
        let range = PurgeRange::of_all(prism, counted_before);
        let results = database.count_purgeable_results(&range).await?;
        if results == 0 {
            continue;
        }
        let others = database.count_results_from(prism, counted_before, results);
        if others.await? < results {
            return Ok(Err(ImplausibleRoundError::LargeShare { prism, results }));
        }
    }
    Ok(Ok(()))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn at(hours: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::days(20_000) + TimeDelta::hours(hours)
    }

    fn round(ended_at: DateTime<Utc>) -> RetentionRoundRow {
        RetentionRoundRow {
            cleared_before: ended_at - TimeDelta::days(30),
            ended_at,
        }
    }

    #[test]
    fn the_newest_result_vouches_for_the_first_round_and_the_last_round_for_the_next() {
        assert_eq!(check_clock(at(0), None, None, None), Ok(()));
        assert_eq!(check_clock(at(24), Some(at(0)), None, None), Ok(()));
        let (now, newest_result) = (at(25), at(0));
        let ahead = ImplausibleRoundError::ClockAhead { now, newest_result };
        assert_eq!(check_clock(now, Some(at(0)), None, None), Err(ahead));
        // a service may be idle for any time
        let last = Some(round(at(0)));
        assert_eq!(check_clock(at(24), Some(at(-500)), last, None), Ok(()));
        // a clock that is set back deletes less
        assert_eq!(check_clock(at(-900), Some(at(0)), last, None), Ok(()));
    }

    #[test]
    fn a_clock_that_is_ahead_of_the_last_round_is_in_doubt_for_a_day_and_then_needs_results() {
        let last = Some(round(at(0)));
        let check = |now, newest, since: Option<i64>| {
            check_clock(at(now), Some(at(newest)), last, since.map(at))
        };
        let in_doubt = |now, until| {
            Err(ImplausibleRoundError::ClockInDoubt {
                now: at(now),
                last_round: at(0),
                believed_from: at(until),
            })
        };
        // results saved by the same clock do not confirm it
        assert_eq!(check(25, 25, None), in_doubt(25, 49));
        assert_eq!(check(48, 48, Some(25)), in_doubt(48, 49));
        assert_eq!(check(49, 25, Some(25)), Ok(()));
        assert_eq!(check(50, 25, Some(25)), in_doubt(50, 49), "nothing new");
        assert_eq!(check(24, 500, Some(25)), Ok(()), "it was set right");
    }

    #[test]
    fn a_clock_that_jumps_is_not_believed_until_it_is_set_right() {
        let began = Instant::now();
        let mut clock = ClockWatch::default();
        let mut check = |hours, passed| {
            let instant = began + Duration::from_hours(passed);
            clock.check(at(hours), instant)
        };
        assert_eq!(check(0, 0), Ok(()));
        assert_eq!(check(24, 0), Ok(()), "a day is not much");
        let jumped = |now, expected| {
            let (now, expected) = (at(now), at(expected));
            Err(ImplausibleRoundError::ClockJumped { now, expected })
        };
        assert_eq!(check(49, 0), jumped(49, 24));
        assert_eq!(check(59, 10), jumped(59, 34), "however long it lasts");
        assert_eq!(check(35, 11), Ok(()), "it was set right");
        assert_eq!(check(100, 76), Ok(()), "a node may be busy for days");
        assert_eq!(check(0, 77), Ok(()), "it is set back");
    }
}
