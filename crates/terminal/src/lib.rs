//! The terminal of Refract: its commands, what they share, and the settings.
//!
//! A command parses its arguments, calls a use case and prints the outcome. The binary adds the
//! commands that serve: this crate knows neither the HTTP servers nor the tables of the database.

pub mod arguments;
pub mod command_line;
mod commands;
mod first_steps;
pub mod output;
pub mod settings;
mod settings_file;
pub mod streams;
mod suggestion;
pub mod telemetry;
mod terminal;

pub use commands::context::{open_for_demo, open_when_up};
pub use commands::signals::{StopSignals, survive_file_size_limit};
pub use commands::{TerminalCommand, demo};
pub use first_steps::report_first_steps;
