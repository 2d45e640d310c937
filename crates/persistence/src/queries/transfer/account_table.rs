//! The form of the list of tables: a table, how its rows are found, which of them are read, and its
//! columns with their form in a file and what an import makes of them.

use chrono::{DateTime, Utc};
use refract_domain::ids::AccountId;

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

/// The form of a column's values in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StoredKind {
    /// A UUID with hyphens.
    Id,
    /// A string.
    Text,
    /// JSON that the database stores as text, embedded as it is.
    Json,
    /// An integer.
    Whole,
    /// RFC 3339 in UTC with milliseconds.
    Moment,
    /// Hexadecimal digits.
    Bytes,
}

/// Whether an export writes a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExportRule {
    /// Always.
    Written,
    /// Unless the export is without texts.
    WrittenWithTexts,
    /// Never: it is a secret, a lease, or the account itself.
    LeftOut,
}

/// What an import saves in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ImportRule {
    /// The value of the file.
    Kept,
    /// The account that imports.
    Account,
    /// The name of the account that imports.
    AccountName,
    /// The value of the file, or the account that imports if it names the exported one.
    KeptOrAccount,
    /// Nothing.
    Null,
    /// Zero.
    Zero,
    /// The value of the file, or the moment of the import.
    KeptOrNow,
    /// A hash that no key has.
    UnusableHash,
    /// The state of a file run, `cancelled` if the run had not ended.
    EndedFileRun,
    /// The state of a retest, `stopped` if the retest had not ended.
    EndedRetest,
    /// The value of the file; the moment of the import for a person whose address signs in to
    /// another account of this database.
    RemovedIfTaken,
    /// The value of the file if that id is lower than the row's own; others are set at the end.
    LowerId,
}

/// A column of a table that an account has.
#[derive(Debug)]
pub(super) struct StoredColumn {
    pub(super) name: &'static str,
    pub(super) kind: StoredKind,
    pub(super) export: ExportRule,
    pub(super) import: ImportRule,
}

impl StoredColumn {
    const fn kept(name: &'static str, kind: StoredKind) -> Self {
        Self {
            name,
            kind,
            export: ExportRule::Written,
            import: ImportRule::Kept,
        }
    }

    /// The column, if an import saves something else than the file's value.
    pub(super) const fn imported(self, import: ImportRule) -> Self {
        Self { import, ..self }
    }

    /// The column, if no export writes it and an import makes a value of its own.
    pub(super) const fn left_out(self, import: ImportRule) -> Self {
        let export = ExportRule::LeftOut;
        Self {
            export,
            import,
            ..self
        }
    }

    /// The column, if it holds a submitted text, or what a person wrote about one.
    pub(super) const fn submitted(self) -> Self {
        let export = ExportRule::WrittenWithTexts;
        Self { export, ..self }
    }
}

/// A column of ids.
pub(super) const fn id(name: &'static str) -> StoredColumn {
    StoredColumn::kept(name, StoredKind::Id)
}

/// The column of the account that a row belongs to.
pub(super) const fn account() -> StoredColumn {
    id("account_id").left_out(ImportRule::Account)
}

/// A column of strings.
pub(super) const fn text(name: &'static str) -> StoredColumn {
    StoredColumn::kept(name, StoredKind::Text)
}

/// A column of JSON that is stored as text.
pub(super) const fn json(name: &'static str) -> StoredColumn {
    StoredColumn::kept(name, StoredKind::Json)
}

/// A column of integers.
pub(super) const fn whole(name: &'static str) -> StoredColumn {
    StoredColumn::kept(name, StoredKind::Whole)
}

/// A column of moments.
pub(super) const fn moment(name: &'static str) -> StoredColumn {
    StoredColumn::kept(name, StoredKind::Moment)
}

/// A column of bytes.
pub(super) const fn bytes(name: &'static str) -> StoredColumn {
    StoredColumn::kept(name, StoredKind::Bytes)
}
