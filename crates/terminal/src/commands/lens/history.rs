//! `refract lens history` and `refract lens put-back`: the lenses that a prism had.

use anyhow::Context as _;
use clap::Args;
use refract_domain::lens::Lens;
use refract_service::lenses::LensState;
use refract_service::people::ActorName;
use serde::Serialize;

use crate::commands::context::AccountArg;
use crate::commands::period::to_the_second;
use crate::output;
use crate::settings::DatabaseArgs;

/// Most lenses that are listed.
const LISTED: u32 = 1_000;

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

/// A lens in the list, as a JSON line.
#[derive(Serialize)]
struct ListedLens<'a> {
    revision: i32,
    mode: &'static str,
    columns: Option<usize>,
    at: Option<String>,
    by: Option<&'a str>,
    note: Option<String>,
}

impl LensHistoryCommand {
    /// Runs `refract lens history`.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<()> {
        let (refract, prism) = self.account.open_prism(database, &self.prism).await?;
        let (lenses, selector) = (refract.lenses(), prism.selector());
        let history = lenses.history(prism.account, &selector, LISTED).await?;
        let rows: Vec<_> = history.states.iter().map(listed).collect();
        let headers = ["revision", "mode", "columns", "at", "by", "note"];
        output::list(self.json, &headers, &rows, |lens| {
            vec![
                lens.revision.to_string(),
                lens.mode.to_owned(),
                lens.columns
                    .map(|columns| columns.to_string())
                    .unwrap_or_default(),
                lens.at.clone().unwrap_or_default(),
                lens.by.unwrap_or_default().to_owned(),
                lens.note.clone().unwrap_or_default(),
            ]
        })
    }
}

fn listed(state: &LensState) -> ListedLens<'_> {
    let (mode, columns) = match &state.lens {
        Lens::Automatic => ("automatic", None),
        Lens::Custom(columns) => ("custom", Some(columns.len())),
    };
    let saved = state.saved.as_ref();
    ListedLens {
        revision: state.revision,
        mode,
        columns,
        at: saved.map(|saved| to_the_second(saved.made_at)),
        by: saved.map(|saved| saved.actor.as_ref().map_or("operator", ActorName::as_str)),
        note: saved.and_then(|saved| Some(saved.note.as_ref()?.to_string())),
    }
}

/// Parses the number of a revision.
pub(super) fn revision(text: &str) -> anyhow::Result<i32> {
    let number = text.parse().ok().filter(|number| *number >= 0);
    number.context("expected a number, as `refract lens history` lists them")
}
