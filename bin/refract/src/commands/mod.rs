//! The commands: what may be said to the program, and which room carries it out.

mod account;
mod backup;
mod demo;
mod key;
mod lens;
mod migrate;
mod model;
mod operator;
mod prism;
mod serve;
mod try_text;

use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, Parser, Subcommand};

use crate::settings::{DatabaseArgs, LogSettings};

/// Answers typed questions about a text, with probabilities and a memory
#[derive(Parser)]
#[command(name = "refract", version, disable_help_subcommand = true)]
pub(crate) struct Program {
    #[command(flatten)]
    database: DatabaseArgs,

    #[command(flatten)]
    pub(crate) log: LogSettings,

    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs the API until SIGTERM or SIGINT
    Serve(serve::ServeCommand),
    /// Shows the main job with nothing to set up: a prism, a key, one real call
    Demo(demo::DemoCommand),
    /// Brings the database up to date
    Migrate,
    /// Copies the SQLite file while it is in use
    Backup(backup::BackupCommand),
    /// Asks the configured model what it can do
    #[command(subcommand)]
    Model(model::ModelCommand),
    /// Makes and lists accounts
    #[command(subcommand)]
    Account(account::AccountCommand),
    /// Makes, lists and revokes API keys
    #[command(subcommand)]
    Key(key::KeyCommand),
    /// Makes, saves and shows prisms
    #[command(subcommand)]
    Prism(prism::PrismCommand),
    /// Shows and changes the lens of a prism
    #[command(subcommand)]
    Lens(lens::LensCommand),
    /// Answers one text, saves the result and prints it
    Try(try_text::TryCommand),
}

impl Program {
    /// The log filter where none was given. Only a server has a log to keep: the demo shows its
    /// answers and nothing between them, a migration says for what it waits, the other commands
    /// say themselves what failed, once.
    pub(crate) fn default_log(&self) -> &'static str {
        match self.command {
            Command::Serve(_) => "info",
            Command::Demo(_) | Command::Migrate => "warn",
            Command::Backup(_)
            | Command::Model(_)
            | Command::Account(_)
            | Command::Key(_)
            | Command::Prism(_)
            | Command::Lens(_)
            | Command::Try(_) => "error",
        }
    }

    /// Carries the command out.
    pub(crate) async fn run(self) -> anyhow::Result<ExitCode> {
        let database = &self.database;
        match self.command {
            Command::Serve(command) => return command.run(database).await,
            Command::Demo(command) => return command.run().await,
            Command::Migrate => migrate::run(database).await?,
            Command::Backup(command) => command.run(database).await?,
            Command::Model(command) => command.run().await?,
            Command::Account(command) => command.run(database).await?,
            Command::Key(command) => command.run(database).await?,
            Command::Prism(command) => command.run(database).await?,
            Command::Lens(command) => command.run(database).await?,
            Command::Try(command) => return command.run(database).await,
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Whether a value cannot be used and belongs to a setting: an argument that is also a variable.
pub(crate) fn is_about_a_setting(error: &clap::Error) -> bool {
    let is_value = matches!(
        error.kind(),
        ErrorKind::ValueValidation | ErrorKind::InvalidValue
    );
    let Some(ContextValue::String(refused)) = error.get(ContextKind::InvalidArg) else {
        return false;
    };
    let flag = refused
        .split(' ')
        .next()
        .and_then(|flag| flag.strip_prefix("--"));
    let program = Program::command();
    let commands = program
        .get_subcommands()
        .flat_map(clap::Command::get_arguments);
    let mut settings = program
        .get_arguments()
        .chain(commands)
        .filter(|a| a.get_env().is_some());
    is_value && settings.any(|setting| setting.get_long() == flag)
}
