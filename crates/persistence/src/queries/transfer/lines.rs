//! Lines of a file: a JSON object for each row, with its columns in the order of the list.

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::Value;
use serde_json::value::RawValue;
use uuid::Uuid;

use super::columns::{StoredColumn, StoredKind};
use crate::error::PersistenceError;

/// Appends the line of a row, from the JSON array of its cells.
pub(super) fn write_line(
    columns: &[&'static StoredColumn],
    cells: &str,
    lines: &mut Vec<u8>,
) -> Result<(), PersistenceError> {
    let cells: Vec<Value> = serde_json::from_str(cells).map_err(|_| unreadable("a row"))?;
    let mut separator = b'{';
    for (column, cell) in columns.iter().zip(&cells) {
        lines.push(separator);
        separator = b',';
        lines.push(b'"');
        lines.extend_from_slice(column.name.as_bytes());
        lines.extend_from_slice(b"\":");
        write_value(column, cell, lines)?;
    }
    lines.extend_from_slice(b"}\n");
    Ok(())
}

fn write_value(
    column: &'static StoredColumn,
    cell: &Value,
    line: &mut Vec<u8>,
) -> Result<(), PersistenceError> {
    let failed = || unreadable(column.name);
    let text = || cell.as_str().ok_or_else(failed);
    let value = match column.kind {
        _ if cell.is_null() => Value::Null,
        StoredKind::Text | StoredKind::Bytes => text()?.into(),
        StoredKind::Whole => cell.as_i64().ok_or_else(failed)?.into(),
        StoredKind::Id => {
            let id = Uuid::parse_str(text()?).map_err(|_| failed())?;
            id.hyphenated().to_string().into()
        }
        StoredKind::Moment => {
            let milliseconds = cell.as_i64().ok_or_else(failed)?;
            let moment: DateTime<Utc> =
                DateTime::from_timestamp_millis(milliseconds).ok_or_else(failed)?;
            moment.to_rfc3339_opts(SecondsFormat::Millis, true).into()
        }
        StoredKind::Json => {
            // as it is stored: the order of its keys means something
            let json: &RawValue = serde_json::from_str(text()?).map_err(|_| failed())?;
            if json.get().contains('\n') {
                return Err(failed());
            }
            line.extend_from_slice(json.get().as_bytes());
            return Ok(());
        }
    };
    serde_json::to_writer(line, &value).map_err(|_| failed())
}

fn unreadable(column: &'static str) -> PersistenceError {
    PersistenceError::Unreadable { column }
}
