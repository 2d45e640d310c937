//! Regions of answers that would be automatic, from all answers down to the surest ones. Each is
//! part of the one before it.

use std::cmp::Ordering;

use crate::cutoffs::folds::PercentCounts;
use crate::cutoffs::promise::CertifiedCutoffs;
use crate::measures::proportion::Proportion;

/// The marks outside a region, next to its border, that show how often answers are wrong there.
const BESIDE: u64 = 20;
/// The whole percent at which both cutoffs of a Yes / No question begin.
const MIDDLE: u32 = 50;
/// The lowest `no_below` in whole percents: a lens cannot express a lower one.
const LOWEST: u32 = 1;
/// The highest `yes_from` in whole percents.
const HIGHEST: u32 = 100;

/// The marked answers that are automatic at some cutoffs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AutomaticRegion {
    /// The cutoffs.
    pub(crate) cutoffs: CertifiedCutoffs,
    /// Wrong ones of the automatic answers.
    pub(crate) wrong: Proportion,
    /// Wrong ones of the answers that were left out last.
    pub(crate) beside: Proportion,
}

/// The regions at each whole percent of confidence, from 0 on. `counts` has the right answers by
/// confidence.
pub(crate) fn by_confidence(counts: &PercentCounts) -> Vec<AutomaticRegion> {
    let wrong_from = |percent| counts.from(percent).others();
    let region = |percent| AutomaticRegion {
        cutoffs: CertifiedCutoffs::Confidence(percent),
        wrong: wrong_from(percent),
        beside: beside((0..percent).rev().map(wrong_from), wrong_from(percent)),
    };
    (0..=100).map(region).collect()
}

/// The regions of a Yes / No question, from no below and yes from 50 percent on. `counts` has those
/// marked yes by the probability of yes.
///
/// Each region is one percent smaller at one cutoff: at the one beside which more of the answers
/// that were left out last were wrong, so that a model whose yes is worse than its no gets an
/// uneven pair of cutoffs. Without such answers, a cutoff counts as wrong in half of them.
pub(crate) fn by_probability(counts: &PercentCounts) -> Vec<AutomaticRegion> {
    let wrong_no = |percent| counts.below(percent);
    let wrong_yes = |percent| counts.from(percent).others();
    let (mut no_below, mut yes_from) = (MIDDLE, MIDDLE);
    let mut regions = Vec::new();
    loop {
        let beside_no = beside((no_below + 1..=MIDDLE).map(wrong_no), wrong_no(no_below));
        let beside_yes = beside((MIDDLE..yes_from).rev().map(wrong_yes), wrong_yes(yes_from));
        let mut wrong = wrong_no(no_below);
        wrong += wrong_yes(yes_from);
        let mut beside = beside_no;
        beside += beside_yes;
        regions.push(AutomaticRegion {
            cutoffs: CertifiedCutoffs::YesNo { no_below, yes_from },
            wrong,
            beside,
        });
        let no_is_worse = match compare_smoothed(beside_no, beside_yes) {
            Ordering::Greater => true,
            Ordering::Less => false,
            Ordering::Equal => MIDDLE - no_below <= yes_from - MIDDLE,
        };
        if no_below > LOWEST && (no_is_worse || yes_from == HIGHEST) {
            no_below -= 1;
        } else if yes_from < HIGHEST {
            yes_from += 1;
        } else {
            return regions;
        }
    }
}

/// The wrong answers just outside a region: those of the smallest of the `wider` regions, from the
/// next wider one on, that has at least [`BESIDE`] more answers than the region `within`.
fn beside(wider: impl Iterator<Item = Proportion>, within: Proportion) -> Proportion {
    let mut outside = Proportion::default();
    for wider in wider {
        outside = Proportion {
            count: wider.count - within.count,
            of: wider.of - within.of,
        };
        if outside.of >= BESIDE {
            break;
        }
    }
    outside
}

/// Compares two shares exactly, each with one more row that counts and one that does not.
fn compare_smoothed(one: Proportion, other: Proportion) -> Ordering {
    let product = |a: Proportion, b: Proportion| u128::from(a.count + 1) * u128::from(b.of + 2);
    product(one, other).cmp(&product(other, one))
}
