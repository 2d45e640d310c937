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
use refract_domain::answer::Answers;
use refract_domain::answer::probability::Probability;
use refract_domain::ids::{AccountId, ApiKeyId, FileRunId, PersonId, PrismId, ResultId};
use refract_domain::submission::Submission;

use crate::connections::{Connection, ConnectionRef, GroupRow, StatementText};
use crate::error::PersistenceError;
use crate::queries::results::new_result::NewResult;
use crate::queries::results::provenance::cost_columns;
use crate::schema::sql_types::{Id, Moment};

/// Bytes of the JSON of a few answers.
const BYTES_OF_ANSWERS: usize = 1024;

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
            let ids: Vec<ResultId> = rows.iter().map(|row| row.id).collect();
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

/// Generates the row and both statements from the columns of `results`: each in Rust, in SQL, and
/// from a new result. The statement for a group binds an array for each column, so that one text
/// serves any number of rows.
macro_rules! insert_rows {
    (
        |$new:ident|
        $first:ident: $first_rust:ty as $first_sql:ty = $first_value:expr,
        $($column:ident: $rust:ty as $sql:ty = $value:expr),+ $(,)?
    ) => {
        /// Every column of a new result.
        pub(crate) struct ResultRow {
            $first: $first_rust,
            $($column: $rust),+
        }

        impl TryFrom<&NewResult> for ResultRow {
            type Error = PersistenceError;

            fn try_from($new: &NewResult) -> Result<Self, PersistenceError> {
                Ok(Self {
                    $first: $first_value,
                    $($column: $value),+
                })
            }
        }

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
                out.push_bind_param::<$first_sql, _>(&row.$first)?;
                $(
                    out.push_sql(", ");
                    out.push_bind_param::<$sql, _>(&row.$column)?;
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
    |new|
    id: ResultId as Id = new.result.id,
    account_id: AccountId as Id = new.account,
    prism_id: PrismId as Id = new.result.prism,
    version: i32 as Integer = new.result.version.get(),
    api_key_id: Option<ApiKeyId> as Nullable<Id> = new.api_key,
    reference: Option<String> as Nullable<Text> = new.result.reference.as_ref().map(|it| it.as_str().to_owned()),
    idempotency_key: Option<String> as Nullable<Text> = new.result.idempotency_key.as_ref().map(|it| it.as_str().to_owned()),
    status: String as Text = new.result.status.name().to_owned(),
    answers: Option<String> as Nullable<Text> = new.result.status.answers().map(answers_json).transpose()?,
    error: Option<String> as Nullable<Text> = new.result.status.error().map(str::to_owned),
    fields: String as Text = fields_json(&new.result.submission)?,
    context: Option<String> as Nullable<Text> = new.result.submission.context().map(str::to_owned),
    took_ms: i64 as BigInt = whole(new.result.took_ms),
    created_at: DateTime<Utc> as Moment = new.result.created_at,
    retry_of: Option<ResultId> as Nullable<Id> = new.retry_of,
    model_protocol: Option<String> as Nullable<Text> = new.provenance.protocol.clone(),
    model_name: Option<String> as Nullable<Text> = new.provenance.model.clone(),
    prompt_version: Option<i32> as Nullable<Integer> = new.provenance.prompt_version,
    input_tokens: Option<i64> as Nullable<BigInt> = new.provenance.input_tokens.map(whole),
    output_tokens: Option<i64> as Nullable<BigInt> = new.provenance.output_tokens.map(whole),
    model_requests: Option<i64> as Nullable<BigInt> = new.provenance.requests.map(i64::from),
    model_attempts: Option<i64> as Nullable<BigInt> = new.provenance.attempts.map(i64::from),
    on_codes_millionths: Option<i32> as Nullable<Integer> = new.provenance.on_codes.and_then(millionths),
    unread_millionths: Option<i32> as Nullable<Integer> = new.provenance.unread.and_then(millionths),
    made_by: Option<PersonId> as Nullable<Id> = new.made_by,
    host_request_id: Option<String> as Nullable<Text> = new.provenance.host_request_id.clone(),
    cached_tokens: Option<i64> as Nullable<BigInt> = new.provenance.cached_tokens.map(whole),
    cost_nanos: Option<i64> as Nullable<BigInt> = new.provenance.cost.map(|cost| cost_columns(cost).0),
    cost_attos: Option<i64> as Nullable<BigInt> = new.provenance.cost.map(|cost| cost_columns(cost).1),
    truncated_to: Option<i64> as Nullable<BigInt> = new.provenance.truncated_to.map(whole),
    file_run_id: Option<FileRunId> as Nullable<Id> = new.file_run,
}

impl Query for InsertRows {
    type SqlType = Id;
}

impl GroupRow for ResultRow {
    fn bytes(&self) -> usize {
        let texts = [&self.answers, &self.context].map(|text| text.as_ref().map_or(0, String::len));
        self.fields.len() + texts.iter().sum::<usize>()
    }

    fn contended(&self) -> impl Ord + '_ {
        (
            self.account_id,
            self.idempotency_key.as_deref(),
            self.retry_of,
        )
    }
}

fn answers_json(answers: &Answers) -> Result<String, PersistenceError> {
    to_json(answers, BYTES_OF_ANSWERS)
}

fn fields_json(submission: &Submission) -> Result<String, PersistenceError> {
    let field_values = submission.field_values();
    let bytes = field_values.unescaped_bytes();
    // escaped characters take more
    to_json(field_values, bytes + bytes / 16)
}

/// Writes JSON that takes about this many bytes.
fn to_json(value: &impl serde::Serialize, bytes: usize) -> Result<String, PersistenceError> {
    let mut json = Vec::with_capacity(bytes);
    let written = serde_json::to_writer(&mut json, value).ok();
    written
        .and_then(|()| String::from_utf8(json).ok())
        .ok_or_else(|| PersistenceError::Refused("a result has no JSON".to_owned()))
}

/// A count as it is stored.
fn whole(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// A probability as it is stored. A million fits the column, so this is never `None`.
fn millionths(probability: Probability) -> Option<i32> {
    i32::try_from(probability.millionths()).ok()
}
