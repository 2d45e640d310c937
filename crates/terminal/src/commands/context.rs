//! Shared by commands: the opened database, the account, argument parsing, and the questions and
//! versions that a command line names.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::bail;
use clap::Args;
use refract_domain::ids::AccountId;
use refract_domain::key::QuestionKey;
use refract_domain::prism::{DisplayName, PrismSelector, Question, VersionNumber};
use refract_domain::problem::ValidationError;
use refract_identity::people::DEFAULT_ACCOUNT;
use refract_service::Refract;
use refract_service::measures::questions;
use refract_service::prisms::{Prism, PrismError, PrismHistory};
use refract_service::store::{ConnectError, DatabaseSettings, PassingReason, SchemaError};

use crate::settings::DatabaseArgs;
use crate::terminal::{counted, widened};
use crate::{arguments, output, suggestion, terminal};

/// How long a start waits if no server listens at the address: the address may be wrong.
const WAIT_FOR_LISTENER: Duration = Duration::from_secs(10);
/// How long a start waits for a database that is starting or has no free connection: longer than
/// nodes of an older version take to stop and release their connections.
const WAIT_FOR_SERVER: Duration = Duration::from_mins(1);
/// The driver's words for a server without TLS where the address requires it.
const NO_TLS: &str = "server does not support TLS";
/// How long another process may take to make the tables of a new file, and the pause between two looks.
const MADE_WITHIN: Duration = Duration::from_secs(5);
const BETWEEN_CHECKS: Duration = Duration::from_millis(50);
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
    /// The account `default`, as if the argument were absent.
    pub(crate) fn of_default() -> Self {
        Self {
            account: DEFAULT_ACCOUNT.to_owned(),
        }
    }

    /// The account's name.
    pub(crate) fn name(&self) -> &str {
        &self.account
    }

    /// The account's id. Only the account `default` is created if missing.
    pub(crate) async fn find(&self, refract: &Refract) -> anyhow::Result<AccountId> {
        Ok(refract.accounts().find(&self.account).await?.id)
    }

    /// Opens the database as [`open`] does, and finds the account.
    pub(crate) async fn open(
        &self,
        database: &DatabaseArgs,
    ) -> anyhow::Result<(Refract, AccountId)> {
        let refract = open(&database.settings()).await?;
        let account = self.find(&refract).await?;
        Ok((refract, account))
    }

    /// Opens the database as [`open`] does, and finds the named prism.
    pub(crate) async fn open_prism(
        &self,
        database: &DatabaseArgs,
        name: &str,
    ) -> anyhow::Result<(Refract, Prism)> {
        let (refract, account) = self.open(database).await?;
        let prism = find_prism(&refract, account, name).await?;
        Ok((refract, prism))
    }
}

/// Opens a database that has exactly the migrations of this program, and changes nothing in any
/// other. An SQLite file must exist: in the wrong folder, a new empty one would look like lost data.
pub(crate) async fn open(settings: &DatabaseSettings) -> anyhow::Result<Refract> {
    let refract = connect(settings).await?;
    refract.store().check_schema().await?;
    Ok(refract)
}

/// Opens an existing database, whatever its migrations.
pub(crate) async fn connect(settings: &DatabaseSettings) -> anyhow::Result<Refract> {
    let opened = Refract::connect_existing(settings).await;
    opened.map_err(not_opened)
}

/// Opens the database as [`open`] does, for a command that creates its first rows: makes a missing
/// SQLite file with all migrations, and says so.
pub(crate) async fn open_or_create(settings: &DatabaseSettings) -> anyhow::Result<Refract> {
    match Refract::connect_existing(settings).await {
        Err(ConnectError::NoFile { path }) => {
            let refract = Refract::connect(settings).await?;
            refract.store().migrate().await?;
            output::say(&format!("Made the database {}.", path.display()));
            Ok(refract)
        }
        Err(error) => Err(not_opened(error)),
        Ok(refract) => {
            wait_for_schema(&refract).await?;
            Ok(refract)
        }
    }
}

/// Checks the migrations of a database. One that is empty may just be made by another process.
async fn wait_for_schema(refract: &Refract) -> Result<(), SchemaError> {
    let begin = Instant::now();
    loop {
        match refract.store().check_schema().await {
            Err(SchemaError::Empty { .. }) if begin.elapsed() < MADE_WITHIN => {
                tokio::time::sleep(BETWEEN_CHECKS).await;
            }
            checked => return checked,
        }
    }
}

/// Opens the database of the demo, makes it if it is missing, runs the pending migrations, and says
/// what was done.
///
/// # Errors
/// The database cannot be opened or migrated.
pub async fn open_for_demo(settings: &DatabaseSettings) -> anyhow::Result<Refract> {
    match connect(settings).await {
        Ok(refract) if refract.store().check_schema().await.is_err() => {
            let applied = widened(refract.store().migrate().await?);
            output::say(&format!(
                "{} run on the database.",
                counted(applied, "migration")
            ));
            Ok(refract)
        }
        Ok(refract) => Ok(refract),
        Err(_) => open_or_create(settings).await,
    }
}

