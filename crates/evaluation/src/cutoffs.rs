//! Cutoffs that reach a goal, and their quality on held-out rows.

pub mod advice;
pub mod certificate;
pub(crate) mod choice;
pub mod exact_binomial;
pub(crate) mod folds;
pub mod promise;
pub(crate) mod spending;
pub mod trial;

pub use self::advice::{CutoffAdvice, CutoffGoal, FEW_MARKS};
pub use self::certificate::{Certificate, Certification, CertifiedRegion};
pub(crate) use self::choice::Target;
pub use self::exact_binomial::probability_of_at_most;
pub(crate) use self::folds::{Folds, PercentCounts};
pub use self::promise::{CertifiedCutoffs, CertifiedGoal};
pub(crate) use self::spending::{by_confidence, by_probability};
pub use self::trial::{CutoffMeasures, PercentMeasures};
