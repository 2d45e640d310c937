//! The command line: every command with its help, and the module that runs the command.

mod account;
mod backup;
mod check;
mod compare;
mod demo;
mod evaluate;
mod events;
mod file_run;
mod health;
mod key;
mod lens;
mod manual;
mod marks;
mod measures;
mod migrate;
mod model;
mod operator;
mod period;
mod person;
mod prism;
mod prism_history;
mod results;
mod run;
mod serve;
mod shown_result;
mod signals;
mod traces;
mod try_text;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, Parser, Subcommand};
use clap_complete::Shell;

use crate::settings::{DatabaseArgs, LogSettings};

/// Answers typed questions about a text, with probabilities and a memory
#[derive(Parser)]
#[command(
    name = "refract",
    version,
    disable_help_subcommand = true,
    after_help = "Examples:\n  refract demo\n  refract prism create docs/examples/support-triage.json\n  refract try support-triage --text 'Where is my order?' --model-url builtin:lexical\n  refract results export support-triage --output results.csv"
)]
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
    #[command(
        after_help = "Examples:\n  REFRACT_MODEL_URL=http://127.0.0.1:8000/v1 refract serve\n  DATABASE_URL=postgres://refract@db.example.com/refract refract serve --listen 0.0.0.0:8080\n  refract serve --model-url builtin:lexical"
    )]
    Serve(serve::ServeCommand),
    /// Shows the main job with nothing to set up: a prism, a key, one real call
    #[command(after_help = "Examples:\n  refract demo\n  refract demo --once")]
    Demo(demo::DemoCommand),
    /// Asks a running node whether it takes calls
    ///
    /// Exits 0 when `/readyz` (with --live, `/healthz`) answers 200, and 1 when it does not. For
    /// container health checks and other supervisors, which then need no HTTP client.
    #[command(
        after_help = "Examples:\n  refract health\n  refract health --live --ops-listen 127.0.0.1:9090"
    )]
    Health(health::HealthCommand),
    /// Brings the database up to date
    #[command(
        after_help = "Examples:\n  refract migrate\n  DATABASE_URL=postgres://refract@db.example.com/refract refract migrate"
    )]
    Migrate,
    /// Copies the SQLite file while it is in use
    #[command(
        after_help = "Examples:\n  refract backup refract-$(date +%F).db\n  refract backup /backups/refract.db --database-url sqlite:///srv/refract/refract.db"
    )]
    Backup(backup::BackupCommand),
    /// Asks the configured model what it can do
    #[command(subcommand, after_help = "Examples:\n  refract model check")]
    Model(model::ModelCommand),
    /// Makes and lists accounts
    #[command(
        subcommand,
        after_help = "Examples:\n  refract account create acme\n  refract account list"
    )]
    Account(account::AccountCommand),
    /// Makes, lists and revokes API keys
    #[command(
        subcommand,
        after_help = "Examples:\n  refract key create --name laptop\n  refract key list"
    )]
    Key(key::KeyCommand),
    /// Invites, lists and removes people of the app
    #[command(
        subcommand,
        after_help = "Examples:\n  refract person invite ada@example.com\n  refract person list"
    )]
    Person(person::PersonCommand),
    /// Lists what was changed in an account, by whom, newest first
    ///
    /// Changes of prisms, lenses, keys, people, roles and passwords, sign-ins, exports, purges,
    /// erasures and file runs. Results one by one are none.
    #[command(
        after_help = "Examples:\n  refract events\n  refract events --since 2026-05-04 --by ada@example.com\n  refract events --json | jq -r 'select(.action == \"role_set\") | .target'"
    )]
    Events(events::EventsCommand),
    /// Makes, saves, shows and lints prisms
    #[command(
        subcommand,
        after_help = "Examples:\n  refract prism create docs/examples/support-triage.json\n  refract prism list"
    )]
    Prism(prism::PrismCommand),
    /// Shows and changes the lens of a prism
    #[command(
        subcommand,
        after_help = "Examples:\n  refract lens show support-triage\n  refract lens preview support-triage lens.json\n  refract lens set support-triage lens.json"
    )]
    Lens(lens::LensCommand),
    /// Answers one text, saves the result and shows it
    ///
    /// Without --text, --field and --file the text is read from stdin. The last line break of a
    /// file or of stdin is left out.
    Try(try_text::TryCommand),
    /// Shows, lists, exports, retries and forgets saved results
    #[command(
        subcommand,
        after_help = "Examples:\n  refract results list support-triage\n  refract results export support-triage --output results.csv"
    )]
    Results(results::ResultsCommand),
    /// Takes in and gives back what people say the right outcomes of results are
    #[command(
        subcommand,
        after_help = "Examples:\n  refract marks import support-triage marks.csv --by Ada\n  refract marks export support-triage --output marks.csv"
    )]
    Marks(marks::MarksCommand),
    /// Measures how often stored answers are right, and how far their probabilities can be believed
    ///
    /// Right is what marks say (`refract marks import`). A Yes / No is answered by its cutoffs in
    /// the lens as it is. With --advise it names cutoffs for a goal, as they hold on rows that did
    /// not choose them.
    #[command(
        after_help = "Examples:\n  refract evaluate support-triage\n  refract evaluate support-triage --question topic --version 3 --json | jq .accuracy\n  refract evaluate support-triage --advise angry --precision 0.95 --write lens.json\n  refract evaluate support-triage --advise angry --cost-of-wrong-yes 5"
    )]
    Evaluate(Box<evaluate::EvaluateCommand>),
    /// Compares two versions or models on the texts that both answered
    ///
    /// Right is what marks say; a mark of either result counts for both. A text is known by its
    /// `ref` where both sides have it, otherwise by equal fields and context.
    #[command(
        after_help = "Examples:\n  refract compare support-triage --a version=3 --b version=4\n  refract compare support-triage --a model=qwen3-8b --b model=qwen3-32b --question topic\n  refract compare support-triage --a version=3 --b version=4 --json | jq .difference"
    )]
    Compare(Box<compare::CompareCommand>),
    /// Writes what a shell needs to complete commands
    #[command(
        after_help = "Examples:\n  refract completions bash > ~/.local/share/bash-completion/completions/refract\n  refract completions zsh > ~/.zfunc/_refract\n  refract completions fish > ~/.config/fish/completions/refract.fish"
    )]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Writes the manual, a page for each command, into a folder
    #[command(
        hide = true,
        after_help = "Examples:\n  refract man target/man && man -l target/man/refract.1"
    )]
    Man {
        /// The folder, which is made when it is missing
        folder: PathBuf,
    },
    /// Asks about texts whose right answers are known, and measures how often they are met
    ///
    /// The file is run like one of `refract run`: results are saved, a check that was stopped goes on
    /// when it is started again, and texts that are answered are not asked about twice, also when
    /// an expected answer is corrected. A changed model answers only under another --name.
    Check(Box<check::CheckCommand>),
    /// Asks about every row of a CSV, TSV or JSON Lines file and writes the answers
    ///
    /// The file is read once before anything is asked: a row that a limit refuses is named by its
    /// line, a torn line refuses the file. A run that was stopped goes on when it is started
    /// again: rows that are answered are not asked about twice, failed ones are retried. A row is
    /// known by its place in the file and all that it holds.
    Run(Box<run::RunCommand>),
}

