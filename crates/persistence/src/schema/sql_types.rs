//! The two SQL types that the databases have in different forms: ids and moments.
//!
//! PostgreSQL has them natively, `uuid` and `timestamptz`. SQLite keeps the 16 bytes of an id and
//! the whole milliseconds since 1970 of a moment; both sort there as they do in PostgreSQL.

use std::fmt::Debug;

use chrono::{DateTime, Utc};
use diesel::backend::Backend;
use diesel::deserialize::{self, FromSql, Queryable};
use diesel::expression::AsExpression;
use diesel::query_builder::QueryId;
use diesel::serialize::{self, IsNull, Output, ToSql};
pub(crate) use diesel::sql_types::{BigInt, Binary, Integer, Nullable, Text};
use diesel::sql_types::{SqlOrd, SqlType};
use diesel::sqlite::{Sqlite, SqliteValue};
use refract_domain::ids::{
    AccountId, ApiKeyId, BudgetHolderId, EventId, ExampleId, FileRunId, NodeId, PersonId,
    PrismChangeId, PrismId, ResultId, RetestId, SignInTryId, SittingId, UploadId,
};
use uuid::Uuid;

/// An id.
#[derive(Clone, Copy, Debug, QueryId, SqlType)]
#[diesel(postgres_type(oid = 2950, array_oid = 2951))]
#[diesel(sqlite_type(name = "Binary"))]
pub struct Id;

/// A moment, in whole milliseconds of UTC.
#[derive(Clone, Copy, Debug, QueryId, SqlType)]
#[diesel(postgres_type(oid = 1184, array_oid = 1185))]
#[diesel(sqlite_type(name = "Long"))]
pub struct Moment;

impl SqlOrd for Moment {}

/// An id or a moment as a bound value, for a column that is not null. diesel needs a type of this
/// crate there; for a nullable column an `Option` is enough.
#[derive(Clone, Copy, Debug, AsExpression)]
#[diesel(sql_type = Id)]
#[diesel(sql_type = Moment)]
pub struct Bind<T>(pub T);

/// An id in a column that has ids of several kinds; another column names the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnyId(Uuid);

impl AnyId {
    /// The id that is this UUID.
    pub(crate) const fn new(uuid: Uuid) -> Self {
        Self(uuid)
    }

    /// The id as a UUID.
    pub(crate) const fn uuid(self) -> Uuid {
        self.0
    }
}

impl AsRef<Uuid> for AnyId {
    fn as_ref(&self) -> &Uuid {
        &self.0
    }
}

impl<T> From<T> for Bind<T> {
    fn from(value: T) -> Self {
        Self(value)
    }
}

impl<T: ToSql<Id, DB> + Debug, DB: Backend> ToSql<Id, DB> for Bind<T> {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, DB>) -> serialize::Result {
        self.0.to_sql(out)
    }
}

impl<T: ToSql<Moment, DB> + Debug, DB: Backend> ToSql<Moment, DB> for Bind<T> {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, DB>) -> serialize::Result {
        self.0.to_sql(out)
    }
}

macro_rules! id_columns {
    ($($id:ident),*) => {$(
        impl ToSql<Id, Sqlite> for $id {
            fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
                out.set_value(self.as_ref().as_bytes().as_slice());
                Ok(IsNull::No)
            }
        }

        impl FromSql<Id, Sqlite> for $id {
            fn from_sql(value: SqliteValue<'_, '_, '_>) -> deserialize::Result<Self> {
                let bytes: Vec<u8> = FromSql::<Binary, Sqlite>::from_sql(value)?;
                Ok(Self::new(Uuid::from_slice(&bytes)?))
            }
        }

        impl<DB> Queryable<Id, DB> for $id
        where
            DB: Backend,
            Self: FromSql<Id, DB>,
        {
            type Row = Self;

            fn build(row: Self) -> deserialize::Result<Self> {
                Ok(row)
            }
        }
    )*};
}

/// The types of ids.
macro_rules! id_types {
    ($columns:ident) => {
        $columns!(
            AccountId,
            BudgetHolderId,
            AnyId,
            ApiKeyId,
            EventId,
            ExampleId,
            FileRunId,
            NodeId,
            PersonId,
            PrismChangeId,
            PrismId,
            ResultId,
            RetestId,
            SignInTryId,
            SittingId,
            UploadId
        );
    };
}

id_types!(id_columns);

#[cfg(feature = "postgres")]
mod postgres;

impl ToSql<Moment, Sqlite> for DateTime<Utc> {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
        out.set_value(self.timestamp_millis());
        Ok(IsNull::No)
    }
}

impl FromSql<Moment, Sqlite> for DateTime<Utc> {
    fn from_sql(value: SqliteValue<'_, '_, '_>) -> deserialize::Result<Self> {
        let milliseconds: i64 = FromSql::<BigInt, Sqlite>::from_sql(value)?;
        Self::from_timestamp_millis(milliseconds).ok_or_else(|| "a moment out of range".into())
    }
}
