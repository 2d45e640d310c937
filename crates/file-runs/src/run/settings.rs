//! Limits of a run: concurrency, threads, and when to stop; and the part of the file, such as the
//! shard for one of several machines.
//!
//! The limits at which a run stops, and how rows are held back before one is reached.
//!
//! A row may begin if it and those in flight fit into what is left of each limit, as far as they
//! use what the earlier rows of this work used on average. Until a row has ended, one row at a time
//! begins.

use std::fmt;
use std::num::{NonZeroU64, NonZeroUsize};
use std::str::FromStr;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use refract_domain::result::file_run::FileRunLimits;
use tokio::sync::Semaphore;

/// The settings of one run.
#[derive(Clone)]
pub struct RunSettings {
    /// Upper bound on the rows in flight at the model.
    pub concurrency: NonZeroUsize,
    /// Number of worker threads.
    pub threads: NonZeroUsize,
    /// Whether to stop when the number of consecutive failures reaches the
    /// [threshold](refract_service::runs::failure_threshold).
    pub gives_up: bool,
    /// One permit for each row in flight, shared with other runs; `None` for a run of its own. The
    /// permits are given out in the order of the requests, so that the runs get equal shares.
    pub shared_permits: Option<Arc<Semaphore>>,
    /// The limits at which the run stops.
    pub limits: FileRunLimits,
    /// Answers that were saved from this moment on count as those of this run, not as earlier ones: a
    /// node that was lost made them, or this one before it waited for the model. `None` for a run
    /// that begins.
    pub own_since: Option<DateTime<Utc>>,
    /// Whether the threads leave the processor to everything else that the machine has to do, on
    /// Linux.
    pub gives_way: bool,
}

impl RunSettings {
    /// A run with permits of its own and without limits.
    pub fn new(concurrency: NonZeroUsize, threads: NonZeroUsize) -> Self {
        Self {
            concurrency,
            threads,
            gives_up: true,
            shared_permits: None,
            limits: FileRunLimits::default(),
            own_since: None,
            gives_way: false,
        }
    }
}

/// Consecutive rows of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FilePart {
    /// The number of the row before the first one; 0 for the beginning of the file.
    pub(crate) after: u64,
    /// Upper bound on the rows that are not refused; `None` for all.
    pub(crate) most_accepted: Option<u64>,
}

impl FilePart {
    /// The whole file.
    pub(crate) const WHOLE: Self = Self {
        after: 0,
        most_accepted: None,
    };
}

/// A shard of the rows: every `of`-th, beginning with the `index`-th.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// From 1 to `of`.
    index: u64,
    of: NonZeroU64,
}

impl Shard {
    /// All rows.
    pub const WHOLE: Self = Self {
        index: 1,
        of: NonZeroU64::MIN,
    };

    /// Whether the shard contains the row with this number, counted from 1.
    pub fn has(self, number: u64) -> bool {
        number % self.of == self.index % self.of
    }

    /// Whether the shard contains all rows.
    pub fn is_whole(self) -> bool {
        self == Self::WHOLE
    }
}

/// The error for a text that is not a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected I/N with I from 1 to N, such as 1/4")]
pub struct NoShard;

impl FromStr for Shard {
    type Err = NoShard;

    fn from_str(text: &str) -> Result<Self, NoShard> {
        let (index, of) = text.split_once('/').ok_or(NoShard)?;
        let of: NonZeroU64 = of.parse().map_err(|_| NoShard)?;
        let index: u64 = index.parse().map_err(|_| NoShard)?;
        if (1..=of.get()).contains(&index) {
            Ok(Self { index, of })
        } else {
            Err(NoShard)
        }
    }
}

/// The limit that a run reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReachedLimit {
    /// The limit of model requests.
    ModelRequests(u64),
    /// The limit of tokens, read and written.
    Tokens(u64),
    /// The limit of failed rows.
    FailedRows(u64),
}

impl fmt::Display for ReachedLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ModelRequests(most) => write!(f, "{most} model requests"),
            Self::Tokens(most) => write!(f, "{most} tokens"),
            Self::FailedRows(most) => write!(f, "{most} failed rows"),
        }
    }
}

/// What rows used of what a run can be limited in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Used {
    pub(crate) model_requests: u64,
    pub(crate) tokens: u64,
    pub(crate) failed_rows: u64,
}

/// The rows that one work on a run has begun.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BegunRows {
    pub(crate) in_flight: u64,
    pub(crate) ended: u64,
    /// What all of them used so far.
    pub(crate) used: Used,
}

/// Whether a further row may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextRow {
    Begins,
    /// A row in flight has to end first.
    Waits,
    Exceeds(ReachedLimit),
}

