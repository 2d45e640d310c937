//! The columns and cells of a result's row, from left to right, for formats whose cells have types;
//! and those of a workbook's sheet.

use chrono::{DateTime, Utc};
use refract_domain::key::{FieldKey, ROW_NAMES};
use refract_domain::lens::{Column, Output, Value};
use refract_domain::result::{Cost, ResultView, RowColumns};
use refract_lens_rendering::{FurtherColumn, FurtherKind, FurtherValue, RefusedRowView};

/// The type of a column. Every column may lack a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColumnKind {
    /// Text in UTF-8.
    Text,
    /// A 32-bit integer.
    Int,
    /// A moment in UTC, in milliseconds.
    Moment,
    /// A double.
    Double,
    /// A map from outcome to probability.
    Map,
}

/// Names and types of all columns, in order.
pub(super) fn columns(
    columns: RowColumns<'_>,
    own: Option<&[String]>,
    further: &[FurtherColumn],
) -> Vec<(String, ColumnKind)> {
    let text = |name: &str| (name.to_owned(), ColumnKind::Text);
    let mut all: Vec<_> = own
        .unwrap_or_default()
        .iter()
        .map(|name| text(name))
        .collect();
    let rows = ROW_NAMES.into_iter();
    let rows = rows.filter(|name| own.is_none() || *name != "ref");
    all.extend(rows.map(|name| match name {
        "version" => (name.to_owned(), ColumnKind::Int),
        "created_at" => (name.to_owned(), ColumnKind::Moment),
        name => text(name),
    }));
    if own.is_none() {
        all.extend(columns.fields.iter().map(|field| text(field.key.as_str())));
    }
    let lens = columns.lens.iter();
    all.extend(lens.map(|column| (column.name.as_str().to_owned(), kind_of(column.output))));
    all.extend(
        further
            .iter()
            .map(|column| (column.name.clone(), kind_of_further(column.kind))),
    );
    all
}

fn kind_of(output: Output) -> ColumnKind {
    match output {
        Output::Top | Output::Label(_) | Output::Level => ColumnKind::Text,
        Output::TopProbability
        | Output::YesProbability
        | Output::LevelProbability
        | Output::Average => ColumnKind::Double,
        Output::Number => ColumnKind::Int,
        Output::AllOptions | Output::AllLevels => ColumnKind::Map,
    }
}

fn kind_of_further(kind: FurtherKind) -> ColumnKind {
    match kind {
        FurtherKind::Text => ColumnKind::Text,
        FurtherKind::Integer => ColumnKind::Int,
        FurtherKind::Decimal => ColumnKind::Double,
    }
}

/// A cell of a row.
#[derive(Clone, Copy)]
pub(super) enum RowCell<'c> {
    /// A text; `None` for no value.
    Text(Option<&'c str>),
    /// A whole number.
    Int(i32),
    /// A decimal; `None` for no value.
    Decimal(Option<f64>),
    /// A moment.
    Moment(DateTime<Utc>),
    /// What a lens may show of a question.
    Value(Value<'c>),
}

/// What decides which cells a row has.
pub(super) struct RowShape {
    fields: Vec<FieldKey>,
    lens: Vec<Column>,
    /// Number of columns of another table, which take the place of `ref` and the fields.
    own: Option<usize>,
}

impl RowShape {
    /// Rows with these columns. Those of another table come first.
    pub(super) fn new(columns: RowColumns<'_>, own: Option<&[String]>) -> Self {
        let fields = columns.fields.iter();
        Self {
            fields: fields.map(|field| field.key.clone()).collect(),
            lens: columns.lens.to_vec(),
            own: own.map(<[String]>::len),
        }
    }

    /// The cells of a result, whose id is written `id`, with the cells of another table's row and
    /// the values of further columns.
    pub(super) fn cells<'c, 'v: 'c>(
        &'c self,
        id: &'c str,
        own: &'c [String],
        result: &'c ResultView<'v>,
        further: impl IntoIterator<Item = FurtherValue<'v>> + 'c,
    ) -> impl Iterator<Item = RowCell<'c>> {
        let is_alone = self.own.is_none();
        let facts = [
            Some(RowCell::Text(Some(id))),
            is_alone.then_some(RowCell::Text(result.reference)),
            Some(RowCell::Int(result.version.get())),
            Some(RowCell::Text(Some(result.status.name()))),
            Some(RowCell::Text(result.status.error())),
            Some(RowCell::Moment(result.created_at)),
        ];
        let fields = self.fields.iter().filter(move |_| is_alone);
        let fields = fields.map(|field| result.field(field).unwrap_or_default());
        let fields = fields.map(|text| RowCell::Text(Some(text)));
        let further = further.into_iter().map(further_cell);
        let values = result.values(&self.lens).map(value_cell).chain(further);
        self.own_cells(own)
            .chain(facts.into_iter().flatten())
            .chain(fields)
            .chain(values)
    }

    /// The cells of a refused row beside those of another table's row.
    pub(super) fn refused_cells<'c>(
        &'c self,
        own: &'c [String],
        row: &'c RefusedRowView<'_>,
    ) -> impl Iterator<Item = RowCell<'c>> {
        let is_alone = self.own.is_none();
        let nothing = RowCell::Value(Value::Null);
        let facts = [
            Some(nothing),
            is_alone.then_some(RowCell::Text(row.reference)),
            Some(RowCell::Int(row.version.get())),
            Some(RowCell::Text(Some(RefusedRowView::STATUS))),
            Some(RowCell::Text(Some(row.reason))),
            Some(nothing),
        ];
        let fields = self.fields.iter().filter(move |_| is_alone);
        let fields = fields.map(|field| RowCell::Text(Some(row.field(field.as_str()))));
        self.own_cells(own)
            .chain(facts.into_iter().flatten())
            .chain(fields)
            .chain(self.lens.iter().map(move |_| nothing))
    }

    /// The cells of another table's row, as many as it has columns.
    fn own_cells<'c>(&self, own: &'c [String]) -> impl Iterator<Item = RowCell<'c>> + use<'c> {
        let cells = (0..self.own.unwrap_or_default()).map(|index| own.get(index));
        cells.map(|cell| RowCell::Text(Some(cell.map_or("", String::as_str))))
    }
}

/// The cell of a value that lives longer.
fn value_cell<'c, 'v: 'c>(value: Value<'v>) -> RowCell<'c> {
    RowCell::Value(value)
}

/// The cell of a value of a further column that lives longer.
fn further_cell<'c, 'v: 'c>(value: FurtherValue<'v>) -> RowCell<'c> {
    match value {
        FurtherValue::OfQuestion(value) => value_cell(value),
        FurtherValue::Text(text) => RowCell::Text(text),
        FurtherValue::Integer(number) => RowCell::Int(i32::try_from(number).unwrap_or(i32::MAX)),
        FurtherValue::Cost(cost) => RowCell::Decimal(cost.map(Cost::to_f64)),
    }
}

/// What the cells of a column hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SheetColumn {
    /// Short texts.
    Text,
    /// Texts of any length.
    LongText,
    Number,
    Moment,
}

/// The value of a cell.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SheetCell<'a> {
    Empty,
    Text(&'a str),
    Number(f64),
    Moment(DateTime<Utc>),
}
