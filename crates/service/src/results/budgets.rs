//! What an account may spend in a calendar month in UTC, and what it has spent.
//!
//! The cost of a month is that of its saved results, deleted ones among them: nothing else is known
//! to a database. It is read from the sums of usage (see `counts`), and a node remembers it for some
//! minutes; each look adds newer results, so that a create does nothing for a budget. One of these
//! that is deleted is put right by the next reading. Any number of nodes and commands may look at
//! once: they read the same. For announcements and the metric, one node on a database looks at every
//! budget in the background: the one that holds the lease.
//!
//! A budget stops no API call. It pauses file runs and retests, whose cost nobody waits for.

mod share;

use refract_boxed_futures::boxed;
use std::collections::HashMap;
use std::convert::Infallible;
use std::num::NonZeroUsize;
use std::sync::{MutexGuard, PoisonError};

use chrono::{DateTime, Datelike as _, NaiveDate, NaiveTime, TimeDelta, Utc};
use refract_domain::account::MonthBudget;
use refract_domain::event::{Actor, Event, EventAction, EventDetail, EventTarget};
use refract_domain::ids::{AccountId, ResultId};
use refract_domain::result::Cost;
use refract_identity::events::event_stamp;
use refract_identity::people::AccountActor;
use refract_persistence::{BudgetRow, CountedCost, UsageScope, WriteOutcome};

pub use self::share::{BudgetShare, BudgetUsedUp};
use super::metrics::UsedParts;
use crate::model::TokenPrice;
use crate::store::{NodeLease, repeat_rounds};
use crate::{InternalError, Refract};

/// Results that were younger than this when the month was read are added up at each look. One that is
/// saved later than this after its id was made, by a node whose clock is behind or after a database
/// was away, is in the next reading.
const OPEN: TimeDelta = TimeDelta::minutes(5);
/// How long what was read is remembered. A reading adds up about an hour of results, a look some minutes.
const KEPT: TimeDelta = TimeDelta::minutes(3);
/// How far back a result with a cost shows that the host states costs.
const MONTH: TimeDelta = TimeDelta::days(31);
/// The name of the lease.
const LEASE: &str = "budgets";

/// Shares of a budget in percent that are announced, the largest first.
const ANNOUNCED: [i32; 2] = [100, NEARLY_USED];
/// The share from which a budget is nearly used.
const NEARLY_USED: i32 = 80;

/// The use cases of budgets, from [`Refract::budgets`](crate::Refract::budgets).
#[derive(Clone, Copy)]
pub struct Budgets<'a> {
    pub(crate) refract: &'a Refract,
}

impl Refract {
    /// Budgets: what accounts may spend in a month.
    pub fn budgets(&self) -> Budgets<'_> {
        Budgets { refract: self }
    }
}

/// A budget, and what the month has cost so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetUse {
    /// The budget.
    pub budget: MonthBudget,
    /// The cost of the month's results, of those that have one.
    pub spent: Cost,
    /// The first day of the month in UTC.
    pub month: NaiveDate,
}

impl BudgetUse {
    /// The whole percents of the budget that are used.
    pub fn percent(&self) -> u128 {
        self.budget.percent(self.spent)
    }

    /// Whether at least 80 % of the budget is used.
    pub fn is_nearly_used(&self) -> bool {
        self.has_reached(NEARLY_USED)
    }

    /// The error for a budget of which nothing is left.
    ///
    /// # Errors
    /// The whole budget is used.
    pub fn check(&self) -> Result<(), BudgetUsedUp> {
        if self.has_reached(100) {
            return Err(BudgetUsedUp(self.budget));
        }
        Ok(())
    }

    fn has_reached(&self, percent: i32) -> bool {
        u128::try_from(percent).is_ok_and(|percent| self.percent() >= percent)
    }
}

/// Why a budget was not set.
#[derive(Debug, thiserror::Error)]
pub enum SetBudgetError {
    /// Neither prices nor a result's cost is known: such a budget would never be used up.
    #[error(
        "no price is known, so a budget would never be used up: set REFRACT_MODEL_PRICES, or let the \
         model answer once first if its host states a cost"
    )]
    NoPriceKnown,
    /// The database failed.
    #[error(transparent)]
    Internal(#[from] InternalError),
}

