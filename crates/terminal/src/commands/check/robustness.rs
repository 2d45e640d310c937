//! The effect of perturbations: asks the model again, and prints how far the answers move.

use std::fmt::Write as _;

use anyhow::{Context as _, ensure};
use clap::Args;
use indicatif::HumanCount;
use refract_domain::key::QuestionKey;
use refract_evaluation::answer_sensitivity::SensitivityMeasures;
use refract_evaluation::measures::figures::{number, range};
use refract_evaluation::requirement::Requirement;
use refract_evaluation::robustness::{Perturbation, PerturbationKind, PerturbedBy};
use refract_service::measures::{PerturbedForms, PerturbedQuestion, RobustnessReport};
use refract_service::results::ReadableResult;
use refract_service::runs::AskingPace;
use serde::Serialize;

use super::super::file_run::{AskedPrism, report};
use super::super::signals::StopSignals;
use crate::output;
use crate::terminal::{Palette, Progress, counted, widened};

/// The name of the row for texts that are asked about twice in one form.
const NOISE: &str = "asked twice";
/// Terminal columns of the name of a perturbation.
const NAME: usize = 16;

/// The arguments that ask again under perturbations.
#[derive(Args)]
pub(super) struct RobustnessArgs {
    /// Asks again with the questions and texts in other forms of the same meaning, and once more
    /// unchanged: a row costs up to 7 times more model requests, in every run, because these answers
    /// are not saved
    #[arg(long)]
    coherence: bool,

    /// Asks again with claims of other answers planted in the texts, and once more unchanged: up to 4
    /// times more model requests, in every run
    #[arg(long)]
    attacks: bool,

    /// Leaves out one perturbation; may be given several times
    #[arg(long, value_name = "NAME", value_parser = named)]
    without: Vec<Perturbation>,
}

#[derive(Serialize)]
struct RobustnessJson<'a> {
    question: &'a QuestionKey,
    perturbation: &'static str,
    kind: &'static str,
    comparisons: u64,
    flip_rate: Option<f64>,
    flip_rate_low: Option<f64>,
    flip_rate_high: Option<f64>,
    movement: Option<f64>,
    largest_movement: Option<f64>,
    noise_flip_rate: Option<f64>,
    noise_movement: Option<f64>,
}

impl RobustnessArgs {
    /// Whether the model is asked under any perturbation.
    pub(super) fn are_given(&self) -> bool {
        self.coherence || self.attacks
    }

    /// Refuses `--without` a perturbation that is not asked anyway, and requirements of answers that
    /// are not asked for.
    pub(super) fn check(&self, requirements: &[Requirement]) -> anyhow::Result<()> {
        for perturbation in &self.without {
            let kind = flag(perturbation.kind());
            ensure!(
                self.asks(perturbation.kind()),
                "--without {}: it is asked with {kind} only",
                perturbation.name()
            );
        }
        for requirement in requirements {
            let Some(perturbed_by) = requirement.perturbed_by() else {
                continue;
            };
            let kind = match perturbed_by {
                PerturbedBy::Kind(kind) => kind,
                PerturbedBy::One(perturbation) => perturbation.kind(),
            };
            let flag = flag(kind);
            ensure!(
                self.asks(kind),
                "--require: {requirement} is measured with {flag} only"
            );
            let asked = self.perturbations();
            ensure!(
                asked.iter().any(|asked| perturbed_by.contains(*asked)),
                "--require: {requirement} is not measured, since --without leaves it out"
            );
        }
        Ok(())
    }

    fn asks(&self, kind: PerturbationKind) -> bool {
        match kind {
            PerturbationKind::Coherence => self.coherence,
            PerturbationKind::Attack => self.attacks,
        }
    }

    fn perturbations(&self) -> Vec<Perturbation> {
        let all = Perturbation::ALL.into_iter();
        let asked = all.filter(|it| self.asks(it.kind()) && !self.without.contains(it));
        asked.collect()
    }

