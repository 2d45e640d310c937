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
