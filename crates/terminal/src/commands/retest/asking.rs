//! The arguments that say what a retest asks: the texts, the version and the model.

use std::num::{NonZeroU16, NonZeroUsize};
use std::sync::Arc;

use anyhow::ensure;
use chrono::{DateTime, Utc};
use clap::Args;
use refract_domain::prism::{PrismVersion, VersionNumber};
use refract_service::Refract;
use refract_service::measures::DrawnFrom;
use refract_service::prisms::Prism;
use refract_service::runs::AskingPace;

use crate::arguments;
use crate::commands::files::InputPath;
use crate::commands::selection;
use crate::settings::ModelArgs;

/// What a retest asks, and how fast.
#[derive(Args)]
pub(super) struct RetestAskingArgs {
    /// The most texts, drawn at random from the answered results, the same ones each time
    #[arg(long, value_name = "N", default_value = "500", value_parser = sample)]
    pub(super) sample: NonZeroU16,

    /// Only texts with a mark that counts (--marks): it says which of two answers is right
    #[arg(long)]
    pub(super) marked: bool,

    /// Only texts of results saved at this time or later: a date or an RFC 3339 time
    #[arg(long, value_name = "TIME", value_parser = selection::moment)]
    pub(super) since: Option<DateTime<Utc>>,

    /// The version that is asked [default: the version that answered each text]
    #[arg(long, value_name = "N", value_parser = arguments::version, conflicts_with = "prism_file")]
    pub(super) version: Option<VersionNumber>,

    /// A prism file to ask as if it were saved as the next version; `-` is stdin
    #[arg(long, value_name = "FILE")]
    pub(super) prism_file: Option<InputPath>,

    /// Calls to the model at once
    #[arg(long, value_name = "N", default_value = "32", value_parser = arguments::from_1::<NonZeroUsize>)]
    concurrency: NonZeroUsize,

    /// Goes on however often the model fails [default: stops after 50 failures in a row plus --concurrency]
    #[arg(long)]
    keep_going: bool,

    #[command(flatten)]
    pub(super) model: ModelArgs,
}

/// The most texts of a retest: their flip rate is known to one percent, and all of them are in
/// memory.
const MOST: u16 = 10_000;

fn sample(text: &str) -> Result<NonZeroU16, String> {
    let number: NonZeroU16 = arguments::from_1(text)?;
    if number.get() > MOST {
        return Err(format!("expected a whole number from 1 to {MOST}"));
    }
    Ok(number)
}

impl RetestAskingArgs {
    /// The version that is asked; `None` for the version that answered each text.
    pub(super) async fn version(
        &self,
        refract: &Refract,
        prism: &Prism,
    ) -> anyhow::Result<Option<Arc<PrismVersion>>> {
        let prisms = refract.prisms();
        if let Some(number) = self.version {
            let latest = prism.latest_version;
            ensure!(
                number <= latest,
                "the prism has no version {number}: its latest is {latest}"
            );
            return Ok(Some(prisms.find_version(prism, number).await?));
        }
        let Some(file) = &self.prism_file else {
            return Ok(None);
        };
        let (selector, file) = (prism.selector(), file.read()?);
        let draft = prisms.draft(prism.account, &selector, &file).await?;
        Ok(Some(Arc::new(draft.file.version)))
    }

    /// Which results the texts are drawn from.
    pub(super) fn drawn_from(&self) -> DrawnFrom {
        if self.marked {
            DrawnFrom::Marked
        } else {
            DrawnFrom::Answered
        }
    }

    /// The version in words: `version 3`, or `the version that answered before`.
    pub(super) fn describe_version(&self) -> String {
        match (self.version, &self.prism_file) {
            (Some(number), _) => format!("version {number}"),
            (None, Some(file)) => format!("the version in {file}"),
            (None, None) => "the version that answered before".to_owned(),
        }
    }

    /// The number of texts in flight, at most what the model's settings allow, and when to stop.
    pub(super) fn pace(&self, allowed: usize) -> AskingPace {
        let concurrency = self.concurrency.get().min(allowed);
        AskingPace {
            concurrency: NonZeroUsize::new(concurrency).unwrap_or(NonZeroUsize::MIN),
            gives_up: !self.keep_going,
        }
    }
}
