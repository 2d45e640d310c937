//! What an account may spend in a calendar month in UTC, and what it has spent.
//!
//! The cost of a month is that of its saved results, deleted ones among them: nothing else is known
//! to a database. Results are added up once, after a watermark, and those of the last minutes at
//! each look, so that a create does nothing for a budget. Any number of nodes and commands may look
//! at once: the watermark moves only from where it was read.
//!
//! A budget stops no API call. It pauses file runs and retests, whose cost nobody waits for.
//!
//! Looks at every budget in the background, for its announcements and its metric.
//!
//! One node on a database does so at a time: the one that holds the lease.

mod share;

use std::collections::HashMap;
use std::convert::Infallible;
use std::num::NonZeroUsize;

use chrono::{DateTime, Datelike as _, NaiveDate, NaiveTime, TimeDelta, Utc};
use refract_domain::account::month_budget::MonthBudget;
use refract_domain::event::{Actor, Event, EventAction, EventDetail, EventTarget};
use refract_domain::ids::{AccountId, ResultId};
use refract_domain::result::cost::Cost;
use refract_persistence::{BudgetRow, CountedMonth, WriteOutcome};

pub use self::share::{BudgetShare, BudgetUsedUp};
use super::metrics::UsedParts;
use crate::events::event_stamp;
use crate::people::AccountActor;
use crate::store::node_lease::{NodeLease, repeat_rounds};
use crate::{InternalError, Refract};

/// Results younger than this are added up at each look. A result that is saved later than this
/// after its id was made, by a node whose clock is behind or after a database was away, is not
/// counted.
const OPEN: TimeDelta = TimeDelta::minutes(5);
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

impl Budgets<'_> {
    /// Sets or removes the account's budget. Returns whether that changed anything.
    pub async fn set(
        self,
        actor: &AccountActor,
        budget: Option<MonthBudget>,
    ) -> Result<bool, InternalError> {
        let database = &self.refract.database;
        let outcome = database.set_budget(budget, actor.event_stamp()).await?;
        Ok(outcome == WriteOutcome::Saved)
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
    /// The first look in a month, or after a budget was set, reads the month's results; later ones
    /// read those of the last minutes.
    pub async fn look(
        self,
        account: AccountId,
        now: DateTime<Utc>,
    ) -> Result<Option<BudgetUse>, InternalError> {
        let database = &self.refract.database;
        let Some(row) = database.find_budget(account).await? else {
            return Ok(None);
        };
        let counted = self.count_closed(&row, now).await?;
        let open = (counted.up_to, ResultId::HIGHEST);
        let of_last_minutes = database.sum_costs(account, open, None).await?;
        let found = BudgetUse {
            budget: row.budget,
            spent: [counted.cost, of_last_minutes].into_iter().sum(),
            month: counted.month,
        };
        self.announce(&row, &found).await?;
        Ok(Some(found))
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

    /// Adds the results that are old enough to what is counted, and stores the sum.
    async fn count_closed(
        self,
        row: &BudgetRow,
        now: DateTime<Utc>,
    ) -> Result<CountedMonth, InternalError> {
        let database = &self.refract.database;
        let today = now.date_naive();
        let month = today.with_day(1).unwrap_or(today);
        let begin = month.and_time(NaiveTime::MIN).and_utc();
        let is_counted = row.counted.month == month;
        // results that were deleted before they were counted are known by day
        let deleted_since = (!is_counted).then_some(month);
        let read = if is_counted {
            row.counted
        } else {
            CountedMonth {
                month,
                up_to: ResultId::first_of(begin).just_before(),
                cost: Cost::default(),
            }
        };
        let closed = ResultId::first_of(now - OPEN).just_before();
        let up_to = closed.max(read.up_to);
        if is_counted && up_to == read.up_to {
            return Ok(read);
        }
        let between = (read.up_to, up_to);
        let added = database.sum_costs(row.account, between, deleted_since);
        let counted = CountedMonth {
            month,
            up_to,
            cost: [read.cost, added.await?].into_iter().sum(),
        };
        // another node that counted meanwhile has the same sum
        let keeping = database.keep_counted_month(row.account, row.counted, counted);
        keeping.await?;
        Ok(counted)
    }

    async fn announce(self, row: &BudgetRow, found: &BudgetUse) -> Result<(), InternalError> {
        let mut shares = ANNOUNCED.into_iter();
        let Some(percent) = shares.find(|percent| found.has_reached(*percent)) else {
            return Ok(());
        };
        let is_this_month = row.counted.month == found.month;
        if is_this_month && row.announced_percent >= percent {
            return Ok(());
        }
        let account = row.account;
        let share = EventDetail::worded(percent.unsigned_abs().into(), "% of the month's budget");
        let stamp = event_stamp(account, Actor::Node, None).noted(EventDetail::from(row.budget));
        let event = Event {
            to: Some(share),
            ..stamp.event(EventAction::BudgetReached, EventTarget::Account(account))
        };
        let database = &self.refract.database;
        let announcing = database.announce_budget_share(*row, found.month, percent, event);
        if announcing.await? == WriteOutcome::Saved {
            let (budget, spent) = (row.budget, found.spent);
            tracing::warn!(%account, %budget, %spent, percent, "a share of the month's budget is used");
        }
        Ok(())
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
