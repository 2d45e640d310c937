//! Refract: answers typed questions about a text, with probabilities and a memory.
//!
//! The binary combines the crates: the commands of the terminal, and those that serve API and app.

mod build_info;
mod commands;
mod listeners;

use std::process::ExitCode;

use actix_web::rt::System;
use anyhow::Context as _;
use clap::CommandFactory as _;
use refract_terminal::{command_line, output, telemetry};

use crate::commands::Program;

/// Calls make many small allocations on many threads, which jemalloc serves best: see ADR 4.
#[cfg(all(feature = "jemalloc", not(target_env = "msvc")))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    match command_line::read(std::env::args_os()) {
        Ok(program) => output::exit_code(run(program)),
        Err(error) => command_line::report_wrong_usage(Program::command(), error),
    }
}

fn run(program: Program) -> anyhow::Result<ExitCode> {
    telemetry::start(&program.log, program.default_log())?;
    command_line::warn_of_unknown_variables(&Program::command());
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    // database connections use this runtime; each HTTP worker has its own
    let system = System::with_tokio_rt(|| runtime);
    system.block_on(program.run())
}
