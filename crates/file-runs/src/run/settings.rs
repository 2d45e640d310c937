//! Limits of a run: concurrency, threads, and when to stop; and the part of the file, such as the
//! shard for one of several machines.

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
}
