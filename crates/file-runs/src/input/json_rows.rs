//! Reads the rows of JSON Lines.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read};

use refract_domain::json::{Json, Object};

use super::input_encoding::{BYTE_ORDER_MARK, InputEncoding};
use super::input_error::InputError;
use super::raw_row::{ROW_BYTES, RawRow, RawValue};
use super::text_reader::InputText;
use super::wanted_columns::WantedColumns;

/// Upper bound on the unused keys that are stored.
const MOST_UNUSED: usize = 100;

/// The rows of a JSON Lines file, each a JSON object on one line.
pub(crate) struct JsonRows {
    text: BufReader<Box<dyn Read + Send>>,
    encoding: InputEncoding,
    wanted: WantedColumns,
    line: u64,
    bytes: Vec<u8>,
    unused: BTreeSet<String>,
}

impl JsonRows {
    /// Starts at the first line of the file.
    pub(crate) fn begin(text: InputText, wanted: &WantedColumns) -> Self {
        Self {
            text: BufReader::with_capacity(64 * 1024, text.text),
            encoding: text.encoding,
            wanted: wanted.clone(),
            line: 0,
            bytes: Vec::new(),
            unused: BTreeSet::new(),
        }
    }

    /// The keys found so far that are not wanted.
    pub(crate) fn unused_columns(&self) -> Vec<String> {
        self.unused.iter().cloned().collect()
    }

    /// The wanted columns, then the keys found so far that are not wanted.
    pub(crate) fn columns(&self) -> Vec<String> {
        let wanted = self.wanted.0.iter().map(|column| column.name.clone());
        wanted.chain(self.unused_columns()).collect()
    }

    /// The values of the row read last for these keys.
    pub(crate) fn cells_of_last(&self, keys: &[String]) -> Vec<String> {
        let json = Json::parse(self.bytes.trim_ascii());
        let object = json.ok().and_then(|json| json.into_object().ok());
        let object = object.unwrap_or_default();
        keys.iter().map(|key| cell(&object, key)).collect()
    }

    /// The next row; `None` after the last. Blank lines are skipped.
    pub(crate) fn next(&mut self) -> Result<Option<RawRow>, InputError> {
        while self.read_line()? {
            let line = self.line;
            let text = self.bytes.trim_ascii();
            if text.is_empty() {
                continue;
            }
            if std::str::from_utf8(text).is_err() {
                let encoding = self.encoding;
                return Err(InputError::NotText { line, encoding });
            }
            let json = Json::parse(text).map_err(|malformed| InputError::NotJson {
                line,
                column: malformed.column,
            })?;
            let received = json.type_name();
            let object = json
                .into_object()
                .map_err(|_| InputError::NotAnObject { line, received })?;
            let wanted = self.wanted.0.iter();
            let values = wanted.map(|column| value(&object, &column.name)).collect();
            note_unused(&mut self.unused, &self.wanted, &object);
            return Ok(Some(RawRow { line, values }));
        }
        Ok(None)
    }

    fn read_line(&mut self) -> Result<bool, InputError> {
        self.bytes.clear();
        self.line += 1;
        let line = self.line;
        let mut limited = self.text.by_ref().take(ROW_BYTES);
        let read = limited.read_until(b'\n', &mut self.bytes);
        let read = read.map_err(|error| InputError::Unreadable { line, error })?;
        if u64::try_from(read).is_ok_and(|read| read == ROW_BYTES) {
            return Err(InputError::TooLong { line });
        }
        if line == 1 && self.bytes.starts_with(BYTE_ORDER_MARK) {
            self.bytes.drain(..BYTE_ORDER_MARK.len());
        }
        Ok(read > 0)
    }
}

fn value(object: &Object<'_>, name: &str) -> RawValue {
    match object.get(name) {
        None => RawValue::Absent { is_null: false },
        Some(Json::Null) => RawValue::Absent { is_null: true },
        Some(Json::String(string)) => RawValue::Text {
            text: string.text,
            has_unpaired_surrogate: string.has_unpaired_surrogate,
        },
        Some(other @ (Json::Bool(_) | Json::Number(_))) => RawValue::Scalar {
            text: object.written(name).unwrap_or_default().to_owned(),
            type_name: other.type_name(),
        },
        Some(other @ (Json::Array(_) | Json::Object(_))) => RawValue::NoText(other.type_name()),
    }
}

/// A value as a cell of a table: a string without quotes, null as an empty cell, anything else as
/// in the file.
fn cell(object: &Object<'_>, name: &str) -> String {
    match object.get(name) {
        None | Some(Json::Null) => String::new(),
        Some(Json::String(string)) => string.text,
        Some(Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_)) => {
            object.written(name).unwrap_or_default().to_owned()
        }
    }
}

fn note_unused(unused: &mut BTreeSet<String>, wanted: &WantedColumns, object: &Object<'_>) {
    for (key, _) in object.iter() {
        let is_wanted = wanted.0.iter().any(|column| column.name == key.text);
        if !is_wanted && unused.len() < MOST_UNUSED && !unused.contains(&key.text) {
            unused.insert(key.text.clone());
        }
    }
}
