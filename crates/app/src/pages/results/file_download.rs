//! Downloads of the listed results: the columns of the lens, or others that a form asks for.

use bytes::Bytes;
use futures_util::{Stream, stream};
use maud::{Markup, html};
use refract_domain::result::ResultView;
use refract_file_runs::{OutputFormat, TypedRows};
use refract_lens_rendering::{FurtherValue, ProvenanceColumn, RawColumns, RowFormat};
use refract_service::lenses::PrismLens;
use refract_service::results::{ExportColumns, ExportError, PrismResults};

use crate::components::{media_type, output_media_type, table_style, table_style_choice};
use crate::replies::{PageError, PageReply};
use crate::requests::{Query, Visit};

/// The formats of a download with their names for people.
pub(super) const FORMATS: [(&str, &str); 5] = [
    ("csv", "csv"),
    ("tsv", "tsv"),
    ("jsonl", "jsonl"),
    ("xlsx", "Excel workbook"),
    ("parquet", "Parquet"),
];
/// The query parameter of columns that a download adds, and that of every stored probability.
const COLUMNS: &str = "columns";
const RAW: &str = "raw";

/// Sends these results with the columns that the address asks for.
pub(super) async fn send(
    visit: &Visit,
    results: PrismResults,
    format: OutputFormat,
) -> Result<PageReply, PageError> {
    let lens = results.lens();
    let name = format!("{}-results.{}", lens.prism.slug, format.name());
    let columns = chosen_by(visit, lens, format).await?;
    let columns = columns.ok_or(PageError::NotFound)?;
    let (row, further) = (columns.row(lens), columns.further());
    let rows = match format {
        OutputFormat::Rows(format) => {
            let actor = visit.actor();
            let chunks = results.export_chunks(&actor, format, columns).await?;
            return Ok(PageReply::streamed_file(&name, media_type(format), chunks));
        }
        OutputFormat::Workbook => TypedRows::workbook(row, None, &further),
        OutputFormat::Parquet => TypedRows::parquet(row, None, &further),
    };
    let rows = rows.map_err(|error| PageError::NotChanged(error.to_string()))?;
    results.save_export(&visit.actor(), format.name()).await?;
    let chunks = typed_chunks(results, columns, rows);
    Ok(PageReply::streamed_file(
        &name,
        output_media_type(format),
        chunks,
    ))
}

/// The form of a download with other columns than those of the lens.
pub(super) fn chosen_columns(query: &Query, lens: &PrismLens, address: &str) -> Markup {
    let columns = lens.columns();
    let is_free = |column: &ProvenanceColumn| {
        let mut fields = columns.fields.iter();
        fields.all(|field| field.key.as_str() != column.name())
            && columns
                .lens
                .iter()
                .all(|it| it.name.as_str() != column.name())
    };
    html! {
        details {
            summary { "Download with other columns" }
            form.row method="get" action={ (address) "/download" } {
                (query.with("format", None).inputs())
                label for="download-format" { "Download" }
                select #download-format name="format" {
                    @for (format, name) in FORMATS { option value=(format) { (name) } }
                }
                label { input type="checkbox" name=(RAW) value="yes"; " every probability in place of the lens" }
                @for column in ProvenanceColumn::ALL.into_iter().filter(is_free) {
                    label {
                        input type="checkbox" name=(COLUMNS) value=(column.name());
                        " " (label_of(column))
                    }
                }
                (table_style_choice())
                button type="submit" { "Download" }
            }
        }
    }
}

fn label_of(column: ProvenanceColumn) -> &'static str {
    match column {
        ProvenanceColumn::Model => "model",
        ProvenanceColumn::TookMs => "time in ms",
        ProvenanceColumn::Cost => "cost",
        ProvenanceColumn::Run => "file run",
    }
}

/// The columns that an address asks for; `None` for unknown ones and for names that are taken.
async fn chosen_by(
    visit: &Visit,
    lens: &PrismLens,
    format: OutputFormat,
) -> Result<Option<ExportColumns>, PageError> {
    let query = &visit.sent.query;
    let chosen = query.all(COLUMNS).map(ProvenanceColumn::parse);
    let Some(chosen) = chosen.collect::<Option<Vec<_>>>() else {
        return Ok(None);
    };
    let mut columns = ExportColumns {
        style: table_style(query),
        ..ExportColumns::default()
    };
    let all = ProvenanceColumn::ALL.into_iter();
    columns.provenance = all.filter(|column| chosen.contains(column)).collect();
    if query.get(RAW).is_some() {
        let history = visit.refract.prisms().with_versions(lens.prism.id).await?;
        columns.raw = Some(RawColumns::new(&history.versions, lens.columns().lens));
    }
    let is_nested = columns.raw.is_some() && format == OutputFormat::Rows(RowFormat::Jsonl);
    Ok((is_nested || columns.check_names(lens).is_ok()).then_some(columns))
}

/// The bytes of a file whose rows have cells with types, at the reader's pace.
fn typed_chunks(
    results: PrismResults,
    columns: ExportColumns,
    rows: TypedRows,
) -> impl Stream<Item = Result<Bytes, ExportError>> + 'static {
    let begin = (results, columns, Some(rows));
    stream::try_unfold(begin, async |(mut results, columns, rows)| {
        let Some(mut rows) = rows else {
            return Ok(None);
        };
        let page = results.next_page().await?;
        if page.is_empty() {
            return Ok(Some((
                Bytes::from(rows.finish()?),
                (results, columns, None),
            )));
        }
        let mut chunk = Vec::new();
        let write = |view: &ResultView<'_>, further: Vec<FurtherValue<'_>>| {
            chunk.extend(rows.write(&[], view, further)?);
            Ok(())
        };
        results.each_row(&page, &columns, write).await?;
        Ok(Some((Bytes::from(chunk), (results, columns, Some(rows)))))
    })
}