    /// Asks about the results' texts under each perturbation; `None` if none concerns a question of
    /// the prism.
    pub(super) async fn ask(
        &self,
        asked: &AskedPrism,
        gives_up: bool,
        results: &[ReadableResult],
        mut signals: StopSignals,
    ) -> anyhow::Result<Option<RobustnessReport>> {
        let forms = PerturbedForms::new(asked.prism.version(), &self.perturbations());
        if forms.is_empty() {
            output::say("no perturbation is left that concerns a question of the prism");
            return Ok(None);
        }
        let measures = asked.refract.measures();
        let cost = measures.robustness_cost(&forms, results)?;
        output::say(&format!(
            "asking about {} again in {}{}; nothing of it is saved",
            report::rows(widened(results.len())),
            counted(widened(forms.len()), "form"),
            report::cost(
                widened(cost.tokens),
                widened(cost.requests),
                asked.refract.token_price()
            )
        ));
        let pace = AskingPace {
            concurrency: asked.concurrency,
            gives_up,
        };
        let total = forms.len().saturating_mul(results.len());
        let progress = Progress::begin("texts in other forms", u64::try_from(total).ok());
        let show = |report: &RobustnessReport| {
            let failures = report.asked.failures();
            let words = match failures {
                0 => String::new(),
                _ => format!(", {} failed", HumanCount(failures)),
            };
            progress.show(report.asked.answered + failures, &words);
        };
        let asking = measures.check_robustness(&forms, results, pace, signals.next(), show);
        let ended = asking.await;
        progress.end();
        let ended = ended?;
        for (error, failures) in &ended.asked.failed {
            output::say(&format!("other forms: {} × {error}", HumanCount(*failures)));
        }
        if ended.too_large > 0 {
            let texts = counted(ended.too_large, "text");
            output::say(&format!("left out: {texts} too large in another form"));
        }
        Ok(Some(ended))
    }
}

fn named(name: &str) -> anyhow::Result<Perturbation> {
    let names = Perturbation::ALL.map(Perturbation::name).join(", ");
    Perturbation::named(name).with_context(|| format!("expected one of {names}"))
}

fn flag(kind: PerturbationKind) -> &'static str {
    match kind {
        PerturbationKind::Coherence => "--coherence",
        PerturbationKind::Attack => "--attacks",
    }
}

/// For each question a line for the noise, then one for each perturbation.
pub(super) fn render(report: &RobustnessReport) -> String {
    let palette = Palette::of_stdout();
    let questions = &report.questions;
    let keys = questions.iter().map(|it| it.question.as_str().len());
    let width = keys.max().unwrap_or(0).max(8);
    let title = palette.heading.apply_to("Other forms and planted claims");
    let header = format!(
        "{:width$}  {:NAME$}  {:>8}  {:22}  PROBABILITIES MOVE",
        "QUESTION", "FORM", "COMPARED", "ANSWER FLIPS"
    );
    let mut words = format!("{title}\n{}\n", palette.faint.apply_to(header));
    for asked in questions {
        let noise = (NOISE, asked.noise());
        let perturbed = asked.perturbed().map(|(by, it)| (by.name(), it));
        for (name, measures) in std::iter::once(noise).chain(perturbed) {
            let SensitivityMeasures {
                comparisons,
                flip_rate,
                mean_total_variation,
                largest_total_variation,
            } = measures;
            let _ = writeln!(
                words,
                "{:width$}  {name:NAME$}  {:>8}  {:22}  {} on average, {} at most",
                asked.question.as_str(),
                HumanCount(comparisons).to_string(),
                range(flip_rate.value(), flip_rate.interval()),
                number(mean_total_variation),
                number(largest_total_variation),
            );
        }
    }
    words
}

/// Prints a JSON line for each question and perturbation.
pub(super) fn print_json(report: &RobustnessReport) -> anyhow::Result<()> {
    let mut lines = report.questions.iter().flat_map(json_lines);
    lines.try_for_each(|line| output::json(&line))
}

fn json_lines(asked: &PerturbedQuestion) -> impl Iterator<Item = RobustnessJson<'_>> {
    let noise = asked.noise();
    asked.perturbed().map(move |(by, measures)| {
        let interval = measures.flip_rate.interval();
        RobustnessJson {
            question: &asked.question,
            perturbation: by.name(),
            kind: by.kind().name(),
            comparisons: measures.comparisons,
            flip_rate: measures.flip_rate.value(),
            flip_rate_low: interval.map(|interval| interval.low),
            flip_rate_high: interval.map(|interval| interval.high),
            movement: measures.mean_total_variation,
            largest_movement: measures.largest_total_variation,
            noise_flip_rate: noise.flip_rate.value(),
            noise_movement: noise.mean_total_variation,
        }
    })
}
