//! Results as rows to insert, one or many with a statement.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::{Array, BigInt, Integer, Nullable, Text};
use diesel_async::RunQueryDsl;
use refract_domain::ids::{AccountId, ApiKeyId, PrismId, ResultId};

use crate::connection::{Backend, Connection};
use crate::error::PersistenceError;
use crate::new_results::NewResult;
use crate::provenance::ProvenanceColumns;
use crate::result_columns::ResultColumns;
use crate::schema::results;
use crate::sql_types::{Id, Moment};

/// Every column of a result.
pub(crate) struct ResultRow {
    columns: ResultColumns,
    provenance: ProvenanceColumns,
}

impl TryFrom<&NewResult> for ResultRow {
    type Error = PersistenceError;

    fn try_from(new: &NewResult) -> Result<Self, PersistenceError> {
        Ok(Self {
            columns: new.try_into()?,
            provenance: (&new.provenance).into(),
        })
    }
}

impl ResultRow {
    /// What diesel inserts.
    pub(crate) fn into_values(self) -> (ResultColumns, ProvenanceColumns) {
        (self.columns, self.provenance)
    }

    /// The bytes of those of its texts that may be long.
    pub(crate) fn text_bytes(&self) -> usize {
        let columns = &self.columns;
        let texts =
            [&columns.answers, &columns.context].map(|text| text.as_ref().map_or(0, String::len));
        columns.fields.len() + texts.iter().sum::<usize>()
    }

    /// What it may contend for with other rows.
    pub(crate) fn contended(&self) -> impl Ord + '_ {
        let columns = &self.columns;
        (
            columns.account_id,
            columns.idempotency_key.as_deref(),
            columns.retry_of,
        )
    }
}

/// Inserts rows in their order, in one transaction; of each, whether it is in the database now. It
/// is not where another row excludes it, be it one of these.
///
/// # Errors
/// When the database fails: then none of them was inserted, unless only its answer was lost.
pub(crate) async fn insert(
    rows: Vec<ResultRow>,
    connection: &mut Connection,
) -> QueryResult<Vec<bool>> {
    match connection.backend() {
        Backend::Postgres(mut connection) => match <[ResultRow; 1]>::try_from(rows) {
            Ok([row]) => {
                let insert = diesel::insert_into(results::table).values(row.into_values());
                let insert = insert.on_conflict_do_nothing();
                Ok(vec![insert.execute(&mut connection).await? == 1])
            }
            Err(rows) => {
                let ids: Vec<ResultId> = rows.iter().map(|row| row.columns.id).collect();
                let insert = InsertRows::from_iter(rows);
                let inserted: Vec<ResultId> = insert.get_results(&mut connection).await?;
                let inserted: HashSet<ResultId> = inserted.into_iter().collect();
                Ok(ids.iter().map(|id| inserted.contains(id)).collect())
            }
        },
        Backend::Sqlite(connection) => {
            connection
                .spawn_blocking(|c| insert_blocking(rows, c))
                .await
        }
    }
}

fn insert_blocking(
    rows: Vec<ResultRow>,
    connection: &mut SqliteConnection,
) -> QueryResult<Vec<bool>> {
    let is_alone = rows.len() == 1;
    let one_by_one = |connection: &mut SqliteConnection| {
        let inserted = rows.into_iter().map(|row| {
            let insert = diesel::insert_into(results::table).values(row.into_values());
            let insert = insert.on_conflict_do_nothing();
            Ok(diesel::RunQueryDsl::execute(insert, connection)? == 1)
        });
        inserted.collect()
    };
    if is_alone {
        one_by_one(connection)
    } else {
        connection.immediate_transaction(one_by_one)
    }
}

/// The columns of `results`, in Rust and in SQL: an array of each, as a statement whose text is the
/// same for any number of rows.
macro_rules! insert_rows {
    (
        $first_part:ident.$first:ident: $first_rust:ty as $first_sql:ty,
        $($part:ident.$column:ident: $rust:ty as $sql:ty),+ $(,)?
    ) => {
        /// Inserts rows and returns the ids of those that no other row excludes.
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
}

impl Query for InsertRows {
    type SqlType = Id;
}
