//! Counts of results by hour: each result is counted once, after a watermark, and the counts are
//! stored with the new watermark. What is counted is not known here: counts are a text.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::{Integer, Nullable, Text};
use diesel::upsert::excluded;
use refract_domain::answer::Answers;
use refract_domain::ids::{PrismId, ResultId};
use refract_domain::prism::VersionNumber;

use crate::connections::on;
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::prisms::row::WriteOutcome;
use crate::queries::results::row::{saved_answers, saved_version};
use crate::schema::sql_types::{Bind, Id, Moment};
use crate::schema::{results, watch_hours, watched_results};

/// The hours of a prism from one on and before another, with the watermark up to which they count:
/// one statement, so that both are of one moment.
const KEPT: &str = "\
SELECT watched_results.up_to AS up_to, watch_hours.hour AS hour, watch_hours.version AS version,
    watch_hours.model_name AS model_name, watch_hours.prompt_version AS prompt_version,
    watch_hours.first_at AS first_at, watch_hours.counts AS counts
FROM watched_results
LEFT JOIN watch_hours ON watch_hours.prism_id = watched_results.prism_id
    AND watch_hours.hour >= $1 AND watch_hours.hour < $2
WHERE watched_results.prism_id = $3
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
    #[diesel(sql_type = Id)]
    up_to: ResultId,
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

#[derive(Insertable)]
#[diesel(table_name = watch_hours)]
struct HourColumns {
    #[diesel(serialize_as = Bind<PrismId>)]
    prism_id: PrismId,
    hour: i32,
    version: i32,
    model_name: String,
    prompt_version: i32,
    #[diesel(serialize_as = Bind<DateTime<Utc>>)]
    first_at: DateTime<Utc>,
    counts: String,
}

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
        let database = self.without_lanes();
        let reading = database.read(async move |mut connection| {
            let query = sql_query(KEPT)
                .bind::<Integer, _>(from)
                .bind::<Integer, _>(before)
                .bind::<Id, _>(Bind(prism));
            let found: Vec<KeptColumns> = on!(connection, load(query))?;
            Ok(found)
        });
        let found = reading.await?;
        let up_to = found.iter().map(|columns| columns.up_to).next();
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
            let moved = match read_up_to {
                None => {
                    let insert = diesel::insert_into(watched_results::table).values((
                        watched_results::prism_id.eq(Bind(prism)),
                        watched_results::up_to.eq(Bind(up_to)),
                    ));
                    on!(tx, execute(insert.on_conflict_do_nothing()))?
                }
                Some(read) => {
                    let as_read = watched_results::table
                        .filter(watched_results::prism_id.eq(Bind(prism)))
                        .filter(watched_results::up_to.eq(Bind(read)));
                    let update =
                        diesel::update(as_read).set(watched_results::up_to.eq(Bind(up_to)));
                    on!(tx, execute(update))?
                }
            };
            if moved == 0 {
                return Ok(WriteOutcome::Stale);
            }
            for hour in hours {
                let save = diesel::insert_into(watch_hours::table)
                    .values(HourColumns::new(prism, hour))
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
        self.write(async move |mut connection| {
            let old = watch_hours::table.filter(watch_hours::hour.lt(before));
            on!(connection, execute(diesel::delete(old)))?;
            Ok(())
        })
        .await
    }
}

impl HourColumns {
    fn new(prism: PrismId, row: WatchHourRow) -> Self {
        Self {
            prism_id: prism,
            hour: row.hour,
            version: row.version.get(),
            model_name: row.model.unwrap_or_default(),
            prompt_version: row.prompt_version.unwrap_or_default(),
            first_at: row.first_at,
            counts: row.counts,
        }
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountableResult {
    /// The result's id.
    pub id: ResultId,
    /// Number of the version that answered.
    pub version: VersionNumber,
    /// The model that the server reported, if it reported one.
    pub model: Option<String>,
    /// Version of the gateway's prompts; `None` for a model that gets no prompt.
    pub prompt_version: Option<i32>,
    /// The answers; `None` for a failed result.
    pub answers: Option<Answers>,
    /// Milliseconds that the result took.
    pub took_ms: u64,
    /// Tokens that the model read, if its server reports them.
    pub input_tokens: Option<u64>,
    /// Tokens that the model wrote, if its server reports them.
    pub output_tokens: Option<u64>,
    /// Whether the server cut the text.
    pub is_truncated: bool,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = results)]
struct CountableColumns {
    id: ResultId,
    version: i32,
    model_name: Option<String>,
    prompt_version: Option<i32>,
    answers: Option<String>,
    took_ms: i64,
    input_tokens: Option<i64>,
    output_tokens: Option<i64>,
    truncated_to: Option<i64>,
}

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
        let database = self.without_lanes();
        let reading = database.read(async move |mut connection| {
            let query = results::table
                // ordered like the prism's index, as in `find_first_result`
                .filter(results::prism_id.eq_any(vec![Bind(prism)]))
                .filter(results::id.gt(Bind(after)))
                .filter(results::id.le(Bind(up_to)))
                .order((results::prism_id, results::id))
                .limit(limit.into());
            let found: Vec<CountableColumns> = on!(connection, load(query) as CountableColumns)?;
            Ok(found)
        });
        let found = reading.await?;
        found.into_iter().map(CountableResult::try_from).collect()
    }
}

impl TryFrom<CountableColumns> for CountableResult {
    type Error = PersistenceError;

    fn try_from(columns: CountableColumns) -> Result<Self, PersistenceError> {
        let answers = columns.answers.as_deref();
        // numbers that are never negative
        let whole = |number| u64::try_from(number).unwrap_or_default();
        Ok(Self {
            id: columns.id,
            version: saved_version(columns.version)?,
            model: columns.model_name,
            prompt_version: columns.prompt_version,
            answers: answers.map(|json| saved_answers(Some(json))).transpose()?,
            took_ms: whole(columns.took_ms),
            input_tokens: columns.input_tokens.map(whole),
            output_tokens: columns.output_tokens.map(whole),
            is_truncated: columns.truncated_to.is_some(),
        })
    }
}
