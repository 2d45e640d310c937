//! The pauses of a run whose model is away: exponential backoff with an end.

use std::time::Duration;

/// The first pause.
const FIRST: Duration = Duration::from_secs(15);
/// The longest pause.
const LONGEST: Duration = Duration::from_mins(5);
/// Pauses in a row after which the run waits for a person: together about half an hour.
const MOST: u32 = 10;

/// The pauses since the model answered last.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pauses {
    taken: u32,
    /// Rows that were answered when the last pause began.
    answered: u64,
}

impl Pauses {
    /// The next pause; `None` if a person must decide. A row that was answered since the last pause
    /// ends the sequence.
    pub(crate) fn next(&mut self, answered: u64) -> Option<Duration> {
        if answered > self.answered {
            self.taken = 0;
        }
        self.answered = answered;
        if self.taken == MOST {
            return None;
        }
        let pause = FIRST.saturating_mul(1 << self.taken).min(LONGEST);
        self.taken += 1;
        Some(pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_until_a_person_must_decide() {
        let mut pauses = Pauses::default();
        let taken: Vec<_> = std::iter::from_fn(|| pauses.next(7)).collect();
        assert_eq!(taken.len(), 10);
        assert_eq!(taken[..3], [15, 30, 60].map(Duration::from_secs));
        assert_eq!(taken[9], LONGEST);
        let together: Duration = taken.iter().sum();
        assert!(together > Duration::from_mins(25) && together < Duration::from_mins(40));
    }

    #[test]
    fn an_answer_begins_the_sequence_anew() {
        let mut pauses = Pauses::default();
        assert_eq!(pauses.next(0), Some(FIRST));
        assert_eq!(pauses.next(0), Some(FIRST * 2));
        assert_eq!(pauses.next(1), Some(FIRST));
        assert_eq!(pauses.next(1), Some(FIRST * 2));
    }
}
