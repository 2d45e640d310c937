//! `refract lens cutoffs`: the stored probabilities of a column, and the label counts at each
//! cutoff.

use std::fmt::Write as _;

use anyhow::{Context as _, bail};
use clap::Args;
use indicatif::HumanCount;
use refract_domain::lens::{Column, Cutoff, Cutoffs, YesNoLabel};
use refract_domain::prism::QuestionType;
use refract_evaluation::counting::{CutoffStep, CutoffSteps};

use super::super::context::AccountArg;
use super::preview::share;
use crate::output::{self, plain_number, value};
use crate::settings::DatabaseArgs;
use crate::suggestion;
use crate::terminal::{self, Palette, Progress, counted as counted_of};

/// Terminal columns of the longest bar.
const BAR: usize = 14;

/// Arguments of `refract lens cutoffs`.
#[derive(Args)]
pub struct CutoffsCommand {
    /// Slug or id
    prism: String,

    /// A column of its lens
    column: String,

    /// The percent between two lines
    #[arg(long, value_name = "PERCENT", default_value = "1", value_parser = step)]
    step: u8,

    /// One JSON object instead of a histogram
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    account: AccountArg,
}

impl CutoffsCommand {
    /// Runs `refract lens cutoffs`: counts the stored probabilities and prints a histogram.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<()> {
        let (refract, prism) = self.account.open_prism(database, &self.prism).await?;
        let lens = refract.lenses().of(prism).await?;
        let steps = self.steps(lens.columns().lens)?;
        let question = lens.latest.question(steps.question());
        let question = question.map(|question| question.text.clone());
        let progress = Progress::begin("results", None);
        let show = |read| progress.show(read, "");
        let counted = refract.lenses().cutoffs(&lens, steps, show).await;
        progress.end();
        let counted = counted?;
        let steps = counted.steps(usize::from(self.step));
        if self.json {
            return self.print_json(&counted, &steps);
        }
        let words = self.render(&counted, &steps, &question.unwrap_or_default())?;
        output::text(&words)
    }

    /// An empty histogram for the named column.
    fn steps(&self, lens: &[Column]) -> anyhow::Result<CutoffSteps> {
        let name = &self.column;
        let found = lens.iter().find(|column| column.name.as_str() == name);
        let Some(column) = found else {
            let names = lens.iter().map(|column| column.name.as_str());
            let proposal = suggestion::did_you_mean_or_list(name, names);
            bail!(
                "the lens has no column '{}'{proposal}",
                terminal::plain(name)
            );
        };
        Ok(CutoffSteps::of(column))
    }

    fn render(
        &self,
        counted: &CutoffSteps,
        steps: &[CutoffStep],
        question: &str,
    ) -> anyhow::Result<String> {
        let palette = Palette::of_stdout();
        let results = counted.results();
        let mut words = format!(
            "{} ({}): {}\n{}",
            palette.heading.apply_to(&self.column),
            counted.question(),
            terminal::plain(question),
            counted_of(results, "answered result")
        );
        if let Some((cutoffs, labels)) = counted.now() {
            let part = |count| {
                format!(
                    "{} ({:.1} %)",
                    HumanCount(count),
                    100.0 * share(count, results)
                )
            };
            let (yes, unsure, no) = (part(labels.yes), part(labels.unsure), part(labels.no));
            let (no_below, yes_from) = limits(cutoffs);
            write!(
                words,
                "; no below {no_below}, yes from {yes_from}: Yes {yes}, Unsure {unsure}, No {no}"
            )?;
        }
        words.push_str(".\n\n");
        let [below, from] = match counted.question_type() {
            QuestionType::YesNo => ["NO BELOW", "YES FROM"],
            QuestionType::Choice | QuestionType::Scale => ["BELOW", "FROM"],
        };
        let header = format!(
            "{:>7}  {:BAR$}  {:>9}  {below:>17}  {from:>17}",
            "CUTOFF", "PROBABILITIES", "RESULTS"
        );
        writeln!(words, "{}", palette.faint.apply_to(header))?;
        let most = steps.iter().map(|step| step.results).max().unwrap_or(0);
        for step in steps {
            let part = |count| {
                format!(
                    "{} {:>5.1} %",
                    HumanCount(count),
                    100.0 * share(count, results)
                )
            };
            let line = format!(
                "{:>5} %  {}  {:>9}  {:>17}  {:>17}",
                step.percent,
                terminal::bar(share(step.results, most), &[], BAR),
                HumanCount(step.results).to_string(),
                part(step.no),
                part(step.yes),
            );
            match self.beginning(step.percent, counted.now().map(|(cutoffs, _)| cutoffs)) {
                Some(label) => {
                    let mark = palette.chosen.apply_to(format!("< {}", label.label()));
                    writeln!(words, "{line}  {mark}")?;
                }
                None => writeln!(words, "{line}")?,
            }
        }
        Ok(words)
    }

    /// The label whose range starts within the step at this percent, under the column's current
    /// cutoffs.
    fn beginning(&self, percent: u32, cutoffs: Option<Cutoffs>) -> Option<YesNoLabel> {
        let (no_below, yes_from) = limits(cutoffs?);
        let from = f64::from(percent) / 100.0;
        let to = f64::from(percent + u32::from(self.step)) / 100.0;
        let is_here = |cutoff: f64| from <= cutoff && cutoff < to;
        if is_here(yes_from) {
            Some(YesNoLabel::Yes)
        } else if is_here(no_below) {
            Some(YesNoLabel::Unsure)
        } else {
            None
        }
    }

    fn print_json(&self, counted: &CutoffSteps, steps: &[CutoffStep]) -> anyhow::Result<()> {
        let now = counted.now();
        let cutoffs = now.map(|(cutoffs, _)| cutoffs);
        let plain = |cutoff: Cutoff| plain_number(cutoff.value());
        let no_below = cutoffs.and_then(Cutoffs::no_below).map(plain);
        let yes_from = cutoffs.and_then(Cutoffs::yes_from).map(plain);
        output::object(&[
            ("column", value(&self.column)),
            ("question", value(counted.question())),
            ("results", value(&counted.results())),
            ("no_below", value(&no_below)),
            ("yes_from", value(&yes_from)),
            // null for a column of probabilities
            ("now", value(&now.map(|(_, labels)| labels))),
            ("steps", value(&steps)),
        ])
    }
}

/// Parses a number of percent.
fn step(text: &str) -> anyhow::Result<u8> {
    let step = text.parse().ok().filter(|step| (1..=50).contains(step));
    step.context("expected whole percents from 1 to 50")
}

/// The two cutoffs: the label is no below the first, and yes from the second on.
fn limits(cutoffs: Cutoffs) -> (f64, f64) {
    let no_below = cutoffs.no_ends_at().value();
    (no_below, cutoffs.yes_from().map_or(no_below, Cutoff::value))
}
