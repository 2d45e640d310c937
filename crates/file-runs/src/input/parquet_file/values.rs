//! The values of a column as the text of cells: numbers without an exponent where they are short,
//! dates and times in ISO 8601, null as an empty cell.

use chrono::{DateTime, NaiveDate, NaiveTime, TimeDelta};
use parquet::basic::{ConvertedType, LogicalType, TimeUnit};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType, Int96};
use parquet::errors::ParquetError;
use parquet::schema::types::ColumnDescPtr;

/// The number of the day 1970-01-01 in an INT96.
const JULIAN_EPOCH: i64 = 2_440_588;
const NANOS: i64 = 1_000_000_000;
/// Upper bounds on a decimal, whose digits take time by their square: those of the largest type.
const DECIMAL_BYTES: usize = 32;
const DECIMAL_DIGITS: usize = 76;

/// The cells of a batch of rows in one column.
pub(super) struct ColumnCells {
    reader: ColumnReader,
    column: ColumnDescPtr,
    /// The text of all cells, one after the other.
    text: Vec<u8>,
    /// Where each cell ends.
    ends: Vec<usize>,
}

/// What a column's values mean.
#[derive(Clone, Copy)]
enum Meaning {
    /// What the type of the values says.
    Plain,
    Unsigned,
    /// With this many digits after the point.
    Decimal(usize),
    Date,
    /// Of a day, in this many parts of a second.
    Time(i64),
    /// In this many parts of a second.
    Moment {
        parts: i64,
        is_utc: bool,
    },
    Uuid,
    HalfFloat,
}

impl Meaning {
    fn of(column: &ColumnDescPtr) -> Self {
        let parts = |unit: &TimeUnit| match unit {
            TimeUnit::MILLIS => 1_000,
            TimeUnit::MICROS => 1_000_000,
            TimeUnit::NANOS => NANOS,
        };
        let decimal = || Self::Decimal(usize::try_from(column.type_scale()).unwrap_or_default());
        match column.logical_type_ref() {
            Some(LogicalType::Timestamp(kind)) => {
                return Self::Moment {
                    parts: parts(&kind.unit),
                    is_utc: kind.is_adjusted_to_u_t_c,
                };
            }
            Some(LogicalType::Time(kind)) => return Self::Time(parts(&kind.unit)),
            Some(LogicalType::Integer(kind)) if !kind.is_signed => return Self::Unsigned,
            Some(LogicalType::Date) => return Self::Date,
            Some(LogicalType::Decimal(_)) => return decimal(),
            Some(LogicalType::Uuid) => return Self::Uuid,
            Some(LogicalType::Float16) => return Self::HalfFloat,
            Some(_) | None => {}
        }
        let moment = |parts| Self::Moment {
            parts,
            is_utc: true,
        };
        match column.converted_type() {
            ConvertedType::DATE => Self::Date,
            ConvertedType::DECIMAL => decimal(),
            ConvertedType::TIME_MILLIS => Self::Time(1_000),
            ConvertedType::TIME_MICROS => Self::Time(1_000_000),
            ConvertedType::TIMESTAMP_MILLIS => moment(1_000),
            ConvertedType::TIMESTAMP_MICROS => moment(1_000_000),
            ConvertedType::UINT_8
            | ConvertedType::UINT_16
            | ConvertedType::UINT_32
            | ConvertedType::UINT_64 => Self::Unsigned,
            ConvertedType::NONE
            | ConvertedType::UTF8
            | ConvertedType::MAP
            | ConvertedType::MAP_KEY_VALUE
            | ConvertedType::LIST
            | ConvertedType::ENUM
            | ConvertedType::INT_8
            | ConvertedType::INT_16
            | ConvertedType::INT_32
            | ConvertedType::INT_64
            | ConvertedType::JSON
            | ConvertedType::BSON
            | ConvertedType::INTERVAL => Self::Plain,
        }
    }
}

