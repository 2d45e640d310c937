//! The columns of a Parquet file and their types.

use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, TimeUnit, Type as PhysicalType};
use parquet::errors::ParquetError;
use parquet::schema::types::{Type, TypePtr};
use refract_domain::key::{ColumnName, ROW_NAMES};
use refract_domain::lens::Output;
use refract_domain::result::view::RowColumns;

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
    marked: &[ColumnName],
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
    all.extend(marked.iter().map(|name| text(name.as_str())));
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

/// The schema of a file with these columns.
pub(super) fn of(columns: &[(String, ColumnKind)]) -> Result<Type, ParquetError> {
    let fields = columns.iter().map(|(name, kind)| field(name, *kind));
    let fields = fields.collect::<Result<Vec<_>, _>>()?;
    Type::group_type_builder("refract")
        .with_fields(fields)
        .build()
}

fn field(name: &str, kind: ColumnKind) -> Result<TypePtr, ParquetError> {
    let optional = Repetition::OPTIONAL;
    let built = match kind {
        ColumnKind::Text => leaf(
            name,
            PhysicalType::BYTE_ARRAY,
            Some(LogicalType::String),
            optional,
        ),
        ColumnKind::Int => leaf(name, PhysicalType::INT32, None, optional),
        ColumnKind::Double => leaf(name, PhysicalType::DOUBLE, None, optional),
        ColumnKind::Moment => {
            let moment = LogicalType::timestamp(true, TimeUnit::MILLIS);
            leaf(name, PhysicalType::INT64, Some(moment), optional)
        }
        ColumnKind::Map => {
            let required = Repetition::REQUIRED;
            let text = Some(LogicalType::String);
            let key = leaf("key", PhysicalType::BYTE_ARRAY, text, required)?;
            let value = leaf("value", PhysicalType::DOUBLE, None, required)?;
            let entries = Type::group_type_builder("key_value")
                .with_repetition(Repetition::REPEATED)
                .with_fields(vec![Arc::new(key), Arc::new(value)])
                .build()?;
            Type::group_type_builder(name)
                .with_repetition(optional)
                .with_logical_type(Some(LogicalType::Map))
                .with_fields(vec![Arc::new(entries)])
                .build()
        }
    };
    built.map(Arc::new)
}

fn leaf(
    name: &str,
    physical: PhysicalType,
    logical: Option<LogicalType>,
    repetition: Repetition,
) -> Result<Type, ParquetError> {
    Type::primitive_type_builder(name, physical)
        .with_logical_type(logical)
        .with_repetition(repetition)
        .build()
}
