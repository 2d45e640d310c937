//! A file run: a prism asked about every row of a file, each row saved as a result.
//!
//! [`FileRun::open`] fixes what must not move meanwhile: the prism, the version that answers, the
//! columns of the output. [`FileRun::check`] reads the whole file once and asks nothing;
//! [`FileRun::run`] reads it again and asks. A row is known by an idempotency key that is made of
//! the run, its place and its content, so that a run which was stopped goes on where it was when
//! it is started again: rows that are answered are read back, failed ones are retried.
//!
//! It knows nothing of terminals and command lines.

mod check;
mod columns;
mod dispatch;
mod distribution;
mod identity;
mod input;
mod reading;
mod row;
mod rows;
mod run;
mod shard;
mod stop;
mod tally;
mod workers;
mod writing;

use std::path::Path;
use std::sync::Arc;

use refract_domain::ids::AccountId;
use refract_domain::lens::Lens;
use refract_domain::prism::{PrismVersion, VersionNumber};
use refract_domain::slug::PrismSelector;
use refract_persistence::{Database, PersistenceError, PrismRow};

pub use self::check::{Check, RefusedRow};
pub use self::columns::{Columns, Mapping, MappingFault};
pub use self::distribution::{Distribution, Spread};
use self::identity::RunIdentity;
pub use self::input::{InputFault, InputFile, InputKind};
pub use self::run::{RunSettings, Summary};
pub use self::shard::Shard;
pub use self::stop::Stop;
pub use self::tally::{Counts, Tally};
use crate::Refusal;
use crate::prisms::{self, PrismLens, PrismRefusal};

/// What is to be run.
pub struct RunOrder<'a> {
    /// Whose prism it is and whose the results become.
    pub account: AccountId,
    /// The prism that is to answer.
    pub prism: &'a PrismSelector,
    /// The version that is to answer; the latest at this moment when absent.
    pub version: Option<VersionNumber>,
    /// The file.
    pub input: &'a Path,
    /// Its columns that are named differently from the prism's fields.
    pub mappings: &'a [Mapping],
    /// Which of its rows are wanted.
    pub shard: Shard,
    /// Another name asks every row anew; empty as a rule.
    pub name: String,
}

/// A file that is ready to be run: everything that stays as it is until the end.
pub struct FileRun {
    database: Database,
    account: AccountId,
    prism: PrismRow,
    number: VersionNumber,
    version: Arc<PrismVersion>,
    latest: Arc<PrismVersion>,
    lens: Arc<Lens>,
    columns: Columns,
    input: Arc<InputFile>,
    shard: Shard,
    identity: RunIdentity,
}

/// A run that does not begin.
#[derive(Debug, thiserror::Error)]
pub enum RunRefusal {
    /// The prism or its version cannot answer.
    #[error(transparent)]
    Call(#[from] Refusal),
    /// The columns cannot be matched as was said.
    #[error(transparent)]
    Mapping(#[from] MappingFault),
    /// The file cannot be read.
    #[error(transparent)]
    Input(#[from] InputFault),
    /// The prism's lens could not be read.
    #[error(transparent)]
    Prism(#[from] PrismRefusal),
}

impl From<PersistenceError> for RunRefusal {
    fn from(error: PersistenceError) -> Self {
        Self::Call(error.into())
    }
}

impl FileRun {
    /// Finds the prism and the version, opens the file and reads its header.
    ///
    /// # Errors
    /// When the prism does not answer, the file cannot be read, or columns are missing.
    pub async fn open(database: &Database, order: RunOrder<'_>) -> Result<Self, RunRefusal> {
        let RunOrder { account, .. } = order;
        let found = database.find_prism(account, order.prism).await?;
        let active = found.filter(|prism| prism.archived_at.is_none());
        let prism = active.ok_or(Refusal::PrismNotFound)?;
        let number = order.version.unwrap_or(prism.latest_version);
        let found = database.find_version(prism.id, number).await?;
        let version = found.ok_or(Refusal::VersionNotFound)?;
        let found = prisms::find_lens(database, account, order.prism).await?;
        let PrismLens { lens, latest, .. } = found;
        let columns = Columns::new(&version, order.mappings)?;
        let input = InputFile::open(order.input, columns.wanted())?;
        let identity = RunIdentity {
            prism: prism.id,
            version: number,
            name: order.name,
        };
        Ok(Self {
            database: database.clone(),
            account,
            prism,
            number,
            version,
            latest,
            lens,
            columns,
            input: Arc::new(input),
            shard: order.shard,
            identity,
        })
    }

    /// How the file is written.
    pub fn input_kind(&self) -> InputKind {
        self.input.kind()
    }

    /// The number of the version that answers.
    pub fn version_number(&self) -> VersionNumber {
        self.number
    }

    /// The version that answers.
    pub fn version(&self) -> &PrismVersion {
        &self.version
    }

    /// The slug of the prism.
    pub fn prism_slug(&self) -> &str {
        self.prism.slug.as_str()
    }

    /// The columns that are read.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }
}
