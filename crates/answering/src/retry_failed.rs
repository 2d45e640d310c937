//! Retry every failed result of a prism that was never retried (spec 4.3, for each of them).

use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroUsize;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use refract_domain::ids::{AccountId, PrismId, ResultId};
use refract_domain::result::RetryRefusal;
use refract_persistence::ResultFilter;
use uuid::Uuid;

use crate::model_away::failures_that_tell;
use crate::refusal::InternalError;
use crate::{Answering, ReadableResult, Refusal};

/// Ids that are read at once.
const PAGE: u32 = 256;

/// Which failed results are retried, and how many at once.
#[derive(Clone, Copy)]
pub struct RetryFailed {
    /// Whose they are.
    pub account: AccountId,
    /// The prism that is to answer.
    pub prism: PrismId,
    /// From when to when; only failed ones in any case.
    pub filter: ResultFilter,
    /// Calls at once.
    pub concurrency: NonZeroUsize,
    /// Whether it stops when the model fails again and again.
    pub gives_up: bool,
}

/// Why some were not retried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RetryStop {
    /// Somebody asked for it.
    Asked,
    /// The model failed again and again.
    ModelAway {
        /// How often, without an answer in between.
        failures: u64,
        /// What the result of the last of these says.
        error: String,
    },
}

/// What became of them so far.
#[derive(Clone, Debug, Default)]
pub struct Retried {
    /// Answered now.
    pub ok: u64,
    /// Failed again, by cause.
    pub failed: BTreeMap<String, u64>,
    /// Refused before the model was asked, by reason.
    pub refused: BTreeMap<String, u64>,
    /// Why it was stopped before the last one, when it was.
    pub stop: Option<RetryStop>,
    /// Failures since the last answer.
    in_a_row: u64,
}

impl Retried {
    /// How many results are done with.
    pub fn done(&self) -> u64 {
        self.ok + self.not_answered()
    }

    /// How many of them are still without an answer.
    pub fn not_answered(&self) -> u64 {
        self.failed.values().chain(self.refused.values()).sum()
    }
}

impl Answering {
    /// Retries each failed result once; those that fail again are left as they are. What others
    /// retry meanwhile is passed over. After `stop`, or when the model is away, no more are begun.
    /// `progress` hears how it goes after each of them, and of the stop.
    ///
    /// # Errors
    /// When the prism is archived or the database fails; what was retried until then is saved, and
    /// the same call goes on from there.
    pub async fn retry_failed(
        &self,
        what: RetryFailed,
        stop: impl Future<Output = ()>,
        mut progress: impl FnMut(&Retried),
    ) -> Result<Retried, Refusal> {
        let mut waiting = Waiting::new(self, what);
        let mut running = FuturesUnordered::new();
        let mut retried = Retried::default();
        let mut broken = None;
        let most_failures = what.gives_up.then(|| failures_that_tell(what.concurrency));
        let mut stop = std::pin::pin!(stop);
        loop {
            let may_begin = retried.stop.is_none() && broken.is_none();
            while may_begin && running.len() < what.concurrency.get() {
                match waiting.next().await {
                    Ok(Some(id)) => running.push(self.retry_result_in(what.account, id)),
                    Ok(None) => break,
                    Err(error) => {
                        broken = Some(error.into());
                        break;
                    }
                }
            }
            // those that are under way are paid for: they are waited for in any case
            let ended = tokio::select! {
                biased;
                () = &mut stop, if retried.stop.is_none() => {
                    retried.stop = Some(RetryStop::Asked);
                    progress(&retried);
                    continue;
                }
                ended = running.next() => ended,
            };
            match ended {
                None => return broken.map_or(Ok(retried), Err),
                Some(ended) => broken = retried.count(ended, most_failures).err().or(broken),
            }
            progress(&retried);
        }
    }
}

impl Retried {
    /// Counts a retry; an error is one that the others would meet too. The last of so many failures
    /// in a row is a reason to stop.
    fn count(
        &mut self,
        ended: Result<ReadableResult, Refusal>,
        most_failures: Option<u64>,
    ) -> Result<(), Refusal> {
        match ended {
            Ok(result) => match result.view().status.error() {
                None => {
                    self.ok += 1;
                    self.in_a_row = 0;
                }
                Some(error) => {
                    *self.failed.entry(error.to_owned()).or_default() += 1;
                    self.in_a_row += 1;
                    if most_failures == Some(self.in_a_row) {
                        self.stop.get_or_insert_with(|| RetryStop::ModelAway {
                            failures: self.in_a_row,
                            error: error.to_owned(),
                        });
                    }
                }
            },
            Err(Refusal::Retry(RetryRefusal::AlreadyRetried(_))) => {}
            Err(error @ (Refusal::Internal(_) | Refusal::Retry(_))) => return Err(error),
            Err(refused) => *self.refused.entry(refused.to_string()).or_default() += 1,
        }
        Ok(())
    }
}

/// The ids that are still to be retried.
struct Waiting<'a> {
    answering: &'a Answering,
    what: RetryFailed,
    /// The retries themselves come after this: what fails again is not retried again.
    end: ResultId,
    last: Option<ResultId>,
    page: VecDeque<ResultId>,
    is_last_page: bool,
}

impl<'a> Waiting<'a> {
    fn new(answering: &'a Answering, what: RetryFailed) -> Self {
        Self {
            answering,
            what,
            end: ResultId(Uuid::now_v7()),
            last: None,
            page: VecDeque::new(),
            is_last_page: false,
        }
    }

    async fn next(&mut self) -> Result<Option<ResultId>, InternalError> {
        if self.page.is_empty() && !self.is_last_page {
            let RetryFailed {
                account,
                prism,
                filter,
                ..
            } = self.what;
            let database = &self.answering.database;
            let page = database.list_retriable_results(account, prism, filter, self.last, PAGE);
            self.page = page.await?.into();
            self.is_last_page = self.page.is_empty();
            self.last = self.page.back().copied().or(self.last);
        }
        Ok(self.page.pop_front().filter(|id| *id < self.end))
    }
}
