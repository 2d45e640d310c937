//! Bounds on the error of a model's probabilities, by number of outcomes.

use crate::model::{ModelTrials, TrialReport};

/// A bound on the total variation distance between the probabilities of an answer and the model's
/// own, for questions with at most `outcomes` outcomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DistanceBound {
    /// The largest number of outcomes for which the bound holds.
    pub outcomes: usize,
    /// The distance in thousandths, rounded up.
    pub thousandths: u32,
}

impl ModelTrials {
    /// The trials without a correct outcome, whose answers should be flat.
    pub fn draws(&self) -> impl Iterator<Item = &TrialReport> {
        self.reports.iter().filter(|report| report.right.is_none())
    }

    /// A bound for each number of outcomes of the trials without a correct outcome, smallest number
    /// first: the largest unread part of all trials with at most that many outcomes. A bound that
    /// holds for a larger number too is left out.
    pub fn distance_bounds(&self) -> Vec<DistanceBound> {
        let mut bounds: Vec<DistanceBound> = Vec::new();
        for draw in self.draws() {
            let reports = self.reports.iter();
            let smaller = reports.filter(|report| report.outcomes <= draw.outcomes);
            let Some(unread) = smaller.filter_map(|report| report.unread).max() else {
                continue;
            };
            let bound = DistanceBound {
                outcomes: draw.outcomes,
                thousandths: unread.millionths().div_ceil(1_000),
            };
            bounds.retain(|smaller| smaller.thousandths != bound.thousandths);
            bounds.push(bound);
        }
        bounds
    }
}
