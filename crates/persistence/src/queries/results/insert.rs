//! The statements that insert results, one or many at once.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use diesel::backend::{Backend, DieselReserveSpecialization};
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::serialize::ToSql;
use diesel::sql_types::{Array, BigInt, HasSqlType, Integer, Nullable, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use refract_domain::ids::{AccountId, ApiKeyId, FileRunId, PersonId, PrismId, ResultId};

use crate::connections::{Connection, ConnectionRef, StatementText};
use crate::queries::results::row::ResultRow;
use crate::schema::sql_types::{Id, Moment};

/// Inserts rows in their order, in one transaction. Returns for each row whether it is in the
/// database now: `false` if another row excludes it, perhaps a row of this group.
///
/// # Errors
/// When the database fails: then none of the rows was inserted, unless only the answer was lost.
pub(crate) async fn insert(
    rows: Vec<ResultRow>,
    mut connection: Connection,
) -> QueryResult<Vec<bool>> {
    match connection.by_database() {
        ConnectionRef::Postgres(connection) => insert_on_postgres(rows, connection).await,
        ConnectionRef::Sqlite(connection) => {
            let insert = |connection: &mut SqliteConnection| insert_on_sqlite(rows, connection);
            connection.spawn_blocking(insert).await
        }
    }
}

async fn insert_on_postgres(
    rows: Vec<ResultRow>,
    mut connection: &AsyncPgConnection,
) -> QueryResult<Vec<bool>> {
    static OF_ONE: StatementText = StatementText::new();
    static OF_MANY: StatementText = StatementText::new();
    match <[ResultRow; 1]>::try_from(rows) {
        Ok([row]) => {
            let insert = OF_ONE.of(InsertRow(row));
            Ok(vec![insert.execute(&mut connection).await? == 1])
        }
        Err(rows) => {
            let ids: Vec<ResultId> = rows.iter().map(|row| row.columns.id).collect();
            let insert = OF_MANY.of(InsertRows::from_iter(rows));
            let inserted: Vec<ResultId> = insert.get_results(&mut connection).await?;
            let inserted: HashSet<ResultId> = inserted.into_iter().collect();
            Ok(ids.iter().map(|id| inserted.contains(id)).collect())
        }
    }
}

fn insert_on_sqlite(
    rows: Vec<ResultRow>,
    connection: &mut SqliteConnection,
) -> QueryResult<Vec<bool>> {
    let is_alone = rows.len() == 1;
    let one_by_one = |connection: &mut SqliteConnection| {
        let inserted = rows
            .into_iter()
            .map(|row| Ok(diesel::RunQueryDsl::execute(InsertRow(row), connection)? == 1));
        inserted.collect()
    };
    if is_alone {
        one_by_one(connection)
    } else {
        connection.immediate_transaction(one_by_one)
    }
}

/// An insert of one row, unless another row excludes it.
#[derive(QueryId)]
pub(crate) struct InsertRow(pub(crate) ResultRow);

impl<C> diesel::RunQueryDsl<C> for InsertRow {}

/// Generates both statements from the columns of `results`, in Rust and in SQL. The statement for a
/// group binds an array for each column, so that one text serves any number of rows.
macro_rules! insert_rows {
    (
        $first_part:ident.$first:ident: $first_rust:ty as $first_sql:ty,
        $($part:ident.$column:ident: $rust:ty as $sql:ty),+ $(,)?
    ) => {
        /// An insert of many rows, which returns the ids of the rows that no other row excludes.
        #[derive(Default, QueryId)]
        struct InsertRows {
            $first: Vec<$first_rust>,
            $($column: Vec<$rust>),+
        }

        impl FromIterator<ResultRow> for InsertRows {
            fn from_iter<T: IntoIterator<Item = ResultRow>>(rows: T) -> Self {
                let mut columns = Self::default();
                for row in rows {
                    columns.$first.push(row.$first_part.$first);
                    $(columns.$column.push(row.$part.$column);)+
                }
                columns
            }
        }

        impl<DB> QueryFragment<DB> for InsertRow
        where
            DB: Backend + DieselReserveSpecialization,
            DB: HasSqlType<$first_sql> $(+ HasSqlType<$sql>)+,
            $first_rust: ToSql<$first_sql, DB>,
            $($rust: ToSql<$sql, DB>,)+
        {
            fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
                let Self(row) = self;
                out.push_sql(concat!(
                    "INSERT INTO results (",
                    stringify!($first),
                    $(", ", stringify!($column),)+
                    ") VALUES (",
                ));
                out.push_bind_param::<$first_sql, _>(&row.$first_part.$first)?;
                $(
                    out.push_sql(", ");
                    out.push_bind_param::<$sql, _>(&row.$part.$column)?;
                )+
                out.push_sql(") ON CONFLICT DO NOTHING");
                Ok(())
            }
        }

        impl QueryFragment<Pg> for InsertRows {
            fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
                out.push_sql(concat!(
                    "INSERT INTO results (",
                    stringify!($first),
                    $(", ", stringify!($column),)+
                    ") SELECT * FROM unnest(",
                ));
                out.push_bind_param::<Array<$first_sql>, _>(&self.$first)?;
                $(
                    out.push_sql(", ");
                    out.push_bind_param::<Array<$sql>, _>(&self.$column)?;
                )+
                out.push_sql(") ON CONFLICT DO NOTHING RETURNING id");
                Ok(())
            }
        }
    };
}

insert_rows! {
    columns.id: ResultId as Id,
    columns.account_id: AccountId as Id,
    columns.prism_id: PrismId as Id,
    columns.version: i32 as Integer,
    columns.api_key_id: Option<ApiKeyId> as Nullable<Id>,
    columns.reference: Option<String> as Nullable<Text>,
    columns.idempotency_key: Option<String> as Nullable<Text>,
    columns.status: String as Text,
    columns.answers: Option<String> as Nullable<Text>,
    columns.error: Option<String> as Nullable<Text>,
    columns.fields: String as Text,
    columns.context: Option<String> as Nullable<Text>,
    columns.took_ms: i64 as BigInt,
    columns.created_at: DateTime<Utc> as Moment,
    columns.retry_of: Option<ResultId> as Nullable<Id>,
    provenance.model_protocol: Option<String> as Nullable<Text>,
    provenance.model_name: Option<String> as Nullable<Text>,
    provenance.prompt_version: Option<i32> as Nullable<Integer>,
    provenance.input_tokens: Option<i64> as Nullable<BigInt>,
    provenance.output_tokens: Option<i64> as Nullable<BigInt>,
    provenance.model_requests: Option<i64> as Nullable<BigInt>,
    provenance.model_attempts: Option<i64> as Nullable<BigInt>,
    provenance.on_codes_millionths: Option<i32> as Nullable<Integer>,
    provenance.unread_millionths: Option<i32> as Nullable<Integer>,
    actor.made_by: Option<PersonId> as Nullable<Id>,
    provenance.host_request_id: Option<String> as Nullable<Text>,
    provenance.cached_tokens: Option<i64> as Nullable<BigInt>,
    provenance.cost_nanos: Option<i64> as Nullable<BigInt>,
    provenance.cost_attos: Option<i64> as Nullable<BigInt>,
    provenance.truncated_to: Option<i64> as Nullable<BigInt>,
    actor.file_run_id: Option<FileRunId> as Nullable<Id>,
}

impl Query for InsertRows {
    type SqlType = Id;
}
