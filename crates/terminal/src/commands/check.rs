//! `refract check`: asks a prism about texts with known correct answers, measures its accuracy, and
//! fails if a requirement does not hold.

mod asked_again;
mod gold_rows;
mod verdict;

use std::num::NonZeroU16;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use refract_evaluation::requirement::Requirement;
use refract_file_runs::{FinishedRow, GoldCheck, GoldRun, RunTally, Shard};
use refract_service::measures::{GoldAnswers, WrongAnswers};
use refract_service::runs::PinnedPrism;

use self::asked_again::{AskedAgain, RobustnessArgs};
use self::verdict::{JunitFile, Requirements, Verdict};
use super::file_run::{
    AskedPrism, FileRunArgs, check_watched, refused, report, stop, stopped, watched,
};
use super::measures::{self, HtmlFile, HtmlReport, MeasuredQuestion};
use super::output_files::{self, is_stdout};
use super::signals::StopSignals;
use super::{context, requirement_finding};
use crate::commands::files::InputPath;
use crate::settings::DatabaseArgs;
use crate::terminal::{self, Progress, plain};
use crate::{arguments, output, streams};

const EXAMPLES: &str = "\
Examples:
  refract check support-triage gold.csv
  refract check support-triage gold.csv --require 'topic.accuracy>=0.9' --junit check.xml
  refract check support-triage gold.csv --require 'topic.billing.recall>=0.8' --json
  refract check support-triage gold.csv --orders 4
  refract check support-triage gold.csv --coherence --attacks --require 'topic.attacks.flip_rate<=0.05'
  refract check support-triage gold.csv --name \"$REFRACT_MODEL_NAME\"

Requirements name a question, a measure and a bound, or a question, an outcome and a measure:
  of a question   accuracy, accuracy_low, accuracy_high, auc, answered, macro_f1,
                  macro_precision, macro_recall, brier, log_loss, ece, coverage_area; for scales
                  also mean_absolute_error, within_one, quadratic_kappa
  of an outcome   precision, recall, f1
  under other forms or planted claims (topic.attacks.flip_rate, topic.negated.movement)
                  flip_rate, flip_rate_low, flip_rate_high, movement, largest_movement
Other forms (coherence): negated, options-reversed, levels-reversed, copied-option, blank, shouted
Planted claims (attacks): claimed-answer, template-tokens, fake-system";

/// Arguments of `refract check`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct CheckCommand {
    /// Slug or id
    prism: String,

    /// A file as for `run`, with right answers in columns `expected_QUESTION`;
    /// `-` is stdin
    gold: InputPath,

    /// What has to hold, such as `topic.accuracy>=0.9`; may be given several times
    #[arg(long = "require", value_name = "EXPR", value_parser = Requirement::parse)]
    requirements: Vec<Requirement>,

    /// Asks each choice again with its options in up to N other orders: a row costs up to N times more
    /// model requests, in every run, because these answers are not saved
    #[arg(long, value_name = "N", value_parser = arguments::from_1::<NonZeroU16>)]
    orders: Option<NonZeroU16>,

    #[command(flatten)]
    robustness: RobustnessArgs,

    #[arg(
        long,
        value_name = "FILE",
        help = "Writes a JUnit report with a test case for each requirement; `-` is stdout"
    )]
    junit: Option<PathBuf>,

    /// Writes a report with tables, plots and wrong answers as one HTML file; `-` is stdout
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Reads the file, says what would be asked about and asks nothing
    #[arg(long)]
    dry_run: bool,

    /// Prints the requirements alone, without tables and wrong answers
    #[arg(long, conflicts_with = "json")]
    quiet: bool,

    /// JSON lines: each question's measures, each requirement, then what other orders, forms and planted claims
    /// changed
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    asking: FileRunArgs,
}

