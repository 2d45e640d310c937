//! The effect of moving the cutoffs of one label column to any whole percent.

use refract_domain::answer::probability::Probability;
use refract_domain::lens::cutoffs::YesNoLabel;

use crate::counting::percent_cutoffs::PercentCutoffs;
use crate::counting::percent_histogram::{LabelCounts, PercentHistogram};

/// Counts of one label column of a draft lens, by percent of the stored probability. They give the
/// number of changed cells and results for any position of the column's cutoffs, with the draft's
/// other columns unchanged.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct LabelMoves {
    /// All probabilities behind the column's labels.
    pub probabilities: PercentHistogram,
    /// Probabilities of the cells that keep their value at some cutoffs, by the current label.
    pub now: NowLabels,
    /// The part of `now` in results that no other column changes.
    pub alone: NowLabels,
    /// Cells that change at any cutoffs, because the current lens shows no label there.
    pub always_changed_cells: u64,
    /// Results that change at any cutoffs, in this column or in another.
    pub always_changed_results: u64,
}

/// Probabilities by current label.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct NowLabels {
    /// Probabilities of results that are `yes` now.
    pub yes: PercentHistogram,
    /// Probabilities of results that are `unsure` now.
    pub unsure: PercentHistogram,
    /// Probabilities of results that are `no` now.
    pub no: PercentHistogram,
}

/// A cell of a label column.
#[derive(Clone, Copy)]
pub(super) struct LabelCell {
    /// The stored probability; `None` for an empty cell.
    pub(super) probability: Option<Probability>,
    /// The current label; `None` when the current lens shows no label in this cell.
    pub(super) now: Option<YesNoLabel>,
    /// Whether the draft changes this cell.
    pub(super) is_changed: bool,
    /// Whether the draft changes another column of the result.
    pub(super) is_changed_elsewhere: bool,
}

impl LabelMoves {
    pub(super) fn add(&mut self, cell: LabelCell) {
        if let Some(probability) = cell.probability {
            self.probabilities.add(probability);
        }
        let Some((probability, now)) = cell.probability.zip(cell.now) else {
            let is_changed = cell.is_changed || cell.is_changed_elsewhere;
            self.always_changed_cells += u64::from(cell.is_changed);
            self.always_changed_results += u64::from(is_changed);
            return;
        };
        self.now.add(now, probability);
        if cell.is_changed_elsewhere {
            self.always_changed_results += 1;
        } else {
            self.alone.add(now, probability);
        }
    }

    /// Number of results with each label when the column has these cutoffs.
    pub fn labels(&self, cutoffs: PercentCutoffs) -> LabelCounts {
        self.probabilities.labels(cutoffs)
    }

    /// Number of the column's cells that change when it has these cutoffs.
    pub fn changed_cells(&self, cutoffs: PercentCutoffs) -> u64 {
        self.always_changed_cells + self.now.changed(cutoffs)
    }

    /// Number of results that the draft changes when the column has these cutoffs.
    pub fn changed_results(&self, cutoffs: PercentCutoffs) -> u64 {
        self.always_changed_results + self.alone.changed(cutoffs)
    }
}

impl NowLabels {
    fn add(&mut self, now: YesNoLabel, probability: Probability) {
        let histogram = match now {
            YesNoLabel::Yes => &mut self.yes,
            YesNoLabel::Unsure => &mut self.unsure,
            YesNoLabel::No => &mut self.no,
        };
        histogram.add(probability);
    }

    /// Number of probabilities whose label changes with these cutoffs.
    fn changed(&self, cutoffs: PercentCutoffs) -> u64 {
        let Self { yes, unsure, no } = self;
        yes.labels(cutoffs).others(YesNoLabel::Yes)
            + unsure.labels(cutoffs).others(YesNoLabel::Unsure)
            + no.labels(cutoffs).others(YesNoLabel::No)
    }
}
