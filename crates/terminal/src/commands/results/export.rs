//! `refract results export`: every saved result as a row under one header.

use std::io::{self, Write};
use std::sync::Arc;

use anyhow::{Context as _, bail};
use clap::Args;
use refract_authoring::lens_file;
use refract_domain::lens::{Lens, Value};
use refract_domain::result::view::{ResultView, RowColumns};
use refract_file_runs::{OutputFormat, ParquetRows, WorkbookRows};
use refract_identity::people::AccountActor;
use refract_lens_rendering::{Format, RawColumns, RowFormat, RowWriter, render};
use refract_service::lenses::PrismLens;
use refract_service::marks::MarkedColumns;
use refract_service::prisms::PrismHistory;
use refract_service::results::{ExportError, PrismResults, ResultOrder};

use super::super::context::AccountArg;
use crate::commands::files::{ByteOrderMarkArg, InputPath, OutputArgs, say_cut_texts};
use crate::commands::selection::ExportFilterArgs;
use crate::output::WrongUsage;
use crate::settings::DatabaseArgs;
use crate::streams;
use crate::terminal::Progress;

/// The arguments of `refract results export`.
#[derive(Args)]
pub struct ExportCommand {
    /// Slug or id
    prism: String,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    mark: ByteOrderMarkArg,

    /// Adds a column `<question>_marked` for each question, with what people marked
    #[arg(long)]
    marks: bool,

    #[command(flatten)]
    columns: ColumnsArgs,

    #[command(flatten)]
    filter: ExportFilterArgs,

    #[command(flatten)]
    account: AccountArg,
}

/// Which columns the rows have in place of those of the prism's lens, which stays as it is.
#[derive(Args)]
struct ColumnsArgs {
    /// Shows the answers through this lens file, in this export alone
    #[arg(long, value_name = "FILE", conflicts_with = "raw")]
    lens: Option<InputPath>,

    /// Every stored probability in place of the lens: in jsonl `answers` as `format=raw` of the API has
    /// it, else a column `<question>` with the answer's key and a column `<question>.<outcome>` for each
    /// outcome
    #[arg(long)]
    raw: bool,
}

impl ColumnsArgs {
    /// The prism's lens, or that of the file.
    fn lens(&self, lens: PrismLens) -> anyhow::Result<PrismLens> {
        let Some(file) = &self.lens else {
            return Ok(lens);
        };
        let columns = lens_file::read(&file.read()?, &lens.latest);
        let columns = columns.map_err(|error| WrongUsage(format!("--lens {file}: {error}")))?;
        Ok(PrismLens {
            lens: Arc::new(Lens::Custom(columns)),
            ..lens
        })
    }
}

impl ExportCommand {
    /// Runs `refract results export`.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<()> {
        let format = self.output.any_format()?;
        let mark: &[u8] = if self.mark.of(format)? {
            b"\xef\xbb\xbf"
        } else {
            b""
        };
        let (refract, prism) = self.account.open_prism(database, &self.prism).await?;
        let actor = AccountActor::operator(prism.account);
        let history = refract.prisms().with_versions(prism.id).await?;
        let search = self.filter.search(&history)?;
        let lens = self.columns.lens(refract.lenses().of(prism).await?)?;
        self.filter
            .check_references(&refract, &lens, &search)
            .await?;
        let raw = if self.columns.raw {
            Some(raw_columns(&history, &lens, format)?)
        } else {
            None
        };
        let marked = if self.marks {
            MarkedColumns::of(&lens).context("--marks cannot be used")?
        } else {
            MarkedColumns::default()
        };
        let oldest_first = ResultOrder::OldestFirst;
        let results = refract.results();
        let mut results = results.of_search(lens, search, oldest_first)?;
        let is_beside = self.output.file().is_some() || !streams::stdout_is_terminal();
        let is_drawn = is_beside && streams::stderr_is_terminal();
        let progress = if is_drawn {
            // without a total if counting fails
            Some(Progress::begin("results", results.count().await.ok()))
        } else {
            None
        };
        let show = |done| {
            if let Some(progress) = &progress {
                progress.show(done, "");
            }
        };
        let export = async |out: &mut dyn Write| {
            out.write_all(mark)?;
            match format {
                OutputFormat::Rows(format) if let Some(raw) = &raw => {
                    export_raw(&mut results, &actor, &marked, (raw, format), out, show).await
                }
                OutputFormat::Rows(format) => {
                    let exporting = results.export(&actor, format, &marked, out, show);
                    exporting.await
                }
                OutputFormat::Parquet => {
                    export_parquet(&mut results, &actor, &marked, out, show).await
                }
                OutputFormat::Workbook => {
                    export_workbook(&mut results, &actor, &marked, out, show).await
                }
            }
        };
        let exported = self.output.write(export).await;
        if let Some(progress) = &progress {
            progress.end();
        }
        self.output.say_written(exported?, "result");
        Ok(())
    }
}