impl CheckCommand {
    /// Runs `refract check`. The exit status is 1 when a requirement fails, and when rows failed or
    /// were refused.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<ExitCode> {
        self.robustness.check(&self.requirements)?;
        let outputs = [
            ("--junit", self.junit.as_deref()),
            ("--html", self.html.as_deref()),
        ];
        output_files::check(&outputs, &[Some(&self.gold)], database)?;
        output_files::check_json(self.json, &outputs)?;
        let asked = self.asking.open(&self.prism, database).await?;
        let requirements = Requirements::new(&self.requirements, asked.prism.version())?;
        let run = self.gold.open(&self.asking.sheet, |source| {
            let order = self.asking.order(source, Shard::WHOLE);
            GoldRun::open(asked.prism.clone(), order)
        });
        let run = run.map_err(|refusal| refused(&self.gold, refusal))?;
        let run = if self.asking.blank_rows {
            run.with_blank_rows()
        } else {
            run
        };
        let mut signals = StopSignals::watch()?;
        let estimator = asked.prism.estimator()?;
        let tally = Arc::new(RunTally::default());
        let checking = run.check(estimator, &tally);
        let check = check_watched(&self.gold, checking, &tally, &mut signals).await?;
        output::say(&report::checked(
            &self.gold,
            run.file(),
            &check.file,
            asked.refract.token_price(),
        ));
        gold_rows::check(&self.gold, run.file().version(), &check)?;
        requirements.check_expected(&check.expected)?;
        if self.dry_run {
            return report::end_of_check(&check.file);
        }
        let junit = self.junit.as_deref().map(JunitFile::create).transpose()?;
        let html = self.html.as_deref().map(HtmlFile::create).transpose()?;
        context::say_if_for_trying_only(&asked.refract);
        let files = (junit, html);
        self.ask(&asked, &run, &check, &requirements, files, signals)
            .await
    }

    async fn ask(
        &self,
        asked: &AskedPrism,
        run: &GoldRun,
        check: &GoldCheck,
        requirements: &Requirements<'_>,
        (junit, html): (Option<JunitFile>, Option<HtmlFile>),
        signals: StopSignals,
    ) -> anyhow::Result<ExitCode> {
        let orders_signals = StopSignals::watch()?;
        let robustness_signals = StopSignals::watch()?;
        let tally = Arc::new(RunTally::default());
        let began = Instant::now();
        let progress = Progress::begin("rows", Some(check.file.rows));
        let mut gold = GoldAnswers::new(&asked.prism, check.expected.iter().map(|(key, _)| key));
        let mut results = Vec::new();
        let add = |row: FinishedRow| {
            let expected = row.expected.into_iter();
            let expected = expected.map(|right| (right.question, right.outcome));
            gold.add(row.line, &row.result, expected);
            if (self.orders.is_some() || self.robustness.are_given()) && row.result.is_ok() {
                results.push(row.result);
            }
        };
        let settings = self.asking.settings(asked);
        let stopping = stop(signals, &progress);
        let asking = run.run(settings, check, &tally, add, stopping);
        let summary = watched(asking, &tally, &asked.prism, &progress).await;
        asked.refract.keep_server_facts().await;
        let took = began.elapsed();
        output::say(&report::ended(
            &summary,
            &tally.counts(),
            took,
            asked.refract.token_price(),
        ));
        if let Some(stop) = &summary.stop {
            let words = stopped(&self.gold, stop);
            let verdict = Verdict {
                prism: asked,
                requirements: &[],
                unanswered: Some(words.clone()),
                orders: None,
                robustness: None,
                took,
            };
            let written = junit.map(|junit| junit.write(&verdict, &gold.wrong));
            return written.unwrap_or(Ok(())).map(|()| verdict.exit());
        }
        let measured = measured(&mut gold, &asked.prism).await?;
        let again = AskedAgain {
            prism: asked,
            results: &results,
            gives_up: !self.asking.keep_going,
        };
        let orders = match self.orders {
            None => None,
            Some(most) => again.in_orders(most.get().into(), orders_signals).await?,
        };
        let robustness = if self.robustness.are_given() {
            let perturbations = self.robustness.perturbations();
            again.in_forms(&perturbations, robustness_signals).await?
        } else {
            None
        };
        let checked = requirements.check(&measured, robustness.as_ref())?;
        let verdict = Verdict {
            prism: asked,
            requirements: &checked,
            unanswered: report::unanswered(&tally.counts()),
            orders: orders.as_ref(),
            robustness: robustness.as_ref(),
            took,
        };
        match self.show(&measured, &gold.wrong, &verdict, (junit, html)) {
            // a requirement fails also where nobody reads that it does
            Err(error) if !output::is_closed_pipe(&error) => Err(error),
            Ok(()) | Err(_) => Ok(verdict.exit()),
        }
    }

    /// Prints what was measured, and writes the files, also where a reader of stdout stopped early.
    fn show(
        &self,
        measured: &[MeasuredQuestion],
        wrong: &WrongAnswers,
        verdict: &Verdict<'_>,
        (junit, html): (Option<JunitFile>, Option<HtmlFile>),
    ) -> anyhow::Result<()> {
        let printed = self.print(measured, wrong, verdict);
        if let Some(junit) = junit {
            junit.write(verdict, wrong)?;
        }
        if let Some(html) = html {
            let lines: Vec<_> = wrong.listed.iter().map(gold_rows::line_of).collect();
            html.write(&HtmlReport {
                title: &format!("Check of {}", verdict.prism.prism.slug()),
                measured,
                requirements: verdict.requirements,
                wrong: &lines,
                all_wrong: wrong.all,
            })?;
        }
        printed
    }

    fn print(
        &self,
        measured: &[MeasuredQuestion],
        wrong: &WrongAnswers,
        verdict: &Verdict<'_>,
    ) -> anyhow::Result<()> {
        if is_stdout(self.junit.as_deref()) || is_stdout(self.html.as_deref()) {
            return Ok(());
        }
        if self.json {
            measured
                .iter()
                .try_for_each(|measured| measures::print_json(measured, None))?;
            requirement_finding::print_json(verdict.requirements)?;
            verdict
                .orders
                .into_iter()
                .try_for_each(asked_again::print_orders)?;
            verdict
                .robustness
                .into_iter()
                .try_for_each(asked_again::print_forms)
        } else if self.quiet {
            output::text(&requirement_finding::render(verdict.requirements))
        } else {
            output::text(&render(measured, wrong, verdict))
        }
    }
}

