//! The command line: the commands that serve, and those of the terminal.

mod demo;
pub(crate) mod serve;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};
use refract_terminal::settings::{ConfigArgs, DatabaseArgs, LogSettings};
use refract_terminal::{TerminalCommand, arguments};

/// Answers typed questions about a text, with probabilities and a memory
#[derive(Parser)]
#[command(
    name = "refract",
    version = crate::VERSION,
    disable_help_subcommand = true,
    after_help = "Examples:\n  refract demo\n  refract prism create docs/examples/support-triage.json\n  refract try support-triage --text 'Where is my order?' --model-url builtin:lexical\n  refract results export support-triage --output results.csv"
)]
pub struct Program {
    #[command(flatten)]
    database: DatabaseArgs,

    #[command(flatten)]
    log: LogSettings,

    #[command(flatten)]
    config: ConfigArgs,

    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs the API until SIGTERM or SIGINT
    #[command(
        after_help = "Examples:\n  REFRACT_MODEL_URL=http://127.0.0.1:8000/v1 refract serve\n  DATABASE_URL=postgres://refract@db.example.com/refract refract serve --listen 0.0.0.0:8080\n  refract serve --model-url builtin:lexical"
    )]
    Serve(Box<serve::ServeCommand>),
    /// Shows the main job with nothing to set up: a prism, a key, one real call
    #[command(after_help = "Examples:\n  refract demo\n  refract demo --once")]
    Demo(demo::DemoCommand),
    #[command(flatten)]
    Terminal(TerminalCommand),
}

impl Program {
    /// How the program logs.
    pub fn log(&self) -> &LogSettings {
        &self.log
    }

    /// The default log filter. Only a server logs its work; the demo logs warnings.
    pub fn default_log(&self) -> &'static str {
        match &self.command {
            Command::Serve(_) => "info",
            Command::Demo(_) => "warn",
            Command::Terminal(command) => command.default_log(),
        }
    }

    /// Runs the command to its end.
    ///
    /// # Errors
    /// Why the command failed, for the operator.
    pub async fn run(self) -> anyhow::Result<ExitCode> {
        let database = &self.database;
        refract_terminal::survive_file_size_limit()?;
        arguments::refuse_both("DATABASE_URL")?;
        match self.command {
            Command::Serve(command) => Box::pin(command.run(database)).await,
            Command::Demo(command) => Box::pin(command.run()).await,
            Command::Terminal(command) => Box::pin(command.run(database, Self::command)).await,
        }
    }
}

#[cfg(test)]
mod tests;
