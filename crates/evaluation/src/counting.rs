//! Counts over stored answers: the values in a lens's columns, and the changes that another lens or
//! other cutoffs would make, without asking a model.

pub mod column_tally;
pub mod cutoff_reach;
pub mod cutoff_steps;
pub mod lens_preview;
pub mod nearest_changes;
pub mod percent_histogram;
pub mod review_order;

pub use self::column_tally::{ColumnSummary, ColumnTally, ValueCount};
pub use self::cutoff_reach::{CutoffName, CutoffReach, UnreachableCutoff};
pub use self::cutoff_steps::{CutoffStep, CutoffSteps};
pub use self::lens_preview::{CellPair, ColumnPreview, LabelMoves, LensPreview};
pub use self::nearest_changes::{NearestChanges, PercentSample};
pub use self::percent_histogram::{LabelCounts, PercentCutoffs, PercentHistogram};
pub use self::review_order::{ReviewOrder, confidence_of, least_confidence, least_sure};
