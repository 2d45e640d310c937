//! Why the schema of a database does not fit this binary.

use super::PersistenceError;

/// Why the schema of a database does not fit this binary.
#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
    /// The database misses migrations.
    #[error(
        "the database is at migration {at}, and this version of refract needs migration {newest}: \
         back it up, then run `refract migrate`"
    )]
    Older {
        /// The last migration before the first that is missing.
        at: u64,
        /// The number of the last migration that this version knows.
        newest: u64,
    },
    /// A newer Refract has migrated the database.
    #[error(
        "the database is at migration {at}, and this version of refract knows migration {newest} \
         at most: run a newer refract, or have the newer refract go back: \
         `refract migrate --to {newest}`"
    )]
    Newer {
        /// The last migration of the database.
        at: u64,
        /// The number of the last migration that this version knows.
        newest: u64,
    },
    /// The database has no tables.
    #[error(
        "the database is empty, and this version of refract needs migration {newest}: check the \
         address, or make the tables with `refract migrate`"
    )]
    Empty {
        /// The number of the last migration that this version knows.
        newest: u64,
    },
    /// The database has tables, but none of Refract's.
    #[error(
        "the database has no tables of refract, but others ({tables}{}): check the address, or make \
         refract's tables beside them with `refract migrate`",
        and_more(*.more)
    )]
    Foreign {
        /// Some of the tables.
        tables: String,
        /// How many further tables there are.
        more: usize,
    },
    /// The migrations of the database cannot be read.
    #[error("cannot read which migration the database is at: {0}")]
    Unread(String),
    /// The database could not be reached.
    #[error(transparent)]
    Persistence(#[from] PersistenceError),
}

impl SchemaError {
    /// The error of a statement that reads the migrations.
    pub(crate) fn unread(error: PersistenceError) -> Self {
        let words = error.to_string();
        if words.contains("permission denied") {
            let remedy = "grant the role SELECT on all tables";
            return Self::Unread(format!("{words}: {remedy}"));
        }
        Self::Persistence(error)
    }
}

fn and_more(more: usize) -> String {
    match more {
        0 => String::new(),
        more => format!(" and {more} more"),
    }
}
