//! `refract prism`: prisms and their versions.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::bail;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use refract_authoring::prism_file::{PrismFile, ShownPrism};
use refract_authoring::wording::{self, WordingRule, WordingWarning};
use refract_domain::prism::VersionNumber;
use refract_identity::people::AccountActor;
use refract_service::Refract;
use refract_service::prisms::{NEW_PRISM, Prism};

use super::context::{self, AccountArg};
use crate::arguments;
use crate::commands::files::InputPath;
use crate::output::report::{ListColumn, column, worded};
use crate::output::{self, report, value};
use crate::settings::DatabaseArgs;
use crate::terminal::{self, Palette, counted, widened};

/// The JSON Schema of prism files.
const SCHEMA: &[u8] = include_bytes!("../../../../docs/examples/prism.schema.json");

/// The subcommands of `refract prism`.
#[derive(Subcommand)]
pub enum PrismCommand {
    /// Makes a prism from a file
    #[command(
        after_help = "Examples:\n  refract prism create docs/examples/support-triage.json\n  refract prism create triage.json --account acme"
    )]
    Create {
        /// The prism file, JSON; `-` is stdin
        file: InputPath,
        #[command(flatten)]
        account: AccountArg,
    },
    /// Saves a file as the next version of a prism
    #[command(after_help = "Examples:\n  refract prism save support-triage triage.json")]
    Save {
        /// Slug or id
        prism: String,
        /// The prism file, JSON; `-` is stdin
        file: InputPath,
        #[command(flatten)]
        account: AccountArg,
    },
    /// Shows a version in the form of the prism file, every key filled in
    #[command(
        after_help = "Examples:\n  refract prism show support-triage > triage.json\n  refract prism show support-triage --version 1 --json | jq .questions"
    )]
    Show {
        /// Slug or id
        prism: String,
        /// The latest when absent
        #[arg(long, value_name = "N", value_parser = arguments::version)]
        version: Option<VersionNumber>,
        /// On one line
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        account: AccountArg,
    },
    /// Lists the prisms
    #[command(
        after_help = "Examples:\n  refract prism list\n  refract prism list --json | jq -r .slug"
    )]
    List {
        /// JSON lines instead of a table
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        account: AccountArg,
    },
    /// Gives a prism another name; its slug stays
    #[command(after_help = "Examples:\n  refract prism rename support-triage \"First line\"")]
    Rename {
        /// Slug or id
        prism: String,
        /// The new name
        name: String,
        #[command(flatten)]
        account: AccountArg,
    },
    /// Stops a prism from answering; its results stay readable
    #[command(after_help = "Examples:\n  refract prism archive support-triage")]
    Archive(PrismArg),
    /// Lets an archived prism answer again
    #[command(after_help = "Examples:\n  refract prism restore support-triage")]
    Restore(PrismArg),
    /// Prints a prism file to begin with, with comments
    ///
    /// JSON has no comments of its own, so they stand under the key `$comment`, which every object of
    /// a prism or lens file may have and which is ignored: the file stays JSON for jq and editors.
    #[command(
        after_help = "Examples:\n  refract prism init > triage.json && refract prism create triage.json\n  refract prism init > prisms/support-triage.prism.json && refract apply prisms/"
    )]
    Init,
    /// Prints the JSON Schema of prism files, for editors
    ///
    /// A file that names it as `$schema` is completed and checked while it is written. `prism init`
    /// names it as prism.schema.json beside the file.
    #[command(after_help = "Examples:\n  refract prism schema > prism.schema.json")]
    Schema,
    /// Warns of what is known to hurt in the wording of questions and options
    ///
    /// The file is read as `prism create` reads it; no database and no model is used. The rules
    /// read words, not meaning, and know English only where words matter.
    #[command(
        after_help = "Examples:\n  refract prism lint docs/examples/support-triage.json\n  refract prism lint triage.json --allow many-options --strict\n  refract prism lint triage.json --json | jq -r .path"
    )]
    Lint(LintCommand),
}

/// A prism that a command names.
#[derive(Args)]
pub struct PrismArg {
    /// Slug or id
    prism: String,
    #[command(flatten)]
    account: AccountArg,
}

