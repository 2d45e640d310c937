//! Ids and moments as PostgreSQL has them.

use chrono::{DateTime, Utc};
use diesel::deserialize::{self, FromSql};
use diesel::pg::{Pg, PgValue};
use diesel::serialize::{self, Output, ToSql};
use diesel::sql_types::Timestamptz;
use refract_domain::ids::{
    AccountId, ApiKeyId, BudgetHolderId, EventId, ExampleId, FileRunId, NodeId, PersonId,
    PrismChangeId, PrismId, ResultId, RetestId, SignInTryId, SittingId, UploadId,
};

use super::{AnyId, Id, Moment};

macro_rules! id_columns {
    ($($id:ident),*) => {$(
        impl ToSql<Id, Pg> for $id {
            fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
                ToSql::<diesel::sql_types::Uuid, Pg>::to_sql(self.as_ref(), out)
            }
        }

        impl FromSql<Id, Pg> for $id {
            fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
                FromSql::<diesel::sql_types::Uuid, Pg>::from_sql(value).map(Self::new)
            }
        }
    )*};
}

id_types!(id_columns);

impl ToSql<Moment, Pg> for DateTime<Utc> {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        ToSql::<Timestamptz, Pg>::to_sql(self, out)
    }
}

impl FromSql<Moment, Pg> for DateTime<Utc> {
    fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
        FromSql::<Timestamptz, Pg>::from_sql(value)
    }
}
