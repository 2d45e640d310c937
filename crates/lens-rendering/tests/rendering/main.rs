//! The exact bytes of each format: sections 2.4, 2.5, 2.6 and 4.0 of the specification. Snapshots are
//! renewed with `INSTA_UPDATE=always`.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests fail where they stand"
)]

mod envelope;
mod events;
mod flips;
mod formats;
mod json_oracle;
mod marks;
mod outputs;
mod properties;
mod raw_results;
mod rows;
mod sample;
mod writing;