impl PrismCommand {
    /// Runs a `refract prism` command.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<ExitCode> {
        match self {
            Self::Create { file, account } => {
                let refract = context::open_or_create(&database.settings()).await?;
                let file = read_definition(&file)?;
                let actor = AccountActor::operator(account.find(&refract).await?);
                let prism = refract.prisms().create(&actor, &file).await?;
                print_saved(&prism, prism.latest_version)?;
            }
            Self::Save {
                prism,
                file,
                account,
            } => {
                let refract = context::open(&database.settings()).await?;
                let file = read_definition(&file)?;
                let account = account.find(&refract).await?;
                let prism = context::find_prism(&refract, account, &prism).await?;
                save(&refract, &prism, &file).await?;
            }
            Self::Show {
                prism,
                version,
                json,
                account,
            } => {
                let (refract, prism) = account.open_prism(database, &prism).await?;
                if let Some(version) = version {
                    let history = refract.prisms().with_versions(prism.id).await?;
                    context::check_version(&history, version)?;
                }
                let version = version.unwrap_or(prism.latest_version);
                let version = refract.prisms().find_version(&prism, version).await?;
                let shown = ShownPrism::new(&prism.name, &version);
                if json {
                    output::json(&shown)?;
                } else {
                    output::pretty_json(&shown)?;
                }
            }
            Self::List { json, account } => {
                let (refract, account) = account.open(database).await?;
                let prisms = refract.prisms().all(account).await?;
                report::list(json, COLUMNS, &prisms)?;
            }
            Self::Rename {
                prism,
                name,
                account,
            } => {
                let (refract, prism) = account.open_prism(database, &prism).await?;
                let name = context::name("NAME", &name)?;
                let actor = AccountActor::operator(prism.account);
                let prisms = refract.prisms();
                prisms.rename(&actor, &prism.selector(), &name).await?;
                output::say("The prism is renamed.");
            }
            Self::Archive(named) => {
                named.set_archived(database, true).await?;
                output::say("The prism is archived.");
            }
            Self::Restore(named) => {
                named.set_archived(database, false).await?;
                output::say("The prism answers again.");
            }
            Self::Init => output::data(NEW_PRISM)?,
            Self::Schema => output::data(SCHEMA)?,
            Self::Lint(command) => return command.run(),
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl PrismArg {
    async fn set_archived(&self, database: &DatabaseArgs, archived: bool) -> anyhow::Result<()> {
        let (refract, prism) = self.account.open_prism(database, &self.prism).await?;
        let (actor, selector) = (AccountActor::operator(prism.account), prism.selector());
        let prisms = refract.prisms();
        Ok(prisms.set_archived(&actor, &selector, archived).await?)
    }
}

/// Reads the file of a prism, and refuses one whose name says YAML.
fn read_definition(file: &InputPath) -> anyhow::Result<Vec<u8>> {
    let ending = file.file().and_then(Path::extension);
    if ending.is_some_and(|ending| ending == "yaml" || ending == "yml") {
        anyhow::bail!(
            "{file}: a prism file is JSON: `refract prism init` prints one to begin with"
        );
    }
    file.read()
}

async fn save(refract: &Refract, prism: &Prism, file: &[u8]) -> anyhow::Result<()> {
    let actor = AccountActor::operator(prism.account);
    let (selector, prisms) = (prism.selector(), refract.prisms());
    let saving = prisms.save_version(&actor, &selector, file, None);
    let (prism, version) = saving.await?;
    if prisms.repeats_version_before(&prism, version).await? {
        output::say(&format!(
            "Nothing changed: version {version} is equal to the one before, and runs ask \
             about every row again. `refract apply` would not have saved it."
        ));
    }
    print_saved(&prism, version)
}

/// The columns of the list.
const COLUMNS: &[ListColumn<Prism>] = &[
    column("id", "id", |it| value(&it.id.to_string())),
    column("slug", "slug", |it| value(&it.slug.as_str())),
    column("name", "name", |it| value(&it.name.as_str())),
    column("version", "version", |it| value(&it.latest_version.get())),
    worded(
        "archived",
        "archived",
        |it| value(&it.archived_at.is_some()),
        |it| it.archived_at.map_or("", |_| "yes").to_owned(),
    ),
];

fn print_saved(prism: &Prism, version: VersionNumber) -> anyhow::Result<()> {
    output::object(&[
        ("id", value(&prism.id.to_string())),
        ("slug", value(&prism.slug.as_str())),
        ("version", value(&version.get())),
    ])
}

/// Arguments of `refract prism lint`.
#[derive(Args)]
pub struct LintCommand {
    /// The prism file, JSON; `-` is stdin
    file: InputPath,

    /// Switches a rule off; can be given several times
    #[arg(long, value_name = "NAME", value_parser = rule_parser())]
    allow: Vec<WordingRule>,

    /// One JSON object a line for each warning instead of words
    #[arg(long)]
    json: bool,

    /// Ends with exit status 1 when there is a warning
    #[arg(long)]
    strict: bool,
}

impl LintCommand {
    /// Runs `refract prism lint`: prints each warning as a block of text or a line of JSON.
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let file = self.file.read()?;
        let file = PrismFile::read(&file, None)?;
        let mut warnings = wording::lint(&file.version);
        warnings.retain(|warning| !self.allow.contains(&warning.rule));
        if self.json {
            warnings.iter().try_for_each(print_json)?;
        } else {
            output::text(&render(&warnings)?)?;
        }
        let found = match warnings.len() {
            0 => "no warnings".to_owned(),
            warnings => counted(widened(warnings), "warning"),
        };
        let path = &self.file;
        if self.strict && !warnings.is_empty() {
            bail!("{path} has {found}: change the wording, or switch a rule off with --allow");
        }
        output::say(&format!("{path} has {found}."));
        Ok(ExitCode::SUCCESS)
    }
}

fn rule_parser() -> impl TypedValueParser<Value = WordingRule> {
    let names = PossibleValuesParser::new(WordingRule::ALL.map(WordingRule::name));
    names.try_map(|name| WordingRule::parse(&name).ok_or("not a rule"))
}

fn print_json(warning: &WordingWarning) -> anyhow::Result<()> {
    output::object(&[
        ("rule", value(&warning.rule.name())),
        ("path", value(&warning.path.as_str())),
        ("message", value(&warning.message.as_str())),
        ("reason", value(&warning.rule.reason())),
    ])
}

fn render(warnings: &[WordingWarning]) -> anyhow::Result<String> {
    let palette = Palette::of_stdout();
    let mut words = String::new();
    for warning in warnings {
        writeln!(
            words,
            "{} {}\n  {}.\n  {}\n",
            palette.heading.apply_to(&warning.path),
            palette.bad.apply_to(warning.rule.name()),
            terminal::plain(&warning.message),
            palette.faint.apply_to(warning.rule.reason()),
        )?;
    }
    Ok(words)
}
