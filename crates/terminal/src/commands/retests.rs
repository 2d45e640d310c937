//! `refract retests`: the retests that people start in the app and nodes work on.

use std::sync::Arc;

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use refract_domain::ids::RetestId;
use refract_domain::prism::VersionNumber;
use refract_domain::result::RetestChange;
use refract_identity::people::AccountActor;
use refract_service::measures::DrawnFrom;
use refract_service::measures::stored_retests::{
    ChangeRetestOutcome, RETEST_TEXTS, RetestPlan, StoredRetest, USUAL_RETEST_TEXTS,
};
use refract_service::model::ModelGateway;

use super::context::AccountArg;
use super::selection::to_the_second;
use crate::arguments;
use crate::output::report::{ListColumn, column, json_only, worded};
use crate::output::{self, report, value};
use crate::settings::{DatabaseArgs, ModelArgs};

/// The subcommands of `refract retests`.
#[derive(Subcommand)]
pub enum RetestsCommand {
    /// Lists the newest retests of a prism
    #[command(
        after_help = "Examples:\n  refract retests list support-triage\n  refract retests list support-triage --json | jq .flips"
    )]
    List {
        /// Slug or id
        prism: String,
        /// JSON lines instead of a table
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        account: AccountArg,
    },
    /// Starts a retest, which a node works on; prints its id
    ///
    /// The model's name is that of these settings: nodes ask their own servers for it. `refract retest`
    /// asks by itself.
    #[command(
        after_help = "Examples:\n  refract retests start support-triage --version 3 --sample 100"
    )]
    Start(Box<StartRetestCommand>),
    /// Stops a retest; the new answers so far are kept
    #[command(
        name = "stop",
        after_help = "Examples:\n  refract retests stop 0190b8f2-0000-7000-8000-0000000000aa"
    )]
    Interrupt(RetestArg),
    /// Lets an ended retest ask about the texts that have no new answers
    #[command(
        after_help = "Examples:\n  refract retests continue 0190b8f2-0000-7000-8000-0000000000aa"
    )]
    Continue(RetestArg),
}

/// The arguments of `refract retests start`.
#[derive(Args)]
pub struct StartRetestCommand {
    /// Slug or id
    prism: String,
    /// The most texts, from 10 to 2000
    #[arg(long, value_name = "N", default_value_t = USUAL_RETEST_TEXTS, value_parser = texts)]
    sample: u16,
    /// Only texts with a random or imported mark
    #[arg(long)]
    marked: bool,
    /// The version that is asked [default: the version that answered each text]
    #[arg(long, value_name = "N", value_parser = arguments::version)]
    version: Option<VersionNumber>,
    #[command(flatten)]
    account: AccountArg,
    #[command(flatten)]
    model: ModelArgs,
}

/// A retest that a command names.
#[derive(Args)]
pub struct RetestArg {
    /// The retest's id
    id: String,
    #[command(flatten)]
    account: AccountArg,
}

impl RetestsCommand {
    /// Runs a `refract retests` command.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<()> {
        match self {
            Self::List {
                prism,
                json,
                account,
            } => {
                let (refract, prism) = account.open_prism(database, &prism).await?;
                let retests = refract.retests().list(prism.account, prism.id).await?;
                report::list(json, COLUMNS, &retests)
            }
            Self::Start(command) => command.run(database).await,
            Self::Interrupt(retest) => {
                let change = RetestChange::Interrupt;
                retest.change(database, change, "stopped").await?;
                output::say("The retest is stopped.");
                Ok(())
            }
            Self::Continue(retest) => {
                let change = RetestChange::Continue;
                retest.change(database, change, "continued").await?;
                output::say("The retest goes on as soon as a node takes it.");
                Ok(())
            }
        }
    }
}

impl StartRetestCommand {
    async fn run(self, database: &DatabaseArgs) -> anyhow::Result<()> {
        let gateway = ModelGateway::new(self.model.settings()?)?;
        let (refract, prism) = self.account.open_prism(database, &self.prism).await?;
        let actor = AccountActor::operator(prism.account);
        let refract = refract.with_model(gateway.model());
        let lens = Arc::new(refract.lenses().of(prism).await?);
        let plan = RetestPlan {
            texts: self.sample,
            from: if self.marked {
                DrawnFrom::Marked
            } else {
                DrawnFrom::Answered
            }
            .into(),
            model: None,
            version: self.version.into(),
        };
        let retest = refract.retests().start(&actor, &lens, &plan).await?;
        output::object(&[("id", value(&retest.to_string()))])
    }
}

impl RetestArg {
    /// Changes the state of the retest. `done` is the change in an error message.
    async fn change(
        &self,
        database: &DatabaseArgs,
        change: RetestChange,
        done: &'static str,
    ) -> anyhow::Result<()> {
        let name = self.account.name();
        let missing =
            format!("the account {name} has no retest of this id: see `refract retests list`");
        let id = RetestId::parse(&self.id).context("ID cannot be used: Invalid uuid")?;
        let (refract, account) = self.account.open(database).await?;
        let actor = AccountActor::operator(account);
        match refract.retests().change(&actor, id, change).await? {
            ChangeRetestOutcome::Changed => Ok(()),
            ChangeRetestOutcome::NotFound => bail!(missing),
            ChangeRetestOutcome::NotPossible => bail!(
                "the retest cannot be {done}: it {}",
                match change {
                    RetestChange::Interrupt => "ended already",
                    RetestChange::Continue => "is under way, or every text has a new answer",
                }
            ),
            ChangeRetestOutcome::UnderWay(other) => {
                bail!("another retest of the prism is under way: {other}")
            }
            ChangeRetestOutcome::TooMany => {
                bail!("the account has as many retests under way as it may have: stop one first")
            }
        }
    }
}

/// Parses the most texts of a retest.
fn texts(text: &str) -> anyhow::Result<u16> {
    let texts = text.parse().ok();
    let texts = texts.filter(|texts| RETEST_TEXTS.contains(texts));
    let (least, most) = (RETEST_TEXTS.start(), RETEST_TEXTS.end());
    texts.with_context(|| format!("expected a whole number from {least} to {most}"))
}

/// The columns of the list.
const COLUMNS: &[ListColumn<StoredRetest>] = &[
    column("id", "id", |it| value(&it.id.to_string())),
    // null for the version that answered each text, or for a draft
    worded(
        "version",
        "version",
        |it| value(&it.version.map(VersionNumber::get)),
        |it| match it.version {
            Some(version) => version.to_string(),
            None if it.drawn.draft.is_some() => "draft".to_owned(),
            None => String::new(),
        },
    ),
    json_only("draft", |it| value(&it.drawn.draft.is_some())),
    column("model", "model", |it| value(&it.model.as_str())),
    column("state", "state", |it| value(&it.state.name())),
    column("texts", "texts", |it| value(&it.counts.texts)),
    column("answered", "answered", |it| value(&it.counts.answered)),
    column("failed", "failed", |it| value(&it.counts.failed)),
    column("flips", "flips", |it| value(&it.flips)),
    column("created_at", "created", |it| {
        value(&to_the_second(it.made_at))
    }),
    worded(
        "by",
        "by",
        |it| value(&it.by.as_deref()),
        |it| it.by.clone().unwrap_or_else(|| "operator".to_owned()),
    ),
];
