//! The columns of a Parquet file: their schema, and the values of a column of a row group.
//!
//! Parquet stores values without gaps, and levels for what is missing: 1 for a value and 0 for none.
//! An entry of a map has the definition level 2, and the repetition level 1 unless it begins a row;
//! 1 and 0 as definition levels are an empty map and none.

use std::io::Write;
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{LogicalType, Repetition, TimeUnit, Type as PhysicalType};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedRowGroupWriter;
use parquet::schema::types::{Type, TypePtr};
use refract_domain::lens::Value;

use crate::output::row_cells::{ColumnKind, RowCell};

/// Estimated bytes in memory of a value beside its text.
const VALUE_BYTES: usize = 40;

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

/// The values of one column.
pub(super) enum ColumnValues {
    Text(Texts),
    Int(Leaf<i32>),
    Moment(Leaf<i64>),
    Double(Leaf<f64>),
    Map {
        keys: Texts,
        values: Leaf<f64>,
        repetitions: Vec<i16>,
    },
}

/// Texts one after the other, and their definition levels.
#[derive(Default)]
pub(super) struct Texts {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    levels: Vec<i16>,
}

/// Values without gaps, and their definition levels.
pub(super) struct Leaf<T> {
    values: Vec<T>,
    levels: Vec<i16>,
}

impl<T> Default for Leaf<T> {
    fn default() -> Self {
        Self {
            values: Vec::new(),
            levels: Vec::new(),
        }
    }
}

impl<T> Leaf<T> {
    fn push(&mut self, value: Option<T>) -> usize {
        self.levels.push(i16::from(value.is_some()));
        self.values.extend(value);
        VALUE_BYTES
    }

    /// Writes the values as the next column.
    fn write<D: DataType<T = T>>(
        self,
        group: &mut SerializedRowGroupWriter<'_, impl Write + Send>,
        repetitions: Option<&[i16]>,
    ) -> Result<(), ParquetError> {
        write_column::<D>(group, &self.values, &self.levels, repetitions)
    }
}

impl Texts {
    fn push(&mut self, text: Option<&str>) -> usize {
        self.levels.push(i16::from(text.is_some()));
        self.push_bytes(text);
        VALUE_BYTES + text.map_or(0, str::len)
    }

    fn push_bytes(&mut self, text: Option<&str>) {
        if let Some(text) = text {
            self.bytes.extend_from_slice(text.as_bytes());
            self.ends.push(self.bytes.len());
        }
    }

    /// The texts, which share their bytes.
    fn values(bytes: Vec<u8>, ends: &[usize]) -> Vec<ByteArray> {
        let all = Bytes::from(bytes);
        let begins = std::iter::once(&0).chain(ends);
        let values = begins.zip(ends).map(|(begin, end)| all.slice(*begin..*end));
        values.map(ByteArray::from).collect()
    }
}

impl ColumnValues {
    pub(super) fn new(kind: ColumnKind) -> Self {
        match kind {
            ColumnKind::Text => Self::Text(Texts::default()),
            ColumnKind::Int => Self::Int(Leaf::default()),
            ColumnKind::Moment => Self::Moment(Leaf::default()),
            ColumnKind::Double => Self::Double(Leaf::default()),
            ColumnKind::Map => Self::Map {
                keys: Texts::default(),
                values: Leaf::default(),
                repetitions: Vec::new(),
            },
        }
    }

    /// Adds the value of a lens column or of a mark, and returns its size in memory. A value of
    /// another type than the column's is none.
    fn push(&mut self, value: Value<'_>) -> usize {
        match (self, value) {
            (Self::Text(texts), value) => texts.push(text_of(value)),
            (Self::Int(leaf), Value::Position(position)) => leaf.push(i32::try_from(position).ok()),
            (Self::Int(leaf), _) => leaf.push(None),
            (Self::Moment(leaf), _) => leaf.push(None),
            (Self::Double(leaf), Value::Probability(probability)) => {
                leaf.push(Some(probability.to_f64()))
            }
            (Self::Double(leaf), Value::Average(average)) => {
                leaf.push(average.to_string().parse().ok())
            }
            (Self::Double(leaf), _) => leaf.push(None),
            (
                Self::Map {
                    keys,
                    values,
                    repetitions,
                },
                value,
            ) => {
                let Value::All { probabilities, .. } = value else {
                    values.levels.push(0);
                    repetitions.push(0);
                    return VALUE_BYTES;
                };
                if probabilities.is_empty() {
                    values.levels.push(1);
                    repetitions.push(0);
                }
                for (index, (key, probability)) in probabilities.iter().enumerate() {
                    keys.push_bytes(Some(key.as_str()));
                    values.values.push(probability.to_f64());
                    values.levels.push(2);
                    repetitions.push(i16::from(index > 0));
                }
                2 * VALUE_BYTES * probabilities.len()
            }
        }
    }

    /// Adds a cell, and returns its size in memory. A cell of another type than the column's is none.
    pub(super) fn push_cell(&mut self, cell: RowCell<'_>) -> usize {
        match (self, cell) {
            (Self::Text(texts), RowCell::Text(text)) => texts.push(text),
            (Self::Int(leaf), RowCell::Int(number)) => leaf.push(Some(number)),
            (Self::Double(leaf), RowCell::Decimal(number)) => leaf.push(number),
            (Self::Moment(leaf), RowCell::Moment(moment)) => {
                leaf.push(Some(moment.timestamp_millis()))
            }
            (column, RowCell::Value(value)) => column.push(value),
            (
                column,
                RowCell::Text(_) | RowCell::Int(_) | RowCell::Decimal(_) | RowCell::Moment(_),
            ) => column.push(Value::Null),
        }
    }

    /// Writes all values into a row group.
    pub(super) fn write(
        self,
        group: &mut SerializedRowGroupWriter<'_, impl Write + Send>,
    ) -> Result<(), ParquetError> {
        match self {
            Self::Text(texts) => {
                let values = Texts::values(texts.bytes, &texts.ends);
                write_column::<ByteArrayType>(group, &values, &texts.levels, None)
            }
            Self::Int(leaf) => leaf.write::<Int32Type>(group, None),
            Self::Moment(leaf) => leaf.write::<Int64Type>(group, None),
            Self::Double(leaf) => leaf.write::<DoubleType>(group, None),
            Self::Map {
                keys,
                values,
                repetitions,
            } => {
                let keys = Texts::values(keys.bytes, &keys.ends);
                let repetitions = Some(repetitions.as_slice());
                write_column::<ByteArrayType>(group, &keys, &values.levels, repetitions)?;
                values.write::<DoubleType>(group, repetitions)
            }
        }
    }
}

/// The text of an outcome, a level or a label, as JSON Lines have it.
fn text_of(value: Value<'_>) -> Option<&str> {
    match value {
        Value::Outcome { key, .. } => Some(key),
        Value::YesNo(label) => Some(label.key()),
        Value::Null
        | Value::Probability(_)
        | Value::Position(_)
        | Value::Average(_)
        | Value::All { .. } => None,
    }
}

fn write_column<D: DataType>(
    group: &mut SerializedRowGroupWriter<'_, impl Write + Send>,
    values: &[D::T],
    definitions: &[i16],
    repetitions: Option<&[i16]>,
) -> Result<(), ParquetError> {
    let no_column = || ParquetError::General("the row group has too few columns".to_owned());
    let mut column = group.next_column()?.ok_or_else(no_column)?;
    let typed = column.typed::<D>();
    typed.write_batch(values, Some(definitions), repetitions)?;
    column.close()
}
