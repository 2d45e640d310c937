//! Finds the widest region of automatic answers whose error is certified, and how many marks would
//! certify one. Each region, from all answers down to the surest ones, is part of the one before it.
//!
//! The regions are tested from the widest to the narrowest, each at a part of the level that is
//! spent by then. What a test may spend depends on the answers *outside* its region and on how many
//! are inside, never on which of those are wrong. Given all that, the answers inside are an
//! independent random sample of the region, so that the number of wrong ones is binomial with the
//! region's true error, and the test of "the error is above the goal" is exact. A wrong certificate
//! needs a region above the goal whose test fails to say so; the probabilities of this add up to at
//! most what is spent, which is at most the level. No shape of the scores is assumed: surer answers
//! may even be wrong more often.
//!
//! Sources: spending a level over tests: K. K. G. Lan and D. L. DeMets, "Discrete sequential
//! boundaries for clinical trials", Biometrika 70 (1983). Deciding what to test next by the outside
//! alone: L. Lei and W. Fithian, "AdaPT: an interactive procedure for multiple testing with side
//! information", Journal of the Royal Statistical Society B 80 (2018). Cutoffs with a promised error
//! as tests of it: A. N. Angelopoulos, S. Bates, E. J. Candès, M. I. Jordan and L. Lei, "Learn then
//! test: calibrating predictive algorithms to achieve risk control" (2021).

use std::cmp::Ordering;

use refract_domain::lens::Cutoffs;

use crate::cutoffs::choice::PercentCounts;
use crate::cutoffs::exact_binomial::{fewest_without_wrong, probability_of_at_most};
use crate::measures::{Proportion, to_f64};

/// A test spends one in this many parts of what is left of the level.
const PARTS: f64 = 3.0;
/// A region with more than this share, in tenths, of the answers of another one is similar to it: to
/// test both would spend twice for almost the same answers.
const SIMILAR_TENTHS: u64 = 9;
/// A region beside which answers are wrong this many times as often as the goal allows is not
/// tested: a narrower one is better. Where many answers share one score, those beside it say nothing
/// about the next score, and it is tested.
const HOPELESS: f64 = 2.0;
/// The fewest answers beside a region that show this.
const TELLING: u64 = 10;
/// The number of marks up to which it is tried whether so many would certify a region.
const MOST_MARKS: u64 = 20_000;
/// Marks that are needed are counted in tens.
const TENS: u64 = 10;

/// A region whose error is certified.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PassedTest {
    /// The region.
    pub(crate) region: AutomaticRegion,
    /// The level at which the region was tested.
    pub(crate) level: f64,
}

/// Marks that are imagined: as many times as many as there are.
#[derive(Clone, Copy)]
struct MoreMarks {
    total: u64,
    now: u64,
}

/// The widest of the regions that is certified.
pub(crate) fn widest_certified(
    regions: &[AutomaticRegion],
    goal: CertifiedGoal,
) -> Option<PassedTest> {
    search(regions, goal, |wrong| wrong)
}

/// The number of further marks with which a region would be certified if the shares of wrong answers
/// stay as they are; `None` if no number of up to [`MOST_MARKS`] would do.
///
/// Regions of fewer than [`TELLING`] answers are left out: nearly all of them are right by chance.
pub(crate) fn more_marks(
    regions: &[AutomaticRegion],
    marks: u64,
    goal: CertifiedGoal,
) -> Option<u64> {
    if marks == 0 {
        return Some(fewest_without_wrong(goal.error(), goal.level()));
    }
    let widest = regions.first()?.wrong.of;
    let is_telling = |region: &&AutomaticRegion| region.wrong.of >= TELLING.min(widest);
    let regions: Vec<AutomaticRegion> = regions.iter().filter(is_telling).copied().collect();
    let mut more = TENS;
    while marks + more <= MOST_MARKS {
        let imagined = MoreMarks {
            total: marks + more,
            now: marks,
        };
        if search(&regions, goal, |wrong| imagined.of(wrong)).is_some() {
            return Some(more);
        }
        more += TENS + more / 20 / TENS * TENS;
    }
    None
}

