//! The queries: a folder for each noun. They know no kind of connection, except `results::insert`
//! and `marks::insert`: inserting many rows at once takes another statement on each database.
//!
//! Each method of [`Database`] is one query unless its documentation names another number, written
//! as `self.load(query)`, `self.find(query)` or `self.execute(change)`; several are
//! `self.read(async move |mut connection| …)` or `self.write(…)`, a transaction is
//! `self.begin(async move |mut tx| …)`.

mod accounts;
mod budgets;
mod calls;
mod database;
mod events;
mod file_runs;
mod keys;
mod leases;
mod ledger;
mod lenses;
mod marks;
mod people;
mod prisms;
mod results;
mod retention;
mod retests;
mod server_facts;
mod transfer;
mod uploads;

pub use self::accounts::{AccountRow, CreateOutcome, DEFAULT_ACCOUNT};
pub use self::budgets::{BudgetHolder, BudgetLeft, BudgetRow};
pub use self::calls::{CreateCallRow, KeyRow, ResultCallRow};
pub use self::database::{Database, DatabaseSettings};
pub use self::events::*;
pub use self::file_runs::{
    FileRunMatch, FileRunRow, FileRunScope, FileRunUpdate, NewFileRun, RunEnd,
};
pub use self::keys::{
    EndingKey, KeyUse, NewApiKey, NewSuccessor, ReplaceKeyOutcome, SetNetworksOutcome, StoredKey,
};
pub use self::leases::{JobLease, LeasedJob};
pub use self::ledger::hours::{CountableResult, KeptHours, NewHours, WatchHourRow};
pub use self::ledger::usage::{CountedCost, Usage, UsageDimension, UsageGroup, UsageScope};
pub use self::ledger::{CountProgress, KeptCounts, KeyCount, UncountedPrism, Watermark};
pub use self::lenses::{LensRevision, LensSave};
pub use self::marks::*;
pub use self::people::*;
pub use self::prisms::*;
pub use self::results::*;
pub use self::retention::*;
pub use self::retests::{
    CreateRetestOutcome, NewRetest, RetestCounts, RetestEnd, RetestRow, RetestTextRow, RetestUpdate,
};
pub use self::transfer::*;
pub use self::uploads::{NewUploadRow, OldUploadRow, OldUploads, UploadDeletion, UploadRow};
