//! Columns that are read as the domain's types.
//!
//! A view has fields of the domain's types and is the row of its query. Where a column has another
//! form, the field names the column, and the value is converted when the row is read:
//! `#[diesel(deserialize_as = Stored<file_runs::state>)]`.

use chrono::{DateTime, NaiveDate, Utc};
use diesel::QueryResult;
use diesel::backend::Backend;
use diesel::deserialize::{self, Queryable};
use diesel::dsl::AssumeNotNull;
use diesel::result::Error::SerializationError;
use diesel::sql_types::{BigInt, Binary, Integer, Nullable, SqlType, Text, is_nullable};
use refract_domain::account::{Email, MonthBudget, OneTimeSecret, Role, TokenHash};
use refract_domain::answer::{Answers, Probability};
use refract_domain::prism::{ExampleNote, ExpectedOutcomes, Slug, VersionNumber};
use refract_domain::result::{DrawnTexts, FileRunState, RetestState, RunProgress, StoredMapping};
use refract_domain::submission::Ref;
use serde::Serialize;
use thiserror::Error;

use super::sql_types::{AnyId, Id, Moment};

/// A column, or several that hold one value. [`table!`] implements it for each column.
pub trait NamedColumn {
    /// Table and column, as errors name them.
    const NAME: &'static str;
    /// The Rust type of the column's SQL type.
    type Form;
}

impl<A: NamedColumn, B: NamedColumn> NamedColumn for (A, B) {
    const NAME: &'static str = A::NAME;
    type Form = (A::Form, B::Form);
}

impl<A: NamedColumn, B: NamedColumn, C: NamedColumn> NamedColumn for (A, B, C) {
    const NAME: &'static str = A::NAME;
    type Form = (A::Form, B::Form, C::Form);
}

impl<C: NamedColumn<Form = Option<F>>, F> NamedColumn for AssumeNotNull<C> {
    const NAME: &'static str = C::NAME;
    type Form = F;
}

/// The Rust type of an SQL type.
pub trait SqlForm {
    /// The Rust type.
    type Rust;
}

/// The value of a column in the Rust type of its SQL type, to be converted to a field's type.
pub struct Stored<C: NamedColumn>(pub(crate) C::Form);

/// A saved value that this version of Refract cannot read.
#[derive(Debug, Error)]
#[error("cannot read {0} of a saved row")]
pub struct UnreadableColumn(pub(crate) &'static str);

impl<C: NamedColumn> Stored<C> {
    /// The value, if it could be read.
    fn read<T>(value: Option<T>) -> Result<T, UnreadableColumn> {
        value.ok_or(UnreadableColumn(C::NAME))
    }
}

impl<C, ST, DB> Queryable<ST, DB> for Stored<C>
where
    C: NamedColumn,
    C::Form: Queryable<ST, DB>,
    DB: Backend,
{
    type Row = <C::Form as Queryable<ST, DB>>::Row;

    fn build(row: Self::Row) -> deserialize::Result<Self> {
        C::Form::build(row).map(Self)
    }
}

macro_rules! sql_forms {
    ($($sql:ty: $rust:ty),+ $(,)?) => {$(
        impl SqlForm for $sql {
            type Rust = $rust;
        }
    )+};
}

sql_forms! {
    BigInt: i64,
    Binary: Vec<u8>,
    Id: AnyId,
    Integer: i32,
    Moment: DateTime<Utc>,
    Text: String,
}

impl<T: SqlForm + SqlType<IsNull = is_nullable::NotNull>> SqlForm for Nullable<T> {
    type Rust = Option<T::Rust>;
}

/// Implements the conversions of columns to a type, and of nullable ones to its `Option`.
macro_rules! stored_as {
    ($($type:ty, from $form:ty: $read:expr;)+) => {$(
        impl<C: NamedColumn<Form = $form>> TryFrom<Stored<C>> for $type {
            type Error = UnreadableColumn;

            fn try_from(stored: Stored<C>) -> Result<Self, UnreadableColumn> {
                let read: fn($form) -> Option<Self> = $read;
                Stored::<C>::read(read(stored.0))
            }
        }

        impl<C: NamedColumn<Form = Option<$form>>> TryFrom<Stored<C>> for Option<$type> {
            type Error = UnreadableColumn;

            fn try_from(stored: Stored<C>) -> Result<Self, UnreadableColumn> {
                let read: fn($form) -> Option<$type> = $read;
                let read = |form| Stored::<C>::read(read(form));
                stored.0.map(read).transpose()
            }
        }
    )+};
}

stored_as! {
    Answers, from String: |json| serde_json::from_str(&json).ok();
    DrawnTexts, from String: |json| serde_json::from_str(&json).ok();
    Email, from String: |text| Some(Email::saved(text));
    ExampleNote, from String: |text| Some(ExampleNote::saved(text));
    ExpectedOutcomes, from String: |json| serde_json::from_str(&json).ok();
    FileRunState, from String: |name| FileRunState::parse(&name);
    MonthBudget, from i64: |nanos| MonthBudget::from_nanos(u64::try_from(nanos).ok()?);
    NaiveDate, from i32: NaiveDate::from_epoch_days;
    OneTimeSecret, from Vec<u8>: |bytes| Some(OneTimeSecret::new(bytes.try_into().ok()?));
    Probability, from i32: |millionths| Probability::from_millionths(u32::try_from(millionths).ok()?);
    Ref, from String: |text| Some(Ref::saved(text));
    RetestState, from String: |name| RetestState::parse(&name);
    Role, from String: |name| Role::named(&name);
    RunProgress, from String: |json| serde_json::from_str(&json).ok();
    Slug, from String: |text| Some(Slug::saved(text));
    Vec<StoredMapping>, from String: |json| serde_json::from_str(&json).ok();
    TokenHash, from Vec<u8>: |bytes| Some(TokenHash::new(bytes.try_into().ok()?));
    VersionNumber, from i32: VersionNumber::new;
    u32, from i64: |number| u32::try_from(number).ok();
    u64, from i64: |number| u64::try_from(number).ok();
}

/// The value of a column with JSON.
pub(crate) fn to_json(value: &impl Serialize) -> QueryResult<String> {
    let written = serde_json::to_string(value);
    written.map_err(|error| SerializationError(Box::new(error)))
}

/// Declares a table as `diesel::table!` does, with the SQL types of both databases, and names its
/// columns for errors.
macro_rules! table {
    (
        $table:ident $key:tt {
            $($(#[$($attribute:tt)*])* $column:ident -> $sql:ident $(<$inner:ident>)?,)+
        }
    ) => {
        diesel::table! {
            use $crate::schema::sql_types::*;
            $table $key {
                $($(#[$($attribute)*])* $column -> $sql $(<$inner>)?,)+
            }
        }

        $(
            impl $crate::schema::stored::NamedColumn for $table::$column {
                const NAME: &'static str =
                    concat!(stringify!($table), ".", stringify!($column));
                type Form = <<Self as diesel::Expression>::SqlType as
                    $crate::schema::stored::SqlForm>::Rust;
            }
        )+
    };
}

pub(crate) use table;
