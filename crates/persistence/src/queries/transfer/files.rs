//! Reads lines of a file and makes of each what an import saves.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use refract_domain::ids::AccountId;
use refract_domain::result::{FileRunState, RetestState};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use uuid::Uuid;

use super::account_table::AccountTable;
use super::statements::written;
use crate::queries::transfer::account_table::{ImportRule, StoredColumn, StoredKind};

/// What an import knows besides its files.
#[derive(Clone, Debug)]
pub struct ImportContext {
    /// The account that gets the rows.
    pub account: AccountId,
    /// Its name.
    pub account_name: String,
    /// The account that was exported.
    pub exported: Uuid,
    /// The moment of the import.
    pub now: DateTime<Utc>,
    /// Addresses by which people sign in to other accounts.
    pub taken_emails: BTreeSet<String>,
}

/// Why a line is no row of its table. Holds no value of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RowError {
    /// The line is no JSON object.
    #[error("it is no JSON object")]
    NoObject,
    /// The line has a value that this version of the program does not know.
    #[error("it has a value that this version of refract does not know: take a newer one")]
    UnknownColumn,
    /// A value has another form.
    #[error("{0} has another form")]
    Value(&'static str),
}

/// The row of a line.
#[derive(Debug)]
pub struct FileRow<'a> {
    values: BTreeMap<String, &'a RawValue>,
}

/// A row as an import saves it.
#[derive(Debug)]
pub struct ImportedRow {
    /// A value for each column of the table.
    pub(super) cells: Vec<Value>,
    /// The row and the result that it retries, if this one has the higher id: it may come later.
    pub late_retry: Option<(Uuid, Uuid)>,
    /// Whether the row is a person who is imported as removed, for the address is taken.
    pub is_taken: bool,
}

impl<'a> FileRow<'a> {
    /// Reads a line of a table's file.
    ///
    /// # Errors
    /// When the line is no object, or has a key that no column has.
    pub fn parse(table: &AccountTable, line: &'a str) -> Result<Self, RowError> {
        let values: BTreeMap<String, &'a RawValue> =
            serde_json::from_str(line).map_err(|_| RowError::NoObject)?;
        let is_known = |name: &String| written(table).any(|column| column.name == name.as_str());
        if values.keys().all(is_known) {
            Ok(Self { values })
        } else {
            Err(RowError::UnknownColumn)
        }
    }

    /// The string of a column; `None` if it is null, absent or no string.
    pub fn text(&self, column: &str) -> Option<String> {
        serde_json::from_str(self.values.get(column)?.get()).ok()?
    }

    /// The JSON of a column; `None` if it is null or absent.
    ///
    /// # Errors
    /// When the JSON is no `T`.
    pub fn read<T: Deserialize<'a>>(&self, column: &'static str) -> Result<Option<T>, RowError> {
        let Some(raw) = self.values.get(column) else {
            return Ok(None);
        };
        serde_json::from_str(raw.get()).map_err(|_| RowError::Value(column))
    }

    /// What an import saves of the row.
    ///
    /// # Errors
    /// When a value does not have the form of its column.
    pub fn imported(
        &self,
        table: &AccountTable,
        context: &ImportContext,
    ) -> Result<ImportedRow, RowError> {
        let email = self.text("email");
        let mut row = ImportedRow {
            cells: Vec::with_capacity(table.columns.len()),
            late_retry: None,
            is_taken: false,
        };
        for column in table.columns {
            let value = self.value(column)?;
            let now = || Value::from(context.now.timestamp_millis());
            let cell = match column.import {
                ImportRule::Account => simple(context.account.uuid()),
                ImportRule::AccountName => context.account_name.as_str().into(),
                ImportRule::KeptOrAccount if value == simple(context.exported) => {
                    simple(context.account.uuid())
                }
                ImportRule::Null => Value::Null,
                ImportRule::Zero => 0.into(),
                ImportRule::KeptOrNow if value.is_null() => now(),
                ImportRule::Kept | ImportRule::KeptOrAccount | ImportRule::KeptOrNow => value,
                ImportRule::UnusableHash => unusable_hash(self.id()?),
                ImportRule::EndedFileRun => ended_file_run(value),
                ImportRule::EndedRetest => ended_retest(value),
                ImportRule::RemovedIfTaken => {
                    let is_taken = |email: &String| context.taken_emails.contains(email);
                    if value.is_null() && email.as_ref().is_some_and(is_taken) {
                        row.is_taken = true;
                        now()
                    } else {
                        value
                    }
                }
                ImportRule::LowerId => match self.read::<Uuid>(column.name)? {
                    Some(other) if other >= self.id()? => {
                        row.late_retry = Some((self.id()?, other));
                        Value::Null
                    }
                    Some(_) | None => value,
                },
            };
            row.cells.push(cell);
        }
        Ok(row)
    }

    fn id(&self) -> Result<Uuid, RowError> {
        self.read("id")?.ok_or(RowError::Value("id"))
    }

    /// The value of a column as a cell; null if the file does not have it.
    fn value(&self, column: &'static StoredColumn) -> Result<Value, RowError> {
        let Some(raw) = self.values.get(column.name) else {
            return Ok(Value::Null);
        };
        let raw = raw.get();
        if raw == "null" {
            return Ok(Value::Null);
        }
        let parsed = match column.kind {
            StoredKind::Text | StoredKind::Bytes => {
                serde_json::from_str::<String>(raw).ok().map(Value::from)
            }
            StoredKind::Whole => serde_json::from_str::<i64>(raw).ok().map(Value::from),
            StoredKind::Id => serde_json::from_str::<Uuid>(raw).ok().map(simple),
            StoredKind::Json => Some(raw.into()),
            StoredKind::Moment => serde_json::from_str::<String>(raw)
                .ok()
                .and_then(|text| DateTime::parse_from_rfc3339(&text).ok())
                .map(|moment| moment.timestamp_millis().into()),
        };
        parsed.ok_or(RowError::Value(column.name))
    }
}

fn simple(id: Uuid) -> Value {
    id.simple().to_string().into()
}

/// A hash that no key is known to have: a key's id, twice.
fn unusable_hash(id: Uuid) -> Value {
    let half = id.simple().to_string();
    format!("{half}{half}").into()
}

fn ended_file_run(state: Value) -> Value {
    let ended = [
        FileRunState::Done,
        FileRunState::Cancelled,
        FileRunState::Broken,
    ];
    if ended.iter().any(|ended| state == ended.name()) {
        state
    } else {
        FileRunState::Cancelled.name().into()
    }
}

fn ended_retest(state: Value) -> Value {
    let ended = [RetestState::Done, RetestState::Stopped, RetestState::Failed];
    if ended.iter().any(|ended| state == ended.name()) {
        state
    } else {
        RetestState::Stopped.name().into()
    }
}
