//! The circuit breaker: when a failing server is ejected, and for how long. Times are arguments:
//! durations since a fixed moment.

use std::ops::RangeInclusive;
use std::time::Duration;

/// Number of consecutive failures after which a server is ejected.
pub(super) const FAILURES_BEFORE_PAUSE: u8 = 3;
/// The first pause before an ejected server is probed; each further pause is twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_mins(1);
/// Jitter: the share of a pause that is waited, in thousandths, so that the nodes of a service do
/// not probe a server all at once.
pub(super) const JITTER: RangeInclusive<u32> = 750..=1000;

/// The state of one server's circuit breaker: closed, or open (ejected) until a probe is due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ServerHealth {
    /// At most [`FAILURES_BEFORE_PAUSE`].
    failures_in_row: u8,
    /// Number of consecutive pauses; 0 for a server that is not ejected.
    pauses: u8,
    /// When to probe an ejected server.
    due: Duration,
}

impl ServerHealth {
    pub(super) fn is_ejected(self) -> bool {
        self.pauses > 0
    }

    pub(super) fn due(self) -> Duration {
        self.due
    }

    pub(super) fn is_due(self, now: Duration) -> bool {
        self.is_ejected() && self.due <= now
    }

    /// The half-open state: a probe is in flight, and no second one is due meanwhile. `None` if no
    /// probe is due.
    pub(super) fn probed(self, now: Duration) -> Option<Self> {
        let due = now.saturating_add(LONGEST_PAUSE);
        self.is_due(now).then_some(Self { due, ..self })
    }

    /// The health after an inconclusive probe: another probe is due.
    pub(super) fn after_inconclusive_probe(self, now: Duration) -> Self {
        match self.pauses {
            0 => self,
            _ => Self { due: now, ..self },
        }
    }

    /// The health after a failure. While the server is ejected, only a failed probe lengthens the
    /// pause: many requests may have been in flight at the first failure.
    pub(super) fn failed(self, is_probe: bool, now: Duration, jitter: u32) -> Self {
        let failures_in_row = self.failures_in_row.saturating_add(1);
        let pauses = match self.pauses {
            0 if failures_in_row < FAILURES_BEFORE_PAUSE => {
                return Self {
                    failures_in_row,
                    ..self
                };
            }
            0 => 1,
            pauses if is_probe => pauses.saturating_add(1),
            _ => return self,
        };
        Self {
            failures_in_row: FAILURES_BEFORE_PAUSE,
            pauses,
            due: now.saturating_add(pause(pauses, jitter)),
        }
    }

    /// Packs the health into 64 bits: six bytes of milliseconds, a byte for each count.
    pub(super) fn to_word(self) -> u64 {
        let due = u64::try_from(self.due.as_millis()).unwrap_or(u64::MAX);
        let counts = u16::from_be_bytes([self.failures_in_row, self.pauses]);
        due << u16::BITS | u64::from(counts)
    }

    pub(super) fn of_word(word: u64) -> Self {
        let [.., failures_in_row, pauses] = word.to_be_bytes();
        Self {
            failures_in_row,
            pauses,
            due: Duration::from_millis(word >> u16::BITS),
        }
    }
}

/// The pause with this number, counted from 1, times `jitter` thousandths.
fn pause(number: u8, jitter: u32) -> Duration {
    let doublings = u32::from(number.saturating_sub(1));
    let times = 1_u32.checked_shl(doublings).unwrap_or(u32::MAX);
    let whole = FIRST_PAUSE.saturating_mul(times).min(LONGEST_PAUSE);
    whole.saturating_mul(jitter) / 1000
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOW: Duration = Duration::from_secs(100);

    fn after_failures(failures: u8) -> ServerHealth {
        (0..failures).fold(ServerHealth::default(), |health, _| {
            health.failed(false, NOW, 1000)
        })
    }

    #[test]
    fn a_server_is_ejected_from_its_third_failure_in_a_row_on() {
        assert!(!after_failures(2).is_ejected());
        let ejected = after_failures(3);
        assert!(ejected.is_ejected());
        assert_eq!(ejected.due(), NOW + Duration::from_secs(1));
        assert!(!ejected.is_due(NOW + Duration::from_millis(999)));
        assert!(ejected.is_due(NOW + Duration::from_secs(1)));
    }

    #[test]
    fn requests_that_were_in_flight_already_do_not_make_the_pause_longer() {
        assert_eq!(after_failures(200), after_failures(3));
    }

    #[test]
    fn each_failed_probe_doubles_the_pause_up_to_a_minute() {
        let mut health = after_failures(3);
        for pause in [2, 4, 8, 16, 32, 60, 60] {
            let now = health.due();
            let probed = health.probed(now).unwrap();
            // only one probe at a time
            assert_eq!(probed.probed(now), None);
            health = probed.failed(true, now, 1000);
            assert_eq!(health.due(), now + Duration::from_secs(pause));
        }
        let long_down = (0..300).fold(health, |health, _| health.failed(true, NOW, 1000));
        assert_eq!(long_down.due(), NOW + Duration::from_mins(1));
    }

    #[test]
    fn a_probe_that_is_inconclusive_is_followed_by_another() {
        let health = after_failures(3);
        let now = health.due();
        let after_inconclusive_probe = health.probed(now).unwrap().after_inconclusive_probe(now);
        assert!(after_inconclusive_probe.is_due(now));
        // a server that has recovered meanwhile stays healthy
        assert_eq!(
            ServerHealth::default().after_inconclusive_probe(now),
            ServerHealth::default()
        );
    }

    /// An event in the life of a server.
    #[derive(Clone, Copy, Debug)]
    enum Event {
        Fails { is_probe: bool },
        IsProbed,
        Inconclusive,
    }

    fn events() -> impl Strategy<Value = Vec<(Event, u64, u32)>> {
        let event = prop_oneof![
            any::<bool>().prop_map(|is_probe| Event::Fails { is_probe }),
            Just(Event::IsProbed),
            Just(Event::Inconclusive),
        ];
        prop::collection::vec((event, 0_u64..100_000, JITTER), 0..30)
    }

    proptest! {
        #[test]
        fn only_failures_leave_a_server_alone_and_never_for_more_than_a_minute(events in events()) {
            let mut health = ServerHealth::default();
            let mut now = Duration::ZERO;
            let mut failures = 0;
            for (event, passed, jitter) in events {
                now += Duration::from_millis(passed);
                health = match event {
                    Event::Fails { is_probe } => {
                        failures += 1;
                        health.failed(is_probe, now, jitter)
                    }
                    Event::IsProbed => health.probed(now).unwrap_or(health),
                    Event::Inconclusive => health.after_inconclusive_probe(now),
                };
                prop_assert_eq!(health.is_ejected(), failures >= FAILURES_BEFORE_PAUSE.into());
                prop_assert!(health.due() <= now + LONGEST_PAUSE);
                prop_assert_eq!(ServerHealth::of_word(health.to_word()), ServerHealth {
                    due: Duration::from_millis(u64::try_from(health.due.as_millis()).unwrap()),
                    ..health
                });
            }
        }

        #[test]
        fn a_pause_is_shortened_by_a_quarter_at_most(number in 1_u8.., jitter in JITTER) {
            let (shortened, whole) = (pause(number, jitter), pause(number, 1000));
            prop_assert!(whole * 3 / 4 <= shortened && shortened <= whole);
            prop_assert!(whole >= FIRST_PAUSE && whole <= LONGEST_PAUSE);
        }
    }
}
