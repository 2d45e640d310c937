//! `refract help`: the help of a command.

use std::process::ExitCode;

use clap::Args;

use super::Program;
use crate::output;

/// Arguments of `refract help`.
#[derive(Args)]
pub(crate) struct HelpCommand {
    /// The command, such as `run` or `results export` [default: all of them]
    command: Vec<String>,
}

impl HelpCommand {
    /// Runs `refract help`: prints what `--help` after the command prints.
    pub(crate) fn run(&self) -> ExitCode {
        let command = self.command.iter().map(String::as_str);
        let asked = ["refract"].into_iter().chain(command).chain(["--help"]);
        match Program::read(asked) {
            // not reached: `--help` always ends the parsing
            Ok(_) => ExitCode::SUCCESS,
            Err(help) => output::wrong_usage(&help),
        }
    }
}
