//! `refract marks`: people's judgements of the correct outcomes.

use std::fmt::Write as _;
use std::io::Write;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use indicatif::HumanCount;
use refract_domain::result::mark::{Annotator, MarkSource, Marker};
use refract_file_runs::{
    MarksFile, MarksFileError, MarksFileRows, MarksWorkbook, OutputFormat, row_schema,
};
use refract_identity::people::AccountActor;
use refract_service::marks::{CheckedMarks, MarkErrors, MarkOrigin, MarksError};

use super::context::{self, AccountArg};
use super::files::OutputArgs;
use super::output_files;
use crate::commands::file_run::input_refused;
use crate::commands::files::{InputPath, SheetArg};
use crate::output::{self, value};
use crate::settings::DatabaseArgs;
use crate::suggestion::did_you_mean;
use crate::terminal::{counted, plain, widened};

/// The error for an export of results, which would mark every result with its own answer.
const HOLDS_ANSWERS: &str = "\
This is an export of results: what its columns say was answered becomes a mark in every row, also \
where nobody looked. `refract results export --marks` writes columns for marks beside the answers.";

/// The subcommands of `refract marks`.
#[derive(Subcommand)]
pub enum MarksCommand {
    /// Takes in marks from a file, all or none
    ///
    /// A row names a result by `result_id` or, where that is empty, every answered result of a
    /// `ref`. A column for each question, by its key, says the right outcome by its key or label; an
    /// empty cell leaves the question as it is. `expected_<question>` is read where there is no
    /// column of the question itself. A mark that is there already may be changed; a result never
    /// changes.
    #[command(
        after_help = "Examples:\n  refract marks import support-triage marks.csv --by Ada\n  refract marks import support-triage gold.csv --dry-run\n  refract marks export support-triage --format jsonl > marks.jsonl && refract marks import support-triage marks.jsonl"
    )]
    Import(ImportCommand),
    /// Writes every marked result as a row that `marks import` takes
    #[command(
        after_help = "Examples:\n  refract marks export support-triage --output marks.csv\n  refract marks export support-triage --format jsonl | jq -r .topic"
    )]
    Export(ExportMarksCommand),
    /// Prints the JSON Schema of a row of a file of marks, for programs that write one
    ///
    /// The schema names the keys and outcomes of the prism's latest version.
    #[command(
        after_help = "Examples:\n  refract marks schema support-triage > marks.schema.json\n  refract marks schema support-triage --gold > gold.schema.json"
    )]
    Schema(MarksSchemaCommand),
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

/// Arguments of `refract marks export`.
#[derive(Args)]
pub struct ExportMarksCommand {
    /// Slug or id
    prism: String,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    account: AccountArg,
}

impl ExportMarksCommand {
    /// Runs `refract marks export`.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<()> {
        let format = self.output.format()?;
        output_files::check(&[("--output", self.output.file())], &[], database)?;
        let (refract, prism) = self.account.open_prism(database, &self.prism).await?;
        let actor = AccountActor::operator(prism.account);
        let marks = refract.marks();
        let export = async |out: &mut dyn Write| match format {
            OutputFormat::Rows(format) => marks.export(&actor, prism.id, format, out).await,
            OutputFormat::Workbook | OutputFormat::Parquet => {
                let mut rows: Option<MarksWorkbook> = None;
                let write = |cells: &[&str]| {
                    // the header comes first
                    let Some(rows) = &mut rows else {
                        rows = Some(MarksWorkbook::new(cells)?);
                        return Ok(());
                    };
                    out.write_all(&rows.write(cells.iter().copied())?)
                };
                let written = marks
                    .export_each(&actor, prism.id, format.name(), write)
                    .await?;
                if let Some(rows) = rows {
                    out.write_all(&rows.finish()?)?;
                }
                Ok(written)
            }
        };
        let written = self.output.write(export).await?;
        self.output.say_written(written, "marked result");
        Ok(())
    }
}

/// Arguments of `refract marks import`.
#[derive(Args)]
pub struct ImportCommand {
    /// Slug or id
    prism: String,

    /// A CSV, TSV, JSON, Excel or Parquet file with `result_id` or `ref`, a column for each question,
    /// and who marked in `person`; `-` is stdin
    file: InputPath,

    #[command(flatten)]
    sheet: SheetArg,

    /// Checks the file, says what would change and saves nothing
    #[arg(long)]
    dry_run: bool,

    /// Who marked the rows that name no person
    #[arg(long, value_name = "NAME")]
    by: Option<String>,

    #[command(flatten)]
    account: AccountArg,
}

