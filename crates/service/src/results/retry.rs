//! Retry a failed result, once (spec 4.3), and every failed result of a prism that was never
//! retried.

use refract_boxed_futures::boxed;
use std::collections::BTreeMap;
use std::future::ready;

use futures_util::stream::{iter, try_unfold};
use futures_util::{Stream, StreamExt as _, TryStreamExt as _};
use refract_domain::ids::{AccountId, PrismId, ResultId};
use refract_domain::result::{RetryError, SavedResult};
use refract_domain::submission::budget;
use refract_identity::keys::PresentedKey;
use refract_identity::new_id;
use refract_identity::people::AccountActor;
use refract_persistence::{FoundResult, Prism, ResultFilter};

use crate::asking::{AskedTexts, AskingPace, EarlyEnd, Next, TextBegun, ask_each};
use crate::prisms::{NumberedVersion, find_saved_version};
use crate::results::Results;
use crate::results::ask_and_save::CheckedCall;
use crate::results::read::{ReadableResult, ResultCall};
use crate::{CallError, InternalError};

/// Number of ids that one query reads.
const PAGE: u32 = 256;

#[boxed(local)]
impl Results<'_> {
    /// Asks the model about a failed result again and saves the answers as a new result.
    ///
    /// # Errors
    /// The first check that fails: key, result, failed and not retried yet, prism not archived,
    /// size.
    pub async fn retry(
        self,
        presented: &PresentedKey,
        id: ResultId,
    ) -> Result<ReadableResult, CallError> {
        let ResultCall { actor, found } = self.find_result_call(presented, id).await?;
        self.retry_found(actor, found).await
    }

    /// Retries a result for a caller without an API key: the operator's terminal or a person.
    ///
    /// # Errors
    /// As [`Results::retry`].
    pub async fn retry_as(
        self,
        actor: AccountActor,
        id: ResultId,
    ) -> Result<ReadableResult, CallError> {
        let database = &self.refract.database;
        let found = database.find_result(actor.account(), id).await?;
        let found = found.ok_or(CallError::ResultNotFound)?;
        self.retry_found(actor, found).await
    }

    async fn retry_found(
        self,
        actor: AccountActor,
        found: FoundResult,
    ) -> Result<ReadableResult, CallError> {
        let is_archived = found.prism.archived_at.is_some();
        let retried_as = self.refract.database.find_retry(found.result.id).await?;
        found.result.may_be_retried(retried_as, is_archived)?;
        self.retry_failed_result(actor, found.result, found.prism)
            .await
    }

    /// Retries a failed result for which only the size is still to be checked.
    pub(crate) async fn retry_failed_result(
        self,
        actor: AccountActor,
        failed: SavedResult,
        prism: Prism,
    ) -> Result<ReadableResult, CallError> {
        let checked = self.check_retry(actor, failed).await?;
        self.ask_and_save(checked, prism).await
    }

    /// Checks the size of a retry, which sends the stored values to the version that failed on
    /// them.
    pub(crate) async fn check_retry(
        self,
        actor: AccountActor,
        failed: SavedResult,
    ) -> Result<CheckedCall, CallError> {
        let number = failed.version;
        let version = find_saved_version(&self.refract.database, failed.prism, number).await?;
        budget::check(&version, &failed.submission)?;
        let asked = NumberedVersion { number, version };
        Ok(CheckedCall::retry(actor, failed, asked))
    }
}

/// Which failed results are retried, and how.
#[derive(Clone)]
pub struct RetryFailed {
    /// The caller of the retries: in this account, and without an API key.
    pub actor: AccountActor,
    /// The prism that is to answer.
    pub prism: PrismId,
    /// The period in which the results were saved.
    pub filter: ResultFilter,
    /// Number of retries in flight, and when to give up.
    pub pace: AskingPace,
}

/// Counts of the retries so far.
#[derive(Clone, Debug, Default)]
pub struct Retried {
    /// Retries that asked the model.
    pub asked: AskedTexts,
    /// Retries that were refused before the model was asked, by reason.
    pub refused: BTreeMap<String, u64>,
}

