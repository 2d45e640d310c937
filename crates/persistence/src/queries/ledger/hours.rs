//! Counts of results by hour: each result is counted once, after a watermark, and the counts are
//! stored with the new watermark. What is counted is not known here: counts are a text.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::{Integer, Nullable, Text};
use diesel::upsert::excluded;
use refract_boxed_futures::boxed;
use refract_domain::answer::Answers;
use refract_domain::ids::{PrismId, ResultId};
use refract_domain::prism::VersionNumber;

use crate::connections::{load_as, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::ledger::lock_watermarks;
use crate::queries::prisms::row::WriteOutcome;
use crate::queries::results::saved_version;
use crate::schema::sql_types::{Bind, Id, Moment};
use crate::schema::stored::Stored;
use crate::schema::{counted_results, results, watch_hours};

/// The hours of a prism from one on and before another, with the watermark up to which they count:
/// one statement, so that both are of one moment.
const KEPT: &str = "\
SELECT counted_results.watched_to AS up_to, watch_hours.hour AS hour, watch_hours.version AS version,
    watch_hours.model_name AS model_name, watch_hours.prompt_version AS prompt_version,
    watch_hours.first_at AS first_at, watch_hours.counts AS counts
FROM counted_results
LEFT JOIN watch_hours ON watch_hours.prism_id = counted_results.prism_id
    AND watch_hours.hour >= $1 AND watch_hours.hour < $2
WHERE counted_results.prism_id = $3
ORDER BY 2, 3, 4, 5";

/// The counts of one hour's results of one version, model and version of prompts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchHourRow {
    /// Whole hours since 1970.
    pub hour: i32,
    /// Number of the version that answered.
    pub version: VersionNumber,
    /// The model that the server reported, if it reported one.
    pub model: Option<String>,
    /// Version of the gateway's prompts; `None` for a model that gets no prompt.
    pub prompt_version: Option<i32>,
    /// The moment of the first of these results.
    pub first_at: DateTime<Utc>,
    /// The counts, as JSON.
    pub counts: String,
}

/// Stored hours of a prism.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptHours {
    /// The watermark: results with ids up to this one are in the hours; `None` when nothing was
    /// counted yet.
    pub up_to: Option<ResultId>,
    /// The hours, in order.
    pub hours: Vec<WatchHourRow>,
}

/// Hours of a prism that are to be stored.
#[derive(Clone, Debug)]
pub struct NewHours {
    /// The prism.
    pub prism: PrismId,
    /// The watermark as it was read.
    pub read_up_to: Option<ResultId>,
    /// The new watermark.
    pub up_to: ResultId,
    /// The hours with results between the two watermarks. They replace stored ones, so that they
    /// have to include what those counted.
    pub hours: Vec<WatchHourRow>,
}

#[derive(QueryableByName)]
struct KeptColumns {
    #[diesel(sql_type = Nullable<Id>)]
    up_to: Option<ResultId>,
    #[diesel(sql_type = Nullable<Integer>)]
    hour: Option<i32>,
    #[diesel(sql_type = Nullable<Integer>)]
    version: Option<i32>,
    #[diesel(sql_type = Nullable<Text>)]
    model_name: Option<String>,
    #[diesel(sql_type = Nullable<Integer>)]
    prompt_version: Option<i32>,
    #[diesel(sql_type = Nullable<Moment>)]
    first_at: Option<DateTime<Utc>>,
    #[diesel(sql_type = Nullable<Text>)]
    counts: Option<String>,
}

#[boxed]
impl Database {
    /// The stored hours of a prism from one on and before another, with the watermark.
    ///
    /// # Errors
    /// When the database fails, or an hour cannot be read.
    pub async fn list_watch_hours(
        &self,
        prism: PrismId,
        from: i32,
        before: i32,
    ) -> Result<KeptHours, PersistenceError> {
        let query = sql_query(KEPT)
            .bind::<Integer, _>(from)
            .bind::<Integer, _>(before)
            .bind::<Id, _>(Bind(prism));
        let found: Vec<KeptColumns> = self.without_lanes().load(query).await?;
        let up_to = found.iter().find_map(|columns| columns.up_to);
        let hours = found.into_iter().filter_map(KeptColumns::row);
        Ok(KeptHours {
            up_to,
            hours: hours.collect::<Result<_, _>>()?,
        })
    }

