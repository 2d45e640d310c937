//! The form of the list of tables: a table, how its rows are found, and which of them are read.

use chrono::{DateTime, Utc};
use refract_domain::ids::AccountId;

use super::columns::StoredColumn;

/// A table whose rows belong to accounts.
#[derive(Debug)]
pub struct AccountTable {
    /// The table's name, which is also that of its file.
    pub(super) name: &'static str,
    /// How a row is found to be of an account.
    pub(super) owner: Owner,
    /// The primary key, by which rows are ordered.
    pub(super) key: &'static str,
    /// The moment by which an export may leave rows out.
    pub(super) since: Option<&'static str>,
    pub(super) columns: &'static [StoredColumn],
}

/// How a row is found to be of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// It is the account.
    Itself,
    /// It names the account.
    Account,
    /// It names a row of another table that names the account.
    Through {
        /// The column that names the other row.
        column: &'static str,
        /// The other table.
        table: &'static str,
    },
    /// It names an example text, which names a prism.
    Example,
}

impl AccountTable {
    /// The table's name, which is also that of its file.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The names of the columns.
    pub fn columns(&self) -> impl Iterator<Item = &'static str> {
        self.columns.iter().map(|column| column.name)
    }
}

pub(super) const OF_PRISM: Owner = Owner::Through {
    column: "prism_id",
    table: "prisms",
};
pub(super) const OF_PERSON: Owner = Owner::Through {
    column: "person_id",
    table: "people",
};
pub(super) const OF_RETEST: Owner = Owner::Through {
    column: "retest_id",
    table: "retests",
};

/// Which rows of an account are read.
#[derive(Clone, Copy, Debug)]
pub struct AccountSelection {
    /// The account.
    pub account: AccountId,
    /// Only results and events from this moment on.
    pub since: Option<DateTime<Utc>>,
    /// Whether texts and contexts are replaced with null.
    pub without_texts: bool,
}