impl ColumnCells {
    pub(super) fn new(reader: ColumnReader, column: ColumnDescPtr) -> Self {
        Self {
            reader,
            column,
            text: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// The text of a row's cell.
    pub(super) fn cell(&self, row: usize) -> &[u8] {
        let begin = match row.checked_sub(1) {
            None => Some(&0),
            Some(before) => self.ends.get(before),
        };
        let range = begin.zip(self.ends.get(row));
        let cell = range.and_then(|(begin, end)| self.text.get(*begin..*end));
        cell.unwrap_or_default()
    }

    /// Reads the cells of the next rows.
    pub(super) fn read(&mut self, rows: usize) -> Result<(), ParquetError> {
        let meaning = Meaning::of(&self.column);
        let most = self.column.max_def_level();
        let mut cells = Cells {
            most,
            rows,
            text: &mut self.text,
            ends: &mut self.ends,
        };
        match &mut self.reader {
            ColumnReader::BoolColumnReader(reader) => cells.fill(reader, |value, out| {
                out.extend_from_slice(if *value { b"true" } else { b"false" });
            }),
            ColumnReader::Int32ColumnReader(reader) => cells.fill(reader, |value, out| {
                let value = if matches!(meaning, Meaning::Unsigned) {
                    i64::from(value.cast_unsigned())
                } else {
                    i64::from(*value)
                };
                whole(value, meaning, out);
            }),
            ColumnReader::Int64ColumnReader(reader) => cells.fill(reader, |value, out| {
                if matches!(meaning, Meaning::Unsigned) {
                    write(out, format_args!("{}", value.cast_unsigned()));
                } else {
                    whole(*value, meaning, out);
                }
            }),
            ColumnReader::Int96ColumnReader(reader) => cells.fill(reader, int96),
            ColumnReader::FloatColumnReader(reader) => cells.fill(reader, |value, out| {
                // its shortest digits, which a wider float does not have
                number(f64::from(*value), &value.to_string(), out);
            }),
            ColumnReader::DoubleColumnReader(reader) => cells.fill(reader, |value, out| {
                number(*value, &value.to_string(), out);
            }),
            ColumnReader::ByteArrayColumnReader(reader) => {
                cells.fill(reader, |value, out| bytes(value, meaning, out))
            }
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                cells.fill(reader, |value, out| bytes(value, meaning, out))
            }
        }
    }
}

/// The cells of a batch while they are filled.
struct Cells<'a> {
    /// The level of a value that is not null.
    most: i16,
    rows: usize,
    text: &'a mut Vec<u8>,
    ends: &'a mut Vec<usize>,
}

impl Cells<'_> {
    fn fill<T: DataType>(
        &mut self,
        reader: &mut ColumnReaderImpl<T>,
        write: impl Fn(&T::T, &mut Vec<u8>),
    ) -> Result<(), ParquetError> {
        self.text.clear();
        self.ends.clear();
        let (mut values, mut levels) = (Vec::new(), Vec::new());
        let mut read = 0;
        while read < self.rows {
            let levels = (self.most > 0).then_some(&mut levels);
            let (rows, _, _) = reader.read_records(self.rows - read, levels, None, &mut values)?;
            if rows == 0 {
                return Err(ParquetError::EOF("a column is too short".to_owned()));
            }
            read += rows;
        }
        let mut values = values.iter();
        for row in 0..self.rows {
            let is_null = self.most > 0 && levels.get(row) != Some(&self.most);
            if !is_null {
                let value = values.next();
                let missing = || ParquetError::EOF("a value is missing".to_owned());
                write(value.ok_or_else(missing)?, self.text);
            }
            self.ends.push(self.text.len());
        }
        Ok(())
    }
}

fn write(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    // writing into memory cannot fail
    let _ = std::io::Write::write_fmt(out, text);
}

/// A whole number with its meaning.
fn whole(value: i64, meaning: Meaning, out: &mut Vec<u8>) {
    match meaning {
        Meaning::Decimal(scale) => decimal(&value.to_be_bytes(), scale, out),
        Meaning::Date => {
            let epoch = NaiveDate::default();
            let date = TimeDelta::try_days(value).and_then(|days| epoch.checked_add_signed(days));
            if let Some(date) = date {
                return write(out, format_args!("{date}"));
            }
            write(out, format_args!("{value}"));
        }
        Meaning::Time(parts) => {
            let nanos = u32::try_from(value.rem_euclid(parts) * (NANOS / parts));
            let seconds = u32::try_from(value.div_euclid(parts));
            let time = seconds.ok().zip(nanos.ok()).and_then(|(seconds, nanos)| {
                NaiveTime::from_num_seconds_from_midnight_opt(seconds, nanos)
            });
            match time {
                Some(time) => write(out, format_args!("{time}")),
                None => write(out, format_args!("{value}")),
            }
        }
        Meaning::Moment { parts, is_utc } => {
            let nanos = value.rem_euclid(parts) * (NANOS / parts);
            moment(value.div_euclid(parts), nanos, is_utc, out);
        }
        Meaning::Plain | Meaning::Unsigned | Meaning::Uuid | Meaning::HalfFloat => {
            write(out, format_args!("{value}"));
        }
    }
}

