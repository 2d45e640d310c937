//! Sittings: a person at work on a queue of a prism's results.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use refract_boxed_futures::boxed;
use refract_domain::ids::{PersonId, PrismId, ResultId, SittingId};

use crate::connections::{find_as, load_as, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::schema::review_sittings;
use crate::schema::sql_types::Bind;

/// A sitting of a person.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = review_sittings)]
pub struct SittingRow {
    /// `UUIDv7`.
    pub id: SittingId,
    /// The person.
    #[diesel(column_name = person_id)]
    pub person: PersonId,
    /// The prism of the results.
    #[diesel(column_name = prism_id)]
    pub prism: PrismId,
    /// The queue, its results and what was judged, as the use case wrote it.
    pub state: String,
    /// When the person last judged or saw a result.
    pub used_at: DateTime<Utc>,
}

#[boxed]
impl Database {
    /// Saves a new sitting, and deletes all sittings that were last used before a moment.
    ///
    /// # Errors
    /// When the person is gone, or the database fails.
    pub async fn begin_sitting(
        &self,
        sitting: SittingRow,
        unused_since: DateTime<Utc>,
    ) -> Result<(), PersistenceError> {
        let columns = (
            review_sittings::id.eq(Bind(sitting.id)),
            review_sittings::person_id.eq(Bind(sitting.person)),
            review_sittings::prism_id.eq(Bind(sitting.prism)),
            review_sittings::state.eq(sitting.state),
            review_sittings::used_at.eq(Bind(sitting.used_at)),
        );
        self.begin(async move |mut tx| {
            let unused =
                review_sittings::table.filter(review_sittings::used_at.lt(Bind(unused_since)));
            on!(tx, execute(diesel::delete(unused)))?;
            let insert = diesel::insert_into(review_sittings::table).values(columns);
            on!(tx, execute(insert))?;
            Ok(tx.commit().await?)
        })
        .await
    }

    /// Finds a sitting of a person.
    pub async fn find_sitting(
        &self,
        person: PersonId,
        id: SittingId,
    ) -> Result<Option<SittingRow>, PersistenceError> {
        let query = review_sittings::table
            .find(Bind(id))
            .filter(review_sittings::person_id.eq(Bind(person)));
        find_as!(self, query.limit(1), SittingRow).await
    }

    /// Up to `limit` sittings of a person with a prism, the last used first.
    pub async fn list_sittings(
        &self,
        person: PersonId,
        prism: PrismId,
        limit: u32,
    ) -> Result<Vec<SittingRow>, PersistenceError> {
        let query = review_sittings::table
            .filter(review_sittings::person_id.eq(Bind(person)))
            .filter(review_sittings::prism_id.eq(Bind(prism)))
            .order(review_sittings::used_at.desc())
            .limit(i64::from(limit));
        load_as!(self, query, SittingRow).await
    }

    /// Saves the state of a sitting.
    pub async fn save_sitting_state(
        &self,
        id: SittingId,
        state: String,
        now: DateTime<Utc>,
    ) -> Result<(), PersistenceError> {
        let update = diesel::update(review_sittings::table.find(Bind(id))).set((
            review_sittings::state.eq(state),
            review_sittings::used_at.eq(Bind(now)),
        ));
        self.execute(update).await?;
        Ok(())
    }

    /// Saves which result is on the person's screen, and until when others are shown that.
    pub async fn show_in_sitting(
        &self,
        id: SittingId,
        result: ResultId,
        now: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<(), PersistenceError> {
        let update = diesel::update(review_sittings::table.find(Bind(id))).set((
            review_sittings::showing.eq(Some(result)),
            review_sittings::shown_until.eq(Some(until)),
            review_sittings::used_at.eq(Bind(now)),
        ));
        self.execute(update).await?;
        Ok(())
    }

    /// The people who review a prism now, each with the result on their screen.
    pub async fn list_reviewing(
        &self,
        prism: PrismId,
        now: DateTime<Utc>,
    ) -> Result<Vec<(PersonId, ResultId)>, PersistenceError> {
        let query = review_sittings::table
            .filter(review_sittings::prism_id.eq(Bind(prism)))
            .filter(review_sittings::shown_until.gt(Some(now)))
            .filter(review_sittings::showing.is_not_null())
            .order(review_sittings::used_at.desc())
            .select((
                review_sittings::person_id,
                review_sittings::showing.assume_not_null(),
            ));
        self.load(query).await
    }
}
