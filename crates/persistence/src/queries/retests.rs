//! Stored retests: made, found, listed, changed by people, worked on under a lease, and deleted.

mod change;
mod lease;

use refract_boxed_futures::boxed;
use std::collections::HashMap;

use chrono::{DateTime, Utc};
use diesel::dsl::{count, count_star};
use diesel::prelude::*;
use refract_domain::ids::{AccountId, PersonId, PrismId, ResultId, RetestId};
use refract_domain::prism::VersionNumber;
use refract_domain::result::{DrawnTexts, RetestState};

pub use self::change::{CreateRetestOutcome, NewRetest, RetestUpdate};
pub use self::lease::{RetestEnd, RetestTextRow};
use crate::connections::{find_as, for_update, load_as, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::schema::sql_types::Bind;
use crate::schema::stored::Stored;
use crate::schema::{retest_answers, retests};

/// Answers that one transaction deletes.
const DELETED_ANSWERS: i64 = 500;

#[boxed]
impl Database {
    /// Finds a retest of the account.
    pub async fn find_retest(
        &self,
        account: AccountId,
        retest: RetestId,
    ) -> Result<Option<RetestRow>, PersistenceError> {
        let query = retests::table
            .find(Bind(retest))
            .filter(retests::account_id.eq(Bind(account)));
        find_as!(self, query, RetestRow).await
    }

    /// Up to `limit` retests of a prism of the account, newest first.
    pub async fn list_retests(
        &self,
        account: AccountId,
        prism: PrismId,
        limit: u32,
    ) -> Result<Vec<RetestRow>, PersistenceError> {
        let query = retests::table
            .filter(retests::prism_id.eq(Bind(prism)))
            .filter(retests::account_id.eq(Bind(account)))
            .order(retests::id.desc())
            .limit(i64::from(limit));
        load_as!(self, query, RetestRow).await
    }

    /// The counts of these retests. One without a text is missing.
    pub async fn count_retest_texts(
        &self,
        ids: &[RetestId],
    ) -> Result<HashMap<RetestId, RetestCounts>, PersistenceError> {
        let ids: Vec<_> = ids.iter().copied().map(Bind).collect();
        let query = retest_answers::table
            .filter(retest_answers::retest_id.eq_any(ids))
            .group_by(retest_answers::retest_id)
            .select((
                retest_answers::retest_id,
                count_star(),
                count(retest_answers::answers),
                count(retest_answers::failure),
            ));
        let found: Vec<(RetestId, i64, i64, i64)> = self.load(query).await?;
        let number = |counted: i64| u64::try_from(counted).unwrap_or_default();
        let counts = found.into_iter().map(|(id, texts, answered, failed)| {
            let counts = RetestCounts {
                texts: number(texts),
                answered: number(answered),
                failed: number(failed),
            };
            (id, counts)
        });
        Ok(counts.collect())
    }

    /// Deletes retests that ended before a moment, at most `limit` of them, each with its answers.
    /// Returns how many. Two queries, and one or more transactions of bounded size for each retest.
    ///
    /// # Errors
    /// When the database fails. The deletion can be continued.
    pub async fn delete_old_retests(
        &self,
        before: DateTime<Utc>,
        limit: u32,
    ) -> Result<u64, PersistenceError> {
        let old = retests::table
            .filter(retests::ended_at.lt(Some(before)))
            .order(retests::ended_at)
            .limit(i64::from(limit))
            .select(retests::id);
        let old: Vec<RetestId> = self.load(old).await?;
        let mut deleted = 0;
        for retest in old {
            while self.delete_first_answers(retest).await? {}
            // one that was continued meanwhile stays
            let ended = retests::table
                .find(Bind(retest))
                .filter(retests::ended_at.lt(Some(before)));
            deleted += self.execute(diesel::delete(ended)).await?;
        }
        Ok(u64::try_from(deleted).unwrap_or(u64::MAX))
    }

    /// Deletes the first answers of a retest that ended, in the order in which deletions of results
    /// lock them; returns whether it may have more.
    async fn delete_first_answers(&self, retest: RetestId) -> Result<bool, PersistenceError> {
        self.begin(async move |mut tx| {
            let ended = retests::table
                .find(Bind(retest))
                .filter(retests::ended_at.is_not_null())
                .select(retests::id);
            // from here on the retest is not continued
            let ended: Option<RetestId> = on!(tx, get_result(for_update(ended))).optional()?;
            if ended.is_none() {
                tx.commit().await?;
                return Ok(false);
            }
            let first = retest_answers::table
                .filter(retest_answers::retest_id.eq(Bind(retest)))
                .order(retest_answers::result_id)
                .limit(DELETED_ANSWERS)
                .select(retest_answers::result_id);
            let first: Vec<ResultId> = on!(tx, load(for_update(first)))?;
            let deleted: Vec<_> = first.iter().copied().map(Bind).collect();
            let answers = retest_answers::table
                .filter(retest_answers::retest_id.eq(Bind(retest)))
                .filter(retest_answers::result_id.eq_any(deleted));
            on!(tx, execute(diesel::delete(answers)))?;
            tx.commit().await?;
            let most = usize::try_from(DELETED_ANSWERS).unwrap_or(usize::MAX);
            Ok(first.len() == most)
        })
        .await
    }
}

/// A stored retest.
#[derive(Clone, Debug, PartialEq, Queryable, Selectable)]
#[diesel(table_name = retests)]
pub struct RetestRow {
    /// `UUIDv7`.
    pub id: RetestId,
    /// The account that the retest belongs to.
    #[diesel(column_name = account_id)]
    pub account: AccountId,
    /// The prism that is asked.
    #[diesel(column_name = prism_id)]
    pub prism: PrismId,
    /// The saved version that is asked; `None` for a draft, or for the one that answered each text.
    #[diesel(deserialize_as = Stored<retests::version>)]
    pub version: Option<VersionNumber>,
    /// The name of the model that is asked.
    pub model: String,
    /// What was found when the texts were drawn.
    #[diesel(deserialize_as = Stored<retests::drawn>)]
    pub drawn: DrawnTexts,
    /// What the retest is doing.
    #[diesel(deserialize_as = Stored<retests::state>)]
    pub state: RetestState,
    /// Why the retest failed.
    pub reason: Option<String>,
    /// Flips when a node last ended its work; `None` before.
    #[diesel(deserialize_as = Stored<retests::flips>)]
    pub flips: Option<u64>,
    /// The person who started the retest.
    #[diesel(column_name = made_by)]
    pub actor: Option<PersonId>,
    /// When the retest was made.
    pub made_at: DateTime<Utc>,
    /// When the retest ended; `None` while it is under way.
    pub ended_at: Option<DateTime<Utc>>,
    /// Until when a node holds the retest, at the latest.
    pub lease_until: Option<DateTime<Utc>>,
}

/// Counts of the texts of a retest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RetestCounts {
    /// Texts that were drawn, without those of results that were deleted since.
    pub texts: u64,
    /// Texts with new answers.
    pub answered: u64,
    /// Texts to which the model gave no answer.
    pub failed: u64,
}
