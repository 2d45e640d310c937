//! The row of a new result, and the statement that inserts it.

use chrono::{DateTime, Utc};
use diesel::backend::{Backend, DieselReserveSpecialization};
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::serialize::ToSql;
use diesel::sql_types::{BigInt, HasSqlType, Integer, Nullable, Text};
use refract_domain::answer::{Answers, Probability};
use refract_domain::ids::{AccountId, ApiKeyId, FileRunId, PersonId, PrismId, ResultId};
use refract_domain::submission::Submission;

use crate::connections::GroupRow;
use crate::error::PersistenceError;
use crate::queries::results::{NewResult, cost_columns};
use crate::schema::sql_types::{Id, Moment};

/// Bytes of the JSON of a few answers.
const BYTES_OF_ANSWERS: usize = 1024;

/// An insert of one row, unless another row excludes it.
#[derive(QueryId)]
pub(crate) struct InsertRow(pub(crate) ResultRow);

impl<C> RunQueryDsl<C> for InsertRow {}

/// The columns of `results`: each in Rust, in SQL, and from a new result.
macro_rules! result_columns {
    ($with:ident) => {
        $with! {
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
    };
}

/// Generates the row and the statement for one.
macro_rules! insert_row {
    (
        |$new:ident|
        $first:ident: $first_rust:ty as $first_sql:ty = $first_value:expr,
        $($column:ident: $rust:ty as $sql:ty = $value:expr),+ $(,)?
    ) => {
        /// Every column of a new result.
        pub(crate) struct ResultRow {
            pub(super) $first: $first_rust,
            $(pub(super) $column: $rust),+
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
    };
}

result_columns!(insert_row);

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