/// A moment as `2026-05-04T09:08:07.5`, with `Z` if it is known to be in UTC.
fn moment(seconds: i64, nanos: i64, is_utc: bool, out: &mut Vec<u8>) {
    let nanos = u32::try_from(nanos).unwrap_or_default();
    let Some(moment) = DateTime::from_timestamp(seconds, nanos) else {
        return write(out, format_args!("{seconds}"));
    };
    let zone = if is_utc { "Z" } else { "" };
    let moment = moment.naive_utc();
    write(
        out,
        format_args!("{}T{}{zone}", moment.date(), moment.time()),
    );
}

/// Nanoseconds of a day, and the day's number: how Impala, Hive and old Spark write moments.
fn int96(value: &Int96, out: &mut Vec<u8>) {
    let [low, high, day] = value.data() else {
        return;
    };
    let nanos = i64::from(*high).wrapping_shl(32) | i64::from(*low);
    let seconds = (i64::from(*day) - JULIAN_EPOCH) * 86_400 + nanos.div_euclid(NANOS);
    moment(seconds, nanos.rem_euclid(NANOS), false, out);
}

/// A number with a fraction; nothing for NaN, which data frames write where a value is missing.
fn number(value: f64, shortest: &str, out: &mut Vec<u8>) {
    if value.is_nan() {
        return;
    }
    match value.abs() {
        0.0 => out.push(b'0'),
        1e-9..1e21 => out.extend_from_slice(shortest.as_bytes()),
        _ => write(out, format_args!("{value:e}")),
    }
}

/// Bytes: mostly a text, whose encoding is checked where it is used.
fn bytes(value: &ByteArray, meaning: Meaning, out: &mut Vec<u8>) {
    let value = value.data();
    match (meaning, value) {
        (Meaning::Decimal(scale), value) => decimal(value, scale, out),
        (Meaning::Uuid, value) => match uuid::Uuid::from_slice(value) {
            Ok(id) => write(out, format_args!("{}", id.hyphenated())),
            Err(_) => out.extend_from_slice(value),
        },
        (Meaning::HalfFloat, [low, high]) => {
            let value = half_float(u16::from_le_bytes([*low, *high]));
            number(value, &value.to_string(), out);
        }
        _ => out.extend_from_slice(value),
    }
}

/// The value of a float of 16 bits.
fn half_float(bits: u16) -> f64 {
    let fraction = f64::from(bits & 0x3ff) / 1024.0;
    let value = match (bits >> 10) & 0x1f {
        0 => fraction * 2_f64.powi(-14),
        31 if fraction > 0.0 => f64::NAN,
        31 => f64::INFINITY,
        exponent => (1.0 + fraction) * 2_f64.powi(i32::from(exponent) - 15),
    };
    if bits & 0x8000 == 0 { value } else { -value }
}

/// A whole number in two's complement, the highest byte first, with a point before its last `scale`
/// digits.
fn decimal(value: &[u8], scale: usize, out: &mut Vec<u8>) {
    if value.len() > DECIMAL_BYTES || scale > DECIMAL_DIGITS {
        return out.extend_from_slice(value);
    }
    let is_negative = value.first().is_some_and(|byte| byte & 0x80 != 0);
    // the digits, the lowest first
    let mut digits: Vec<u8> = Vec::new();
    for byte in value {
        let byte = if is_negative { !byte } else { *byte };
        add(&mut digits, 256, u32::from(byte));
    }
    if is_negative {
        add(&mut digits, 1, 1);
    }
    while digits.len() <= scale {
        digits.push(0);
    }
    while digits.len() > scale + 1 && digits.last() == Some(&0) {
        digits.pop();
    }
    if is_negative {
        out.push(b'-');
    }
    for (place, digit) in digits.iter().enumerate().rev() {
        out.push(b'0' + digit);
        if place == scale && scale > 0 {
            out.push(b'.');
        }
    }
}

/// Multiplies digits, the lowest first, and adds to them.
fn add(digits: &mut Vec<u8>, factor: u32, carry: u32) {
    let mut carry = carry;
    for digit in digits.iter_mut() {
        carry += u32::from(*digit) * factor;
        *digit = u8::try_from(carry % 10).unwrap_or_default();
        carry /= 10;
    }
    while carry > 0 {
        digits.push(u8::try_from(carry % 10).unwrap_or_default());
        carry /= 10;
    }
}
