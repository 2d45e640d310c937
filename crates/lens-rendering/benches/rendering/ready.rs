//! Values parsed from a rendering, from which the libraries write the same bytes.

use std::fmt;

use csv::{ByteRecord, QuoteStyle, StringRecord, Terminator};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::{Serialize, Serializer};

/// Records of csv or tsv.
pub(crate) struct ReadyRecords<Record> {
    delimiter: u8,
    records: Vec<Record>,
}

impl<Record> ReadyRecords<Record> {
    pub(crate) fn read(body: &[u8], delimiter: u8, record: fn(ByteRecord) -> Record) -> Self {
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(delimiter)
            .quoting(delimiter == b',')
            .has_headers(false)
            .from_reader(body);
        let records = reader
            .byte_records()
            .map(|cells| record(cells.unwrap()))
            .collect();
        Self { delimiter, records }
    }

    pub(crate) fn write(
        &self,
        out: &mut Vec<u8>,
        write: fn(&mut csv::Writer<Vec<u8>>, &Record) -> csv::Result<()>,
    ) {
        let is_csv = self.delimiter == b',';
        let mut writer = csv::WriterBuilder::new()
            .delimiter(self.delimiter)
            .terminator(if is_csv {
                Terminator::CRLF
            } else {
                Terminator::Any(b'\n')
            })
            .quote_style(if is_csv {
                QuoteStyle::Necessary
            } else {
                QuoteStyle::Never
            })
            .has_headers(false)
            .from_writer(std::mem::take(out));
        for record in &self.records {
            write(&mut writer, record).unwrap();
        }
        *out = writer.into_inner().unwrap();
    }
}

/// The value of a cell: a number if the cell can be parsed as one.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum Cell {
    Text(String),
    Integer(u64),
    Decimal(f64),
}

impl Cell {
    pub(crate) fn read(cells: ByteRecord) -> Vec<Self> {
        let cells = StringRecord::from_byte_record(cells).unwrap();
        let cells = cells.iter().map(|cell| match (cell.parse(), cell.parse()) {
            (Ok(number), _) => Self::Integer(number),
            (_, Ok(number)) => Self::Decimal(number),
            _ => Self::Text(cell.to_owned()),
        });
        cells.collect()
    }
}

/// JSON values: one, or one for each line.
pub(crate) struct ReadyJson(Vec<Json>);

impl ReadyJson {
    pub(crate) fn read(body: &[u8]) -> Self {
        let values = serde_json::Deserializer::from_slice(body).into_iter();
        Self(values.collect::<Result<_, _>>().unwrap())
    }

    pub(crate) fn write_lines(&self, out: &mut Vec<u8>) {
        for value in &self.0 {
            serde_json::to_writer(&mut *out, value).unwrap();
            out.push(b'\n');
        }
    }

    /// Writes the only value, without a line end.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        serde_json::to_writer(out, &self.0[0]).unwrap();
    }
}

/// A JSON value. Objects keep their order, and whole numbers are integers, so that every number is
/// written as it was read.
enum Json {
    Null,
    String(String),
    Integer(u64),
    Decimal(f64),
    Object(Vec<(String, Json)>),
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::String(text) => serializer.serialize_str(text),
            Self::Integer(number) => serializer.serialize_u64(*number),
            Self::Decimal(number) => serializer.serialize_f64(*number),
            Self::Object(entries) => {
                serializer.collect_map(entries.iter().map(|(key, value)| (key, value)))
            }
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value that a result may have")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::String(text.to_owned()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Json, E> {
        Ok(Json::Integer(number))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Json, E> {
        Ok(Json::Decimal(number))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Json::Object(entries))
    }
}
