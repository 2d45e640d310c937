//! `refract lens`: the columns that readers of a prism's results see.

use std::path::PathBuf;

use clap::Subcommand;
use refract_answering::prisms;
use refract_domain::lens_file::ShownLens;

use super::operator::{self, AccountArg};
use crate::output;
use crate::settings::DatabaseArgs;

/// What may be done to a lens.
#[derive(Subcommand)]
pub(crate) enum LensCommand {
    /// Shows the lens
    #[command(
        after_help = "Examples:\n  refract lens show support-triage\n  refract lens show support-triage | jq '{columns}' > lens.json"
    )]
    Show {
        /// Slug or id
        prism: String,
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
        /// The lens file, JSON
        file: PathBuf,
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
}

impl LensCommand {
    /// Carries it out, and shows the lens as it is then.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<()> {
        let database = operator::open(&database.settings()).await?;
        let (Self::Show { prism, account }
        | Self::Set { prism, account, .. }
        | Self::Reset { prism, account }) = &self;
        let account = account.find(&database).await?;
        let prism = operator::find_prism(&database, account, prism).await?;
        match &self {
            Self::Show { .. } => {}
            Self::Set { file, .. } => {
                let file = operator::read_file(file)?;
                prisms::set_lens(&database, account, &prism, &file).await?;
            }
            Self::Reset { .. } => prisms::reset_lens(&database, account, &prism).await?,
        }
        let found = prisms::find_lens(&database, account, &prism).await?;
        output::json(&ShownLens::new(&found.lens, found.columns().lens))
    }
}