/// The columns of every stored probability.
fn raw_columns(
    history: &PrismHistory,
    lens: &PrismLens,
    format: OutputFormat,
) -> anyhow::Result<RawColumns> {
    let OutputFormat::Rows(format) = format else {
        bail!(WrongUsage(format!(
            "--raw is not supported with {}: use csv, tsv or jsonl",
            format.name()
        )));
    };
    let columns = lens.columns();
    let raw = RawColumns::new(&history.versions, columns.lens);
    let mut fields = columns.fields.iter().map(|field| field.key.as_str());
    let taken = fields.find(|field| raw.names().any(|name| name == *field));
    if let Some(taken) = taken.filter(|_| format != RowFormat::Jsonl) {
        bail!(
            "a field and a question are both called {taken}: use --format jsonl, which keeps them apart"
        );
    }
    Ok(raw)
}

/// Writes results with every stored probability, and returns the number of results. A line of jsonl is
/// the result as `format=raw` of the API has it, with its fields and marks.
async fn export_raw(
    results: &mut PrismResults,
    actor: &AccountActor,
    marked: &MarkedColumns,
    (raw, format): (&RawColumns, RowFormat),
    out: &mut dyn Write,
    show: impl FnMut(u64),
) -> Result<u64, ExportError> {
    let lens = Arc::clone(results.lens());
    let columns = RowColumns {
        lens: &[],
        ..lens.columns()
    };
    if format == RowFormat::Jsonl {
        let write = |view: &ResultView<'_>, marks: Vec<Value<'_>>| {
            out.write_all(&raw_line(&columns, view, marked, &marks)?)
        };
        return results
            .export_each(actor, format.name(), marked, write, show)
            .await;
    }
    let mut rows = RowWriter::new(format, columns, out);
    rows = rows.with_further(raw.names()).with_marks(marked.names());
    rows.write_header()?;
    let write = |view: &ResultView<'_>, marks: Vec<Value<'_>>| {
        rows.write_marked_row(view, raw.values(view).into_iter().chain(marks))
    };
    let written = results
        .export_each(actor, format.name(), marked, write, show)
        .await?;
    rows.finish()?;
    Ok(written)
}

/// A line of jsonl with every stored probability.
fn raw_line(
    columns: &RowColumns<'_>,
    view: &ResultView<'_>,
    marked: &MarkedColumns,
    marks: &[Value<'_>],
) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    render(Format::Raw, columns, view, &mut line)?;
    // removes the brace that closes the envelope
    line.pop();
    let fields = columns.fields.iter();
    let fields = fields.map(|field| (field.key.as_str(), view.field(&field.key)));
    let fields: serde_json::Map<_, _> = fields
        .map(|(key, value)| (key.to_owned(), value.into()))
        .collect();
    line.extend_from_slice(b",\"fields\":");
    serde_json::to_writer(&mut line, &fields)?;
    for (name, value) in marked.names().iter().zip(marks) {
        let mark = match value {
            Value::Outcome { key, .. } => Some(*key),
            Value::YesNo(label) => Some(label.key()),
            Value::Null
            | Value::Probability(_)
            | Value::Position(_)
            | Value::Average(_)
            | Value::All { .. } => None,
        };
        write!(line, ",\"{}\":{}", name.as_str(), serde_json::json!(mark))?;
    }
    line.extend_from_slice(b"}\n");
    Ok(line)
}

/// Writes results as Parquet, a row group at a time, and returns the number of results.
async fn export_parquet(
    results: &mut PrismResults,
    actor: &AccountActor,
    marked: &MarkedColumns,
    out: &mut dyn Write,
    show: impl FnMut(u64),
) -> Result<u64, ExportError> {
    let lens = Arc::clone(results.lens());
    let mut rows = ParquetRows::new(lens.columns(), None, marked.names())?;
    let format = OutputFormat::Parquet.name();
    let write = |view: &ResultView<'_>, marks: Vec<Value<'_>>| {
        let ready = rows.write(&[], view, marks)?;
        out.write_all(&ready)
    };
    let written = results
        .export_each(actor, format, marked, write, show)
        .await?;
    out.write_all(&rows.finish()?)?;
    Ok(written)
}

/// Writes results as a workbook and returns the number of results.
async fn export_workbook(
    results: &mut PrismResults,
    actor: &AccountActor,
    marked: &MarkedColumns,
    out: &mut dyn Write,
    show: impl FnMut(u64),
) -> Result<u64, ExportError> {
    let lens = Arc::clone(results.lens());
    let mut rows = WorkbookRows::new(lens.columns(), None, marked.names())?;
    let format = OutputFormat::Workbook.name();
    let write = |view: &ResultView<'_>, marks: Vec<Value<'_>>| {
        let ready = rows.write(&[], view, marks)?;
        out.write_all(&ready)
    };
    let written = results
        .export_each(actor, format, marked, write, show)
        .await?;
    say_cut_texts(rows.cut_texts());
    out.write_all(&rows.finish()?)?;
    Ok(written)
}
