use proptest::prelude::*;

use super::*;

fn budget(allowed: u32) -> Budget {
    Budget::per_minute(NonZeroU32::new(allowed).unwrap())
}

fn seconds(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

#[test]
fn a_twentieth_may_be_spent_at_once_and_the_rest_evenly() {
    let mut budget = budget(1_200);
    for _ in 0..60 {
        assert_eq!(budget.wait(Duration::ZERO, 1.0), Duration::ZERO);
        budget.spend(Duration::ZERO, 1.0);
    }
    assert_eq!(budget.wait(Duration::ZERO, 1.0), seconds(0.05));
    assert_eq!(budget.wait(seconds(0.05), 1.0), Duration::ZERO);
    // it never holds more than a twentieth
    budget.spend(seconds(600.0), 60.0);
    assert_eq!(budget.wait(seconds(600.0), 1.0), seconds(0.05));
}

#[test]
fn a_request_over_the_whole_budget_is_sent_and_paid_off_afterwards() {
    let mut budget = budget(60_000);
    assert_eq!(budget.wait(Duration::ZERO, 9_000.0), Duration::ZERO);
    budget.spend(Duration::ZERO, 9_000.0);
    assert_eq!(budget.wait(Duration::ZERO, 1_000.0), seconds(7.0));
}

proptest! {
    #[test]
    fn no_minute_costs_more_than_its_budget_and_a_burst(
        allowed in 1_u32..5_000,
        steps in prop::collection::vec(0_u64..2_000, 1..400),
    ) {
        let mut budget = budget(allowed);
        let mut now = Duration::ZERO;
        let mut sent = Vec::new();
        for step in steps {
            now += Duration::from_millis(step);
            now += budget.wait(now, 1.0) + Duration::from_nanos(1);
            budget.spend(now, 1.0);
            sent.push(now);
        }
        for (index, start) in sent.iter().enumerate() {
            let minute = sent.iter().skip(index);
            let count = minute.filter(|at| **at < *start + Duration::from_mins(1)).count();
            let most = f64::from(allowed) + (f64::from(allowed) / 20.0).max(1.0) + 1.0;
            prop_assert!(f64::from(u32::try_from(count).unwrap()) <= most);
        }
    }
}
