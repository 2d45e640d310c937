//! The insertion of results on PostgreSQL: rows that come together share a statement.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use diesel::QueryResult;
use diesel::pg::Pg;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::{Array, BigInt, Integer, Nullable, Text};
use diesel_async::RunQueryDsl;
use refract_domain::ids::{AccountId, ApiKeyId, FileRunId, PersonId, PrismId, ResultId};

use super::row::{InsertRow, ResultRow};
use crate::connections::{PostgresConnection, StatementText};
use crate::schema::sql_types::{Id, Moment};

/// Inserts rows in their order, as [`super::insert`] does.
pub(super) async fn insert(
    rows: Vec<ResultRow>,
    connection: &PostgresConnection,
) -> QueryResult<Vec<bool>> {
    static OF_ONE: StatementText = StatementText::new();
    static OF_MANY: StatementText = StatementText::new();
    let mut statements = &connection.statements;
    match <[ResultRow; 1]>::try_from(rows) {
        Ok([row]) => {
            let inserting = OF_ONE.of(InsertRow(row)).execute(&mut statements);
            Ok(vec![connection.driver.answered(inserting).await? == 1])
        }
        Err(rows) => {
            let ids: Vec<ResultId> = rows.iter().map(|row| row.id).collect();
            let insert = OF_MANY.of(InsertRows::from_iter(rows));
            let inserting = insert.get_results(&mut statements);
            let inserted: Vec<ResultId> = connection.driver.answered(inserting).await?;
            let inserted: HashSet<ResultId> = inserted.into_iter().collect();
            Ok(ids.iter().map(|id| inserted.contains(id)).collect())
        }
    }
}

/// Generates the statement for a group, which binds an array for each column, so that one text
/// serves any number of rows.
macro_rules! insert_rows {
    (
        |$new:ident|
        $first:ident: $first_rust:ty as $first_sql:ty = $first_value:expr,
        $($column:ident: $rust:ty as $sql:ty = $value:expr),+ $(,)?
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
                    columns.$first.push(row.$first);
                    $(columns.$column.push(row.$column);)+
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

result_columns!(insert_rows);

impl Query for InsertRows {
    type SqlType = Id;
}
