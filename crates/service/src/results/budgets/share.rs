//! What one file run may spend of its account's budget.
//!
//! Before a row is asked about, its estimated cost is held back in the database, so that any number
//! of runs on any number of nodes spend the budget once. A share is a number of rows for the next
//! seconds, at most a quarter of what is left: shares shrink as the budget is used up, and what
//! rows really cost is read again before each. Until a run knows what a row costs, one row at a
//! time holds back all that is left. A budget does not hold up a run whose model reports no cost.

use refract_boxed_futures::boxed;
use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chrono::{TimeDelta, Utc};
use refract_domain::account::MonthBudget;
use refract_domain::ids::{AccountId, BudgetHolderId};
use refract_domain::result::Cost;
use refract_persistence::{BudgetHolder, BudgetLeft};
use tokio::sync::{Notify, Semaphore};
use tokio::time::{Instant, sleep, timeout};
use uuid::Uuid;

use crate::{InternalError, Refract};

/// The shortest pause between two looks.
const SHORT_PAUSE: Duration = Duration::from_millis(250);
/// The longest pause between two looks; without a budget always this one.
const LONG_PAUSE: Duration = Duration::from_secs(5);
/// How long a hold lasts that is not renewed.
const TERM: TimeDelta = TimeDelta::minutes(1);
/// Rows that a run without a budget may begin until the next look.
const UNLIMITED: u64 = 1 << 20;
/// The part of what is left that one share may be.
const PART: u128 = 4;
/// The part of the budget by which its last row may exceed it.
const EXCESS: u128 = 25;

/// The share of one work on a file run. Dropping it leaves its hold until that expires.
pub struct BudgetShare {
    refract: Refract,
    of: BudgetHolder,
    /// Rows that the next seconds may need at least.
    wanted: u64,
    /// One permit for each row that may begin.
    rows: Semaphore,
    /// Notified when a row waits for a permit.
    waiting: Notify,
    progress: Mutex<ShareProgress>,
}

/// The rows of a share.
#[derive(Clone, Copy, Debug)]
struct ShareProgress {
    /// Rows that may begin, have begun, or have ended.
    granted: u64,
    ended: u64,
    /// Rows that ended with an answer or with a cost.
    answered: u64,
    /// What all rows cost.
    cost: Cost,
    /// The last look, and the rows that had ended then.
    looked: (Instant, u64),
}

/// What a row costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowPrice {
    Unknown,
    Estimated(Cost),
}

/// What a look at the budget found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Share {
    /// This many rows more may begin; what is held back for them and for the rows in flight.
    Rows(u64, Cost),
    /// Nothing may begin before other rows have ended.
    Later(Cost),
    /// Nothing is left, or what is left does not pay for a row and nothing is in flight.
    UsedUp,
}

#[boxed]
impl BudgetShare {
    pub(crate) fn new(refract: Refract, account: AccountId, concurrency: NonZeroUsize) -> Self {
        let holder = BudgetHolderId::new(Uuid::now_v7());
        Self {
            refract,
            of: BudgetHolder { account, holder },
            wanted: u64::try_from(concurrency.get())
                .unwrap_or(UNLIMITED)
                .saturating_mul(2),
            rows: Semaphore::new(0),
            waiting: Notify::new(),
            progress: Mutex::new(ShareProgress {
                granted: 0,
                ended: 0,
                answered: 0,
                cost: Cost::default(),
                looked: (Instant::now(), 0),
            }),
        }
    }

    /// Waits until a row may begin.
    pub async fn row_may_begin(&self) {
        if self.rows.available_permits() == 0 {
            self.waiting.notify_one();
        }
        // the semaphore is never closed
        if let Ok(permit) = self.rows.acquire().await {
            permit.forget();
        }
    }

    /// Counts what the model cost for a row: at its end, or before the row is asked about again.
    pub fn row_asked(&self, cost: Option<Cost>, is_answered: bool) {
        let mut progress = self.progress();
        progress.answered += u64::from(is_answered || cost.is_some());
        progress.cost = [progress.cost, cost.unwrap_or_default()].into_iter().sum();
    }

    /// Counts a row whose last result is saved.
    pub fn row_ended(&self) {
        self.progress().ended += 1;
    }

    /// Grants rows until the budget is used up.
    pub async fn grant(&self) -> BudgetUsedUp {
        loop {
            let rows = match self.look().await {
                Ok(Ok(rows)) => rows,
                Ok(Err(used_up)) => return used_up,
                // a row meets the database itself
                Err(error) => {
                    tracing::warn!(%error, "a budget could not be looked at yet");
                    1
                }
            };
            self.add(rows);
            sleep(SHORT_PAUSE).await;
            // without rows, those in flight are waited for
            if rows > 0 {
                let _ = timeout(LONG_PAUSE, self.waiting.notified()).await;
            }
        }
    }

