//! Black-box tests of the built program, for what needs a process: signals, logs, exit statuses,
//! settings, terminals, traces, faults and load. Every test has its own database and scripted model
//! server. One program, since each that is linked holds the whole product.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets the unexpected ends there"
)]

mod account_import_kills;
mod app_logs;
mod bounds;
mod check_errors;
mod collector;
mod command_line;
mod connections;
mod database_files;
mod demo;
mod endurance;
mod evaluate;
mod exports;
mod faults;
mod lifecycle;
mod logs;
mod migrate;
mod model_check_failures;
mod model_servers;
mod operations;
mod program;
mod proxies;
mod results;
mod retention;
mod retest_stops;
mod rolling;
mod run_files;
mod run_stops;
mod secret_files;
mod settings;
mod settings_file;
mod sign_in;
mod terminal;
mod terminal_escapes;
mod tour;
mod traces;
mod traces_settings;
mod try_text;

/// A behaviour starts a service of its own.
use std::future::ready as on;
