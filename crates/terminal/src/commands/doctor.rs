//! `refract doctor`: tries everything that a node needs, and says a line about each.

mod clock;

use std::env;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use http::Uri;
use refract_identity::people::SignInWays;
use refract_service::Refract;
use serde::Serialize;
use tokio::net::TcpStream;

use super::context;
use super::model::check;
use crate::settings::{AppArgs, DatabaseArgs, ModelArgs, SignOnArgs};
use crate::settings_file::{self, known_settings};
use crate::{arguments, output};

/// The variables that name a collector, the more specific one first.
const COLLECTORS: [&str; 2] = [
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
];
/// Upper bound on connecting to the collector.
const PATIENCE: Duration = Duration::from_secs(4);
/// Free bytes below which a disk counts as full: a node writes its log and files of runs.
const LEAST_FREE: u64 = 200 * 1024 * 1024;
/// The permission of everybody to read a file.
const READABLE_BY_OTHERS: u32 = 0o004;

/// The arguments of `refract doctor`.
#[derive(Args)]
pub struct DoctorCommand {
    /// JSON lines instead of a table
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    model: ModelArgs,

    #[command(flatten)]
    app: AppArgs,

    #[command(flatten)]
    sign_on: SignOnArgs,
}

/// A line of the report.
#[derive(Serialize)]
struct DoctorCheck {
    check: &'static str,
    ok: bool,
    message: String,
}

impl DoctorCheck {
    /// A check with what it found, or why it failed.
    fn of(check: &'static str, found: anyhow::Result<String>) -> Self {
        let ok = found.is_ok();
        // other lines than this one are of no use in a table
        let message = found.unwrap_or_else(|error| format!("{error:#}"));
        let message = message.replace('\n', " ");
        Self { check, ok, message }
    }
}

