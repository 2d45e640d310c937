//! The measures over small sets of answers that can be counted manually, and rules that hold for
//! all sets. `.ci/gate/check-evaluation` compares the same numbers with scikit-learn.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot make its material fails where it stands"
)]

mod agreement;
mod automation;
mod bad_input;
mod calibration;
mod certified;
mod certified_promise;
mod comparison;
mod coverage;
mod cutoffs;
mod drift;
mod drift_alarms;
mod fair_samples;
mod flips;
mod material;
mod numbers;
mod orders;
mod properties;
mod ranking;
mod requirements;
mod rightness;
mod robustness;
mod rounding;
mod scales;
