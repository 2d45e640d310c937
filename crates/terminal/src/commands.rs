//! Every command except those that serve: its help, and the module that runs it.

mod account;
mod apply;
mod check;
mod compare;
mod complete;
pub(crate) mod context;
mod database;
pub mod demo;
mod doctor;
mod evaluate;
mod events;
mod examples;
mod file_run;
mod files;
mod health;
mod key;
mod lens;
mod marks;
mod measures;
mod model;
mod output_files;
mod person;
mod prism;
mod requirement_finding;
mod results;
mod retest;
mod retests;
mod run;
mod runs;
mod selection;
mod shown_result;
mod shown_settings;
pub(crate) mod signals;
mod try_text;
mod usage;
mod watch;

use refract_boxed_futures::boxed;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;
use clap_complete::Shell;

use crate::settings::DatabaseArgs;
use crate::{command_line, output};

/// A command that serves nothing. The program's own subcommands are these, flattened, and those that
/// serve.
#[derive(Subcommand)]
pub enum TerminalCommand {
    /// Asks a running node whether it takes calls
    ///
    /// Exits 0 when `/readyz` (with --live, `/healthz`) answers 200, and 1 when it does not. For
    /// container health checks and other supervisors, which then need no HTTP client.
    #[command(
        after_help = "Examples:\n  refract health\n  refract health --live --ops-listen 127.0.0.1:9090"
    )]
    Health(health::HealthCommand),
    /// Tries everything that a node needs, and says a line about each
    ///
    /// Database, encoding, migration, pooler, clock, model, sign-in provider, people, proxies, collector
    /// of traces, files and their rights, and the disk, by the settings of `refract serve`. The exit status is 1 if a check
    /// fails. Nothing is changed; the model is asked a few small calls.
    #[command(
        after_help = "Examples:\n  refract doctor\n  refract doctor --json | jq 'select(.ok | not)'"
    )]
    Doctor(Box<doctor::DoctorCommand>),
    /// Brings the database up to date, or to a migration, forwards or back
    #[command(
        after_help = "Examples:\n  refract migrate\n  DATABASE_URL=postgres://refract@db.example.com/refract refract migrate\n  refract migrate --dry-run\n  refract migrate --to 7"
    )]
    Migrate(database::MigrateCommand),
    /// Copies the SQLite file while it is in use
    #[command(
        after_help = "Examples:\n  refract backup refract-$(date +%F).db\n  refract backup - | gzip > refract.db.gz\n  refract backup /backups/refract.db --database-url sqlite:///srv/refract/refract.db"
    )]
    Backup(database::BackupCommand),
    /// Shows every setting, with its value and where it comes from
    ///
    /// In this order: a flag, a variable, the settings file, the default. Secrets are not shown. A
    /// value that `refract serve` could not read is reported, with exit status 1.
    #[command(
        after_help = "Examples:\n  refract settings\n  refract settings --config /etc/refract/refract.toml\n  refract settings --json | jq -r 'select(.from == \"file\") | .setting'"
    )]
    Settings(shown_settings::SettingsCommand),
    /// Asks the configured model what it can do, or its server what it speaks
    #[command(
        subcommand,
        after_help = "Examples:\n  refract model detect\n  refract model check"
    )]
    Model(model::ModelCommand),
    /// Makes and lists accounts
    #[command(
        subcommand,
        after_help = "Examples:\n  refract account create acme\n  refract account list"
    )]
    Account(account::AccountCommand),
    /// Writes everything that an account has into a folder of JSON Lines files
    ///
    /// Prisms with all versions, lenses, keys and people without secrets, results with their texts,
    /// marks, examples, runs, retests, usage and events, all of one moment. `manifest.json` has the
    /// number of lines and the SHA-256 of each file, and is written last: an export without it did not
    /// end, and starting it again overwrites it. Nodes may go on working.
    #[command(
        after_help = "Examples:\n  refract export-account acme-2026 --account acme\n  refract export-account - | gzip > account.tar.gz\n  refract export-account may --since 2026-05-01 --without-texts"
    )]
    ExportAccount(account::ExportAccountCommand),
    /// Takes an exported account into an empty one, of SQLite or PostgreSQL
    ///
    /// Every file is checked against the manifest first. Ids stay as they are, so the API finds
    /// results as before. An import that was interrupted goes on when it is started again. Leave the
    /// account alone until it ended.
    #[command(
        after_help = "Examples:\n  refract import-account acme-2026\n  DATABASE_URL=postgres://refract@db.example.com/refract refract import-account acme-2026 --account acme"
    )]
    ImportAccount(account::ImportAccountCommand),
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
    /// Brings prisms and lenses to what their files say
    ///
    /// A prism that is missing is made, a definition that differs is saved as the next version, and
    /// one that is equal saves nothing, so nobody is asked again. Another name alone renames the
    /// prism. Several files are applied whole or not at all. It prints a JSON line for each file:
    /// `created`, `saved` or `unchanged`.
    #[command(
        after_help = "Examples:\n  refract apply prisms/\n  refract apply prisms/ --dry-run\n  refract apply support-triage.prism.json support-triage.lens.json --note \"$(git rev-parse HEAD)\""
    )]
    Apply(apply::ApplyCommand),
    /// Lists what was changed in an account, by whom, newest first
    ///
    /// Changes of prisms, lenses, keys, people, roles and passwords, sign-ins, exports, purges,
    /// erasures and file runs. Results one by one are none.
    #[command(
        after_help = "Examples:\n  refract events\n  refract events --since 2026-05-04 --by ada@example.com\n  refract events --json | jq -r 'select(.action == \"role_set\") | .target'"
    )]
    Events(events::EventsCommand),
    /// Adds up calls, model requests, tokens and cost of saved results
    ///
    /// Tokens and cost are what model servers report. Deleted results count too, by whole days.
    #[command(
        after_help = "Examples:\n  refract usage\n  refract usage support-triage --by key,day --since 2026-05-01\n  refract usage --by day --json | jq -r '[.day, .cost] | @csv'"
    )]
    Usage(usage::UsageCommand),
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
    /// Lists, imports, exports and removes example texts of a prism
    #[command(
        subcommand,
        after_help = "Examples:\n  refract examples import support-triage examples.csv\n  refract examples list support-triage"
    )]
    Examples(examples::ExamplesCommand),
    /// Answers one text, saves the result and shows it
    ///
    /// Without --text, --field and --file the text is read from stdin. The last line break of a
    /// file or of stdin is left out.
    Try(try_text::TryCommand),
    /// Shows, lists, exports, retries and deletes saved results
    #[command(
        subcommand,
        after_help = "Examples:\n  refract results list support-triage\n  refract results export support-triage --output results.csv"
    )]
    Results(results::ResultsCommand),
    /// Imports and exports marks: the correct outcomes of results, as judged by people
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
    /// Asks stored texts again, of another model or version, and shows which answers flip
    ///
    /// The new answers are compared with the stored ones and no result is saved. The texts are a
    /// random sample of the answered results. Without --version and --prism-file each text is asked
    /// of the version that answered it, so that only the model differs. With --output FILE the new
    /// answers are kept in FILE.answers.jsonl until all texts are answered: a retest that was stopped
    /// goes on when it is started again.
    #[command(
        after_help = "Examples:\n  refract retest support-triage --model-url http://127.0.0.1:8000/v1 --model-name qwen3-8b --output flips.csv\n  refract retest support-triage --version 3 --sample 1000\n  refract retest support-triage --prism-file draft.json --json | jq .flip_rate"
    )]
    Retest(Box<retest::RetestCommand>),
    /// Lists, stops and continues the retests of the app
    #[command(
        subcommand,
        after_help = "Examples:\n  refract retests list support-triage"
    )]
    Retests(retests::RetestsCommand),
    /// Says what drifted in the answers over time, with the prism as it was
    ///
    /// Compares the newest results with earlier ones or with the marked sample, by question: shares of
    /// outcomes, probabilities, models, failures, time and tokens. No marks are needed. An alarm is a
    /// change that chance does not explain, at most one in 30 days for a prism that does not change.
    #[command(
        after_help = "Examples:\n  refract watch support-triage\n  refract watch support-triage --window 7d --against marks\n  refract watch support-triage --require 'angry.alarm<1' --require 'topic.billing.change<=0.1'\n\nRequirements name a question and a figure, or a question, an outcome and a figure:\n  of a question   alarm (0 or 1), psi, js, new_models\n  of an outcome   now, difference, change (without its sign), low, high"
    )]
    Watch(Box<watch::WatchCommand>),
    /// Explains a command, as --help after it does
    #[command(
        after_help = "Examples:\n  refract help\n  refract help run\n  refract help results export"
    )]
    Help {
        /// The command, such as `run` or `results export` [default: all of them]
        command: Vec<String>,
    },
    /// Writes what a shell needs to complete commands
    ///
    /// Bash, zsh and fish also complete prisms, versions, columns, questions, accounts and names of keys,
    /// which they read from the database of the settings.
    #[command(
        after_help = "Examples:\n  refract completions bash > ~/.local/share/bash-completion/completions/refract\n  refract completions zsh > ~/.zfunc/_refract\n  refract completions fish > ~/.config/fish/completions/refract.fish"
    )]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Prints the values that fit at the cursor, for a shell's script
    #[command(
        name = "__complete",
        hide = true,
        after_help = "Examples:\n  refract __complete -- try ''"
    )]
    Complete(complete::CompleteCommand),
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
    /// line, a line with too few or too many cells refuses the file. A run that was stopped goes on
    /// when it is started again: rows that are answered are not asked about twice, failed ones are
    /// retried. A row is known by its place in the file and all that it holds. With --output FILE,
    /// rows stand in FILE.part until all are written, and refused ones are listed in
    /// FILE.refused.csv.
    Run(Box<run::RunCommand>),
    /// Lists, shows, pauses, resumes and cancels the file runs of the app
    #[command(
        subcommand,
        after_help = "Examples:\n  refract runs list support-triage\n  refract runs pause 0190b8f2-0000-7000-8000-0000000000aa"
    )]
    Runs(runs::RunsCommand),
}