/// The error for a database that was not opened, with advice where it is known.
pub(crate) fn not_opened(error: ConnectError) -> anyhow::Error {
    if matches!(error, ConnectError::UnknownScheme) {
        let setting = arguments::setting_name("DATABASE_URL");
        return if arguments::is_given("DATABASE_URL") {
            anyhow::anyhow!("{setting}: {error}")
        } else {
            anyhow::anyhow!(
                "{setting} is empty: set it to sqlite://PATH or postgres://…, or unset it"
            )
        };
    }
    if !matches!(error, ConnectError::NoFile { .. }) {
        let words = error.to_string();
        return if words.contains(NO_TLS) {
            anyhow::anyhow!("{words}: add `sslmode=disable` if it is on this machine")
        } else {
            error.into()
        };
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

/// Opens the database for a server that may start together with the database: waits while the
/// database is starting or has no free connection, then runs the pending migrations and logs their
/// number.
///
/// # Errors
/// The database does not come up in time, or cannot be migrated.
pub async fn open_when_up(settings: &DatabaseSettings) -> anyhow::Result<Refract> {
    let refract = connect_when_up(settings).await?;
    let applied = widened(refract.store().migrate().await?);
    if applied > 0 {
        tracing::info!("{} run on the database", counted(applied, "migration"));
    }
    Ok(refract)
}

/// Opens the database without running migrations; waits while the database is starting or has no
/// free connection.
///
/// The wait is logged once; at debug level if no server listens, because a wrong address soon ends
/// in an error.
pub(crate) async fn connect_when_up(settings: &DatabaseSettings) -> anyhow::Result<Refract> {
    let began = Instant::now();
    let mut is_logged = false;
    loop {
        let error = match Refract::connect(settings).await {
            Ok(refract) => {
                refract.store().check_pooler().await?;
                return Ok(refract);
            }
            Err(error) => error,
        };
        let (wait, is_there) = match error.passing() {
            Some(PassingReason::NobodyListens) => (WAIT_FOR_LISTENER, false),
            Some(PassingReason::NotReady) => (WAIT_FOR_SERVER, true),
            None => return Err(not_opened(error)),
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

/// Finds the named prism. The error for an unknown name suggests the most similar slug.
pub(crate) async fn find_prism(
    refract: &Refract,
    account: AccountId,
    name: &str,
) -> anyhow::Result<Prism> {
    let prism = PrismSelector::parse(name).map_err(|errors| invalid_argument("PRISM", &errors))?;
    match refract.prisms().find(account, &prism).await {
        Err(error @ PrismError::NotFound) => {
            let prisms = refract.prisms().all(account).await?;
            let slugs = prisms.iter().map(|prism| prism.slug.as_str());
            match suggestion::did_you_mean(name, slugs) {
                // arguments the wrong way round
                none if none.is_empty() && Path::new(name).is_file() => bail!(
                    "{error}: '{}' is a file: the prism comes first, then the file",
                    terminal::plain(name)
                ),
                none if none.is_empty() => bail!("{error}: see `refract prism list`"),
                suggested => bail!("{error}{suggested}"),
            }
        }
        found => Ok(found?),
    }
}

/// Prints a notice if the built-in scorer answers instead of a model.
pub(crate) fn say_if_for_trying_only(refract: &Refract) {
    if refract.is_for_trying_only() {
        output::say("The built-in scorer answers: it is for trying things only.");
    }
}

/// Parses a name: trimmed, 1 to 200 characters.
pub(crate) fn name(argument: &str, text: &str) -> anyhow::Result<DisplayName> {
    DisplayName::parse(text).map_err(|errors| invalid_argument(argument, &errors))
}

/// The error for an invalid argument.
pub(crate) fn invalid_argument(argument: &str, errors: &[ValidationError]) -> anyhow::Error {
    let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
    anyhow::anyhow!("{argument} cannot be used: {}", errors.join("; "))
}

/// The question with this key, as worded by the newest version that has it.
///
/// # Errors
/// No version has the question. The error suggests the most similar key.
pub(super) fn question<'a>(history: &'a PrismHistory, key: &str) -> anyhow::Result<&'a Question> {
    let questions = questions(&history.versions);
    let mut found = questions
        .iter()
        .filter(|question| question.key.as_str() == key);
    if let Some(question) = found.next() {
        return Ok(question);
    }
    let keys = questions.iter().map(|question| question.key.as_str());
    let proposal = suggestion::did_you_mean_or_list(key, keys);
    bail!(
        "the prism has no question '{}'{proposal}",
        terminal::plain(key)
    );
}

/// The question with this key as worded by one version; `None` if that version lacks it.
pub(super) fn question_in<'a>(
    history: &'a PrismHistory,
    version: VersionNumber,
    key: &QuestionKey,
) -> Option<&'a Question> {
    let index = usize::try_from(version.get()).ok()?.checked_sub(1)?;
    history.versions.get(index)?.question(key)
}

/// Refuses a version that the prism does not have.
///
/// # Errors
/// The version's number is above the latest.
pub(super) fn check_version(history: &PrismHistory, version: VersionNumber) -> anyhow::Result<()> {
    let latest = history.prism.latest_version;
    if version > latest {
        bail!("the prism has no version {version}: its latest is {latest}");
    }
    Ok(())
}
