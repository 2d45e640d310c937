//! Parquet files: the flat columns as records, each value as text. Rows are read in small batches
//! from one row group after the other, so memory stays the same at any number of rows.

mod values;

use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bytes::Bytes;
use csv::ByteRecord;
use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition};
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{ChunkReader, FileReader as _, Length, SerializedFileReader};
use parquet::schema::types::{ColumnDescPtr, Type};

use self::values::ColumnCells;
use super::input_error::InputError;
use super::input_source::InputBytes;
use super::raw_row::ROW_BYTES;

/// Rows that are read at once.
const BATCH: usize = 128;
/// Upper bound on the bytes that are read at once: those of the footer, or of a compressed page.
const READ_BYTES: usize = 128 * 1024 * 1024;

/// A Parquet file that can be read.
pub(crate) struct ParquetFile {
    file: Arc<SerializedFileReader<ParquetBytes>>,
    columns: Arc<[FileColumn]>,
}

/// A column at the top of the schema.
struct FileColumn {
    name: String,
    /// Its place among the columns with values; `None` for a list, a map or a struct, which no cell
    /// holds.
    leaf: Option<(usize, ColumnDescPtr)>,
    /// The name of the JSON type of its values, if no cell holds them.
    nested: Option<&'static str>,
}

/// The JSON type of the values of a list, a map or a struct; `None` for a flat column.
fn nested_type(field: &Type) -> Option<&'static str> {
    let field_info = field.get_basic_info();
    let is_list = matches!(field_info.logical_type_ref(), Some(LogicalType::List))
        || field_info.converted_type() == ConvertedType::LIST
        || field_info.repetition() == Repetition::REPEATED;
    match (is_list, field.is_primitive()) {
        (true, _) => Some("array"),
        (false, false) => Some("object"),
        (false, true) => None,
    }
}

impl ParquetFile {
    /// Reads the footer, and checks that the columns can be read.
    pub(crate) fn open(bytes: InputBytes) -> Result<Self, InputError> {
        let length = bytes.length().map_err(InputError::Unopened)?;
        let bytes = ParquetBytes { bytes, length };
        let file =
            guarded(|| SerializedFileReader::new(bytes)).map_err(|error| failed(error, 0))?;
        let metadata = file.metadata();
        let schema = metadata.file_metadata().schema_descr();
        let mut columns = Vec::new();
        for (root, field) in schema.root_schema().get_fields().iter().enumerate() {
            let nested = nested_type(field);
            let mut leaves = schema.columns().iter().enumerate();
            let leaf = leaves.find(|(index, _)| schema.get_column_root_idx(*index) == root);
            columns.push(FileColumn {
                name: field.name().to_owned(),
                leaf: leaf
                    .filter(|_| nested.is_none())
                    .map(|(index, leaf)| (index, Arc::clone(leaf))),
                nested,
            });
        }
        for group in metadata.row_groups() {
            let read = columns.iter().filter_map(|column| column.leaf.as_ref());
            for (index, _) in read {
                let compression = group
                    .columns()
                    .get(*index)
                    .map(ColumnChunkMetaData::compression);
                if matches!(compression, Some(Compression::BROTLI(_) | Compression::LZO)) {
                    return Err(InputError::ParquetCompression);
                }
            }
        }
        Ok(Self {
            file: Arc::new(file),
            columns: columns.into(),
        })
    }

    /// Begins to read the rows.
    pub(crate) fn records(&self) -> ParquetRecords {
        ParquetRecords {
            file: Arc::clone(&self.file),
            columns: Arc::clone(&self.columns),
            is_begun: false,
            next_group: 0,
            left_in_group: 0,
            cells: Vec::new(),
            batch: 0..0,
            number: 0,
        }
    }
}

/// The rows of a Parquet file. The first record has the names of the columns.
pub(crate) struct ParquetRecords {
    file: Arc<SerializedFileReader<ParquetBytes>>,
    columns: Arc<[FileColumn]>,
    is_begun: bool,
    next_group: usize,
    left_in_group: usize,
    /// The values of the batch, for each column that is flat.
    cells: Vec<Option<ColumnCells>>,
    /// The rows of the batch that are not read yet.
    batch: std::ops::Range<usize>,
    /// The number of the row read last, from 1.
    number: u64,
}

