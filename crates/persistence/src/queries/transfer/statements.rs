//! The texts of the statements, made from the list of columns for either database. A row travels as
//! a JSON array of its cells: each database makes and reads JSON, so no table needs code of its own.

use chrono::{DateTime, SecondsFormat, Utc};
use refract_domain::ids::AccountId;

use super::account_table::{AccountSelection, AccountTable, Owner};
use crate::connections::Pools;
use crate::queries::transfer::account_table::{ExportRule, StoredColumn, StoredKind};

/// The database whose SQL is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SqlDialect {
    Postgres,
    Sqlite,
}

impl SqlDialect {
    pub(super) fn of(pools: &Pools) -> Self {
        match pools {
            Pools::Postgres(_) => Self::Postgres,
            Pools::Sqlite(_) => Self::Sqlite,
        }
    }

    /// The query of all rows of a table that an account has, in the order of the key, each a JSON
    /// array of the written columns named `cells`.
    pub(super) fn select(self, table: &AccountTable, selection: &AccountSelection) -> String {
        let columns = written(table).map(|column| {
            if selection.without_texts && column.export == ExportRule::WrittenWithTexts {
                return "NULL".to_owned();
            }
            self.cell(column)
        });
        let columns = columns.collect::<Vec<_>>().join(", ");
        let cells = match self {
            Self::Postgres => format!("json_build_array({columns})::text"),
            Self::Sqlite => format!("json_array({columns})"),
        };
        let mut owned = self.owned(table, selection.account);
        if let (Some(column), Some(since)) = (table.since, selection.since) {
            owned = format!("{owned} AND {column} >= {}", self.moment(since));
        }
        let AccountTable { name, key, .. } = table;
        format!("SELECT {cells} AS cells FROM {name} WHERE {owned} ORDER BY {key}")
    }

    /// Whether an account has any row of a table, as a number named `found`.
    pub(super) fn exists(self, table: &AccountTable, account: AccountId) -> String {
        let (name, owned) = (table.name, self.owned(table, account));
        format!("SELECT count(*) AS found FROM (SELECT 1 FROM {name} WHERE {owned} LIMIT 1) AS one")
    }

    /// The insertion of rows, a JSON array of arrays of all columns that is bound. Rows whose key is
    /// there already stay as they are.
    pub(super) fn insert(self, table: &AccountTable) -> String {
        let names: Vec<&str> = table.columns().collect();
        let values = table.columns.iter().enumerate();
        let values: Vec<String> = values
            .map(|(place, column)| self.value(place, column.kind))
            .collect();
        let conflict = match table.owner {
            Owner::Itself => account_conflict(table),
            Owner::Account | Owner::Through { .. } | Owner::Example => "DO NOTHING".to_owned(),
        };
        format!(
            "INSERT INTO {} ({}) SELECT {} FROM {} WHERE {} ON CONFLICT {conflict}",
            table.name,
            names.join(", "),
            values.join(", "),
            self.bound_rows(),
            self.is_new(table),
        )
    }

    /// Whether a bound row is to be inserted. SQLite's trigger refuses an event that is there before
    /// the conflict is seen.
    fn is_new(self, table: &AccountTable) -> String {
        if table.name != "events" {
            return "true".to_owned();
        }
        let place = table.columns().position(|name| name == "id");
        let id = self.value(place.unwrap_or_default(), StoredKind::Id);
        format!("NOT EXISTS (SELECT 1 FROM events AS there WHERE there.id = {id})")
    }

    /// The number of the bound rows that the account has, named `found`; `None` for a table whose
    /// rows name no account: they belong to rows that do.
    pub(super) fn count_bound(self, table: &AccountTable, account: AccountId) -> Option<String> {
        if table.owner != Owner::Account {
            return None;
        }
        let place = table.columns().position(|name| name == "id")?;
        let (id, owned) = (
            self.value(place, StoredKind::Id),
            self.owned(table, account),
        );
        Some(format!(
            "SELECT count(*) AS found FROM {} WHERE {owned} AND id IN (SELECT {id} FROM {})",
            table.name,
            self.bound_rows(),
        ))
    }

    /// Names the results that bound pairs of ids retry, where they are not named yet.
    pub(super) fn set_retries(self) -> String {
        let (retry, original) = (self.value(0, StoredKind::Id), self.value(1, StoredKind::Id));
        format!(
            "UPDATE results SET retry_of = {original} FROM {} \
             WHERE results.id = {retry} AND results.retry_of IS NULL",
            self.bound_rows(),
        )
    }

