use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

#[test]
fn the_interval_is_that_of_the_paper() {
    // Newcombe 1998, table II, case a, method 10: 56/70 against 48/80
    let change = ShareChange {
        now: Proportion { count: 56, of: 70 },
        before: Proportion { count: 48, of: 80 },
    };
    let Interval { low, high } = change.interval().unwrap();
    assert_eq!(
        format!("{:.4} {low:.4} {high:.4}", change.difference().unwrap()),
        "0.2000 0.0524 0.3339"
    );
    assert_eq!(ShareChange::default().interval(), None);
}

proptest! {
    #[test]
    fn the_difference_is_inside_its_interval(
        now in 1_u64..500, before in 1_u64..500, count in 0_u64..500, count_before in 0_u64..500,
    ) {
        let change = ShareChange {
            now: Proportion { count: count.min(now), of: now },
            before: Proportion { count: count_before.min(before), of: before },
        };
        let (difference, interval) = (change.difference().unwrap(), change.interval().unwrap());
        prop_assert!(interval.low <= difference && difference <= interval.high);
        prop_assert!(interval.low >= -1.0 - 1e-12 && interval.high <= 1.0 + 1e-12);
    }
}

/// Answers to a Yes / No, given by the number in each tenth.
fn tally(counts: &[u64]) -> AnswerTally {
    let cells = counts.iter().zip(0_u8..);
    let cells: Vec<_> = cells
        .map(|(count, tenth)| (None::<OutcomeKey>, tenth * 10, *count))
        .collect();
    AnswerTally::from(cells)
}

fn between(now: &[u64], before: &[u64]) -> ProbabilityDrift {
    ProbabilityDrift::between(&tally(now), &tally(before), true).unwrap()
}

#[test]
fn the_figures_are_those_of_their_definitions() {
    let drift = between(&[500, 500], &[250, 750]);
    // without smoothing: 0.25 ln 2 - 0.25 ln (2/3)
    let psi = 0.25 * 2_f64.ln() - 0.25 * (2.0_f64 / 3.0).ln();
    assert!((drift.psi - psi).abs() < 2e-3, "{drift:?}");
    // scipy.spatial.distance.jensenshannon([0.5, 0.5], [0.25, 0.75], 2)
    assert!((drift.js - 0.220_896).abs() < 1e-6, "{drift:?}");
    assert!(drift.p < 1e-20);
    let equal = between(&[40, 60, 30], &[400, 600, 300]);
    assert!(equal.psi < 1e-4 && equal.js < 1e-8 && (equal.p - 1.0).abs() < 1e-9);
    assert!(ProbabilityDrift::between(&tally(&[0]), &tally(&[3]), true).is_none());
}

#[test]
fn p_is_that_of_pearson_for_a_table_of_two_by_two() {
    // scipy.stats.chi2_contingency([[60, 40], [45, 55]], correction=False)
    let drift = between(&[60, 40], &[45, 55]);
    assert!((drift.p - 0.033_672).abs() < 1e-5, "{drift:?}");
}

#[test]
fn groups_that_are_too_small_are_one() {
    let groups = groups(
        &tally(&[1, 200, 2, 300, 9]),
        &tally(&[0, 180, 5, 310, 5]),
        true,
    );
    let sum: u64 = groups.iter().map(|group| group.now).sum();
    assert_eq!((groups.len(), sum), (3, 512));
    let few = between(&[1, 2, 3], &[3, 2, 1]);
    assert!((few.p - 1.0).abs() < f64::EPSILON && few.psi_by_chance == 0.0);
}

proptest! {
    #[test]
    fn no_figure_is_out_of_its_range(
        now in vec(0_u64..2_000, 10), before in vec(0_u64..2_000, 10),
    ) {
        prop_assume!(now.iter().sum::<u64>() > 0 && before.iter().sum::<u64>() > 0);
        let drift = between(&now, &before);
        let back = between(&before, &now);
        prop_assert!(drift.psi >= 0.0 && drift.psi.is_finite());
        prop_assert!((0.0..=1.0).contains(&drift.js) && (0.0..=1.0).contains(&drift.p));
        prop_assert!((drift.psi - back.psi).abs() < 1e-9 && (drift.js - back.js).abs() < 1e-9);
        prop_assert!((drift.p - back.p).abs() < 1e-9);
    }
}
