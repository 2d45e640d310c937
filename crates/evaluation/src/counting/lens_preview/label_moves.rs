//! What moving the cutoffs of one label column would change, whatever percent they are moved to.

use refract_domain::answer::probability::Probability;
use refract_domain::lens::cutoffs::YesNoLabel;

use crate::counting::percent_cutoffs::PercentCutoffs;
use crate::counting::percent_histogram::{LabelCounts, PercentHistogram};

/// Counts of one label column of a draft, by the percent of the stored probability, from which the
/// number of changed cells and results follows for every place of the column's cutoffs. What the
/// draft's other columns show is taken as it is.
#[derive(Clone, Debug, Default)]
pub struct LabelMoves {
    /// All probabilities that the column labels.
    pub probabilities: PercentHistogram,
    /// Those of the cells that can stay as they are, by the label that is shown now.
    pub now: NowLabels,
    /// Those of `now` whose results no other column changes.
    pub alone: NowLabels,
    /// Cells that change wherever the cutoffs are, because no label is shown in their place now.
    pub always_changed_cells: u64,
    /// Results that change wherever the cutoffs are, in this column or in another.
    pub always_changed_results: u64,
}

/// Probabilities by the label that they have now.
#[derive(Clone, Debug, Default)]
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
    /// The label that is shown now; `None` where the current lens shows none here.
    pub(super) now: Option<YesNoLabel>,
    /// Whether the draft shows something else here.
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

    /// How many results would have which label with the column's cutoffs here.
    pub fn labels(&self, cutoffs: PercentCutoffs) -> LabelCounts {
        self.probabilities.labels(cutoffs)
    }

    /// How many of the column's cells would change with its cutoffs here.
    pub fn changed_cells(&self, cutoffs: PercentCutoffs) -> u64 {
        self.always_changed_cells + self.now.changed(cutoffs)
    }

    /// How many results the draft would change with the column's cutoffs here.
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

    /// How many have another label with these cutoffs.
    fn changed(&self, cutoffs: PercentCutoffs) -> u64 {
        let Self { yes, unsure, no } = self;
        yes.labels(cutoffs).others(YesNoLabel::Yes)
            + unsure.labels(cutoffs).others(YesNoLabel::Unsure)
            + no.labels(cutoffs).others(YesNoLabel::No)
    }
}
