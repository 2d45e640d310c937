//! The columns of an export: those of the lens or every stored probability, then marks, then how the
//! answers came about.

use std::collections::HashMap;
use std::io::{self, Write};

use refract_domain::ids::ResultId;
use refract_domain::result::mark::Mark;
use refract_domain::result::{Cost, ResultView, RowColumns};
use refract_lens_rendering::{
    FurtherColumn, FurtherValue, ProvenanceColumn, RawColumns, RowFormat, TableStyle,
    write_raw_line,
};
use refract_persistence::Database;

use crate::InternalError;
use crate::lenses::prism_lens::PrismLens;
use crate::marks::MarkedColumns;
use crate::results::read::ReadableResult;
use crate::results::search::result_search::marks_by_result;

/// Which columns an export has, by default those of the prism's lens, and for which spreadsheet.
#[derive(Default)]
pub struct ExportColumns {
    /// Every stored probability in place of the lens.
    pub raw: Option<RawColumns>,
    /// The marks.
    pub marked: MarkedColumns,
    /// How the answers came about.
    pub provenance: Vec<ProvenanceColumn>,
    /// For which spreadsheet csv and tsv are written.
    pub style: TableStyle,
}

/// Two columns of an export would have one name.
#[derive(Debug, thiserror::Error)]
#[error("two columns would be called {0}")]
pub struct ColumnNameTaken(pub String);

impl ExportColumns {
    /// The columns of the rows up to those of the lens, which stored probabilities replace.
    pub fn row<'a>(&self, lens: &'a PrismLens) -> RowColumns<'a> {
        let columns = lens.columns();
        match self.raw {
            Some(_) => RowColumns {
                lens: &[],
                ..columns
            },
            None => columns,
        }
    }

    /// The columns after those of the lens.
    pub fn further(&self) -> Vec<FurtherColumn> {
        let raw = self.raw.iter().flat_map(RawColumns::columns).cloned();
        raw.chain(self.further_than_answers()).collect()
    }

    fn further_than_answers(&self) -> impl Iterator<Item = FurtherColumn> {
        let marked = self.marked.names().iter().map(FurtherColumn::from);
        let provenance = self.provenance.iter().copied().map(FurtherColumn::from);
        marked.chain(provenance)
    }

    /// Whether all columns have different names.
    ///
    /// # Errors
    /// The first name that two columns would have.
    pub fn check_names(&self, lens: &PrismLens) -> Result<(), ColumnNameTaken> {
        let row = self.row(lens);
        let fields = row.fields.iter().map(|field| field.key.as_str());
        let columns = row.lens.iter().map(|column| column.name.as_str());
        let mut taken: Vec<&str> = fields.chain(columns).collect();
        let further = self.further();
        for column in &further {
            if taken.contains(&column.name.as_str()) {
                return Err(ColumnNameTaken(column.name.clone()));
            }
            taken.push(&column.name);
        }
        Ok(())
    }

    /// Writes a line of jsonl with every stored probability and these values of the further columns.
    ///
    /// # Errors
    /// When `out` cannot be written to.
    pub(crate) fn write_raw_line(
        &self,
        lens: &PrismLens,
        row: &ExportedRow<'_>,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let names: Vec<_> = self.further_than_answers().collect();
        let names = names.iter().map(|column| column.name.as_str());
        let further = names.zip(self.values_beside_answers(row));
        write_raw_line(lens.columns().fields, row.result, further, out)
    }

    /// Whether a line of jsonl holds the answers as they are stored.
    pub(crate) fn are_raw_lines(&self, format: RowFormat) -> bool {
        self.raw.is_some() && format == RowFormat::Jsonl
    }

    /// The values of the columns after those of the lens.
    pub(crate) fn values<'a>(&'a self, row: &ExportedRow<'a>) -> Vec<FurtherValue<'a>> {
        let raw = self.raw.iter().flat_map(|raw| raw.values(row.result));
        let raw = raw.map(FurtherValue::from);
        raw.chain(self.values_beside_answers(row)).collect()
    }

    fn values_beside_answers<'a>(
        &'a self,
        row: &ExportedRow<'a>,
    ) -> impl Iterator<Item = FurtherValue<'a>> {
        let marked = self.marked.values(row.result, row.marks);
        let (origin, took_ms) = (row.origin, row.result.took_ms);
        let provenance = self.provenance.iter().map(move |column| match column {
            ProvenanceColumn::Model => {
                FurtherValue::Text(origin.and_then(|it| it.model.as_deref()))
            }
            ProvenanceColumn::TookMs => FurtherValue::Integer(took_ms),
            ProvenanceColumn::Cost => FurtherValue::Cost(origin.and_then(|it| it.cost)),
            ProvenanceColumn::Run => FurtherValue::Text(origin.and_then(|it| it.run.as_deref())),
        });
        marked.map(FurtherValue::from).chain(provenance)
    }

    /// Whether rows need more than the results themselves.
    fn needs_origins(&self) -> bool {
        let mut columns = self.provenance.iter();
        columns.any(|column| *column != ProvenanceColumn::TookMs)
    }
}

/// A result with all that its row may show.
#[derive(Clone, Copy)]
pub(crate) struct ExportedRow<'a> {
    pub(crate) result: &'a ResultView<'a>,
    marks: &'a [Mark],
    origin: Option<&'a ShownOrigin>,
}

/// The origin of a result as texts.
struct ShownOrigin {
    model: Option<String>,
    cost: Option<Cost>,
    run: Option<String>,
}

/// What the rows of a page need beside the results.
pub(crate) struct PageDetails {
    marks: HashMap<ResultId, Vec<Mark>>,
    origins: HashMap<ResultId, ShownOrigin>,
}

impl PageDetails {
    /// Reads what these columns need for the results of a page; mostly nothing.
    pub(crate) async fn load(
        database: &Database,
        lens: &PrismLens,
        page: &[ReadableResult],
        columns: &ExportColumns,
    ) -> Result<Self, InternalError> {
        let ids = || page.iter().map(ReadableResult::id).collect();
        let marks = if columns.marked.names().is_empty() {
            HashMap::new()
        } else {
            marks_by_result(database, ids()).await?
        };
        let mut origins = HashMap::new();
        if columns.needs_origins() {
            for origin in database.list_origins(lens.prism.account, ids()).await? {
                let shown = ShownOrigin {
                    model: origin.model,
                    cost: origin.cost,
                    run: origin.run.map(|run| run.to_string()),
                };
                origins.insert(origin.id, shown);
            }
        }
        Ok(Self { marks, origins })
    }

    /// A result of the page with its details.
    pub(crate) fn of<'a>(&'a self, result: &'a ResultView<'a>) -> ExportedRow<'a> {
        ExportedRow {
            result,
            marks: self.marks.get(&result.id).map_or(&[][..], Vec::as_slice),
            origin: self.origins.get(&result.id),
        }
    }
}
