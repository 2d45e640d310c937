//! Cutoffs that reach a goal, and their quality on held-out rows.

pub mod advice;
pub mod certificate;
pub(crate) mod choice;
pub mod exact_binomial;
pub(crate) mod spending;

pub use self::advice::{CutoffAdvice, CutoffGoal, FEW_MARKS};
pub use self::certificate::{
    Certificate, Certification, CertifiedRegion, CutoffMeasures, PercentMeasures,
};
pub(crate) use self::choice::{Folds, PercentCounts, Target};
pub use self::exact_binomial::probability_of_at_most;
pub use self::spending::{CertifiedCutoffs, CertifiedGoal};
pub(crate) use self::spending::{by_confidence, by_probability};
