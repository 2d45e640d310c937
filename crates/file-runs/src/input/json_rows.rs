//! Reads the rows of JSON Lines and of a JSON text.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read};

use refract_domain::json::{Json, Malformed, Object};

use super::column_mapping::{WantedColumns, listed};
use super::input_error::InputError;
use super::json_values::{JsonPlace, JsonValues};
use super::raw_row::{ROW_BYTES, RawRow, RawValue};
use super::text_reader::{BYTE_ORDER_MARK, InputEncoding, InputText};

/// The members by which a result of an export with `--raw` is known: its texts are in the last one.
const OF_RAW_RESULT: [&str; 4] = ["id", "prism", "answers", FIELDS];
/// The member of a raw result that has its texts.
const FIELDS: &str = "fields";
/// Upper bound on the unused keys that are stored.
const MOST_UNUSED: usize = 100;

/// The rows of a file of JSON objects.
pub(crate) struct JsonRows {
    objects: JsonObjects,
    encoding: InputEncoding,
    wanted: WantedColumns,
    /// The text of the row read last.
    bytes: Vec<u8>,
    /// For each wanted column, whether a row so far had it.
    seen: Vec<bool>,
    unused: BTreeSet<String>,
}

/// The object of a row.
#[derive(Default)]
struct JsonRow<'a> {
    object: Object<'a>,
    /// The texts of a raw result by their fields; empty for any other row.
    fields: Object<'a>,
}

impl<'a> JsonRow<'a> {
    fn of(object: Object<'a>) -> Self {
        let is_raw_result = OF_RAW_RESULT.iter().all(|name| object.has(name));
        let fields = object.get(FIELDS).filter(|_| is_raw_result);
        let fields = fields.and_then(|fields| fields.into_object().ok());
        Self {
            object,
            fields: fields.unwrap_or_default(),
        }
    }

    /// The object that has the column of this name. Only a required column can be a field.
    fn holder(&self, name: &str, wanted: &WantedColumns) -> &Object<'a> {
        let mut wanted = wanted.0.iter();
        let is_field = wanted.any(|column| column.is_required && column.name == name);
        if is_field && self.fields.has(name) {
            &self.fields
        } else {
            &self.object
        }
    }
}

/// Where the objects of a file are.
enum JsonObjects {
    /// Each on one line.
    Lines(JsonLines),
    /// In an array, or one after the other over any number of lines.
    Values(JsonValues),
}

/// The lines of a JSON Lines file.
struct JsonLines {
    text: BufReader<Box<dyn Read + Send>>,
    line: u64,
}

impl JsonRows {
    /// Starts at the first object of the file. `are_lines` says that each is on one line.
    pub(crate) fn begin(text: InputText, wanted: &WantedColumns, are_lines: bool) -> Self {
        let encoding = text.encoding;
        let text = BufReader::with_capacity(64 * 1024, text.text);
        Self {
            objects: if are_lines {
                JsonObjects::Lines(JsonLines { text, line: 0 })
            } else {
                JsonObjects::Values(JsonValues::begin(text))
            },
            encoding,
            seen: vec![false; wanted.0.len()],
            wanted: wanted.clone(),
            bytes: Vec::new(),
            unused: BTreeSet::new(),
        }
    }

    /// The keys found so far that are not wanted.
    pub(crate) fn unused_columns(&self) -> Vec<String> {
        self.unused.iter().cloned().collect()
    }

    /// The wanted columns that are required or were found so far, then the other keys found so far.
    pub(crate) fn columns(&self) -> Vec<String> {
        let wanted = self.wanted.0.iter().zip(&self.seen);
        let wanted = wanted.filter(|(column, seen)| column.is_required || **seen);
        let wanted = wanted.map(|(column, _)| column.name.clone());
        wanted.chain(self.unused_columns()).collect()
    }

    /// The values of the row read last for these keys.
    pub(crate) fn cells_of_last(&self, keys: &[String]) -> Vec<String> {
        let json = Json::parse(self.bytes.trim_ascii());
        let object = json.ok().and_then(|json| json.into_object().ok());
        let row = object.map(JsonRow::of).unwrap_or_default();
        let cells = keys
            .iter()
            .map(|key| cell(row.holder(key, &self.wanted), key));
        cells.collect()
    }