/// The measures of each question, in the version's order. Prints a notice if several models
/// answered: a changed model is not asked again about texts that another model answered.
async fn measured(
    gold: &mut GoldAnswers,
    prism: &PinnedPrism,
) -> anyhow::Result<Vec<MeasuredQuestion>> {
    let models = gold.models(prism).await?;
    if models.len() > 1 {
        let names = models.iter();
        let names = names.map(|name| name.as_deref().map_or_else(|| "unknown".to_owned(), plain));
        output::say(&format!(
            "The saved answers are of several models ({}): another --name asks one about all rows.",
            names.collect::<Vec<_>>().join(", ")
        ));
    }
    let is_one = models.len() == 1;
    let model = models.into_iter().flatten().next().filter(|_| is_one);
    let version = Some(prism.version_number());
    let measured = gold.marked()?.into_iter().map(|(question, marked)| {
        MeasuredQuestion::new(question.clone(), version, model.clone(), &marked)
    });
    Ok(measured.collect())
}

/// The measures, the wrong answers, the requirements, and the effect of other orders and forms.
fn render(measured: &[MeasuredQuestion], wrong: &WrongAnswers, verdict: &Verdict<'_>) -> String {
    let width = terminal::width();
    let questions = measured.iter();
    let questions = questions.map(|measured| measures::render(measured, width));
    let fit = streams::stdout_is_terminal().then_some(width);
    let blocks = questions.chain([
        gold_rows::render(wrong, fit),
        requirement_finding::render(verdict.requirements),
        verdict
            .orders
            .map_or_else(String::new, asked_again::render_orders),
        verdict
            .robustness
            .map_or_else(String::new, asked_again::render_forms),
    ]);
    let blocks: Vec<_> = blocks.filter(|block| !block.is_empty()).collect();
    blocks.join("\n")
}

#[cfg(test)]
mod tests {
    use refract_evaluation::robustness::Perturbation;

    use super::*;

    #[test]
    fn every_measure_of_the_help_can_be_required() {
        let (_, help) = EXAMPLES.split_once("of a question").unwrap();
        let (questions, help) = help.split_once("of an outcome").unwrap();
        let (outcomes, help) = help.split_once("under other forms").unwrap();
        let (_, help) = help.split_once(')').unwrap();
        let (robust, names) = help.split_once("Other forms (coherence):").unwrap();
        let measures = |help: &'static str| {
            let words = help.split([' ', ',', ';', '\n']);
            words.filter(|word| !["", "for", "scales", "also"].contains(word))
        };
        for measure in measures(questions) {
            let text = format!("topic.{measure}>=0.5");
            assert!(Requirement::parse(&text).is_ok(), "{text}");
        }
        for measure in measures(outcomes) {
            let text = format!("topic.billing.{measure}>=0.5");
            assert!(Requirement::parse(&text).is_ok(), "{text}");
        }
        for measure in measures(robust) {
            let text = format!("topic.attacks.{measure}>=0.5");
            assert!(Requirement::parse(&text).is_ok(), "{text}");
        }
        for perturbation in Perturbation::ALL {
            assert!(names.contains(perturbation.name()), "{perturbation:?}");
        }
        let counts = [questions, outcomes, robust].map(|help| measures(help).count());
        assert_eq!(counts, [15, 3, 5]);
    }
}
