//! The shard of a file: the rows for one of several machines.

use std::num::NonZeroU64;
use std::str::FromStr;

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