/// Tests the regions in order; `marks` says how many of their answers are wrong.
fn search(
    regions: &[AutomaticRegion],
    goal: CertifiedGoal,
    marks: impl Fn(Proportion) -> Proportion,
) -> Option<PassedTest> {
    let mut left = goal.level();
    let mut last_tested: Option<u64> = None;
    let mut last_listed: Option<u64> = None;
    for region in regions {
        let wrong = marks(region.wrong);
        let is_similar = |other: u64| wrong.of * 10 > other * SIMILAR_TENTHS;
        let is_next_step = last_listed.replace(wrong.of).is_some_and(is_similar);
        if last_tested.is_some_and(is_similar) {
            continue;
        }
        let can_pass = |level| probability_of_at_most(0, wrong.of, goal.error()) <= level;
        if !can_pass(left) {
            return None;
        }
        // where a part of the level is too little for even no wrong answer, this is the last test
        let is_last = !can_pass(left / PARTS);
        if !is_last && is_next_step && is_hopeless(region.beside, goal) {
            continue;
        }
        let level = if is_last { left } else { left / PARTS };
        if probability_of_at_most(wrong.count, wrong.of, goal.error()) <= level {
            let region = *region;
            return Some(PassedTest { region, level });
        }
        left -= level;
        last_tested = Some(wrong.of);
    }
    None
}

/// Whether the answers beside a region are wrong so often that a narrower one is better.
fn is_hopeless(beside: Proportion, goal: CertifiedGoal) -> bool {
    let most = HOPELESS * goal.error() * to_f64(beside.of);
    beside.of >= TELLING && to_f64(beside.count) > most
}

impl MoreMarks {
    /// What would be counted: rows are rounded down and wrong ones up.
    fn of(self, now: Proportion) -> Proportion {
        Proportion {
            count: (now.count * self.total).div_ceil(self.now),
            of: now.of * self.total / self.now,
        }
    }
}

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

/// The promise that certified cutoffs make.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CertifiedGoal {
    error: f64,
    sure: f64,
}

/// The cutoffs that decide which answers are automatic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CertifiedCutoffs {
    /// The cutoffs of a Yes / No question in whole percents.
    YesNo {
        /// The percent below which the answer is no, 1 to 50.
        no_below: u32,
        /// The percent from which the answer is yes, 50 to 100. If it equals `no_below`, there is
        /// no `unsure`.
        yes_from: u32,
    },
    /// The confidence in whole percents, 0 to 100, from which the answer to a choice or scale is
    /// automatic: Refract's own
    /// ([`confidence`](refract_domain::answer::confidence)).
    Confidence(u32),
}

impl CertifiedCutoffs {
    /// The cutoffs for a lens; `None` for a confidence, which no lens has.
    pub fn cutoffs(self) -> Option<Cutoffs> {
        let share = |percent| f64::from(percent) / 100.0;
        match self {
            Self::Confidence(_) => None,
            Self::YesNo { no_below, yes_from } => {
                let yes_from = (yes_from > no_below).then(|| share(yes_from));
                Cutoffs::new(Some(share(no_below)), yes_from).ok()
            }
        }
    }
}

impl CertifiedGoal {
    /// At most the share `error` of automatic answers is wrong, with at least the probability `sure`.
    /// `None` unless both are above 0 and below 1.
    pub fn new(error: f64, sure: f64) -> Option<Self> {
        let is_share = |share: f64| share > 0.0 && share < 1.0;
        (is_share(error) && is_share(sure)).then_some(Self { error, sure })
    }

    /// The largest share of wrong answers among the automatic ones.
    pub fn error(self) -> f64 {
        self.error
    }

    /// The least probability, over the drawing of the marks, that the promise holds.
    pub fn sure(self) -> f64 {
        self.sure
    }

    /// The largest probability of a wrong certificate.
    pub(crate) fn level(self) -> f64 {
        1.0 - self.sure
    }
}
