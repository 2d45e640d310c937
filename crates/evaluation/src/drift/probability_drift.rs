//! The distribution of a question's probabilities in two windows: how far apart both are, and how
//! far chance alone moves windows of this size apart.

use std::collections::BTreeMap;
use std::f64::consts::LN_2;

use refract_domain::key::OutcomeKey;

use crate::drift::answer_tally::AnswerTally;
use crate::drift::gamma::{chi_squared_quantile, chi_squared_tail};
use crate::measures::proportion::to_f64;

/// The fewest answers that each window has to be expected in a group; smaller groups are merged,
/// since the chi-squared distribution does not describe them.
const EXPECTED: f64 = 10.0;
/// Added to each group of each window for the population stability index, which an empty group would
/// make infinite.
const SMOOTHING: f64 = 0.5;
/// The probability with which chance alone exceeds what is reported as its share.
const BEYOND_CHANCE: f64 = 0.05;

/// How far apart the probabilities of two windows are.
///
/// Probabilities are grouped by tenths, those of choices and scales within each outcome. Groups that
/// are too small to be compared are one group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProbabilityDrift {
    /// The population stability index: the sum over groups of the difference of shares times the
    /// difference of their logarithms, 0 for equal windows. Below 0.1 is commonly called stable,
    /// above 0.25 a shift.
    pub psi: f64,
    /// The Jensen–Shannon distance, 0 for equal windows to 1 for windows without a common group:
    /// the square root of the divergence to base 2.
    pub js: f64,
    /// The index that chance alone exceeds in one of 20 comparisons of windows of this size.
    pub psi_by_chance: f64,
    /// The distance that chance alone exceeds in one of 20 comparisons of windows of this size.
    pub js_by_chance: f64,
    /// The p-value of Pearson's chi-squared test of homogeneity: how often chance alone moves
    /// windows of this size so far apart.
    pub p: f64,
}

/// Counts of a group in both windows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Group {
    now: u64,
    before: u64,
}

impl ProbabilityDrift {
    /// Compares two windows; `None` if one has no answers. `is_percent` tells that the question is a
    /// Yes / No.
    ///
    /// Sources: J. Lin, "Divergence measures based on the Shannon entropy", IEEE Transactions on
    /// Information Theory 37 (1991); B. Yurdakul, "Statistical properties of population stability
    /// index" (2018), for the index without a difference: it is chi-squared with a degree of freedom
    /// fewer than groups, times `1/now + 1/before`.
    pub(crate) fn between(
        now: &AnswerTally,
        before: &AnswerTally,
        is_percent: bool,
    ) -> Option<Self> {
        let (of_now, of_before) = (to_f64(now.answers()), to_f64(before.answers()));
        if of_now == 0.0 || of_before == 0.0 {
            return None;
        }
        let groups = groups(now, before, is_percent);
        let degrees = u64::try_from(groups.len()).unwrap_or(u64::MAX) - 1;
        let all = of_now + of_before;
        let smoothed = SMOOTHING * to_f64(degrees + 1);
        let (mut psi, mut divergence, mut chi_squared) = (0.0, 0.0, 0.0);
        for Group { now, before } in groups {
            let (now, before) = (to_f64(now), to_f64(before));
            let (p, q) = (
                (now + SMOOTHING) / (of_now + smoothed),
                (before + SMOOTHING) / (of_before + smoothed),
            );
            psi += (p - q) * (p / q).ln();
            let (p, q) = (now / of_now, before / of_before);
            divergence += f64::midpoint(information(p, q), information(q, p));
            let expected = of_now * (now + before) / all;
            chi_squared += (now - expected).powi(2) / expected * all / of_before;
        }
        let by_chance =
            chi_squared_quantile(BEYOND_CHANCE, degrees) * (1.0 / of_now + 1.0 / of_before);
        Some(Self {
            psi,
            js: (divergence / LN_2).clamp(0.0, 1.0).sqrt(),
            psi_by_chance: by_chance,
            js_by_chance: (by_chance / (8.0 * LN_2)).min(1.0).sqrt(),
            p: chi_squared_tail(chi_squared, degrees),
        })
    }
}

/// A term of the divergence of `p` from the middle of both.
fn information(p: f64, q: f64) -> f64 {
    if p > 0.0 {
        p * (2.0 * p / (p + q)).ln()
    } else {
        0.0
    }
}

/// The groups of both windows, at least one. Those that are too small are merged, the smallest
/// first.
fn groups(now: &AnswerTally, before: &AnswerTally, is_percent: bool) -> Vec<Group> {
    let mut cells: BTreeMap<(Option<&OutcomeKey>, u8), Group> = BTreeMap::new();
    for (cell, count) in now.by_tenth(is_percent) {
        cells.entry(cell).or_default().now += count;
    }
    for (cell, count) in before.by_tenth(is_percent) {
        cells.entry(cell).or_default().before += count;
    }
    let smaller = now.answers().min(before.answers());
    let share = to_f64(smaller) / to_f64(now.answers() + before.answers());
    let is_large = |group: &Group| to_f64(group.now + group.before) * share >= EXPECTED;
    let mut sorted: Vec<Group> = cells.into_values().collect();
    sorted.sort_by_key(|group| group.now + group.before);
    let mut groups = Vec::new();
    let mut merged = Group::default();
    for group in sorted {
        if is_large(&group) && (is_large(&merged) || merged == Group::default()) {
            groups.push(group);
        } else {
            merged.now += group.now;
            merged.before += group.before;
        }
    }
    if merged != Group::default() {
        groups.push(merged);
    }
    groups
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

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
}