impl ParquetRecords {
    /// The JSON type of a column's values if no cell holds them, and its cells are empty.
    pub(crate) fn nested(&self, column: usize) -> Option<&'static str> {
        self.columns.get(column)?.nested
    }

    /// Reads the next record and returns its number, 0 for the names; `None` after the last.
    pub(crate) fn next(&mut self, record: &mut ByteRecord) -> Result<Option<u64>, InputError> {
        record.clear();
        if !std::mem::replace(&mut self.is_begun, true) {
            for column in &*self.columns {
                record.push_field(column.name.as_bytes());
            }
            return Ok(Some(0));
        }
        let row = loop {
            match self.batch.next() {
                Some(row) => break row,
                None if self.has_batch()? => {}
                None => return Ok(None),
            }
        };
        self.number += 1;
        for cells in &self.cells {
            record.push_field(cells.as_ref().map_or(b"", |cells| cells.cell(row)));
        }
        if u64::try_from(record.as_slice().len()).is_ok_and(|bytes| bytes > ROW_BYTES) {
            return Err(InputError::LongParquetRow { row: self.number });
        }
        Ok(Some(self.number))
    }

    /// Reads the next batch. Returns whether there is one.
    fn has_batch(&mut self) -> Result<bool, InputError> {
        let next = self.number + 1;
        let read = guarded(|| {
            while self.left_in_group == 0 {
                let groups = self.file.metadata().row_groups();
                let Some(group) = groups.get(self.next_group) else {
                    return Ok(false);
                };
                self.left_in_group = usize::try_from(group.num_rows()).unwrap_or_default();
                let group = self.file.get_row_group(self.next_group)?;
                self.next_group += 1;
                let columns = self.columns.iter().map(|column| match &column.leaf {
                    None => Ok(None),
                    Some((index, leaf)) => {
                        let reader = group.get_column_reader(*index)?;
                        Ok(Some(ColumnCells::new(reader, Arc::clone(leaf))))
                    }
                });
                self.cells = columns.collect::<Result<_, ParquetError>>()?;
            }
            let rows = self.left_in_group.min(BATCH);
            for cells in self.cells.iter_mut().flatten() {
                cells.read(rows)?;
            }
            self.left_in_group -= rows;
            self.batch = 0..rows;
            Ok(true)
        });
        read.map_err(|error| failed(error, next))
    }
}

/// Runs a function of the reader, which panics on some damaged files.
fn guarded<T>(read: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ParquetError> {
    let read = catch_unwind(AssertUnwindSafe(read));
    read.unwrap_or_else(|_| Err(ParquetError::General("the reader panicked".to_owned())))
}

/// The error of a file that cannot be read at a row. The reader's own words may hold values.
fn failed(error: ParquetError, row: u64) -> InputError {
    match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) if row == 0 => InputError::Unopened(*error),
            Ok(error) => InputError::Unreadable {
                line: row,
                error: *error,
            },
            Err(_) => InputError::DamagedParquet { row },
        },
        ParquetError::General(_)
        | ParquetError::NYI(_)
        | ParquetError::EOF(_)
        | ParquetError::IndexOutOfBound(..)
        | ParquetError::NeedMoreData(_)
        | ParquetError::NeedMoreDataRange(_)
        | _ => InputError::DamagedParquet { row },
    }
}

/// The bytes of a file, read at any place.
struct ParquetBytes {
    bytes: InputBytes,
    length: u64,
}

impl Length for ParquetBytes {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for ParquetBytes {
    type T = io::BufReader<Box<dyn Read + Send>>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        Ok(io::BufReader::with_capacity(
            1024,
            self.bytes.read_from(start),
        ))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        let left = self.length.checked_sub(start);
        let wanted = u64::try_from(length).ok();
        if length > READ_BYTES || left.is_none_or(|left| wanted.is_none_or(|wanted| wanted > left))
        {
            return Err(ParquetError::EOF("a part is beyond the end".to_owned()));
        }
        let mut bytes = vec![0; length];
        let read = self.bytes.read_from(start).read_exact(&mut bytes);
        read.map_err(|error| ParquetError::External(Box::new(error)))?;
        Ok(bytes.into())
    }
}

#[cfg(test)]
mod tests;
