//! `refract results export`: every saved result as a row under one header.

use std::io::Write;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use clap::Args;
use refract_authoring::lens_file;
use refract_domain::lens::Lens;
use refract_domain::result::ResultView;
use refract_file_runs::{OutputFormat, TypedRows};
use refract_identity::people::AccountActor;
use refract_lens_rendering::{FurtherValue, ProvenanceColumn, RawColumns, RowFormat};
use refract_service::lenses::PrismLens;
use refract_service::marks::MarkedColumns;
use refract_service::prisms::PrismHistory;
use refract_service::results::{
    ColumnNameTaken, ExportColumns, ExportError, PrismResults, ResultOrder,
};

use super::super::context::AccountArg;
use crate::commands::files::{ExcelArgs, InputPath, OutputArgs, say_cut_texts};
use crate::commands::output_files;
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
    excel: ExcelArgs,

    #[command(flatten)]
    columns: ColumnsArgs,

    #[command(flatten)]
    filter: ExportFilterArgs,

    #[command(flatten)]
    account: AccountArg,
}

/// Which columns the rows have. The prism's lens stays as it is.
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

    /// Adds a column `<question>_marked` for each question, with what people marked
    #[arg(long)]
    marks: bool,

    /// Adds columns about how the answers came about, in this order: `model`, `took_ms`, `cost`, `run`
    #[arg(long = "columns", value_name = "NAMES", value_delimiter = ',', value_parser = provenance_column)]
    provenance: Vec<ProvenanceColumn>,
}

impl ColumnsArgs {
    /// The prism's lens, or that of the file.
    fn lens(&self, lens: PrismLens) -> anyhow::Result<PrismLens> {
        let Some(file) = &self.lens else {
            return Ok(lens);
        };
        let text = file.read();
        let text = text.map_err(|error| WrongUsage(format!("--lens: {error:#}")))?;
        let columns = lens_file::read(&text, &lens.latest);
        let columns = columns.map_err(|error| WrongUsage(format!("--lens {file}: {error}")))?;
        Ok(PrismLens {
            lens: Arc::new(Lens::Custom(columns)),
            ..lens
        })
    }

    /// The columns of an export through this lens.
    fn columns(
        &self,
        history: &PrismHistory,
        lens: &PrismLens,
        format: OutputFormat,
    ) -> anyhow::Result<ExportColumns> {
        let mut columns = ExportColumns::default();
        if self.raw {
            let row = lens.columns();
            columns.raw = Some(RawColumns::new(&history.versions, row.lens));
        }
        let is_nested = self.raw && format == OutputFormat::Rows(RowFormat::Jsonl);
        if !is_nested && let Err(ColumnNameTaken(name)) = columns.check_names(lens) {
            bail!(WrongUsage(format!(
                "--raw: a field and a question are both called {name}: use --format jsonl, which keeps \
                 them apart"
            )));
        }
        if self.marks {
            columns.marked = MarkedColumns::of(lens).context("--marks cannot be used")?;
        }
        let chosen = ProvenanceColumn::ALL.into_iter();
        columns.provenance = chosen
            .filter(|column| self.provenance.contains(column))
            .collect();
        if !is_nested && let Err(ColumnNameTaken(name)) = columns.check_names(lens) {
            bail!(WrongUsage(format!(
                "--columns: the export has a column {name} already: leave it out, or rename the lens's \
                 column, as with --lens"
            )));
        }
        Ok(columns)
    }
}

fn provenance_column(name: &str) -> anyhow::Result<ProvenanceColumn> {
    ProvenanceColumn::parse(name)
        .context("expected model, took_ms, cost or run, with commas between them")
}

impl ExportCommand {
    /// Runs `refract results export`.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<()> {
        let format = self.output.any_format()?;
        let style = self.excel.style(format)?;
        let outputs = [("--output", self.output.file())];
        let inputs = [self.columns.lens.as_ref(), self.filter.ref_file.as_ref()];
        output_files::check(&outputs, &inputs, database)?;
        let (refract, prism) = self.account.open_prism(database, &self.prism).await?;
        let actor = AccountActor::operator(prism.account);
        let history = refract.prisms().with_versions(prism.id).await?;
        let search = self.filter.search(&history)?;
        let lens = self.columns.lens(refract.lenses().of(prism).await?)?;
        self.filter
            .check_references(&refract, &lens, &search)
            .await?;
        let columns = ExportColumns {
            style,
            ..self.columns.columns(&history, &lens, format)?
        };
        let oldest_first = ResultOrder::OldestFirst;
        let results = refract.results();
        let mut results = results.of_search(lens, search, oldest_first)?;
        let lens = Arc::clone(results.lens());
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
        let export = async |out: &mut dyn Write| match format {
            OutputFormat::Rows(format) => {
                let exporting = results.export(&actor, format, &columns, out, show);
                exporting.await
            }
            OutputFormat::Parquet => {
                let rows = TypedRows::parquet(columns.row(&lens), None, &columns.further())?;
                let rows = (format, rows);
                export_typed(&mut results, &actor, &columns, rows, out, show).await
            }
            OutputFormat::Workbook => {
                let rows = TypedRows::workbook(columns.row(&lens), None, &columns.further())?;
                let rows = (format, rows);
                export_typed(&mut results, &actor, &columns, rows, out, show).await
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

/// Writes results as rows of cells with types, and returns the number of results.
async fn export_typed(
    results: &mut PrismResults,
    actor: &AccountActor,
    columns: &ExportColumns,
    (format, mut rows): (OutputFormat, TypedRows),
    out: &mut dyn Write,
    show: impl FnMut(u64),
) -> Result<u64, ExportError> {
    let write = |view: &ResultView<'_>, further: Vec<FurtherValue<'_>>| {
        let ready = rows.write(&[], view, further)?;
        out.write_all(&ready)
    };
    let written = results
        .export_each(actor, format.name(), columns, write, show)
        .await?;
    say_cut_texts(rows.cut_texts());
    out.write_all(&rows.finish()?)?;
    Ok(written)
}
