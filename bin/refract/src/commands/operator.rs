//! What commands share: the opened database, the account, and the reading of arguments.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use clap::Args;
use refract_answering::event_stamp;
use refract_answering::prisms::{self, PrismRefusal};
use refract_domain::event::Actor;
use refract_domain::ids::AccountId;
use refract_domain::prism::PrismName;
use refract_domain::problem::Fault;
use refract_domain::slug::PrismSelector;
use refract_lens_rendering::RowFormat;
use refract_model_gateway::ModelGateway;
use refract_persistence::{DEFAULT_ACCOUNT, Database, DatabaseSettings};
use tokio::runtime::Handle;
use uuid::Uuid;

use crate::{output, suggestion};

/// How long a start waits for a database that is still starting.
const WAIT_FOR_START: Duration = Duration::from_secs(10);
/// The pause between two attempts to connect to a starting database.
const RECONNECT_PAUSE: Duration = Duration::from_millis(250);

/// The argument that names the account of a command.
#[derive(Args)]
pub(crate) struct AccountArg {
    /// Account to work in
    #[arg(long, value_name = "NAME", default_value = DEFAULT_ACCOUNT)]
    account: String,
}

impl AccountArg {
    /// The argument as if left out: the account `default`.
    pub(crate) fn of_default() -> Self {
        Self {
            account: DEFAULT_ACCOUNT.to_owned(),
        }
    }

    /// The account's name.
    pub(crate) fn name(&self) -> &str {
        &self.account
    }

    /// The account's id. Only the account `default` is made when it is missing.
    pub(crate) async fn find(&self, database: &Database) -> anyhow::Result<AccountId> {
        if self.account == DEFAULT_ACCOUNT {
            let id = AccountId(Uuid::now_v7());
            let stamp = event_stamp(id, Actor::Operator, None);
            let found = database.find_or_create_default_account(stamp);
            return Ok(found.await?.id);
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

/// Opens the database and runs the migrations that it lacks.
pub(crate) async fn open(settings: &DatabaseSettings) -> anyhow::Result<Database> {
    let database = Database::connect(settings, Handle::current()).await?;
    database.migrate().await?;
    Ok(database)
}

/// Opens the database for a server, which may have been started together with the database: waits
/// for a database that is still starting, then runs the migrations that it lacks.
pub(crate) async fn open_when_up(settings: &DatabaseSettings) -> anyhow::Result<Database> {
    let database = connect_when_up(settings).await?;
    database.migrate().await?;
    Ok(database)
}

/// Opens the database without running migrations, and waits for one that is still starting.
///
/// The wait is logged at debug level only, so that a start that fails prints one line.
pub(crate) async fn connect_when_up(settings: &DatabaseSettings) -> anyhow::Result<Database> {
    let deadline = Instant::now() + WAIT_FOR_START;
    let mut is_logged = false;
    loop {
        match Database::connect(settings, Handle::current()).await {
            Err(error) if error.is_passing() && Instant::now() < deadline => {
                if !is_logged {
                    let seconds = WAIT_FOR_START.as_secs();
                    tracing::debug!("{error}; waiting up to {seconds} s for the database to start");
                    is_logged = true;
                }
                tokio::time::sleep(RECONNECT_PAUSE).await;
            }
            ended => return Ok(ended?),
        }
    }
}

/// Finds the prism that the command line names. The error for an unknown name suggests the most
/// similar slug.
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

/// Tells the operator when the built-in scorer answers instead of a model.
pub(crate) fn say_if_for_trying_only(gateway: &ModelGateway) {
    if gateway.is_for_trying_only() {
        output::say("The built-in scorer answers: it is for trying things only.");
    }
}

/// Reads a row format from the command line.
pub(crate) fn row_format(name: &str) -> anyhow::Result<RowFormat> {
    RowFormat::parse(name).context("expected csv, tsv or jsonl")
}

/// Reads a file that the command line names.
pub(crate) fn read_file(path: &Path) -> anyhow::Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

/// Reads a name from the command line: trimmed, 1 to 200 characters.
pub(crate) fn name(argument: &str, text: &str) -> anyhow::Result<PrismName> {
    PrismName::parse(text).map_err(|faults| faulty(argument, &faults))
}

/// The error for an argument that cannot be used.
pub(crate) fn faulty(argument: &str, faults: &[Fault]) -> anyhow::Error {
    let faults: Vec<_> = faults.iter().map(ToString::to_string).collect();
    anyhow::anyhow!("{argument} cannot be used: {}", faults.join("; "))
}