    /// Stores hours and moves the watermark, if the watermark has not changed since it was read, so
    /// that nothing is counted twice.
    pub async fn keep_watch_hours(&self, new: NewHours) -> Result<WriteOutcome, PersistenceError> {
        let NewHours {
            prism,
            read_up_to,
            up_to,
            hours,
        } = new;
        self.begin(async move |mut tx| {
            if lock_watermarks(&mut tx, prism).await?.watched != read_up_to {
                return Ok(WriteOutcome::Stale);
            }
            let moving = diesel::update(counted_results::table.find(Bind(prism)))
                .set(counted_results::watched_to.eq(Some(Bind(up_to))));
            on!(tx, execute(moving))?;
            for hour in hours {
                let save = diesel::insert_into(watch_hours::table)
                    .values((
                        watch_hours::prism_id.eq(Bind(prism)),
                        watch_hours::hour.eq(hour.hour),
                        watch_hours::version.eq(hour.version.get()),
                        watch_hours::model_name.eq(hour.model.unwrap_or_default()),
                        watch_hours::prompt_version.eq(hour.prompt_version.unwrap_or_default()),
                        watch_hours::first_at.eq(Bind(hour.first_at)),
                        watch_hours::counts.eq(hour.counts),
                    ))
                    .on_conflict((
                        watch_hours::prism_id,
                        watch_hours::hour,
                        watch_hours::version,
                        watch_hours::model_name,
                        watch_hours::prompt_version,
                    ))
                    .do_update()
                    .set((
                        watch_hours::first_at.eq(excluded(watch_hours::first_at)),
                        watch_hours::counts.eq(excluded(watch_hours::counts)),
                    ));
                on!(tx, execute(save))?;
            }
            tx.commit().await?;
            Ok(WriteOutcome::Saved)
        })
        .await
    }

    /// Deletes the hours of all prisms before one.
    pub async fn delete_watch_hours(&self, before: i32) -> Result<(), PersistenceError> {
        let old = watch_hours::table.filter(watch_hours::hour.lt(before));
        self.execute(diesel::delete(old)).await?;
        Ok(())
    }
}

impl KeptColumns {
    /// The hour; `None` for a watermark without hours.
    fn row(self) -> Option<Result<WatchHourRow, PersistenceError>> {
        let version = saved_version(self.version?);
        let (hour, first_at, counts) = (self.hour?, self.first_at?, self.counts?);
        Some(version.map(|version| WatchHourRow {
            hour,
            version,
            model: self.model_name.filter(|name| !name.is_empty()),
            prompt_version: self.prompt_version.filter(|version| *version != 0),
            first_at,
            counts,
        }))
    }
}

/// What is counted of a result.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = results)]
pub struct CountableResult {
    /// The result's id.
    pub id: ResultId,
    /// Number of the version that answered.
    #[diesel(deserialize_as = Stored<results::version>)]
    pub version: VersionNumber,
    /// The model that the server reported, if it reported one.
    #[diesel(column_name = model_name)]
    pub model: Option<String>,
    /// Version of the gateway's prompts; `None` for a model that gets no prompt.
    pub prompt_version: Option<i32>,
    /// The answers; `None` for a failed result.
    #[diesel(deserialize_as = Stored<results::answers>)]
    pub answers: Option<Answers>,
    /// Milliseconds that the result took.
    #[diesel(deserialize_as = Stored<results::took_ms>)]
    pub took_ms: u64,
    /// Tokens that the model read, if its server reports them.
    #[diesel(deserialize_as = Stored<results::input_tokens>)]
    pub input_tokens: Option<u64>,
    /// Tokens that the model wrote, if its server reports them.
    #[diesel(deserialize_as = Stored<results::output_tokens>)]
    pub output_tokens: Option<u64>,
    /// Whether the server cut the text.
    #[diesel(select_expression = results::truncated_to.is_not_null())]
    pub is_truncated: bool,
}

#[boxed]
impl Database {
    /// The first results of a prism after one id and up to another, at most `limit`, in the order of
    /// their ids.
    ///
    /// # Errors
    /// When the database fails, or an answer cannot be read.
    pub async fn list_countable_results(
        &self,
        prism: PrismId,
        after: ResultId,
        up_to: ResultId,
        limit: u32,
    ) -> Result<Vec<CountableResult>, PersistenceError> {
        let query = results::table
            // ordered like the prism's index, as in `find_first_result`
            .filter(results::prism_id.eq_any(vec![Bind(prism)]))
            .filter(results::id.gt(Bind(after)))
            .filter(results::id.le(Bind(up_to)))
            .order((results::prism_id, results::id))
            .limit(limit.into());
        let database = self.without_lanes();
        load_as!(database, query, CountableResult).await
    }
}
