//! What commands work on: the database, brought up to date, and one account in it.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use chrono::Utc;
use clap::Args;
use refract_answering::prisms::{self, PrismRefusal};
use refract_domain::ids::AccountId;
use refract_domain::prism::PrismName;
use refract_domain::problem::Fault;
use refract_domain::slug::PrismSelector;
use refract_lens_rendering::RowFormat;
use refract_persistence::{DEFAULT_ACCOUNT, Database, DatabaseSettings};
use tokio::runtime::Handle;
use uuid::Uuid;

use crate::suggestion;

/// How long the start waits for a database that is still starting itself.
const WAIT_FOR_START: Duration = Duration::from_secs(10);
/// How often it looks.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

/// Which account a command works in.
#[derive(Args)]
pub(crate) struct AccountArg {
    /// Account to work in
    #[arg(long, value_name = "NAME", default_value = DEFAULT_ACCOUNT)]
    account: String,
}

impl AccountArg {
    /// The account that is made when it is missing.
    pub(crate) fn of_default() -> Self {
        Self {
            account: DEFAULT_ACCOUNT.to_owned(),
        }
    }

    /// The account's name.
    pub(crate) fn name(&self) -> &str {
        &self.account
    }

    /// The account; only `default` is made when it is missing.
    pub(crate) async fn find(&self, database: &Database) -> anyhow::Result<AccountId> {
        if self.account == DEFAULT_ACCOUNT {
            let id = AccountId(Uuid::now_v7());
            return Ok(database
                .find_or_create_default_account(id, Utc::now())
                .await?
                .id);
        }
        match database.find_account(&self.account).await? {
            Some(account) => Ok(account.id),
            None => bail!(
                "there is no account '{0}': make it with `refract account create {0}`",
                self.account
            ),
        }
    }
}

/// Opens the database and brings it up to date.
pub(crate) async fn open(settings: &DatabaseSettings) -> anyhow::Result<Database> {
    let database = Database::connect(settings, Handle::current()).await?;
    database.migrate().await?;
    Ok(database)
}

/// The same for what is started beside its database: waits a little for one that is not up yet.
///
/// It says so for those who look closely only: a start that fails ends in one line and no more.
pub(crate) async fn open_when_up(settings: &DatabaseSettings) -> anyhow::Result<Database> {
    let database = connect_when_up(settings).await?;
    database.migrate().await?;
    Ok(database)
}

/// Opens the database as it is, when it is up.
pub(crate) async fn connect_when_up(settings: &DatabaseSettings) -> anyhow::Result<Database> {
    let deadline = Instant::now() + WAIT_FOR_START;
    let mut is_said = false;
    loop {
        match Database::connect(settings, Handle::current()).await {
            Err(error) if error.is_passing() && Instant::now() < deadline => {
                if !is_said {
                    let seconds = WAIT_FOR_START.as_secs();
                    tracing::debug!("{error}; waiting up to {seconds} s for the database to start");
                    is_said = true;
                }
                tokio::time::sleep(LOOK_AGAIN).await;
            }
            ended => return Ok(ended?),
        }
    }
}

/// The prism of the account that was named on the command line; a name that is nearly another's
/// is refused with that one.
pub(crate) async fn find_prism(
    database: &Database,
    account: AccountId,
    name: &str,
) -> anyhow::Result<PrismSelector> {
    let prism = PrismSelector::parse(name).map_err(|faults| faulty("PRISM", &faults))?;
    match prisms::find(database, account, &prism).await {
        Ok(found) => Ok(PrismSelector::Id(found.id)),
        Err(error @ PrismRefusal::NotFound) => {
            let prisms = database.list_prisms(account).await?;
            let slugs = prisms.iter().map(|prism| prism.slug.as_str());
            bail!("{error}{}", suggestion::did_you_mean(name, slugs))
        }
        Err(error) => Err(error.into()),
    }
}

/// A format of rows that was named on the command line.
pub(crate) fn row_format(name: &str) -> anyhow::Result<RowFormat> {
    RowFormat::parse(name).context("expected csv, tsv or jsonl")
}

/// The bytes of a file that a command was given.
pub(crate) fn read_file(path: &Path) -> anyhow::Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

/// A name that a person gave: trimmed, 1 to 200 characters.
pub(crate) fn name(argument: &str, text: &str) -> anyhow::Result<PrismName> {
    PrismName::parse(text).map_err(|faults| faulty(argument, &faults))
}

/// An argument that cannot be used, and why.
pub(crate) fn faulty(argument: &str, faults: &[Fault]) -> anyhow::Error {
    let faults: Vec<_> = faults.iter().map(ToString::to_string).collect();
    anyhow::anyhow!("{argument} cannot be used: {}", faults.join("; "))
}
