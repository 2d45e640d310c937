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
    let cells = counts.iter().zip(0_u8..).filter(|(count, _)| **count > 0);
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

/// Answers to a choice: the place of the option, the tenth of its probability, and their number.
fn choices(cells: impl IntoIterator<Item = (usize, u8, u64)>) -> AnswerTally {
    let cells = cells.into_iter().map(|(option, tenth, count)| {
        let outcome = OutcomeKey::parse(&format!("k{option}")).ok();
        (outcome, tenth, count)
    });
    cells.fold(AnswerTally::default(), |mut all, cell| {
        all += &AnswerTally::from(vec![cell]);
        all
    })
}

fn of_choices(now: &AnswerTally, before: &AnswerTally) -> Option<ProbabilityDrift> {
    ProbabilityDrift::between(now, before, false)
}

#[test]
fn groups_that_are_too_small_are_pooled() {
    let groups = groupings(
        &tally(&[1, 200, 2, 300, 9]),
        &tally(&[0, 180, 5, 310, 5]),
        true,
    );
    let sum: u64 = groups[0].iter().map(|group| group.now).sum();
    assert_eq!((groups.len(), groups[0].len(), sum), (1, 3, 512));
    let pooled = between(&[8; 10], &[8; 10]);
    let five_groups = chi_squared_quantile(BEYOND_CHANCE, 4) / 40.0;
    assert!(
        (pooled.psi_by_chance - five_groups).abs() < 1e-9,
        "{pooled:?}"
    );
}

#[test]
fn too_few_answers_have_no_figures_unless_all_are_alike() {
    let few =
        |now: &[u64], before: &[u64]| ProbabilityDrift::between(&tally(now), &tally(before), true);
    assert_eq!(few(&[1, 2, 3], &[3, 2, 1]), None);
    assert_eq!(few(&[9, 0], &[0, 9_000]), None);
    let apart = few(&[8, 7], &[0, 0, 8, 7]).unwrap();
    assert!(apart.psi > 5.0 && apart.p < 1e-7, "{apart:?}");
    let alike = few(&[0, 3], &[0, 300]).unwrap();
    assert_eq!((alike.psi, alike.js, alike.p), (0.0, 0.0, 1.0));
}

#[test]
fn a_small_group_beside_a_large_one_is_compared_exactly() {
    let other = between(&[0, 20], &[1_000, 0]);
    assert!(
        other.psi > 2.0 && other.js > 0.9 && other.p < 1e-20,
        "{other:?}"
    );
    let moved = between(&[47, 3], &[1_400, 12]);
    assert!(
        (moved.p
            - exact_p(
                Proportion { count: 3, of: 50 },
                Proportion {
                    count: 12,
                    of: 1_412
                }
            ))
        .abs()
            < 1e-12
    );
}

#[test]
fn windows_without_a_common_outcome_are_far_apart_in_small_groups_too() {
    // three options before and two others now, each with probabilities from 0.3 to 1
    let spread = |options: std::ops::Range<usize>, count| {
        choices(options.flat_map(|option| (3..10).map(move |tenth| (option, tenth, count))))
    };
    let drift = of_choices(&spread(3..5, 7), &spread(0..3, 10)).unwrap();
    assert!(
        drift.psi > 1.0 && drift.js > 0.7 && drift.p < 1e-9,
        "{drift:?}"
    );
    assert!(drift.psi_by_chance < 0.5, "{drift:?}");
}

#[test]
fn a_collapse_of_probabilities_is_found_among_many_options() {
    let all = |tenth, count| choices((0..60).map(|option| (option, tenth, count)));
    for (now, before) in [(8, 33), (15, 15), (200, 200)] {
        let drift = of_choices(&all(2, now), &all(9, before)).unwrap();
        assert!(
            drift.psi > 1.0 && drift.js > 0.9 && drift.p < 1e-9,
            "{drift:?}"
        );
        let equal = of_choices(&all(9, now), &all(9, before)).unwrap();
        assert!(
            equal.psi < 1e-3 && equal.js < 1e-6 && equal.p > 0.999,
            "{equal:?}"
        );
    }
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
    #[test]
    fn windows_without_a_common_outcome_or_tenth_are_never_alike(
        cells in vec((0_usize..10, 0_u8..10, 1_u64..60), 40),
        apart in vec(any::<bool>(), 10),
        by_outcome in any::<bool>(),
    ) {
        let is_now = |(option, tenth, _): &(usize, u8, u64)| {
            apart[if by_outcome { *option } else { usize::from(*tenth) }]
        };
        let (now, before): (Vec<_>, Vec<_>) = cells.into_iter().partition(is_now);
        let (now, before) = (choices(now), choices(before));
        prop_assume!(now.answers() >= 200 && before.answers() >= 200);
        let drift = of_choices(&now, &before).unwrap();
        prop_assert!(drift.psi > 0.1 && drift.js > 0.1 && drift.p < 1e-3, "{drift:?}");
        let equal = of_choices(&now, &now).unwrap();
        prop_assert!(equal.psi.abs() < 1e-12 && equal.js < 1e-6 && equal.p > 0.999, "{equal:?}");
    }
}