impl NextRow {
    /// Decides on a row of a run that used this much, that of earlier works included.
    pub(crate) fn of(limits: FileRunLimits, used: Used, rows: &BegunRows) -> Self {
        let requests = limits.model_requests.map(|most| {
            let limit = ReachedLimit::ModelRequests(most);
            (limit, most, used.model_requests, rows.used.model_requests)
        });
        let tokens = limits.tokens.map(|most| {
            let limit = ReachedLimit::Tokens(most);
            (limit, most, used.tokens, rows.used.tokens)
        });
        let failed = limits.failed_rows.map(|most| {
            let limit = ReachedLimit::FailedRows(most);
            (limit, most, used.failed_rows, rows.used.failed_rows)
        });
        let mut waits = false;
        for (limit, most, used, by_rows) in [requests, tokens, failed].into_iter().flatten() {
            if used >= most {
                return Self::Exceeds(limit);
            }
            waits |= !rows.fit_with_one_more(most - used, by_rows);
        }
        if waits { Self::Waits } else { Self::Begins }
    }
}

impl BegunRows {
    /// Whether the rows in flight and one more fit into the rest of a limit, of which the rows used
    /// this much. One alone always does: it exceeds the limit by less than what it uses.
    fn fit_with_one_more(&self, rest: u64, used: u64) -> bool {
        let expected = u128::from(used) * u128::from(self.in_flight + 1);
        let room = u128::from(rest) * u128::from(self.ended);
        self.in_flight == 0 || self.ended > 0 && expected <= room
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_belongs_to_exactly_one_shard() {
        let shards: Vec<Shard> = ["1/3", "2/3", "3/3"]
            .map(|text| text.parse().unwrap())
            .into();
        for number in 1..=9 {
            let having = shards.iter().filter(|shard| shard.has(number));
            assert_eq!(having.count(), 1, "{number}");
        }
        assert!(shards[0].has(1) && shards[2].has(3) && Shard::WHOLE.has(7));
        for wrong in ["0/3", "4/3", "1/0", "1", "a/b", "-1/2"] {
            assert_eq!(wrong.parse::<Shard>(), Err(NoShard), "{wrong}");
        }
    }

    const LIMITS: FileRunLimits = FileRunLimits {
        model_requests: Some(10),
        tokens: None,
        failed_rows: Some(3),
    };

    fn next(in_flight: u64, ended: u64, model_requests: u64, failed_rows: u64) -> NextRow {
        let used = Used {
            model_requests,
            tokens: 1_000_000,
            failed_rows,
        };
        let rows = BegunRows {
            in_flight,
            ended,
            used,
        };
        NextRow::of(LIMITS, used, &rows)
    }

    #[test]
    fn rows_in_flight_count_before_they_end() {
        assert_eq!(next(0, 0, 0, 0), NextRow::Begins);
        assert_eq!(next(1, 0, 0, 0), NextRow::Waits, "nothing is known yet");
        assert_eq!(next(8, 1, 1, 0), NextRow::Begins);
        assert_eq!(next(9, 1, 1, 0), NextRow::Waits);
        assert_eq!(next(2, 2, 4, 0), NextRow::Begins, "two requests a row");
        assert_eq!(next(3, 2, 4, 0), NextRow::Waits);
        assert_eq!(next(0, 3, 9, 0), NextRow::Begins, "the last one");
        let reached = NextRow::Exceeds(ReachedLimit::ModelRequests(10));
        assert_eq!(next(0, 10, 10, 0), reached);
    }

    #[test]
    fn failures_hold_back_as_they_have_come_so_far() {
        assert_eq!(next(2, 4, 4, 2), NextRow::Waits);
        assert_eq!(next(1, 4, 4, 2), NextRow::Begins);
        let reached = NextRow::Exceeds(ReachedLimit::FailedRows(3));
        assert_eq!(next(1, 5, 5, 3), reached);
    }

    #[test]
    fn what_earlier_works_used_is_gone() {
        let used = Used {
            model_requests: 8,
            ..Used::default()
        };
        let rows = BegunRows {
            in_flight: 1,
            ended: 1,
            used: Used {
                model_requests: 1,
                ..Used::default()
            },
        };
        assert_eq!(NextRow::of(LIMITS, used, &rows), NextRow::Begins);
        let more = BegunRows {
            in_flight: 2,
            ..rows
        };
        assert_eq!(NextRow::of(LIMITS, used, &more), NextRow::Waits);
        assert_eq!(
            NextRow::of(FileRunLimits::default(), used, &more),
            NextRow::Begins
        );
    }
}