    /// The bound addresses, a JSON array of strings, by which a person of another account signs in,
    /// named `email`.
    pub(super) fn taken_emails(self, account: AccountId) -> String {
        let bound = match self {
            Self::Postgres => "SELECT jsonb_array_elements_text($1::jsonb)",
            Self::Sqlite => "SELECT value FROM json_each(?)",
        };
        format!(
            "SELECT email FROM people WHERE removed_at IS NULL AND account_id <> {} \
             AND email IN ({bound})",
            self.id(account),
        )
    }

    fn owned(self, table: &AccountTable, account: AccountId) -> String {
        let id = self.id(account);
        match table.owner {
            Owner::Itself => format!("id = {id}"),
            Owner::Account => format!("account_id = {id}"),
            Owner::Through { column, table } => {
                format!("{column} IN (SELECT id FROM {table} WHERE account_id = {id})")
            }
            Owner::Example => format!(
                "example_id IN (SELECT id FROM prism_examples WHERE prism_id IN \
                 (SELECT id FROM prisms WHERE account_id = {id}))"
            ),
        }
    }

    /// A column's value as a cell of JSON: ids and bytes as hexadecimal digits, moments as
    /// milliseconds.
    fn cell(self, column: &StoredColumn) -> String {
        let name = column.name;
        match (self, column.kind) {
            (_, StoredKind::Text | StoredKind::Json | StoredKind::Whole)
            | (Self::Postgres, StoredKind::Id)
            | (Self::Sqlite, StoredKind::Moment) => name.to_owned(),
            (Self::Postgres, StoredKind::Moment) => {
                format!("(extract(epoch FROM {name}) * 1000)::bigint")
            }
            (Self::Postgres, StoredKind::Bytes) => format!("encode({name}, 'hex')"),
            (Self::Sqlite, StoredKind::Id | StoredKind::Bytes) => {
                format!("CASE WHEN {name} IS NOT NULL THEN lower(hex({name})) END")
            }
        }
    }

    /// The value of a cell of a bound row, for a column of this kind.
    fn value(self, place: usize, kind: StoredKind) -> String {
        match self {
            Self::Postgres => {
                let cell = format!("(bound.cells ->> {place})");
                match kind {
                    StoredKind::Id => format!("{cell}::uuid"),
                    StoredKind::Text | StoredKind::Json => cell,
                    StoredKind::Whole => format!("{cell}::bigint"),
                    StoredKind::Moment => {
                        format!("'epoch'::timestamptz + {cell}::bigint * interval '1 millisecond'")
                    }
                    StoredKind::Bytes => format!("decode({cell}, 'hex')"),
                }
            }
            Self::Sqlite => {
                let cell = format!("json_extract(bound.value, '$[{place}]')");
                match kind {
                    StoredKind::Id | StoredKind::Bytes => format!("unhex({cell})"),
                    StoredKind::Text
                    | StoredKind::Json
                    | StoredKind::Whole
                    | StoredKind::Moment => cell,
                }
            }
        }
    }

    fn bound_rows(self) -> &'static str {
        match self {
            Self::Postgres => "jsonb_array_elements($1::jsonb) AS bound (cells)",
            Self::Sqlite => "json_each(?) AS bound",
        }
    }

    fn id(self, account: AccountId) -> String {
        match self {
            Self::Postgres => format!("'{}'::uuid", account.uuid()),
            Self::Sqlite => format!("x'{}'", account.uuid().simple()),
        }
    }

    fn moment(self, moment: DateTime<Utc>) -> String {
        match self {
            Self::Postgres => {
                let text = moment.to_rfc3339_opts(SecondsFormat::Millis, true);
                format!("'{text}'::timestamptz")
            }
            Self::Sqlite => moment.timestamp_millis().to_string(),
        }
    }
}

/// The columns that an export writes.
pub(super) fn written(table: &AccountTable) -> impl Iterator<Item = &'static StoredColumn> + use<> {
    let columns = table.columns.iter();
    columns.filter(|column| column.export != ExportRule::LeftOut)
}

/// What an import changes of an account that is there: whatever is not its identity. What the export
/// lacks stays, such as that people need codes.
fn account_conflict(table: &AccountTable) -> String {
    let identity = ["id", "name", "created_at"];
    let columns = table.columns().filter(|name| !identity.contains(name));
    let changes: Vec<String> = columns
        .map(|name| format!("{name} = coalesce(excluded.{name}, accounts.{name})"))
        .collect();
    if changes.is_empty() {
        "DO NOTHING".to_owned()
    } else {
        format!("(id) DO UPDATE SET {}", changes.join(", "))
    }
}
