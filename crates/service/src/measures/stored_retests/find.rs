//! Finds and lists stored retests, makes their reports, and deletes old ones.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

use chrono::{TimeDelta, Utc};
use refract_domain::answer::Answers;
use refract_domain::event::{EventAction, EventDetail};
use refract_domain::ids::{AccountId, PersonId, PrismId, ResultId, RetestId};
use refract_domain::prism::VersionNumber;
use refract_domain::result::mark::source::MarksFrom;
use refract_persistence::{PersistenceError, RetestRow};

use super::stored_retest::StoredRetest;
use super::{KEPT_RETEST_DAYS, LISTED_RETESTS, Retests};
use crate::InternalError;
use crate::events::export_event;
use crate::lenses::prism_lens::PrismLens;
use crate::measures::retest::{LOADED_AT_ONCE, ReportParts};
use crate::measures::{Retest, RetestReport};
use crate::people::account_actor::AccountActor;
use crate::prisms::versions::find_saved_version;
use crate::runs::AskingPace;

/// Retests that a deletion looks up at once.
const DELETED_AT_ONCE: u32 = 100;

impl Retests<'_> {
    /// Finds a retest of the account.
    pub async fn find(
        self,
        account: AccountId,
        retest: RetestId,
    ) -> Result<Option<StoredRetest>, InternalError> {
        let row = self.refract.database.find_retest(account, retest).await?;
        let rows: Vec<RetestRow> = row.into_iter().collect();
        Ok(self.described(account, rows).await?.pop())
    }

    /// The newest retests of a prism, newest first, at most [`LISTED_RETESTS`].
    pub async fn list(
        self,
        account: AccountId,
        prism: PrismId,
    ) -> Result<Vec<StoredRetest>, InternalError> {
        let database = &self.refract.database;
        let rows = database.list_retests(account, prism, LISTED_RETESTS);
        self.described(account, rows.await?).await
    }

    /// What a retest found so far, by the marks and the lens of now. At most a few hundred texts are
    /// in memory at a time.
    pub async fn report(
        self,
        retest: &StoredRetest,
        lens: &Arc<PrismLens>,
    ) -> Result<RetestReport, InternalError> {
        self.report_of(retest.id, retest.version, lens).await
    }

    /// What the retest of this id, which asks this version, found so far.
    pub(super) async fn report_of(
        self,
        retest: RetestId,
        version: Option<VersionNumber>,
        lens: &Arc<PrismLens>,
    ) -> Result<RetestReport, InternalError> {
        let (database, measures) = (&self.refract.database, self.refract.measures());
        let version = match version {
            None => None,
            Some(number) => Some(find_saved_version(database, lens.prism.id, number).await?),
        };
        // nothing is asked
        let pace = AskingPace {
            concurrency: NonZeroUsize::MIN,
            gives_up: false,
        };
        let mut parts = ReportParts::new(version.clone(), lens, pace);
        let limit = u32::try_from(LOADED_AT_ONCE).unwrap_or(u32::MAX);
        let mut after = ResultId::LOWEST;
        loop {
            let rows = database.list_retest_texts(retest, after, limit).await?;
            let Some(last) = rows.last() else {
                return Ok(parts.report());
            };
            after = last.result;
            let ids: Vec<ResultId> = rows.iter().map(|row| row.result).collect();
            let mut part = Retest::new(version.clone(), lens, false);
            measures.load_retest_texts(&mut part, &ids).await?;
            let from = MarksFrom::default();
            measures.load_retest_marks(&mut part, &ids, from).await?;
            let (mut known, mut failures) = (HashMap::new(), Vec::new());
            for row in rows {
                if let Some(answers) = row.answers {
                    known.insert(row.result, saved_answers(&answers)?);
                }
                failures.extend(row.failure);
            }
            parts.add(&part, &known, failures);
        }
    }

    /// Saves the event that somebody downloads the flips of a retest, before the first byte is sent.
    pub async fn save_download(
        self,
        actor: &AccountActor,
        retest: &StoredRetest,
        format: &'static str,
    ) -> Result<(), InternalError> {
        let what = EventDetail::list(&[format.into(), EventDetail::retest(retest.id)]);
        let action = EventAction::ResultsExported;
        let database = &self.refract.database;
        Ok(export_event::save(database, actor, action, retest.prism, what).await?)
    }

    /// Deletes retests that ended [`KEPT_RETEST_DAYS`] ago, with their answers. Returns how many.
    /// Any number of nodes may do this at once.
    ///
    /// # Errors
    /// When the database fails. What was deleted until then stays deleted.
    pub async fn delete_old(self) -> Result<u64, InternalError> {
        let database = &self.refract.database;
        let now = database.time(Utc::now()).await?;
        let before = now.checked_sub_signed(TimeDelta::days(KEPT_RETEST_DAYS));
        let before = before.unwrap_or_default();
        Ok(database.delete_old_retests(before, DELETED_AT_ONCE).await?)
    }

    /// Rows with their counts and the names of the people who started them.
    async fn described(
        self,
        account: AccountId,
        rows: Vec<RetestRow>,
    ) -> Result<Vec<StoredRetest>, InternalError> {
        let people: Vec<PersonId> = rows.iter().filter_map(|row| row.made_by).collect();
        let names = self.refract.people().names(account, &people).await?;
        let ids: Vec<RetestId> = rows.iter().map(|row| row.id).collect();
        let counts = self.refract.database.count_retest_texts(&ids).await?;
        let now = Utc::now();
        let retests = rows.into_iter().map(|row| {
            let by = row.made_by.and_then(|person| names.get(&person));
            let by = by.map(ToString::to_string);
            let counts = counts.get(&row.id).copied().unwrap_or_default();
            StoredRetest::of(row, counts, by, now)
        });
        Ok(retests.collect::<Result<_, PersistenceError>>()?)
    }
}

/// The answers in their column.
fn saved_answers(json: &str) -> Result<Answers, PersistenceError> {
    let column = "retest_answers.answers";
    serde_json::from_str(json).map_err(|_| PersistenceError::Unreadable { column })
}
