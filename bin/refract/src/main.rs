//! Refract: answers typed questions about a text, with probabilities and a memory.
//!
//! The program joins the crates; every command is a thin call into the crates below.

mod api_url;
mod app_settings;
mod arguments;
mod build_info;
mod commands;
mod log_settings;
mod metrics;
mod output;
mod output_file;
mod settings;
mod suggestion;
mod telemetry;
mod terminal;
mod unknown_variables;
mod wrong_usage;

use std::process::ExitCode;

use actix_web::rt::System;
use anyhow::Context as _;

use crate::commands::Program;

/// Calls make many small allocations on many threads, which jemalloc serves best: see ADR 4.
#[cfg(all(feature = "jemalloc", not(target_env = "msvc")))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    let program = match Program::read(std::env::args_os()) {
        Ok(program) => program,
        Err(error) => return wrong_usage::report(error),
    };
    match run(program) {
        Ok(code) => code,
        Err(error) if output::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => output::fail(&error),
    }
}

fn run(program: Program) -> anyhow::Result<ExitCode> {
    telemetry::start(&program.log, program.default_log())?;
    unknown_variables::warn(&commands::setting_variables());
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    // database connections live on this runtime; HTTP workers have runtimes of their own
    let system = System::with_tokio_rt(|| runtime);
    system.block_on(program.run())
}