impl Retried {
    /// Number of finished retries.
    pub fn done(&self) -> u64 {
        self.asked.answered + self.not_answered()
    }

    /// Number of finished retries without an answer.
    pub fn not_answered(&self) -> u64 {
        self.asked.failures() + self.refused.values().sum::<u64>()
    }
}

#[boxed]
impl Results<'_> {
    /// Counts the failed results of a prism that a filter selects and that were never retried.
    pub async fn count_retriable(
        self,
        account: AccountId,
        prism: PrismId,
        filter: ResultFilter,
    ) -> Result<u64, InternalError> {
        let database = &self.refract.database;
        let counting = database.count_retriable_results(account, prism, filter);
        Ok(counting.await?)
    }

    /// Retries each failed result once. A retry that fails again is not retried, and a result that
    /// another process retries meanwhile is skipped. After `stop`, or when the model is away, no
    /// further retry begins. `progress` gets the counts after each retry and at a stop.
    ///
    /// # Errors
    /// When the prism is archived or the database fails. Finished retries are saved, so the next
    /// run continues with the rest.
    pub async fn retry_failed(
        self,
        what: RetryFailed,
        stop: impl Future<Output = ()>,
        mut progress: impl FnMut(&Retried),
    ) -> Result<Retried, CallError> {
        let mut retried = Retried {
            asked: AskedTexts::new(what.pace),
            ..Retried::default()
        };
        let texts = retried.asked.begun();
        let actor = &what.actor;
        let asking_again = self.retriable(&what).map(async |id| {
            let begun = texts.begin();
            Ok((begun, self.retry_as(actor.clone(), id?).await))
        });
        let mut failure = None;
        // retries in flight are paid for, so they are always waited for
        let asking = ask_each(asking_again, what.pace.concurrency, stop, |reply| {
            let ended = match reply {
                None => {
                    retried.asked.end = Some(EarlyEnd::Asked);
                    Ok(())
                }
                Some(Ok((begun, ended))) => retried.count(begun, ended),
                Some(Err(unread)) => Err(CallError::Internal(unread)),
            };
            failure = ended.err().or(failure.take());
            progress(&retried);
            Next::begin_if(retried.asked.end.is_none() && failure.is_none())
        });
        asking.await;
        failure.map_or(Ok(retried), Err)
    }

    /// The ids of the results to be retried, oldest first.
    fn retriable(self, what: &RetryFailed) -> impl Stream<Item = Result<ResultId, InternalError>> {
        // the retries themselves have later ids than all results that failed before them
        let end = ResultId::new(new_id().0);
        let (account, prism) = (what.actor.account(), what.prism);
        let database = &self.refract.database;
        let pages = try_unfold(None, move |last| async move {
            let filter = what.filter.clone();
            let page = database.list_retriable_results(account, prism, filter, last, PAGE);
            let page = page.await?;
            let last = page.last().copied();
            Ok::<_, InternalError>(last.map(|_| (iter(page.into_iter().map(Ok)), last)))
        });
        let ids = pages.try_flatten();
        ids.try_take_while(move |id| ready(Ok(*id < end)))
    }
}

impl Retried {
    /// Counts a finished retry, and stops at the threshold of failures in a row. Returns an error
    /// only if every other retry would fail with it too.
    fn count(
        &mut self,
        begun: TextBegun,
        ended: Result<ReadableResult, CallError>,
    ) -> Result<(), CallError> {
        match ended {
            Ok(result) => {
                let error = result.view().status.error().map(str::to_owned);
                self.asked.count(begun, error.map_or(Ok(()), Err));
            }
            Err(CallError::Retry(RetryError::AlreadyRetried(_))) => {}
            Err(error @ (CallError::Internal(_) | CallError::Retry(_))) => return Err(error),
            Err(refused) => *self.refused.entry(refused.to_string()).or_default() += 1,
        }
        Ok(())
    }
}
