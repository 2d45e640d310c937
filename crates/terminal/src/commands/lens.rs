//! `refract lens`: the columns that readers of a prism's results see.

mod cutoffs;
mod preview;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use refract_authoring::lens_file::ShownLens;
use refract_domain::lens::Lens;
use refract_identity::people::{AccountActor, ActorName};
use refract_service::Refract;
use refract_service::lenses::{LensState, PrismLens};

use super::context::AccountArg;
use crate::commands::files::InputPath;
use crate::commands::selection::to_the_second;
use crate::output::report::{ListColumn, column};
use crate::output::{self, report, value};
use crate::settings::DatabaseArgs;

/// Most lenses that are listed.
const LISTED: u32 = 1_000;

/// How a command changes a lens before showing it.
enum LensChange {
    Nothing,
    /// Replaces the lens with the columns of this lens file.
    To(Vec<u8>),
    Reset,
    /// Puts back the lens of a revision.
    PutBack(i32),
}

/// The JSON Schema of lens files.
const SCHEMA: &[u8] = include_bytes!("../../../../docs/examples/lens.schema.json");

/// The subcommands of `refract lens`.
#[derive(Subcommand)]
pub enum LensCommand {
    /// Shows the lens
    #[command(
        after_help = "Examples:\n  refract lens show support-triage\n  refract lens show support-triage | jq '{columns}' > lens.json"
    )]
    Show {
        /// Slug or id
        prism: String,
        /// JSON on one line, as without it
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        account: AccountArg,
    },
    /// Makes the columns of a file the lens; old results are read through it at once
    #[command(
        after_help = "Examples:\n  refract lens set support-triage docs/examples/support-triage.lens.json"
    )]
    Set {
        /// Slug or id
        prism: String,
        /// The lens file, JSON; `-` is stdin
        file: InputPath,
        #[command(flatten)]
        account: AccountArg,
    },
    /// Makes the lens automatic again: one column per question
    #[command(after_help = "Examples:\n  refract lens reset support-triage")]
    Reset {
        /// Slug or id
        prism: String,
        #[command(flatten)]
        account: AccountArg,
    },
    /// Lists the lenses that a prism had, newest first
    #[command(
        after_help = "Examples:\n  refract lens history support-triage\n  refract lens history support-triage --json | jq 'select(.by == \"operator\")'"
    )]
    History(LensHistoryCommand),
    /// Makes a lens that the prism had its lens again
    #[command(after_help = "Examples:\n  refract lens put-back support-triage 3")]
    PutBack {
        /// Slug or id
        prism: String,
        /// The revision, as `refract lens history` lists them
        #[arg(value_parser = revision)]
        revision: i32,
        #[command(flatten)]
        account: AccountArg,
    },
    /// Shows what another lens would make of stored results, without setting it
    #[command(
        after_help = "Examples:\n  refract lens preview support-triage lens.json\n  refract lens preview support-triage lens.json --sample 1000 --json | jq .changed"
    )]
    Preview(preview::PreviewCommand),
    /// Draws the stored probabilities of a column, and what a cutoff at each percent would answer
    #[command(
        after_help = "Examples:\n  refract lens cutoffs support-triage angry\n  refract lens cutoffs support-triage is_angry --step 5"
    )]
    Cutoffs(cutoffs::CutoffsCommand),
    /// Prints the JSON Schema of lens files, for editors
    #[command(after_help = "Examples:\n  refract lens schema > lens.schema.json")]
    Schema,
}

impl LensCommand {
    /// Runs a `refract lens` command; those that change the lens print it afterwards.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<()> {
        let (prism, account, change) = match self {
            Self::Preview(command) => return command.run(database).await,
            Self::Cutoffs(command) => return command.run(database).await,
            Self::History(command) => return command.run(database).await,
            Self::Schema => return output::data(SCHEMA),
            Self::Show {
                prism,
                json: _,
                account,
            } => (prism, account, LensChange::Nothing),
            Self::Set {
                prism,
                file,
                account,
            } => (prism, account, LensChange::To(file.read()?)),
            Self::Reset { prism, account } => (prism, account, LensChange::Reset),
            Self::PutBack {
                prism,
                revision,
                account,
            } => (prism, account, LensChange::PutBack(revision)),
        };
        let (refract, prism) = account.open_prism(database, &prism).await?;
        let actor = AccountActor::operator(prism.account);
        let (prism, lenses) = (prism.selector(), refract.lenses());
        let is_set = matches!(change, LensChange::To(_) | LensChange::PutBack(_));
        match change {
            LensChange::Nothing => {}
            LensChange::To(file) => {
                lenses.set(&actor, &prism, &file, None).await?;
            }
            LensChange::Reset => {
                lenses.reset(&actor, &prism, None).await?;
            }
            LensChange::PutBack(revision) => {
                lenses.put_back(&actor, &prism, revision, None).await?;
            }
        }
        let found = lenses.find(actor.account(), &prism).await?;
        output::json(&ShownLens::new(&found.lens, found.columns().lens))?;
        if is_set {
            warn_of_unreachable_cutoffs(&refract, &found).await?;
        }
        Ok(())
    }
}

/// Warns on stderr of the cutoffs that the model's probabilities never reach.
async fn warn_of_unreachable_cutoffs(refract: &Refract, lens: &PrismLens) -> anyhow::Result<()> {
    for unreachable in refract.lenses().unreachable_cutoffs(lens).await? {
        let cutoff = format!("{} {}", unreachable.name.key(), unreachable.cutoff.value());
        let bound = unreachable.bound.probability().to_string();
        let sentence = unreachable.describe(&cutoff, &bound);
        output::say(&format!("Warning: {sentence}."));
    }
    Ok(())
}

/// The arguments of `refract lens history`.
#[derive(Args)]
pub struct LensHistoryCommand {
    /// Slug or id
    prism: String,
    /// JSON lines instead of a table
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    account: AccountArg,
}

impl LensHistoryCommand {
    /// Runs `refract lens history`.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<()> {
        let (refract, prism) = self.account.open_prism(database, &self.prism).await?;
        let (lenses, selector) = (refract.lenses(), prism.selector());
        let history = lenses.history(prism.account, &selector, LISTED).await?;
        report::list(self.json, COLUMNS, &history.states)
    }
}

/// The columns of the list.
const COLUMNS: &[ListColumn<LensState>] = &[
    column("revision", "revision", |it| value(&it.revision)),
    column("mode", "mode", |it| match &it.lens {
        Lens::Automatic => value(&"automatic"),
        Lens::Custom(_) => value(&"custom"),
    }),
    column("columns", "columns", |it| match &it.lens {
        Lens::Automatic => value(&()),
        Lens::Custom(columns) => value(&columns.len()),
    }),
    column("at", "at", |it| {
        let saved = it.saved.as_ref();
        value(&saved.map(|saved| to_the_second(saved.made_at)))
    }),
    column("by", "by", |it| {
        let actor = it.saved.as_ref().map(|saved| saved.actor.as_ref());
        value(&actor.map(|actor| actor.map_or("operator", ActorName::as_str)))
    }),
    column("note", "note", |it| {
        let note = it.saved.as_ref().and_then(|saved| saved.note.as_ref());
        value(&note.map(ToString::to_string))
    }),
];

/// Parses the number of a revision.
fn revision(text: &str) -> anyhow::Result<i32> {
    let number = text.parse().ok().filter(|number| *number >= 0);
    number.context("expected a number, as `refract lens history` lists them")
}
