//! What commands share: the opened database, the account, and the reading of arguments.

use std::time::{Duration, Instant};

use anyhow::bail;
use clap::Args;
use refract_domain::event::Actor;
use refract_domain::ids::AccountId;
use refract_domain::prism::PrismName;
use refract_domain::problem::Fault;
use refract_domain::slug::PrismSelector;
use refract_model_gateway::ModelGateway;
use refract_persistence::{
    ConnectError, DEFAULT_ACCOUNT, Database, DatabaseSettings, PassingReason,
};
use refract_service::event_stamp;
use refract_service::prisms::{self, PrismRefusal};
use tokio::runtime::Handle;
use uuid::Uuid;

use crate::{arguments, output, suggestion};

/// How long a start waits where nobody listens yet: perhaps the address is wrong.
const WAIT_FOR_LISTENER: Duration = Duration::from_secs(10);
/// How long a start waits for a server that answers that it starts or that all its connections are
/// taken: longer than nodes of an older version take to stop and give theirs back.
const WAIT_FOR_SERVER: Duration = Duration::from_mins(1);
/// The pause between two attempts to connect to a starting database.
const RECONNECT_PAUSE: Duration = Duration::from_millis(250);

/// The argument that names the account of a command.
#[derive(Args)]
pub struct AccountArg {
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

/// Opens the database and runs the migrations that it lacks. An SQLite file must be there: in the wrong
/// folder, a new and empty one would look as if everything were gone.
pub(crate) async fn open(settings: &DatabaseSettings) -> anyhow::Result<Database> {
    let database = connect(settings).await?;
    database.migrate().await?;
    Ok(database)
}

/// Opens a database that is there, without running migrations.
pub(crate) async fn connect(settings: &DatabaseSettings) -> anyhow::Result<Database> {
    let opened = Database::connect_existing(settings, Handle::current()).await;
    opened.map_err(not_opened)
}

/// Opens the database for a command that makes its first rows, with a new SQLite file where there is
/// none, and runs the migrations that it lacks.
///
/// # Errors
/// A database that cannot be opened or migrated.
pub async fn open_or_create(settings: &DatabaseSettings) -> anyhow::Result<Database> {
    let database = Database::connect(settings, Handle::current()).await?;
    database.migrate().await?;
    Ok(database)
}

/// Opens the database for one of several commands, of which some make its first rows.
pub(crate) async fn open_for(
    settings: &DatabaseSettings,
    makes_first_rows: bool,
) -> anyhow::Result<Database> {
    if makes_first_rows {
        open_or_create(settings).await
    } else {
        open(settings).await
    }
}

/// The error for a database that was not opened. Where its file is missing, it says what to do.
pub(crate) fn not_opened(error: ConnectError) -> anyhow::Error {
    if !matches!(error, ConnectError::NoFile { .. }) {
        return error.into();
    }
    let mut variables = ["DATABASE_URL", "DATABASE_URL_FILE"].into_iter();
    match variables.find(|variable| arguments::is_given(variable)) {
        Some(variable) => anyhow::anyhow!(
            "{error}, which {} names: set it right, or make the database with `refract migrate`",
            arguments::setting_name(variable)
        ),
        None => anyhow::anyhow!(
            "{error}; DATABASE_URL is not set: set it, or change to the database's folder, or make \
             one here with `refract migrate`"
        ),
    }
}

/// Opens the database for a server, which may have been started together with the database: waits
/// for a database that is still starting or full, then runs the migrations that it lacks.
///
/// # Errors
/// A database that does not come up in time, and one that cannot be migrated.
pub async fn open_when_up(settings: &DatabaseSettings) -> anyhow::Result<Database> {
    let database = connect_when_up(settings).await?;
    database.migrate().await?;
    Ok(database)
}

/// Opens the database without running migrations, and waits for one that is still starting or full.
///
/// One line says that it waits: at debug level where nobody listens, which ends in an error soon if the
/// address is wrong.
pub(crate) async fn connect_when_up(settings: &DatabaseSettings) -> anyhow::Result<Database> {
    let began = Instant::now();
    let mut is_logged = false;
    loop {
        let error = match Database::connect(settings, Handle::current()).await {
            Ok(database) => return Ok(database),
            Err(error) => error,
        };
        let (wait, is_there) = match error.passing() {
            Some(PassingReason::NobodyListens) => (WAIT_FOR_LISTENER, false),
            Some(PassingReason::NotReady) => (WAIT_FOR_SERVER, true),
            None => return Err(error.into()),
        };
        if began.elapsed() >= wait {
            return Err(error.into());
        }
        if !is_logged {
            let seconds = wait.as_secs();
            if is_there {
                tracing::warn!("{error}; waiting up to {seconds} s for the database");
            } else {
                tracing::debug!("{error}; waiting up to {seconds} s for the database to start");
            }
            is_logged = true;
        }
        tokio::time::sleep(RECONNECT_PAUSE).await;
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
            match suggestion::did_you_mean(name, slugs) {
                none if none.is_empty() => bail!("{error}: see `refract prism list`"),
                suggested => bail!("{error}{suggested}"),
            }
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

/// Reads a name from the command line: trimmed, 1 to 200 characters.
pub(crate) fn name(argument: &str, text: &str) -> anyhow::Result<PrismName> {
    PrismName::parse(text).map_err(|faults| faulty(argument, &faults))
}

/// The error for an argument that cannot be used.
pub(crate) fn faulty(argument: &str, faults: &[Fault]) -> anyhow::Error {
    let faults: Vec<_> = faults.iter().map(ToString::to_string).collect();
    anyhow::anyhow!("{argument} cannot be used: {}", faults.join("; "))
}
