//! The clock's line of `refract doctor`: this machine's clock beside those that it works with. Keys and
//! sessions end by it, a provider's tokens are too old or too new by it.

use anyhow::ensure;
use chrono::{DateTime, TimeDelta, Utc};
use refract_service::Refract;

/// The largest difference that is no failure, in seconds. A `Date` header has whole seconds.
const MOST: i64 = 5;

/// What another clock showed between two moments of this machine's.
struct OtherClock {
    of: &'static str,
    shown: DateTime<Utc>,
    before: DateTime<Utc>,
    after: DateTime<Utc>,
}

/// Compares this machine's clock with those of the database server and the sign-in provider.
pub(super) async fn check(refract: Option<&Refract>, has_server: bool) -> anyhow::Result<String> {
    let mut clocks = Vec::new();
    if let Some(refract) = refract {
        if has_server {
            let before = Utc::now();
            let shown = refract.store().time(before).await?;
            clocks.push(OtherClock {
                of: "the database server",
                shown,
                before,
                after: Utc::now(),
            });
        }
        let before = Utc::now();
        let trial = refract.people().try_discovery().await;
        if let Some(shown) = trial.and_then(|trial| trial.date) {
            clocks.push(OtherClock {
                of: "the sign-in provider",
                shown,
                before,
                after: Utc::now(),
            });
        }
    }
    compare(&clocks)
}

fn compare(clocks: &[OtherClock]) -> anyhow::Result<String> {
    let wrong: Vec<_> = clocks.iter().filter_map(OtherClock::difference).collect();
    ensure!(
        wrong.is_empty(),
        "{}: set both by NTP",
        wrong.join(", and ")
    );
    let others: Vec<_> = clocks.iter().map(|clock| clock.of).collect();
    Ok(match others.as_slice() {
        [] => "no other clock to compare with".to_owned(),
        others => format!("as that of {}, within {MOST} s", others.join(" and ")),
    })
}

impl OtherClock {
    /// The difference in words, where it is too large.
    fn difference(&self) -> Option<String> {
        let ahead = (self.shown - self.after).max(TimeDelta::zero());
        let behind = (self.before - self.shown).max(TimeDelta::zero());
        let (seconds, direction) = if ahead > behind {
            (ahead.num_seconds(), "behind")
        } else {
            (behind.num_seconds(), "ahead of")
        };
        let of = self.of;
        (seconds > MOST)
            .then(|| format!("this machine's clock is {seconds} s {direction} that of {of}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(seconds: i64) -> Result<String, String> {
        let before = Utc::now();
        let clock = OtherClock {
            of: "the database server",
            shown: before + TimeDelta::seconds(seconds),
            before,
            after: before + TimeDelta::seconds(2),
        };
        compare(&[clock]).map_err(|error| error.to_string())
    }

    #[test]
    fn a_difference_of_more_than_some_seconds_is_named_with_its_direction() {
        for seconds in [-5, 0, 1, 2, 7] {
            let same = compared(seconds);
            assert_eq!(
                same,
                Ok("as that of the database server, within 5 s".to_owned())
            );
        }
        for (seconds, words) in [(-6, "6 s ahead of that"), (8, "6 s behind that")] {
            let message = compared(seconds).unwrap_err();
            assert!(
                message.contains(words) && message.contains("NTP"),
                "{message}"
            );
        }
        assert!(compare(&[]).is_ok());
    }
}
