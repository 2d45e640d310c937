//! Stored retests as they are shown: found, listed, reported, stopped, continued and deleted.

use refract_boxed_futures::boxed;
use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::ops::Deref;
use std::sync::Arc;

use chrono::{TimeDelta, Utc};
use refract_domain::answer::Answers;
use refract_domain::event::{Event, EventAction, EventDetail, EventTarget};
use refract_domain::ids::{AccountId, PersonId, PrismId, ResultId, RetestId};
use refract_domain::prism::{PrismVersion, VersionNumber};
use refract_domain::result::RetestChange;
use refract_domain::result::mark::MarksFrom;
use refract_identity::people::AccountActor;
use refract_persistence::{
    CreateRetestOutcome, PersistenceError, RetestCounts, RetestRow, RetestUpdate,
};

use super::{KEPT_RETEST_DAYS, LISTED_RETESTS, MOST_RETESTS_UNDER_WAY, Retests};
use crate::InternalError;
use crate::asking::AskingPace;
use crate::lenses::prism_lens::PrismLens;
use crate::measures::retest::{AskedWords, LOADED_AT_ONCE, ReportParts};
use crate::measures::{Retest, RetestReport};
use crate::prisms::find_saved_version;
use crate::results::export_event;

/// Retests that a deletion looks up at once.
const DELETED_AT_ONCE: u32 = 100;
/// Attempts at a change while a node or another person changes the state.
const ATTEMPTS: usize = 8;

/// A stored retest as it is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRetest {
    row: RetestRow,
    /// Counts of the texts.
    pub counts: RetestCounts,
    /// The name of the person who started the retest.
    pub by: Option<String>,
    /// Whether a node holds the retest now.
    pub is_leased: bool,
}

impl Deref for StoredRetest {
    type Target = RetestRow;

    fn deref(&self) -> &RetestRow {
        &self.row
    }
}

impl StoredRetest {
    /// Whether a person can let the retest continue: it ended, and some texts have no new answers.
    pub fn can_continue(&self) -> bool {
        !self.state.is_under_way() && self.counts.answered < self.counts.texts
    }
}

#[boxed]
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
        let (version, draft) = (retest.version, retest.drawn.draft.clone());
        let asked = self.asked_words(lens.prism.id, version, draft).await?;
        self.report_of(retest.id, asked, lens).await
    }

    /// What a retest asks.
    pub(super) async fn asked_words(
        self,
        prism: PrismId,
        version: Option<VersionNumber>,
        draft: Option<PrismVersion>,
    ) -> Result<AskedWords, InternalError> {
        let database = &self.refract.database;
        Ok(match (version, draft) {
            (_, Some(draft)) => AskedWords::Draft(Arc::new(draft)),
            (Some(number), None) => {
                AskedWords::Version(find_saved_version(database, prism, number).await?)
            }
            (None, None) => AskedWords::OfEach,
        })
    }

    /// What the retest of this id, which asks these words, found so far.
    pub(super) async fn report_of(
        self,
        retest: RetestId,
        asked: AskedWords,
        lens: &Arc<PrismLens>,
    ) -> Result<RetestReport, InternalError> {
        let (database, measures) = (&self.refract.database, self.refract.measures());
        // nothing is asked
        let pace = AskingPace {
            concurrency: NonZeroUsize::MIN,
            gives_up: false,
        };
        let mut parts = ReportParts::new(asked.clone(), lens, pace);
        let limit = u32::try_from(LOADED_AT_ONCE).unwrap_or(u32::MAX);
        let mut after = ResultId::LOWEST;
        loop {
            let rows = database.list_retest_texts(retest, after, limit).await?;
            let Some(last) = rows.last() else {
                return Ok(parts.report());
            };
            after = last.result;
            let ids: Vec<ResultId> = rows.iter().map(|row| row.result).collect();
            let mut part = Retest::new(asked.clone(), lens, false);
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
        let people: Vec<PersonId> = rows.iter().filter_map(|row| row.actor).collect();
        let names = self.refract.people().names(account, &people).await?;
        let ids: Vec<RetestId> = rows.iter().map(|row| row.id).collect();
        let counts = self.refract.database.count_retest_texts(&ids).await?;
        let now = self.refract.database.time(Utc::now()).await?;
        let retests = rows.into_iter().map(|row| {
            let by = row.actor.and_then(|person| names.get(&person));
            let by = by.map(ToString::to_string);
            let counts = counts.get(&row.id).copied().unwrap_or_default();
            StoredRetest {
                is_leased: row.lease_until.is_some_and(|until| until > now),
                row,
                counts,
                by,
            }
        });
        Ok(retests.collect())
    }
}

/// The answers in their column.
fn saved_answers(json: &str) -> Result<Answers, PersistenceError> {
    let column = "retest_answers.answers";
    serde_json::from_str(json).map_err(|_| PersistenceError::Unreadable { column })
}

/// The outcome of a person's change of a stored retest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeRetestOutcome {
    /// The change was saved.
    Changed,
    /// The account has no such retest.
    NotFound,
    /// The retest is in a state that does not allow the change, or has nothing left to ask.
    NotPossible,
    /// Another retest of the prism is under way.
    UnderWay(RetestId),
    /// The account has as many retests under way as it may have.
    TooMany,
}

#[boxed]
impl Retests<'_> {
    /// Stops a retest, or lets an ended one ask about the texts without new answers. A node that
    /// works on the retest notices when it next renews its lease.
    pub async fn change(
        self,
        actor: &AccountActor,
        retest: RetestId,
        change: RetestChange,
    ) -> Result<ChangeRetestOutcome, InternalError> {
        let database = &self.refract.database;
        for _ in 0..ATTEMPTS {
            let Some(found) = self.find(actor.account(), retest).await? else {
                return Ok(ChangeRetestOutcome::NotFound);
            };
            let is_possible = change == RetestChange::Interrupt || found.can_continue();
            let to = found.state.after(change).filter(|_| is_possible);
            let Some(to) = to else {
                return Ok(ChangeRetestOutcome::NotPossible);
            };
            let action = match change {
                RetestChange::Interrupt => EventAction::RetestStopped,
                RetestChange::Continue => EventAction::RetestContinued,
            };
            let stamp = actor.event_stamp().noted(EventDetail::retest(retest));
            let event = Event {
                from: Some(found.state.into()),
                to: Some(to.into()),
                ..stamp.event(action, EventTarget::Prism(found.prism))
            };
            let update = RetestUpdate {
                retest,
                from: found.state,
                to,
            };
            let outcome = match change {
                RetestChange::Interrupt => {
                    let is_stopped = database.stop_retest(update, event).await?;
                    if is_stopped {
                        CreateRetestOutcome::Created
                    } else {
                        CreateRetestOutcome::Meanwhile
                    }
                }
                RetestChange::Continue => {
                    let most = MOST_RETESTS_UNDER_WAY;
                    database.continue_retest(update, most, event).await?
                }
            };
            match outcome {
                CreateRetestOutcome::Created => return Ok(ChangeRetestOutcome::Changed),
                CreateRetestOutcome::UnderWay(other) => {
                    return Ok(ChangeRetestOutcome::UnderWay(other));
                }
                CreateRetestOutcome::TooMany => return Ok(ChangeRetestOutcome::TooMany),
                CreateRetestOutcome::Meanwhile => {}
            }
        }
        Ok(ChangeRetestOutcome::NotPossible)
    }
}
