//! The program `refract`.

use std::process::ExitCode;

use clap::CommandFactory as _;
use refract::Program;
use refract_terminal::{command_line, output, telemetry};

/// Calls make many small allocations on many threads, which jemalloc serves best: see ADR 4.
#[cfg(feature = "jemalloc")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    let line: Vec<_> = std::env::args_os().collect();
    let loaded = command_line::load_settings_file(&line, &Program::command());
    match (command_line::read(&line), loaded) {
        (Ok(program), Ok(())) => output::exit_code(run(program)),
        (Err(error), Ok(())) => command_line::report_wrong_usage(Program::command(), &line, error),
        // help and the version need no settings
        (Err(help), Err(_)) if !help.use_stderr() => {
            command_line::report_wrong_usage(Program::command(), &line, help)
        }
        (_, Err(error)) => output::exit_code(Err(error.into())),
    }
}

fn run(program: Program) -> anyhow::Result<ExitCode> {
    telemetry::start(program.log(), program.default_log())?;
    command_line::warn_of_unknown_variables(&Program::command());
    command_line::warn_of_exposed_secrets();
    refract::block_on(program.run())
}