impl ImportCommand {
    /// Runs `refract marks import`.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<ExitCode> {
        let by = self.by.as_deref().map(Marker::parse).transpose();
        let by = by.map_err(|errors| context::invalid_argument("--by", &errors))?;
        let (refract, prism) = self.account.open_prism(database, &self.prism).await?;
        let questions = refract.marks().questions(prism.id).await?;
        let file = self
            .file
            .open(&self.sheet, |source| MarksFile::open(source, &questions));
        let file = file.map_err(|error| self.file_error(&error.into()))?;
        let kind = file.describe();
        let read = tokio::task::spawn_blocking(move || file.read()).await?;
        let read = read.map_err(|error| self.file_error(&error))?;
        output::say(&self.found(&kind, &read));
        if read.holds_answers {
            output::say(HOLDS_ANSWERS);
        }
        let marks = refract.marks();
        let origin = MarkOrigin {
            marked_by: Annotator {
                person: None,
                name: by,
            },
            source: Some(MarkSource::Import),
            note: None,
            is_adjudicated: false,
        };
        let checking = marks.check(&prism, &read.rows, read.errors, &origin);
        let checked = match checking.await {
            Ok(checked) => checked,
            Err(MarksError::InvalidRows(errors)) => return Ok(self.refused(&errors)),
            Err(error) => return Err(error.into()),
        };
        let changed = if self.dry_run {
            refract.marks().count_changes(&checked).await?
        } else {
            let actor = AccountActor::operator(prism.account);
            refract.marks().save(&checked, &actor).await?
        };
        output::say(&self.ended(&checked, changed));
        output::object(&[
            ("marks", value(&checked.count())),
            ("results", value(&checked.results())),
            ("changed", value(&changed)),
        ])?;
        Ok(ExitCode::SUCCESS)
    }

    /// The file's format, and its ignored columns.
    fn found(&self, kind: &str, read: &MarksFileRows) -> String {
        let mut words = format!(
            "{}: {}, {}",
            self.file,
            plain(kind),
            counted(read.rows_in_file, "row")
        );
        if !read.unused_columns.is_empty() {
            let _ = write!(words, "\n  ignored columns: {}", read.unused_columns);
        }
        words
    }

    /// The summary.
    fn ended(&self, checked: &CheckedMarks, changed: usize) -> String {
        let marks = counted(widened(checked.count()), "mark");
        let results = counted(widened(checked.results()), "result");
        let changed = HumanCount(widened(changed));
        if self.dry_run {
            format!("{marks} on {results}: {changed} would be new or changed. Nothing is saved.")
        } else {
            format!("{marks} on {results}: {changed} new or changed.")
        }
    }

    /// Lists the faults of rows; returns the exit status for failure.
    fn refused(&self, errors: &MarkErrors) -> ExitCode {
        for (line, error) in errors.listed() {
            output::say(&format!("  line {line}: {error}"));
        }
        let unlisted = errors.count() - errors.listed().len();
        if unlisted > 0 {
            output::say(&format!("  and {} more", HumanCount(widened(unlisted))));
        }
        let errors = counted(widened(errors.count()), "fault");
        output::fail_with(&format!(
            "error: {}: {errors}, so nothing is saved: correct the lines above and import again",
            self.file
        ))
    }

    fn file_error(&self, error: &MarksFileError) -> anyhow::Error {
        let known = error.known();
        let suggestions = error.names().iter();
        let suggestions = suggestions.map(|name| did_you_mean(name, known.iter().copied()));
        let suggestion = suggestions.into_iter().find(|words| !words.is_empty());
        let suggestion = suggestion.unwrap_or_default();
        let words = format!("{}: {error}{suggestion}", self.file);
        match error {
            MarksFileError::Input(error) => input_refused(error, words),
            MarksFileError::NoResults { .. }
            | MarksFileError::NoQuestions { .. }
            | MarksFileError::NoSuchQuestion { .. } => anyhow::Error::msg(words),
        }
    }
}

/// Arguments of `refract marks schema`.
#[derive(Args)]
pub struct MarksSchemaCommand {
    /// Slug or id
    prism: String,

    /// The schema of a row of a gold file, which has the text too
    #[arg(long)]
    gold: bool,

    #[command(flatten)]
    account: AccountArg,
}

impl MarksSchemaCommand {
    /// Runs `refract marks schema`.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<()> {
        let (refract, prism) = self.account.open_prism(database, &self.prism).await?;
        let found = refract
            .lenses()
            .find(prism.account, &prism.selector())
            .await?;
        let schema = if self.gold {
            row_schema::gold_row(&found.latest)
        } else {
            row_schema::marks_row(&found.latest)
        };
        output::json(&schema)
    }
}