impl DoctorCommand {
    /// Runs `refract doctor`. A check that fails gives exit status 1. `program` is the whole command
    /// line.
    pub(crate) async fn run(
        self,
        database: &DatabaseArgs,
        program: fn() -> clap::Command,
    ) -> anyhow::Result<ExitCode> {
        let opened = context::connect(&database.settings()).await;
        let (mut checks, refract) = check_database(opened).await;
        let refract = refract.map(|refract| match self.ways() {
            Ok(ways) => refract.with_sign_in_ways(ways),
            Err(_) => refract,
        });
        let refract = refract.as_ref();
        let file = database.sqlite_file();
        let clock = clock::check(refract, file.is_none()).await;
        let mut add = |check, found| checks.push(DoctorCheck::of(check, found));
        add("clock", clock);
        add("model", self.check_model().await);
        add("provider", self.check_provider(refract).await);
        add("people", self.check_people(refract).await);
        add("proxies", self.check_proxies());
        add("collector", check_collector().await);
        add("files", check_files(file.as_deref(), program));
        let folder = file.as_deref().and_then(Path::parent);
        add("disk", check_disk(folder));
        output::list(self.json, &["check", "ok", "message"], &checks, |check| {
            let ok = if check.ok { "yes" } else { "NO" };
            [check.check, ok, &check.message].map(str::to_owned).into()
        })?;
        Ok(if checks.iter().all(|check| check.ok) {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }

    async fn check_model(&self) -> anyhow::Result<String> {
        let settings = self.model.settings()?;
        for server in settings.of_each_server() {
            if let Some(reason) = check::quick_failure(&server).await? {
                bail!("{}: {reason}", server.endpoint);
            }
        }
        Ok(format!("{} answers", settings.endpoint))
    }

    /// The ways to sign in, by the settings.
    fn ways(&self) -> anyhow::Result<SignInWays> {
        self.sign_on.ways(&self.app.url()?)
    }

    /// Fetches the provider's discovery document.
    async fn check_provider(&self, refract: Option<&Refract>) -> anyhow::Result<String> {
        let app = self.app.url()?;
        self.ways()?;
        if !self.sign_on.has_provider() {
            return Ok("none is set: people sign in by password".to_owned());
        }
        // the provider itself needs no database
        let people = refract.context("not asked without a database")?.people();
        let name = people.provider_name().unwrap_or("the provider");
        let trial = people.try_discovery().await;
        if let Some(trial) = trial.filter(|trial| trial.status != Ok(200)) {
            bail!("{name}: {trial}: check REFRACT_OIDC_ISSUER");
        }
        let begun = people.begin_sign_on().await;
        begun.with_context(|| format!("{name}: check REFRACT_OIDC_ISSUER"))?;
        Ok(format!(
            "{name} answers; it must allow the redirect address {app}/sign-on/callback"
        ))
    }

    /// Who can sign in to the app. Nobody is no failure: the API needs no person.
    async fn check_people(&self, refract: Option<&Refract>) -> anyhow::Result<String> {
        if !self.app.is_on() {
            return Ok("the app is off".to_owned());
        }
        let refract = refract.context("not looked for without a database")?;
        let people = refract.people();
        let has_tables = refract.store().check_schema().await.is_ok();
        Ok(if let Some(rules) = people.admission() {
            rules
        } else if !has_tables {
            bail!("not looked for without the migrations");
        } else if people.is_nobody_invited().await? {
            "nobody can sign in to the app yet: `refract person invite EMAIL` prints a link"
                .to_owned()
        } else {
            "somebody is invited: `refract person list` shows who".to_owned()
        })
    }

    /// Checks that a proxy before the app is known: Refract itself speaks no TLS to browsers.
    fn check_proxies(&self) -> anyhow::Result<String> {
        let trusted = self.app.app_trusted_proxies.trim();
        let app = self.app.url()?;
        ensure!(
            !app.is_secure() || !trusted.is_empty(),
            "a proxy serves {app}, and none is trusted, so all its clients count as one: set \
             REFRACT_APP_TRUSTED_PROXIES to its address"
        );
        Ok(match trusted {
            "" => "none is trusted: X-Forwarded-For is ignored".to_owned(),
            trusted => format!("X-Forwarded-For from {trusted} names the client"),
        })
    }
}

/// Checks the database, its encoding, its migration and a pooler before it. Returns the database if it
/// was opened.
async fn check_database(opened: anyhow::Result<Refract>) -> (Vec<DoctorCheck>, Option<Refract>) {
    let refract = match opened {
        Ok(refract) => refract,
        Err(error) => {
            let not_tried = || Err(anyhow::anyhow!("not tried without a connection"));
            let is_encoding = format!("{error:#}").contains("encoding is");
            let (connection, encoding) = if is_encoding {
                (Ok("it answers".to_owned()), Err(error))
            } else {
                (Err(error), not_tried())
            };
            let checks = vec![
                DoctorCheck::of("database", connection),
                DoctorCheck::of("encoding", encoding),
                DoctorCheck::of("migration", not_tried()),
                DoctorCheck::of("pooler", not_tried()),
            ];
            return (checks, None);
        }
    };
    let checks = vec![
        DoctorCheck::of("database", check_ping(&refract).await),
        DoctorCheck::of("encoding", Ok("it holds every text".to_owned())),
        DoctorCheck::of("migration", check_migration(&refract).await),
        DoctorCheck::of("pooler", check_pooler(&refract).await),
    ];
    (checks, Some(refract))
}

async fn check_ping(refract: &Refract) -> anyhow::Result<String> {
    ensure!(refract.is_ready().await, "it does not answer");
    Ok("it answers".to_owned())
}

async fn check_migration(refract: &Refract) -> anyhow::Result<String> {
    refract.store().check_schema().await?;
    Ok("it has all migrations of this version".to_owned())
}

async fn check_pooler(refract: &Refract) -> anyhow::Result<String> {
    refract.store().check_pooler().await?;
    Ok("prepared statements are kept".to_owned())
}

/// Connects to the collector of traces.
async fn check_collector() -> anyhow::Result<String> {
    let set = COLLECTORS.iter().find_map(|name| {
        let value = env::var(name).ok().filter(|value| !value.is_empty())?;
        Some((*name, value))
    });
    let Some((name, address)) = set else {
        return Ok("none is set: no traces are sent".to_owned());
    };
    let uri: Uri = address
        .parse()
        .with_context(|| format!("{name} is no address"))?;
    let host = uri.host().with_context(|| format!("{name} has no host"))?;
    let is_tls = uri.scheme_str() == Some("https");
    let port = uri.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
    let connecting = TcpStream::connect((host.trim_matches(['[', ']']), port));
    let connected = tokio::time::timeout(PATIENCE, connecting).await;
    let connected = connected.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
    connected.with_context(|| format!("nothing takes traces at {host}:{port}"))?;
    Ok(format!("{host}:{port} takes connections"))
}

/// Checks that the files which settings name can be read, and those with secrets by their owner and
/// group alone.
fn check_files(database: Option<&Path>, program: fn() -> clap::Command) -> anyhow::Result<String> {
    let named = known_settings(&program()).into_iter();
    let named = named.filter(|setting| setting.variable.ends_with("_FILE"));
    let values = named.filter_map(|setting| setting.value());
    let mut files: Vec<PathBuf> = values.map(PathBuf::from).collect();
    files.extend(settings_file::path().map(Path::to_owned));
    for file in &files {
        std::fs::File::open(file).with_context(|| format!("cannot read {}", file.display()))?;
    }
    files.extend(database.filter(|path| path.exists()).map(Path::to_owned));
    for file in &files {
        let path = file.display();
        let found = std::fs::metadata(file).with_context(|| format!("cannot read {path}"))?;
        ensure!(
            found.mode() & READABLE_BY_OTHERS == 0,
            "every user of this machine may read {path}: change its mode to 600 or 640"
        );
    }
    Ok(match files.as_slice() {
        [] => "no setting names one".to_owned(),
        files => {
            let files: Vec<_> = files
                .iter()
                .map(|file| file.display().to_string())
                .collect();
            format!("others cannot read {}", files.join(", "))
        }
    })
}

/// Checks the free bytes of the disk with the database, else of the current folder.
fn check_disk(folder: Option<&Path>) -> anyhow::Result<String> {
    let folder = folder.filter(|folder| folder.exists());
    let folder = folder.unwrap_or(Path::new("."));
    let disk = rustix::fs::statvfs(folder)
        .with_context(|| format!("cannot look at the disk of {}", folder.display()))?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let shown = format!(
        "{} MiB are free in {}",
        free / (1024 * 1024),
        folder.display()
    );
    ensure!(free >= LEAST_FREE, "only {shown}");
    Ok(shown)
}

impl settings_file::KnownSetting {
    /// The value that is set; `None` where it has none or an empty one.
    fn value(&self) -> Option<String> {
        let variable = || env::var(&self.variable).ok();
        let file = || Some(arguments::file_value(&self.variable)?.text.clone());
        let value = arguments::on_command_line(&self.flag);
        value
            .or_else(variable)
            .or_else(file)
            .filter(|value| !value.is_empty())
    }
}