#[boxed]
impl Budgets<'_> {
    /// Sets or removes the account's budget. Returns whether that changed anything.
    ///
    /// # Errors
    /// When results have no cost that the budget could count: `price` is not known, and no result of
    /// the last month has one.
    pub async fn set(
        self,
        actor: &AccountActor,
        budget: Option<MonthBudget>,
        price: TokenPrice,
    ) -> Result<bool, SetBudgetError> {
        if budget.is_some() && !self.are_costs_known(actor.account(), price).await? {
            return Err(SetBudgetError::NoPriceKnown);
        }
        let database = &self.refract.database;
        let outcome = database.set_budget(budget, actor.event_stamp()).await;
        Ok(outcome.map_err(InternalError::from)? == WriteOutcome::Saved)
    }

    async fn are_costs_known(
        self,
        account: AccountId,
        price: TokenPrice,
    ) -> Result<bool, InternalError> {
        if let TokenPrice::Known(_) = price {
            return Ok(true);
        }
        let now = self.refract.database.time(Utc::now()).await?;
        let scope = UsageScope {
            since: Some(now - MONTH),
            ..UsageScope::default()
        };
        let groups = self.refract.database.list_usage(account, scope).await?;
        Ok(groups.iter().any(|group| group.usage.cost.is_some()))
    }

    /// The budgets that are set, by account.
    pub async fn list(self) -> Result<Vec<(AccountId, MonthBudget)>, InternalError> {
        let found = self.refract.database.list_budgets().await?.into_iter();
        Ok(found.map(|row| (row.account, row.budget)).collect())
    }

    /// Looks at an account's budget now, by the clock that all nodes agree on.
    pub async fn find(self, account: AccountId) -> Result<Option<BudgetUse>, InternalError> {
        let now = self.refract.database.time(Utc::now()).await?;
        self.look(account, now).await
    }

    /// Adds up what the month has cost at a moment, and announces once that 80 % or all of the budget
    /// is used: by an event of a node and a line in the log. `None` for an account without a budget.
    ///
    /// A look every few minutes reads the sums of usage; others read newer results.
    pub async fn look(
        self,
        account: AccountId,
        now: DateTime<Utc>,
    ) -> Result<Option<BudgetUse>, InternalError> {
        let Some((row, counted)) = self.read(account, now).await? else {
            return Ok(None);
        };
        let adding = self.refract.database.add_open_cost(account, counted);
        let found = self.announce(&row, counted.since, adding.await?).await?;
        Ok(Some(found))
    }

    /// The budget as it is stored, and what its month had cost some minutes before a moment.
    async fn read(
        self,
        account: AccountId,
        now: DateTime<Utc>,
    ) -> Result<Option<(BudgetRow, CountedCost)>, InternalError> {
        let Some(row) = self.refract.database.find_budget(account).await? else {
            return Ok(None);
        };
        Ok(Some((row, self.read_month(account, now).await?)))
    }

    /// Whether the account may start work that nobody waits for.
    ///
    /// # Errors
    /// The month's budget is used up. A database that is away is no error here: the work meets it
    /// itself.
    pub async fn check(self, account: AccountId) -> Result<(), BudgetUsedUp> {
        match self.find(account).await {
            Ok(found) => found.map_or(Ok(()), |found| found.check()),
            Err(error) => {
                tracing::warn!(%error, "a budget could not be looked at yet");
                Ok(())
            }
        }
    }

    /// The share of one work on a file run with this many rows in flight.
    pub fn share(self, account: AccountId, concurrency: NonZeroUsize) -> BudgetShare {
        BudgetShare::new(self.refract.clone(), account, concurrency)
    }

    /// What the month had cost: remembered, or read from the sums of usage.
    async fn read_month(
        self,
        account: AccountId,
        now: DateTime<Utc>,
    ) -> Result<CountedCost, InternalError> {
        let today = now.date_naive();
        let month = today.with_day(1).unwrap_or(today);
        let closed = now - OPEN;
        let is_recent = |read: &CountedCost| {
            let read_to = read.up_to.moment();
            // one from after now was read before the clock was set back
            read.since == month && read_to > closed - KEPT && read_to <= now
        };
        if let Some(read) = self.months().get(&account).copied().filter(is_recent) {
            return Ok(read);
        }
        // where no server counts in the background, the results of weeks
        self.refract.results().count_now(account, now).await?;
        let begin = month.and_time(NaiveTime::MIN).and_utc();
        let up_to = ResultId::first_of(closed.max(begin)).just_before();
        let database = &self.refract.database;
        let read = database.count_cost_since(account, month, up_to).await?;
        self.months().insert(account, read);
        Ok(read)
    }

    fn months(&self) -> MutexGuard<'_, HashMap<AccountId, CountedCost>> {
        let months = self.refract.month_costs.lock();
        months.unwrap_or_else(PoisonError::into_inner)
    }

    /// Announces the largest share that is used, unless it was announced before.
    async fn announce(
        self,
        row: &BudgetRow,
        month: NaiveDate,
        spent: Cost,
    ) -> Result<BudgetUse, InternalError> {
        let budget = row.budget;
        let found = BudgetUse {
            budget,
            spent,
            month,
        };
        let mut shares = ANNOUNCED.into_iter();
        let Some(percent) = shares.find(|percent| found.has_reached(*percent)) else {
            return Ok(found);
        };
        let is_this_month = row.month == month;
        if is_this_month && row.announced_percent >= percent {
            return Ok(found);
        }
        let account = row.account;
        let share = EventDetail::worded(percent.unsigned_abs().into(), "% of the month's budget");
        let stamp = event_stamp(account, Actor::Node, None).noted(EventDetail::from(row.budget));
        let event = Event {
            to: Some(share),
            ..stamp.event(EventAction::BudgetReached, EventTarget::Account(account))
        };
        let database = &self.refract.database;
        let announcing = database.announce_budget_share(*row, month, percent, event);
        if announcing.await? == WriteOutcome::Saved {
            tracing::warn!(%account, %budget, %spent, percent, "a share of the month's budget is used");
        }
        Ok(found)
    }
}

