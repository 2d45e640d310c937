//! The groups in which the probabilities of two windows are compared.
//!
//! Answers are grouped by outcome and tenth of its probability. A group in which few are expected is
//! pooled with its neighbours until enough are: how many there are in both windows together decides,
//! never how they are divided, so that pooling makes no difference where there is none.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use crate::drift::result_tally::AnswerTally;
use crate::measures::to_f64;

/// The fewest answers that each window has to be expected in a group; smaller groups are pooled,
/// since the chi-squared distribution does not describe them.
const EXPECTED: f64 = 10.0;

/// Counts of a group in both windows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct AnswerGroup {
    pub(crate) now: u64,
    pub(crate) before: u64,
}

impl AnswerGroup {
    fn all(self) -> u64 {
        self.now + self.before
    }

    /// The answers that the smaller window has in this group if nothing changed, where both have
    /// `of` answers.
    fn expected(self, of: Self) -> f64 {
        to_f64(self.all()) * to_f64(of.now.min(of.before)) / to_f64(of.all())
    }

    /// Whether enough answers are expected in the group.
    pub(crate) fn is_large(self, of: Self) -> bool {
        self.expected(of) >= EXPECTED
    }
}

impl AddAssign for AnswerGroup {
    fn add_assign(&mut self, other: Self) {
        self.now += other.now;
        self.before += other.before;
    }
}

/// The ways to group the answers of both windows: small groups are pooled with those of their
/// outcome, which tells outcomes apart, and with those of their tenth, which tells tenths apart. One
/// way if both come to the same, none if a window has fewer answers than are to be expected in a group.
///
/// A group is small only if there are two and no third. There is one group only if all answers are
/// alike.
pub(crate) fn groupings(
    now: &AnswerTally,
    before: &AnswerTally,
    is_percent: bool,
) -> Vec<Vec<AnswerGroup>> {
    let of = AnswerGroup {
        now: now.answers(),
        before: before.answers(),
    };
    let mut by_outcome: BTreeMap<_, AnswerGroup> = BTreeMap::new();
    for (cell, now) in now.by_tenth(is_percent) {
        *by_outcome.entry(cell).or_default() += AnswerGroup { now, before: 0 };
    }
    for (cell, before) in before.by_tenth(is_percent) {
        *by_outcome.entry(cell).or_default() += AnswerGroup { now: 0, before };
    }
    let cells = by_outcome.iter();
    let by_tenth = cells.map(|((outcome, tenth), group)| ((*tenth, *outcome), *group));
    let by_tenth: BTreeMap<_, AnswerGroup> = by_tenth.collect();
    let is_alike = by_outcome.len() == 1;
    let mut groupings = vec![pooled(by_outcome, of), pooled(by_tenth, of)];
    groupings.dedup();
    groupings.retain(|groups| groups.len() > 1 || is_alike);
    groupings
}

/// Pools small groups with their neighbours among those that have the first part of the key in
/// common, then what is left with its neighbours among all. What is left in the end is part of the
/// smallest group if there are two without it. If the pools are fewer than two, each half of the
/// answers is one. The smallest count is first.
fn pooled<One: Ord, Other>(
    cells: BTreeMap<(One, Other), AnswerGroup>,
    of: AnswerGroup,
) -> Vec<AnswerGroup> {
    let all: Vec<AnswerGroup> = cells.values().copied().collect();
    let mut groups = Vec::new();
    let mut small: BTreeMap<One, Vec<AnswerGroup>> = BTreeMap::new();
    for ((one, _), group) in cells {
        if group.is_large(of) {
            groups.push(group);
        } else {
            small.entry(one).or_default().push(group);
        }
    }
    let alike = small.into_values();
    let left: Vec<_> = alike
        .flat_map(|alike| pool_neighbours(alike, of, &mut groups))
        .collect();
    let left = sum(&pool_neighbours(left, of, &mut groups));
    if groups.len() < 2 && of.is_large(of) && !all.iter().any(|group| group.is_large(of)) {
        groups = halves(&all, of).to_vec();
    } else if left != AnswerGroup::default() {
        groups.sort_by_key(|group| group.all());
        match groups.as_mut_slice() {
            [smallest, _, ..] => *smallest += left,
            _ => groups.push(left),
        }
    }
    groups.sort_unstable();
    groups
}

/// Adds pools of neighbours to the groups; those that are left are too small for a pool.
fn pool_neighbours(
    cells: Vec<AnswerGroup>,
    of: AnswerGroup,
    groups: &mut Vec<AnswerGroup>,
) -> Vec<AnswerGroup> {
    let mut open = Vec::new();
    for cell in cells {
        open.push(cell);
        let pool = sum(&open);
        if pool.is_large(of) {
            groups.push(pool);
            open.clear();
        }
    }
    open
}

/// The groups whose middle is in the first half of all answers, and the others.
fn halves(groups: &[AnswerGroup], of: AnswerGroup) -> [AnswerGroup; 2] {
    let (mut first, mut second) = (AnswerGroup::default(), AnswerGroup::default());
    for group in groups {
        let is_second =
            2 * first.all() + group.all() > of.all() || second != AnswerGroup::default();
        *(if is_second { &mut second } else { &mut first }) += *group;
    }
    [first, second]
}

fn sum(groups: &[AnswerGroup]) -> AnswerGroup {
    let mut sum = AnswerGroup::default();
    for group in groups {
        sum += *group;
    }
    sum
}
