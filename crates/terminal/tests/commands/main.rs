//! The commands as operators use them: arguments in; output, exit status and changed data out. Every
//! test has its own service, and its commands run in the test's process.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets the unexpected ends there"
)]

mod account_transfer;
mod apply;
mod automation;
mod check_robustness;
mod commands;
mod compare;
mod deletions;
mod evaluate;
mod evaluate_advice;
mod evaluate_certified;
mod evaluate_reports;
mod events;
mod events_of_commands;
mod events_of_runs;
mod exports;
mod keys;
mod lens_work;
mod marks;
mod marks_errors;
mod model_check;
mod model_check_failures;
mod model_check_long_text;
mod model_detect;
mod model_settings;
mod model_sizes;
mod output_files;
mod person;
mod prism_lint;
mod results;
mod retest;
mod runs;
mod try_text;
mod unmigrated;
mod unread;
mod usage;
mod watch;

/// A behaviour starts a service of its own.
use std::future::ready as on;
