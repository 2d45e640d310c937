//! The terminal of Refract: its commands, what they share, and the arguments that are settings.
//!
//! A command reads its arguments, calls a use case and draws what came of it. The program adds the
//! commands that serve: this crate knows no HTTP server, and no table of the database.

pub mod arguments;
pub mod command_line;
mod commands;
pub mod output;
pub mod settings;
mod suggestion;
pub mod telemetry;
mod terminal;

pub use commands::operator::{open_or_create, open_when_up};
pub use commands::signals::{StopSignals, survive_file_size_limit};
pub use commands::{TerminalCommand, demo};
