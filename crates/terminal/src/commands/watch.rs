//! `refract watch`: what changed in a prism's answers over time, and requirements on it.

mod arguments;
mod watch_json;
mod watch_text;

use std::process::ExitCode;

use anyhow::Context as _;
use chrono::{TimeDelta, Utc};
use clap::Args;
use refract_evaluation::drift::requirement::{DriftRequirement, RequiredFigures};
use refract_service::measures::{PrismWatch, WatchAgainst, WatchScope};
use refract_service::prisms::PrismHistory;

use super::context::AccountArg;
use super::prism_history;
use super::requirement_finding::{self, RequirementFinding};
use crate::output;
use crate::settings::DatabaseArgs;

/// The arguments of `refract watch`.
#[derive(Args)]
pub struct WatchCommand {
    /// Slug or id
    prism: String,

    /// The time up to now, such as 24h or 7d [default: a day, or up to 7 days until there are 500
    /// results]
    #[arg(long, value_name = "D", value_parser = arguments::time)]
    window: Option<TimeDelta>,

    /// What to compare it with: the time before it, such as 28d, or `marks` for the results that are
    /// marked as a fair sample
    #[arg(long, value_name = "D", default_value = "28d", value_parser = arguments::against)]
    against: WatchAgainst,

    /// What has to hold, such as `topic.alarm<1`; may be given several times
    #[arg(long = "require", value_name = "EXPR", value_parser = DriftRequirement::parse)]
    requirements: Vec<DriftRequirement>,

    /// JSON lines: each question's drift, then each requirement
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    account: AccountArg,
}

impl WatchCommand {
    /// Runs `refract watch`. The exit status is 1 when a requirement fails.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<ExitCode> {
        let (refract, prism) = self.account.open_prism(database, &self.prism).await?;
        let history = refract.prisms().with_versions(prism.id).await?;
        self.check_questions(&history)?;
        let scope = WatchScope {
            window: self.window,
            against: self.against,
        };
        let measures = refract.measures();
        let watch = measures.watch(&history, scope, Utc::now()).await?;
        let findings = self.findings(&watch)?;
        if self.json {
            watch_json::print(&watch)?;
            requirement_finding::print_json(&findings)?;
        } else {
            let checks = measures.check_cutoffs(&history).await?;
            output::text(&watch_text::render(&watch, &checks))?;
            output::text(&requirement_finding::render(&findings))?;
        }
        Ok(match requirement_finding::failed(&findings) {
            None => ExitCode::SUCCESS,
            Some(failed) => output::fail_with(&format!("error: {failed}")),
        })
    }

    /// Refuses a requirement on a question that the latest version lacks.
    fn check_questions(&self, history: &PrismHistory) -> anyhow::Result<()> {
        for requirement in &self.requirements {
            let key = requirement.question().as_str();
            let question = prism_history::question(history, key).context("--require")?;
            let latest = history.versions.last();
            let asked = latest.and_then(|latest| latest.question(&question.key));
            asked
                .with_context(|| format!("--require: the latest version has no question {key}"))?;
        }
        Ok(())
    }

    /// Checks each requirement, in the order of the command line.
    fn findings(&self, watch: &PrismWatch) -> anyhow::Result<Vec<RequirementFinding>> {
        let new_models = u64::try_from(watch.new_models().count())?;
        let finding = |requirement: &DriftRequirement| {
            let mut questions = watch.questions.iter();
            let watched = questions.find(|it| it.question.key == *requirement.question());
            let watched = watched.context("a question that is required was not watched")?;
            let figures = RequiredFigures {
                drift: &watched.drift.window,
                is_alarm: watched.alarm.is_some(),
                new_models,
            };
            let checked = requirement.check(&figures);
            let checked = checked.map_err(|error| anyhow::anyhow!("--require: {error}"))?;
            Ok(RequirementFinding {
                requirement: requirement.to_string(),
                value: checked.value,
                holds: checked.holds,
            })
        };
        self.requirements.iter().map(finding).collect()
    }
}
