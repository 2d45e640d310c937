//! `refract watch`: what changed in a prism's answers over time, and requirements on it.

mod watch_text;

use std::process::ExitCode;

use anyhow::Context as _;
use chrono::{TimeDelta, Utc};
use clap::Args;
use refract_evaluation::drift::{DriftRequirement, OutcomeShare, RequiredFigures};
use refract_service::measures::{ComparedPeriod, Occurrence, PrismWatch, WatchAgainst, WatchScope};
use refract_service::prisms::PrismHistory;
use serde_json::value::RawValue;

use super::context::{self, AccountArg};
use super::requirement_finding::{self, RequirementFinding};
use crate::commands::selection;
use crate::output::{self, NamedMembers, value};
use crate::settings::DatabaseArgs;

/// The longest window.
const LONGEST: TimeDelta = TimeDelta::days(400);
const EXPECTED: &str = "expected whole hours, days or weeks, such as 24h, 7d or 4w, up to 400d";

/// The arguments of `refract watch`.
#[derive(Args)]
pub struct WatchCommand {
    /// Slug or id
    prism: String,

    /// The time up to now, such as 24h or 7d [default: a day, or up to 7 days until there are 500
    /// results]
    #[arg(long, value_name = "D", value_parser = time)]
    window: Option<TimeDelta>,

    /// What to compare it with: the time before it, such as 28d, or `marks` for the results that are
    /// marked as a fair sample
    #[arg(long, value_name = "D", default_value = "28d", value_parser = against)]
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
            print(&watch)?;
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
            let question = context::question(history, key).context("--require")?;
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

/// Parses a time such as `24h`, `7d` or `4w`.
///
/// # Errors
/// Another form, zero, or more than 400 days.
fn time(text: &str) -> Result<TimeDelta, String> {
    let hours = [("h", 1), ("d", 24), ("w", 7 * 24)];
    let read = hours.into_iter().find_map(|(unit, hours)| {
        let number: i64 = text.strip_suffix(unit)?.parse().ok()?;
        TimeDelta::try_hours(number.checked_mul(hours)?)
    });
    let is_valid = |time: &TimeDelta| *time > TimeDelta::zero() && *time <= LONGEST;
    read.filter(is_valid).ok_or_else(|| EXPECTED.to_owned())
}

/// Parses what a window is compared with: the time before it, or `marks`.
///
/// # Errors
/// Neither.
fn against(text: &str) -> Result<WatchAgainst, String> {
    if text == "marks" {
        return Ok(WatchAgainst::Marks);
    }
    let before = time(text).map_err(|expected| format!("{expected}, or marks"))?;
    Ok(WatchAgainst::Before(before))
}

/// Prints a line for each question; undefined figures are null.
fn print(watch: &PrismWatch) -> anyhow::Result<()> {
    let models: Vec<_> = watch.models.iter().map(model).collect();
    let mut questions = watch.questions.iter();
    questions.try_for_each(|watched| {
        let drift = &watched.drift.window;
        let shares: Vec<_> = drift.shares.iter().map(share).collect();
        output::object(&[
            ("question", value(&watched.question.key)),
            ("window", period(watch.window, drift.now)),
            ("against", period(watch.before, drift.before)),
            ("shares", value(&shares)),
            ("psi", value(&drift.probabilities.map(|it| it.psi))),
            ("js", value(&drift.probabilities.map(|it| it.js))),
            ("alarm", value(&watched.alarm.is_some())),
            ("models", value(&models)),
        ])
    })
}

fn period(period: ComparedPeriod, results: u64) -> Box<RawValue> {
    value(&NamedMembers(&[
        ("from", value(&selection::to_the_second(period.from))),
        ("to", value(&selection::to_the_second(period.to))),
        ("results", value(&results)),
    ]))
}

fn share(share: &OutcomeShare) -> Box<RawValue> {
    let change = share.change;
    let interval = change.interval();
    value(&NamedMembers(&[
        ("outcome", value(&share.outcome)),
        ("now", value(&change.now.value())),
        ("before", value(&change.before.value())),
        ("difference", value(&change.difference())),
        ("low", value(&interval.map(|it| it.low))),
        ("high", value(&interval.map(|it| it.high))),
    ]))
}

/// A model that answered, since its first answer in the window; null if it has none.
fn model(model: &Occurrence<Option<String>>) -> Box<RawValue> {
    value(&NamedMembers(&[
        ("name", value(&model.value)),
        ("now", value(&model.now)),
        ("before", value(&model.before)),
        ("since", value(&model.since.map(selection::to_the_second))),
    ]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_unit_and_a_bound() {
        assert_eq!(time("24h"), Ok(TimeDelta::days(1)));
        assert_eq!(time("7d"), Ok(TimeDelta::days(7)));
        assert_eq!(time("4w"), Ok(TimeDelta::days(28)));
        assert_eq!(time("400d"), Ok(LONGEST));
        for wrong in [
            "",
            "7",
            "h",
            "0h",
            "-1d",
            "1.5d",
            "401d",
            "7 d",
            "7m",
            "9999999999999999w",
        ] {
            assert_eq!(time(wrong), Err(EXPECTED.to_owned()), "{wrong}");
        }
        assert_eq!(against("marks"), Ok(WatchAgainst::Marks));
        assert!(against("mark").unwrap_err().ends_with("or marks"));
    }
}
