//! Retry every failed result of a prism that was never retried, each by the rules of spec 4.3.

use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroUsize;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use refract_domain::ids::{AccountId, PrismId, ResultId};
use refract_domain::result::RetryRefusal;
use refract_persistence::ResultFilter;
use uuid::Uuid;

use crate::Refract;
use crate::people::caller::Caller;
use crate::results::Results;
use crate::results::readable_result::ReadableResult;
use crate::runs::failure_threshold::failure_threshold;
use crate::{CallError, InternalError};

/// Number of ids that one query reads.
const PAGE: u32 = 256;

/// Which failed results are retried, and how.
#[derive(Clone)]
pub struct RetryFailed {
    /// Who retries: in this account, and without an API key.
    pub caller: Caller,
    /// The prism that is to answer.
    pub prism: PrismId,
    /// The period in which the results were saved.
    pub filter: ResultFilter,
    /// Number of retries in flight.
    pub concurrency: NonZeroUsize,
    /// Whether to stop when the failures in a row reach [`failure_threshold`].
    pub gives_up: bool,
}

/// Why the retries stopped before the last failed result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RetriesEnd {
    /// The caller asked to stop.
    Asked,
    /// The failures in a row reached [`failure_threshold`].
    ModelAway {
        /// Number of failures without an answer in between.
        failures: u64,
        /// The error of the last failed result.
        error: String,
    },
}

/// Counts of the retries so far.
#[derive(Clone, Debug, Default)]
pub struct Retried {
    /// Retries that were answered.
    pub ok: u64,
    /// Retries that failed again, by error.
    pub failed: BTreeMap<String, u64>,
    /// Retries that were refused before the model was asked, by reason.
    pub refused: BTreeMap<String, u64>,
    /// Why no further retry begins; `None` as long as there are results to retry.
    pub stop: Option<RetriesEnd>,
    /// Failures since the last answer.
    failures_in_a_row: u64,
}

impl Retried {
    /// Number of retries that ended.
    pub fn done(&self) -> u64 {
        self.ok + self.not_answered()
    }

    /// Number of retries that ended without an answer.
    pub fn not_answered(&self) -> u64 {
        self.failed.values().chain(self.refused.values()).sum()
    }
}

impl Results<'_> {
    /// Counts the failed results of a prism that a filter selects and that were never retried.
    ///
    /// # Errors
    /// When the database fails.
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

    /// Retries each failed result once. A retry that fails again is not retried in turn, and a
    /// result that another process retries meanwhile is skipped. After `stop`, or when the model is
    /// away, no further retry begins. `progress` is told the counts after each retry and at a stop.
    ///
    /// # Errors
    /// When the prism is archived or the database fails. Retries that ended are saved, so the next
    /// run goes on with the rest.
    pub async fn retry_failed(
        self,
        what: RetryFailed,
        stop: impl Future<Output = ()>,
        mut progress: impl FnMut(&Retried),
    ) -> Result<Retried, CallError> {
        let caller = what.caller.clone();
        let threshold = what.gives_up.then(|| failure_threshold(what.concurrency));
        let concurrency = what.concurrency.get();
        let mut ids = RetriableIds::new(self.refract, what);
        let mut in_flight = FuturesUnordered::new();
        let mut retried = Retried::default();
        let mut failure = None;
        let mut stop = std::pin::pin!(stop);
        loop {
            let may_begin = retried.stop.is_none() && failure.is_none();
            while may_begin && in_flight.len() < concurrency {
                match ids.next().await {
                    Ok(Some(id)) => in_flight.push(self.retry_as(caller.clone(), id)),
                    Ok(None) => break,
                    Err(error) => {
                        failure = Some(error.into());
                        break;
                    }
                }
            }
            // retries in flight are paid for, so they are always waited for
            let ended = tokio::select! {
                biased;
                () = &mut stop, if retried.stop.is_none() => {
                    retried.stop = Some(RetriesEnd::Asked);
                    progress(&retried);
                    continue;
                }
                ended = in_flight.next() => ended,
            };
            match ended {
                None => return failure.map_or(Ok(retried), Err),
                Some(ended) => failure = retried.count(ended, threshold).err().or(failure),
            }
            progress(&retried);
        }
    }
}

impl Retried {
    /// Counts a retry that ended, and stops at the threshold of failures in a row. Returns an error
    /// only when every other retry would meet it too.
    fn count(
        &mut self,
        ended: Result<ReadableResult, CallError>,
        threshold: Option<u64>,
    ) -> Result<(), CallError> {
        match ended {
            Ok(result) => match result.view().status.error() {
                None => {
                    self.ok += 1;
                    self.failures_in_a_row = 0;
                }
                Some(error) => {
                    *self.failed.entry(error.to_owned()).or_default() += 1;
                    self.failures_in_a_row += 1;
                    if threshold == Some(self.failures_in_a_row) {
                        self.stop.get_or_insert_with(|| RetriesEnd::ModelAway {
                            failures: self.failures_in_a_row,
                            error: error.to_owned(),
                        });
                    }
                }
            },
            Err(CallError::Retry(RetryRefusal::AlreadyRetried(_))) => {}
            Err(error @ (CallError::Internal(_) | CallError::Retry(_))) => return Err(error),
            Err(refused) => *self.refused.entry(refused.to_string()).or_default() += 1,
        }
        Ok(())
    }
}

/// The ids of the results that are still to be retried.
struct RetriableIds<'a> {
    refract: &'a Refract,
    what: RetryFailed,
    /// An id after those of all results that failed before: the retries themselves have later ids.
    end: ResultId,
    last: Option<ResultId>,
    page: VecDeque<ResultId>,
    is_last_page: bool,
}

impl<'a> RetriableIds<'a> {
    fn new(refract: &'a Refract, what: RetryFailed) -> Self {
        Self {
            refract,
            what,
            end: ResultId(Uuid::now_v7()),
            last: None,
            page: VecDeque::new(),
            is_last_page: false,
        }
    }

    async fn next(&mut self) -> Result<Option<ResultId>, InternalError> {
        if self.page.is_empty() && !self.is_last_page {
            let (account, prism) = (self.what.caller.account(), self.what.prism);
            let filter = self.what.filter.clone();
            let database = &self.refract.database;
            let page = database.list_retriable_results(account, prism, filter, self.last, PAGE);
            self.page = page.await?.into();
            self.is_last_page = self.page.is_empty();
            self.last = self.page.back().copied().or(self.last);
        }
        Ok(self.page.pop_front().filter(|id| *id < self.end))
    }
}