    /// Releases what is held back, after the last row.
    pub async fn release(&self) {
        if let Err(error) = self.refract.database.release_budget(self.of).await {
            tracing::warn!(%error, "a part of a budget is held back until its term ends");
        }
    }

    /// Looks at the budget and takes back what was granted. Returns how many rows may begin.
    async fn look(&self) -> Result<Result<u64, BudgetUsedUp>, InternalError> {
        let database = &self.refract.database;
        let now = database.time(Utc::now()).await?;
        let budgets = self.refract.budgets();
        let read = budgets.read(self.of.account, now).await?;
        let progress = self.withdraw();
        let Some((row, counted)) = read else {
            return Ok(Ok(UNLIMITED));
        };
        let wanted = self.wanted.max(progress.rows_in(LONG_PAUSE));
        let (sender, receiver) = std::sync::mpsc::channel();
        let decide = move |left: BudgetLeft| {
            let share = share_of(left, &progress, wanted);
            // the receiver waits below
            let _ = sender.send((share, left.spent));
            share.held()
        };
        let holding = database.hold_budget(self.of, counted, now, now + TERM, decide);
        holding.await?;
        let Ok((share, spent)) = receiver.try_recv() else {
            // the budget was removed meanwhile
            return Ok(Ok(UNLIMITED));
        };
        budgets.announce(&row, counted.since, spent).await?;
        Ok(match share {
            Share::Rows(rows, _) => Ok(rows),
            Share::Later(_) => Ok(0),
            Share::UsedUp => Err(BudgetUsedUp(row.budget)),
        })
    }

    /// Takes back the rows that have not begun.
    fn withdraw(&self) -> ShareProgress {
        let taken = self.rows.forget_permits(self.rows.available_permits());
        let mut progress = self.progress();
        progress.granted -= u64::try_from(taken).unwrap_or(0);
        let copy = *progress;
        progress.looked = (Instant::now(), progress.ended);
        copy
    }

    fn add(&self, rows: u64) {
        self.progress().granted += rows;
        self.rows
            .add_permits(usize::try_from(rows).unwrap_or(usize::MAX));
    }

    fn progress(&self) -> MutexGuard<'_, ShareProgress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ShareProgress {
    fn in_flight(&self) -> u64 {
        self.granted.saturating_sub(self.ended)
    }

    /// The mean cost of a row.
    fn price(&self) -> RowPrice {
        if self.answered == 0 {
            return RowPrice::Unknown;
        }
        let attos = self.cost.attos().div_ceil(self.answered.into());
        RowPrice::Estimated(Cost::from_attos(attos))
    }

    /// Rows that would end in some time at the pace since the last look.
    fn rows_in(&self, time: Duration) -> u64 {
        let (since, before) = self.looked;
        let ended = u128::from(self.ended - before);
        let elapsed = since.elapsed().as_millis().max(1);
        let rows = ended.saturating_mul(time.as_millis()) / elapsed;
        u64::try_from(rows).unwrap_or(UNLIMITED).min(UNLIMITED)
    }
}

impl Share {
    fn held(self) -> Cost {
        match self {
            Self::Rows(_, held) | Self::Later(held) => held,
            Self::UsedUp => Cost::default(),
        }
    }
}

/// Decides on a share.
fn share_of(left: BudgetLeft, progress: &ShareProgress, wanted: u64) -> Share {
    if left.spent.attos() >= left.budget.attos() {
        return Share::UsedUp;
    }
    let in_flight = progress.in_flight();
    let is_alone = in_flight == 0 && left.held_by_others == Cost::default();
    let taken = left.spent.attos() + left.held_by_others.attos();
    let rest = left.budget.attos().saturating_sub(taken);
    let price = match progress.price() {
        // nobody else begins a row before this one is priced
        RowPrice::Unknown if in_flight == 0 && rest > 0 => {
            return Share::Rows(1, Cost::from_attos(rest));
        }
        RowPrice::Unknown => return Share::Later(Cost::from_attos(rest)),
        RowPrice::Estimated(price) => price.attos(),
    };
    if price == 0 {
        return Share::Rows(wanted, Cost::default());
    }
    let held = |rows: u64| Cost::from_attos(price.saturating_mul(rows.into()));
    let free = rest.saturating_sub(held(in_flight).attos());
    let rows = u64::try_from(free / PART / price).unwrap_or(wanted);
    match rows.min(wanted) {
        0 if free >= price => Share::Rows(1, held(in_flight + 1)),
        0 if !is_alone => Share::Later(held(in_flight)),
        // the last row: the budget is reached, and hardly exceeded
        0 if rest > 0 && price <= rest + left.budget.attos() / EXCESS => Share::Rows(1, held(1)),
        0 => Share::UsedUp,
        rows => Share::Rows(rows, held(in_flight + rows)),
    }
}

/// An account's budget was used up before the end of the month.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the month's budget of {0} is used up: raise it or wait for the next month, then go on")]
pub struct BudgetUsedUp(pub MonthBudget);
