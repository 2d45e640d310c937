//! The limits at which a run stops, and how rows are held back before one is reached.
//!
//! A row may begin if it and those in flight fit into what is left of each limit, as far as they
//! use what the earlier rows of this work used on average. Until a row has ended, one row at a time
//! begins.

use std::fmt;

use refract_domain::result::file_run::FileRunLimits;

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