/// Looks at every budget, in the background.
pub struct BudgetRounds {
    refract: Refract,
    lease: NodeLease,
    /// The parts that the metric shows; none while another node looks.
    shown: UsedParts,
}

/// How a round ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetOutcome {
    /// Another node looks.
    HeldByAnotherNode,
    /// The number of budgets that were looked at.
    LookedAt(usize),
}

impl Budgets<'_> {
    /// The background task, which looks at nothing until it is run.
    pub fn rounds(self) -> BudgetRounds {
        BudgetRounds {
            refract: self.refract.clone(),
            lease: NodeLease::new(&self.refract.database, LEASE),
            shown: UsedParts::new(),
        }
    }
}

#[boxed(local)]
impl BudgetRounds {
    /// Looks round after round, until it is dropped. Another node can take over when the lease
    /// expires.
    pub async fn run(mut self) -> Infallible {
        let database = self.refract.database.clone();
        let failed = "budgets could not be looked at yet";
        repeat_rounds(database, failed, async |now| self.round(now).await).await
    }

    /// Looks at every budget at a moment.
    ///
    /// # Errors
    /// When the database fails. The next round looks again.
    pub async fn round(&mut self, now: DateTime<Utc>) -> Result<BudgetOutcome, InternalError> {
        let database = &self.refract.database;
        if self.lease.take(now).await?.is_none() {
            self.show(UsedParts::new());
            return Ok(BudgetOutcome::HeldByAnotherNode);
        }
        let budgets = database.list_budgets().await?;
        if budgets.is_empty() {
            self.show(UsedParts::new());
            return Ok(BudgetOutcome::LookedAt(0));
        }
        let accounts = database.list_accounts().await?.into_iter();
        let mut names: HashMap<AccountId, String> = accounts.map(|it| (it.id, it.name)).collect();
        let mut used = UsedParts::new();
        for row in budgets {
            let name = names.remove(&row.account).unwrap_or_default();
            match self.refract.budgets().look(row.account, now).await {
                Ok(None) => {}
                Ok(Some(found)) => {
                    used.insert(name, found.budget.used_ratio(found.spent));
                }
                // one account must not keep the others from being looked at
                Err(error) => {
                    let account = row.account;
                    tracing::warn!(%error, %account, "a budget could not be looked at yet");
                }
            }
        }
        let looked_at = used.len();
        self.show(used);
        Ok(BudgetOutcome::LookedAt(looked_at))
    }

    fn show(&mut self, used: UsedParts) {
        let earlier = std::mem::replace(&mut self.shown, used);
        self.refract.metrics.budgets.set(&earlier, &self.shown);
    }
}
