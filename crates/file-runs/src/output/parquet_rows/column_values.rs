//! The values of one column of a row group.
//!
//! Parquet stores values without gaps, and levels that tell where one is missing: 1 for a value and
//! 0 for none. An entry of a map has the definition level 2, and the repetition level 1 unless it
//! begins a row; 1 and 0 as definition levels are an empty map and none.

use std::io::Write;

use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedRowGroupWriter;
use refract_domain::lens::Value;

use super::schema::ColumnKind;

/// Estimated bytes in memory of a value beside its text.
const VALUE_BYTES: usize = 40;

/// The values of one column.
pub(super) enum ColumnValues {
    Text(Leaf<ByteArray>),
    Int(Leaf<i32>),
    Moment(Leaf<i64>),
    Double(Leaf<f64>),
    Map {
        keys: Vec<ByteArray>,
        values: Leaf<f64>,
        repetitions: Vec<i16>,
    },
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

    /// Writes the values as the next column, and empties them.
    fn write<D: DataType<T = T>>(
        &mut self,
        group: &mut SerializedRowGroupWriter<'_, impl Write + Send>,
        repetitions: Option<&[i16]>,
    ) -> Result<(), ParquetError> {
        write_column::<D>(group, &self.values, &self.levels, repetitions)?;
        self.values.clear();
        self.levels.clear();
        Ok(())
    }
}

impl ColumnValues {
    pub(super) fn new(kind: ColumnKind) -> Self {
        match kind {
            ColumnKind::Text => Self::Text(Leaf::default()),
            ColumnKind::Int => Self::Int(Leaf::default()),
            ColumnKind::Moment => Self::Moment(Leaf::default()),
            ColumnKind::Double => Self::Double(Leaf::default()),
            ColumnKind::Map => Self::Map {
                keys: Vec::new(),
                values: Leaf::default(),
                repetitions: Vec::new(),
            },
        }
    }

    /// Adds the value of a lens column or of a mark, and returns its size in memory. A value of
    /// another type than the column's is none.
    pub(super) fn push(&mut self, value: Value<'_>) -> usize {
        match (self, value) {
            (Self::Text(leaf), value) => push_text(leaf, text_of(value)),
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
                    keys.push(key.as_str().into());
                    values.values.push(probability.to_f64());
                    values.levels.push(2);
                    repetitions.push(i16::from(index > 0));
                }
                2 * VALUE_BYTES * probabilities.len()
            }
        }
    }

    /// Adds a text to a column of texts.
    pub(super) fn push_text(&mut self, text: Option<&str>) -> usize {
        match self {
            Self::Text(leaf) => push_text(leaf, text),
            Self::Int(_) | Self::Moment(_) | Self::Double(_) | Self::Map { .. } => {
                self.push(Value::Null)
            }
        }
    }

    /// Adds a number to a column of integers.
    pub(super) fn push_int(&mut self, number: Option<i32>) -> usize {
        match self {
            Self::Int(leaf) => leaf.push(number),
            Self::Text(_) | Self::Moment(_) | Self::Double(_) | Self::Map { .. } => {
                self.push(Value::Null)
            }
        }
    }

    /// Adds a moment, in milliseconds since 1970, to a column of moments.
    pub(super) fn push_moment(&mut self, milliseconds: i64) -> usize {
        match self {
            Self::Moment(leaf) => leaf.push(Some(milliseconds)),
            Self::Text(_) | Self::Int(_) | Self::Double(_) | Self::Map { .. } => {
                self.push(Value::Null)
            }
        }
    }

    /// Writes all values into a row group, and empties the column.
    pub(super) fn write(
        &mut self,
        group: &mut SerializedRowGroupWriter<'_, impl Write + Send>,
    ) -> Result<(), ParquetError> {
        match self {
            Self::Text(leaf) => leaf.write::<ByteArrayType>(group, None),
            Self::Int(leaf) => leaf.write::<Int32Type>(group, None),
            Self::Moment(leaf) => leaf.write::<Int64Type>(group, None),
            Self::Double(leaf) => leaf.write::<DoubleType>(group, None),
            Self::Map {
                keys,
                values,
                repetitions,
            } => {
                let levels = &values.levels;
                write_column::<ByteArrayType>(group, keys, levels, Some(repetitions))?;
                values.write::<DoubleType>(group, Some(repetitions))?;
                keys.clear();
                repetitions.clear();
                Ok(())
            }
        }
    }
}

fn push_text(leaf: &mut Leaf<ByteArray>, text: Option<&str>) -> usize {
    leaf.push(text.map(ByteArray::from)) + text.map_or(0, str::len)
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
