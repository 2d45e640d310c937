//! The changed results whose probabilities lie nearest to the cutoffs of a column, and some results
//! at every percent: what a page lists under a histogram, among any number of results.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use refract_domain::answer::Probability;
use refract_domain::ids::ResultId;
use refract_domain::lens::{Cutoffs, YesNoLabel};

use crate::counting::lens_preview::CellPair;
use crate::counting::percent_histogram::PERCENTS;

/// Keeps the changed results nearest to the cutoffs of one column of a draft: first those whose cell
/// in this column changes, by the distance of their probability to the cutoff that it crosses, then those
/// that change in other columns. Newer results come first among equal ones.
pub struct NearestChanges {
    most: usize,
    /// The column's place in the draft and its cutoffs there; `None` for a draft without a column in
    /// the middle.
    column: Option<(usize, Cutoffs)>,
    /// The farthest one is on top.
    nearest: BinaryHeap<(u32, Reverse<ResultId>)>,
}

impl NearestChanges {
    /// Keeps no results yet, and later at most `most`. `column` is a column's place in the draft,
    /// with its cutoffs there.
    pub fn new(most: usize, column: Option<(usize, Cutoffs)>) -> Self {
        Self {
            most,
            column,
            nearest: BinaryHeap::new(),
        }
    }

    /// Adds a result with its cells in the draft, if the draft changes it.
    pub fn add(&mut self, id: ResultId, cells: &[CellPair<'_>]) {
        if !cells.iter().any(CellPair::is_changed) {
            return;
        }
        self.nearest.push((self.distance(cells), Reverse(id)));
        if self.nearest.len() > self.most {
            self.nearest.pop();
        }
    }

    /// The kept results, nearest first.
    pub fn into_ids(self) -> Vec<ResultId> {
        let sorted = self.nearest.into_sorted_vec().into_iter();
        sorted.map(|(_, Reverse(id))| id).collect()
    }

    fn distance(&self, cells: &[CellPair<'_>]) -> u32 {
        let in_column = self.column.and_then(|(place, cutoffs)| {
            let cell = cells.get(place).filter(|cell| cell.is_changed())?;
            distance_to_crossed(cell, cutoffs)
        });
        in_column.unwrap_or(u32::MAX)
    }
}

/// How far a changed label's probability is from the nearer of the cutoffs that lie between the label
/// now and the new one, in millionths.
fn distance_to_crossed(cell: &CellPair<'_>, cutoffs: Cutoffs) -> Option<u32> {
    let probability = cell.probability?.millionths();
    let (now, new) = (cell.before?.yes_no()?, cell.after.yes_no()?);
    let is_crossed = |label: YesNoLabel| (now == label) != (new == label);
    let ends = [
        (YesNoLabel::No, cutoffs.no_ends_at()),
        (YesNoLabel::Yes, cutoffs.yes_begins_at()),
    ];
    let crossed = ends.into_iter().filter(|(label, _)| is_crossed(*label));
    let distances = crossed.map(|(_, cutoff)| cutoff.millionths().abs_diff(probability));
    distances.min()
}

/// Keeps the first results that are added at each whole percent of probability.
pub struct PercentSample {
    most: usize,
    results: [Vec<ResultId>; PERCENTS],
}

impl PercentSample {
    /// Keeps no results yet, and later at most `most` at each percent.
    pub fn new(most: usize) -> Self {
        Self {
            most,
            results: std::array::from_fn(|_| Vec::new()),
        }
    }

    /// Adds a result with its probability.
    pub fn add(&mut self, id: ResultId, probability: Probability) {
        let place = usize::from(probability.percent());
        if let Some(kept) = self
            .results
            .get_mut(place)
            .filter(|it| it.len() < self.most)
        {
            kept.push(id);
        }
    }

    /// The kept results, in the order of their percents.
    pub fn into_ids(self) -> Vec<ResultId> {
        self.results.into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use refract_domain::lens::Value;

    use super::*;

    fn id(number: u8) -> ResultId {
        ResultId::parse(&format!("00000000-0000-0000-0000-0000000000{number:02}")).unwrap()
    }

    fn cell(probability: f64, now: YesNoLabel, cutoffs: Cutoffs) -> CellPair<'static> {
        let probability = Probability::from_f64(probability).unwrap();
        CellPair {
            before: Some(Value::YesNo(now)),
            after: Value::YesNo(cutoffs.label(probability)),
            probability: Some(probability),
        }
    }

    #[test]
    fn the_nearest_changes_come_first_and_newer_ones_among_equals() {
        let cutoffs = Cutoffs::new(Some(0.3), Some(0.7)).unwrap();
        let mut nearest = NearestChanges::new(4, Some((1, cutoffs)));
        let other = |is_changed: bool| {
            let label = Cutoffs::AUTOMATIC;
            let now = if is_changed {
                YesNoLabel::Yes
            } else {
                YesNoLabel::No
            };
            cell(0.1, now, label)
        };
        for (number, probability, now, elsewhere) in [
            (1, 0.31, YesNoLabel::No, false),
            (2, 0.5, YesNoLabel::No, false),
            (3, 0.69, YesNoLabel::Yes, false),
            (4, 0.9, YesNoLabel::Yes, true),
            (5, 0.3, YesNoLabel::Unsure, false),
            (6, 0.9, YesNoLabel::Yes, true),
            (7, 0.699_999, YesNoLabel::Yes, false),
        ] {
            let cells = [other(elsewhere), cell(probability, now, cutoffs)];
            nearest.add(id(number), &cells);
        }
        assert_eq!(nearest.into_ids(), [id(7), id(3), id(1), id(2)]);
    }

    #[test]
    fn changes_of_other_columns_come_last() {
        let cutoffs = Cutoffs::AUTOMATIC;
        let changed = cell(0.1, YesNoLabel::Yes, cutoffs);
        let unchanged = cell(0.9, YesNoLabel::Yes, cutoffs);
        let mut nearest = NearestChanges::new(9, Some((1, cutoffs)));
        nearest.add(id(3), &[changed, unchanged]);
        nearest.add(id(1), &[unchanged, changed]);
        nearest.add(id(2), &[unchanged, unchanged]);
        assert_eq!(nearest.into_ids(), [id(1), id(3)]);
    }

    #[test]
    fn a_sample_has_some_of_every_percent() {
        let mut sample = PercentSample::new(2);
        for (number, probability) in [(1, 0.5), (2, 0.409), (3, 0.401), (4, 0.4), (5, 1.0)] {
            sample.add(id(number), Probability::from_f64(probability).unwrap());
        }
        assert_eq!(sample.into_ids(), [id(2), id(3), id(1), id(5)]);
    }
}