impl Program {
    /// The log filter when none is set. Only a server logs its work. The demo and a migration log
    /// warnings; the other commands report a failure themselves, once.
    pub(crate) fn default_log(&self) -> &'static str {
        match self.command {
            Command::Serve(_) => "info",
            Command::Demo(_) | Command::Migrate => "warn",
            Command::Backup(_)
            | Command::Check(_)
            | Command::Health(_)
            | Command::Model(_)
            | Command::Account(_)
            | Command::Events(_)
            | Command::Key(_)
            | Command::Person(_)
            | Command::Prism(_)
            | Command::Lens(_)
            | Command::Try(_)
            | Command::Results(_)
            | Command::Marks(_)
            | Command::Evaluate(_)
            | Command::Compare(_)
            | Command::Completions { .. }
            | Command::Man { .. }
            | Command::Run(_) => "error",
        }
    }

    /// Runs the command.
    pub(crate) async fn run(self) -> anyhow::Result<ExitCode> {
        let database = &self.database;
        match self.command {
            Command::Serve(command) => return command.run(database).await,
            Command::Demo(command) => return command.run().await,
            Command::Health(command) => command.run().await?,
            Command::Migrate => migrate::run(database).await?,
            Command::Backup(command) => command.run(database).await?,
            Command::Model(command) => command.run().await?,
            Command::Account(command) => command.run(database).await?,
            Command::Events(command) => command.run(database).await?,
            Command::Key(command) => command.run(database).await?,
            Command::Person(command) => command.run(database).await?,
            Command::Prism(command) => return command.run(database).await,
            Command::Lens(command) => command.run(database).await?,
            Command::Try(command) => return command.run(database).await,
            Command::Results(command) => return command.run(database).await,
            Command::Marks(command) => return command.run(database).await,
            Command::Evaluate(command) => command.run(database).await?,
            Command::Compare(command) => command.run(database).await?,
            Command::Completions { shell } => manual::write_completions(Self::command(), shell)?,
            Command::Man { folder } => manual::write_pages(Self::command(), &folder)?,
            Command::Check(command) => return command.run(database).await,
            Command::Run(command) => return command.run(database).await,
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Whether the error is an unusable value of a setting, which is an argument that is also an
/// environment variable.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn check(command: &clap::Command, path: &str) {
        let help = command.get_after_help().map(ToString::to_string);
        let help = help.unwrap_or_else(|| panic!("`{path}` has no examples"));
        assert!(help.starts_with("Examples:\n  "), "{path}: {help}");
        let examples = help.lines().skip(1).take_while(|line| !line.is_empty());
        for example in examples {
            assert!(example.contains("refract "), "{path}: {example}");
        }
        let about = command.get_about().map(ToString::to_string);
        assert!(about.is_some_and(|about| !about.is_empty()), "{path}");
        for argument in command.get_arguments() {
            assert!(argument.get_help().is_some(), "{path}: {argument}");
        }
        for subcommand in command.get_subcommands() {
            check(subcommand, &format!("{path} {}", subcommand.get_name()));
        }
    }

    #[test]
    fn every_command_is_explained_with_examples() {
        Program::command().debug_assert();
        check(&Program::command(), "refract");
    }
}