#[boxed(local)]
impl TerminalCommand {
    /// The default log filter. A migration logs warnings; the other commands report a failure
    /// themselves, once.
    pub fn default_log(&self) -> &'static str {
        if matches!(self, Self::Migrate(_)) {
            "warn"
        } else {
            "error"
        }
    }

    /// Runs the command. `program` is the whole command line, from which help, completions and the
    /// manual are generated.
    ///
    /// # Errors
    /// Why the command failed, for the operator.
    pub async fn run(
        self,
        database: &DatabaseArgs,
        program: fn() -> clap::Command,
    ) -> anyhow::Result<ExitCode> {
        match self {
            Self::Health(command) => command.run().await?,
            Self::Doctor(command) => return Box::pin(command.run(database, program)).await,
            Self::Migrate(command) => command.run(database).await?,
            Self::Backup(command) => command.run(database).await?,
            Self::Settings(command) => return command.run(program),
            Self::Model(command) => command.run().await?,
            Self::Account(command) => command.run(database).await?,
            Self::ExportAccount(command) => command.run(database).await?,
            Self::ImportAccount(command) => command.run(database).await?,
            Self::Events(command) => command.run(database).await?,
            Self::Usage(command) => command.run(database).await?,
            Self::Key(command) => command.run(database).await?,
            Self::Person(command) => command.run(database).await?,
            Self::Apply(command) => return command.run(database).await,
            Self::Prism(command) => return command.run(database).await,
            Self::Lens(command) => command.run(database).await?,
            Self::Examples(command) => command.run(database).await?,
            Self::Retests(command) => command.run(database).await?,
            Self::Try(command) => return command.run(database).await,
            Self::Results(command) => return command.run(database).await,
            Self::Marks(command) => return command.run(database).await,
            Self::Evaluate(command) => command.run(database).await?,
            Self::Compare(command) => command.run(database).await?,
            Self::Retest(command) => return Box::pin(command.run(database)).await,
            Self::Watch(command) => return command.run(database).await,
            Self::Help { command } => {
                if let Err(help) = command_line::help(program(), &command) {
                    return Ok(output::wrong_usage(&help));
                }
            }
            Self::Completions { shell } => command_line::write_completions(&program(), shell)?,
            Self::Complete(command) => command.run(database, program).await?,
            Self::Man { folder } => command_line::write_pages(program(), &folder)?,
            Self::Check(command) => return Box::pin(command.run(database)).await,
            Self::Run(command) => return Box::pin(command.run(database)).await,
            Self::Runs(command) => command.run(database).await?,
        }
        Ok(ExitCode::SUCCESS)
    }
}