    /// The next row; `None` after the last.
    pub(crate) fn next(&mut self) -> Result<Option<RawRow>, InputError> {
        let place = match &mut self.objects {
            JsonObjects::Lines(lines) => lines.next(&mut self.bytes)?,
            JsonObjects::Values(values) => values.next(&mut self.bytes)?,
        };
        let Some(place) = place else {
            return Ok(None);
        };
        let line = place.line;
        let text = self.bytes.trim_ascii();
        if std::str::from_utf8(text).is_err() {
            let encoding = self.encoding;
            return Err(InputError::NotText { line, encoding });
        }
        let json = Json::parse(text);
        let json = json.map_err(|malformed| not_json(text, place, malformed))?;
        let received = json.type_name();
        let object = json
            .into_object()
            .map_err(|_| InputError::NotAnObject { line, received })?;
        if let Some(member) = self.wrapped_rows(&object) {
            return Err(InputError::WrappedRows { line, member });
        }
        let wanted = self.wanted.0.iter();
        let row = JsonRow::of(object);
        let values =
            wanted.map(|column| value(row.holder(&column.name, &self.wanted), &column.name));
        let values: Vec<_> = values.collect();
        for (seen, value) in self.seen.iter_mut().zip(&values) {
            *seen |= !matches!(value, RawValue::Absent { is_null: false });
        }
        note_unused(&mut self.unused, &self.wanted, &row.object);
        Ok(Some(RawRow { line, values }))
    }

    /// The member of a JSON text that holds the rows, if they are not its own elements: APIs send lists
    /// so. Objects on lines are always rows.
    fn wrapped_rows(&self, object: &Object<'_>) -> Option<String> {
        let has_wanted = self.wanted.0.iter().any(|column| object.has(&column.name));
        if matches!(self.objects, JsonObjects::Lines(_)) || has_wanted {
            return None;
        }
        let mut members = object.iter();
        let found = members.find(|(_, value)| match value {
            Json::Array(elements) => elements
                .first()
                .is_some_and(|element| element.get().starts_with('{')),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Object(_) => {
                false
            }
        });
        found.map(|(name, _)| listed(std::slice::from_ref(&name.text)))
    }
}

impl JsonLines {
    /// Reads the next line that is not blank; `None` after the last.
    fn next(&mut self, bytes: &mut Vec<u8>) -> Result<Option<JsonPlace>, InputError> {
        loop {
            bytes.clear();
            self.line += 1;
            let line = self.line;
            let mut limited = self.text.by_ref().take(ROW_BYTES);
            let read = limited.read_until(b'\n', bytes);
            let read = read.map_err(|error| InputError::Unreadable { line, error })?;
            if u64::try_from(read).is_ok_and(|read| read == ROW_BYTES) {
                return Err(InputError::TooLong { line });
            }
            if line == 1 && bytes.starts_with(BYTE_ORDER_MARK) {
                bytes.drain(..BYTE_ORDER_MARK.len());
            }
            if read == 0 {
                return Ok(None);
            }
            if !bytes.trim_ascii().is_empty() {
                return Ok(Some(JsonPlace { line, column: 0 }));
            }
        }
    }
}

/// Where a text that begins at a place is no JSON.
fn not_json(text: &[u8], place: JsonPlace, malformed: Malformed) -> InputError {
    let lines_before = u64::try_from(malformed.line.saturating_sub(1)).unwrap_or_default();
    let before = if lines_before == 0 { place.column } else { 0 };
    let line = place.line + lines_before;
    let column = before + malformed.column;
    let mut lines = text.split(|byte| *byte == b'\n');
    let wrong = lines.nth(malformed.line.saturating_sub(1));
    let wrong = wrong.and_then(|line| line.get(malformed.column.saturating_sub(1)..));
    let wrong = wrong.unwrap_or_default();
    let is_no_number = [&b"NaN"[..], b"Infinity", b"-Infinity", b"nfinity"];
    if is_no_number.iter().any(|name| wrong.starts_with(name)) {
        return InputError::NoJsonNumber { line, column };
    }
    InputError::NotJson { line, column }
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
