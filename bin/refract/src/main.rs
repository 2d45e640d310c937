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
    match command_line::read(&line) {
        Ok(program) => output::exit_code(run(program)),
        Err(error) => command_line::report_wrong_usage(Program::command(), &line, error),
    }
}

fn run(program: Program) -> anyhow::Result<ExitCode> {
    telemetry::start(program.log(), program.default_log())?;
    command_line::warn_of_unknown_variables(&Program::command());
    refract::block_on(program.run())
}
