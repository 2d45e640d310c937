//! Deletes results with everything that depends on them, subtracts them from the counts, and keeps
//! what they used.

use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use refract_domain::event::{Event, EventDetail};
use refract_domain::ids::{ApiKeyId, PrismId, ResultId};

use crate::connections::{for_update, in_transaction, run};
use crate::error::PersistenceError;
use crate::queries::counts::{NO_KEY, number_of};
use crate::queries::database::Database;
use crate::queries::events::add_event;
use crate::queries::results::usage::KeepUsage;
use crate::queries::retention::deleted_counts::{DeletedCounts, DeletedResult, by_prism};
use crate::schema::sql_types::Bind;
use crate::schema::{counted_results, prism_examples, result_counts, results};

/// The event of a deletion of results.
#[derive(Clone, Debug)]
pub enum DeletionEvent {
    /// None: an earlier deletion has it, or a later one will have.
    Elsewhere,
    /// This event, if a result is deleted.
    Begun(Event),
    /// This event, with the number of results that this deletion and those before it deleted, if
    /// that is not zero.
    Ended {
        /// The event.
        event: Event,
        /// Number of results that earlier deletions deleted.
        before: u64,
    },
}

impl DeletionEvent {
    /// The event of a deletion that deleted this many results.
    fn of(self, deleted: usize) -> Option<Event> {
        match self {
            Self::Elsewhere => None,
            Self::Begun(event) => (deleted > 0).then_some(event),
            Self::Ended { event, before } => {
                let in_all = before.saturating_add(u64::try_from(deleted).unwrap_or(u64::MAX));
                let number = EventDetail::counted(in_all, "result");
                (in_all > 0).then(|| Event {
                    stamp: event.stamp.noted(number),
                    ..event
                })
            }
        }
    }
}

/// Whether deleting results deletes the example texts that people copied from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopiedExamples {
    /// They stay, without a link to their result: a purge by age.
    Kept,
    /// They are deleted: an erasure of one person's texts.
    Deleted,
}

impl CopiedExamples {
    /// The results of which copies are deleted.
    fn of_results(self, results: &[DeletedResult]) -> Vec<Option<ResultId>> {
        match self {
            Self::Kept => Vec::new(),
            Self::Deleted => results.iter().map(|result| Some(result.id)).collect(),
        }
    }
}

/// Numbers of deleted rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeletedRows {
    /// Number of deleted results.
    pub results: u64,
    /// Number of deleted examples.
    pub examples: u64,
}

impl DeletedRows {
    fn of((results, examples): (usize, usize)) -> Self {
        Self {
            results: u64::try_from(results).unwrap_or(u64::MAX),
            examples: u64::try_from(examples).unwrap_or(u64::MAX),
        }
    }
}

impl Database {
    /// Deletes results, with their idempotency keys and their marks. A retry of a deleted result
    /// stays, without its link. Returns how many of these results existed, and how many example
    /// texts copied from them were deleted; pass a few hundred ids at most.
    ///
    /// One transaction, which also updates the stored counts, keeps what the results used, and saves an
    /// event. A concurrent count
    /// that began earlier and includes a deleted result must not be stored, so the watermark
    /// changes to a value that it never had, made from `random`: pass a new random number each
    /// time.
    ///
    /// # Errors
    /// When the database fails. No result was deleted then.
    pub async fn delete_results(
        &self,
        ids: Vec<ResultId>,
        random: u128,
        copied: CopiedExamples,
        event: DeletionEvent,
    ) -> Result<DeletedRows, PersistenceError> {
        self.write(async move |mut connection| {
            let deleted = in_transaction!(connection, |c| {
                let wanted: Vec<_> = ids.iter().copied().map(Bind).collect();
                // from here on no retry of them can be saved; locked in the order in which others
                // lock several results
                let query = results::table
                    .filter(results::id.eq_any(wanted))
                    .order(results::id)
                    .select((
                        results::id,
                        results::prism_id,
                        results::api_key_id,
                        results::error.is_not_null(),
                    ));
                let found: Vec<FoundColumns> = for_update(query).load(c).await?;
                let found: Vec<_> = found.into_iter().map(DeletedResult::from).collect();
                let number = found.len();
                let originals: Vec<_> = found.iter().map(|result| Some(result.id)).collect();
                let retries = results::table.filter(results::retry_of.eq_any(originals));
                run!(
                    c,
                    diesel::update(retries).set(results::retry_of.eq(None::<ResultId>))
                );
                let erased = copied.of_results(&found);
                let erased = prism_examples::table.filter(prism_examples::result_id.eq_any(erased));
                let examples = run!(c, diesel::delete(erased));
                if !found.is_empty() {
                    let ids = found.iter().map(|result| result.id).collect();
                    run!(c, KeepUsage::of(ids));
                }
                let gone: Vec<_> = found.iter().map(|result| Bind(result.id)).collect();
                run!(
                    c,
                    diesel::delete(results::table.filter(results::id.eq_any(gone)))
                );
                for (prism, deleted) in by_prism(found) {
                    let lowest = ResultId::LOWEST.beside(random);
                    let first_watermark = diesel::insert_into(counted_results::table).values((
                        counted_results::prism_id.eq(Bind(prism)),
                        counted_results::up_to.eq(Bind(lowest.unwrap_or(ResultId::LOWEST))),
                    ));
                    first_watermark.on_conflict_do_nothing().execute(c).await?;
                    let watermark = counted_results::table.find(Bind(prism));
                    let up_to: ResultId = for_update(watermark.select(counted_results::up_to))
                        .get_result(c)
                        .await?;
                    let counts = DeletedCounts::of(&deleted, up_to);
                    if counts.has_uncounted
                        && let Some(another) = up_to.beside(random)
                    {
                        run!(
                            c,
                            diesel::update(watermark).set(counted_results::up_to.eq(Bind(another)))
                        );
                    }
                    for ((day, key), count) in counts.counted {
                        let key = key.unwrap_or(NO_KEY);
                        let of_day = (Bind(prism), number_of(day), Bind(key));
                        run!(
                            c,
                            diesel::update(result_counts::table.find(of_day)).set((
                                result_counts::ok.eq(result_counts::ok - count.ok),
                                result_counts::failed.eq(result_counts::failed - count.failed),
                            ))
                        );
                        let nothing = result_counts::table
                            .find(of_day)
                            .filter(result_counts::ok.le(0))
                            .filter(result_counts::failed.le(0));
                        run!(c, diesel::delete(nothing));
                    }
                }
                if let Some(event) = event.of(number) {
                    add_event!(c, event);
                }
                QueryResult::Ok((number, examples))
            })?;
            Ok(DeletedRows::of(deleted))
        })
        .await
    }
}

type FoundColumns = (ResultId, PrismId, Option<ApiKeyId>, bool);

impl From<FoundColumns> for DeletedResult {
    fn from((id, prism, api_key, is_failed): FoundColumns) -> Self {
        Self {
            id,
            prism,
            api_key,
            is_failed,
        }
    }
}
