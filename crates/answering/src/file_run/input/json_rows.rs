//! Rows of JSON Lines.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};

use refract_domain::json::{Json, Object};

use super::{InputFault, ROW_BYTES, RawRow, RawValue, Wanted};

/// Other keys that are remembered to be told.
const MOST_OTHERS: usize = 100;
const UTF_8_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads row after row.
pub(crate) struct JsonRows {
    file: BufReader<File>,
    wanted: Wanted,
    line: u64,
    bytes: Vec<u8>,
    passed_by: BTreeSet<String>,
}

impl JsonRows {
    pub(crate) fn begin(file: File, wanted: &Wanted) -> Self {
        Self {
            file: BufReader::with_capacity(64 * 1024, file),
            wanted: wanted.clone(),
            line: 0,
            bytes: Vec::new(),
            passed_by: BTreeSet::new(),
        }
    }

    /// Names of keys that nobody wants, in the rows so far.
    pub(crate) fn passed_by(&self) -> Vec<String> {
        self.passed_by.iter().cloned().collect()
    }

    /// The next row; `None` after the last. Blank lines are none.
    pub(crate) fn next(&mut self) -> Result<Option<RawRow>, InputFault> {
        while self.read_line()? {
            let line = self.line;
            let text = self.bytes.trim_ascii();
            if text.is_empty() {
                continue;
            }
            if std::str::from_utf8(text).is_err() {
                return Err(InputFault::NotUtf8 { line });
            }
            let json = Json::parse(text).map_err(|malformed| InputFault::NotJson {
                line,
                column: malformed.column,
            })?;
            let received = json.type_name();
            let object = json
                .into_object()
                .map_err(|_| InputFault::NotAnObject { line, received })?;
            let wanted = self.wanted.0.iter();
            let values = wanted.map(|column| value(&object, &column.name)).collect();
            note_others(&mut self.passed_by, &self.wanted, &object);
            return Ok(Some(RawRow { line, values }));
        }
        Ok(None)
    }

    fn read_line(&mut self) -> Result<bool, InputFault> {
        self.bytes.clear();
        self.line += 1;
        let line = self.line;
        let mut limited = self.file.by_ref().take(ROW_BYTES);
        let read = limited.read_until(b'\n', &mut self.bytes);
        let read = read.map_err(|error| InputFault::Unreadable { line, error })?;
        if u64::try_from(read).is_ok_and(|read| read == ROW_BYTES) {
            return Err(InputFault::TooLong { line });
        }
        if line == 1 && self.bytes.starts_with(UTF_8_MARK) {
            self.bytes.drain(..UTF_8_MARK.len());
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
        Some(other @ (Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_))) => {
            RawValue::NoText(other.type_name())
        }
    }
}

fn note_others(others: &mut BTreeSet<String>, wanted: &Wanted, object: &Object<'_>) {
    for (key, _) in object.iter() {
        let is_wanted = wanted.0.iter().any(|column| column.name == key.text);
        if !is_wanted && others.len() < MOST_OTHERS && !others.contains(&key.text) {
            others.insert(key.text.clone());
        }
    }
}
