//! `refract marks`: people's judgements of the correct outcomes.

mod export;
mod import;
mod schema;

use std::process::ExitCode;

use clap::Subcommand;

use crate::settings::DatabaseArgs;

/// The subcommands of `refract marks`.
#[derive(Subcommand)]
pub enum MarksCommand {
    /// Takes in marks from a CSV, TSV or JSON Lines file, all or none
    ///
    /// A row names a result by `result_id` or, where that is empty, every answered result of a
    /// `ref`. A column for each question, by its key, says the right outcome by its key or label; an
    /// empty cell leaves the question as it is. `expected_<question>` is read where there is no
    /// column of the question itself. A mark that is there already may be changed; a result never
    /// changes.
    #[command(
        after_help = "Examples:\n  refract marks import support-triage marks.csv --by Ada\n  refract marks import support-triage gold.csv --dry-run\n  refract marks export support-triage --format jsonl > marks.jsonl && refract marks import support-triage marks.jsonl"
    )]
    Import(import::ImportCommand),
    /// Writes every marked result as a row that `marks import` takes
    #[command(
        after_help = "Examples:\n  refract marks export support-triage --output marks.csv\n  refract marks export support-triage --format jsonl | jq -r .topic"
    )]
    Export(export::ExportMarksCommand),
    /// Prints the JSON Schema of a row of a file of marks, for programs that write one
    ///
    /// The schema names the keys and outcomes of the prism's latest version.
    #[command(
        after_help = "Examples:\n  refract marks schema support-triage > marks.schema.json\n  refract marks schema support-triage --gold > gold.schema.json"
    )]
    Schema(schema::MarksSchemaCommand),
}

impl MarksCommand {
    /// Runs a `refract marks` command.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<ExitCode> {
        match self {
            Self::Import(command) => command.run(database).await,
            Self::Export(command) => {
                command.run(database).await?;
                Ok(ExitCode::SUCCESS)
            }
            Self::Schema(command) => {
                command.run(database).await?;
                Ok(ExitCode::SUCCESS)
            }
        }
    }
}
