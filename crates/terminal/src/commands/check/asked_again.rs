//! What `check` asks again: other option orders, and perturbations. Asks the model, and prints how far
//! the answers move.

use std::fmt::Write as _;

use anyhow::{Context as _, ensure};
use clap::Args;
use indicatif::HumanCount;
use refract_domain::key::QuestionKey;
use refract_evaluation::flips::SensitivityMeasures;
use refract_evaluation::report::{number, range};
use refract_evaluation::requirement::Requirement;
use refract_evaluation::robustness::{Perturbation, PerturbationKind, PerturbedBy};
use refract_service::measures::{OptionOrders, OrdersReport, PerturbedForms, RobustnessReport};
use refract_service::model::CostEstimate;
use refract_service::results::ReadableResult;
use refract_service::runs::{AskedTexts, AskingPace};
use serde_json::value::RawValue;

use super::super::file_run::{AskedPrism, report};
use super::super::signals::StopSignals;
use crate::output::{self, value};
use crate::terminal::{Palette, Progress, counted, widened};

/// The name of the row for texts that are asked about twice in one form.
const NOISE: &str = "asked twice";
/// Terminal columns of the number of orders, and of the name of a perturbation.
const ORDERS: usize = 6;
const NAME: usize = 16;

/// The answered texts that are asked about again.
#[derive(Clone, Copy)]
pub(super) struct AskedAgain<'a> {
    pub(super) prism: &'a AskedPrism,
    pub(super) results: &'a [ReadableResult],
    pub(super) gives_up: bool,
}

impl AskedAgain<'_> {
    fn pace(self) -> AskingPace {
        AskingPace {
            concurrency: self.prism.concurrency,
            gives_up: self.gives_up,
        }
    }

    /// Says what is asked, and begins to show the progress of `forms` of each text.
    fn begin(self, how: &str, cost: CostEstimate, texts: &'static str, forms: usize) -> Progress {
        output::say(&format!(
            "asking about {} again {how}{}; nothing of it is saved",
            report::rows(widened(self.results.len())),
            report::cost(
                widened(cost.tokens),
                widened(cost.requests),
                self.prism.refract.token_price()
            )
        ));
        let total = forms.saturating_mul(self.results.len());
        Progress::begin(texts, u64::try_from(total).ok())
    }

    /// Asks with the options in up to `most` other orders; `None` if no question has another order.
    pub(super) async fn in_orders(
        self,
        most: usize,
        mut signals: StopSignals,
    ) -> anyhow::Result<Option<OrdersReport>> {
        let orders = OptionOrders::new(self.prism.prism.version(), most);
        if orders.is_empty() {
            output::say(
                "--orders: the prism has no Choice question, so there is no order to change",
            );
            return Ok(None);
        }
        let measures = self.prism.refract.measures();
        let cost = measures.cost_in_orders(&orders, self.results)?;
        let how = counted(widened(orders.len()), "other order");
        let how = format!("with the options in {how}");
        let progress = self.begin(&how, cost, "texts in other orders", orders.len());
        let show = |report: &OrdersReport| show(&progress, &report.asked);
        let (pace, stop) = (self.pace(), signals.next());
        let asking = measures.ask_in_orders(&orders, self.results, pace, stop, show);
        let ended = asking.await;
        progress.end();
        let ended = ended?;
        say_failures("other orders", &ended.asked);
        Ok(Some(ended))
    }

    /// Asks under each perturbation; `None` if none concerns a question of the prism.
    pub(super) async fn in_forms(
        self,
        perturbations: &[Perturbation],
        mut signals: StopSignals,
    ) -> anyhow::Result<Option<RobustnessReport>> {
        let forms = PerturbedForms::new(self.prism.prism.version(), perturbations);
        if forms.is_empty() {
            output::say("no perturbation is left that concerns a question of the prism");
            return Ok(None);
        }
        let measures = self.prism.refract.measures();
        let cost = measures.robustness_cost(&forms, self.results)?;
        let how = format!("in {}", counted(widened(forms.len()), "form"));
        let progress = self.begin(&how, cost, "texts in other forms", forms.len());
        let show = |report: &RobustnessReport| show(&progress, &report.asked);
        let (pace, stop) = (self.pace(), signals.next());
        let asking = measures.check_robustness(&forms, self.results, pace, stop, show);
        let ended = asking.await;
        progress.end();
        let ended = ended?;
        say_failures("other forms", &ended.asked);
        if ended.too_large > 0 {
            let texts = counted(ended.too_large, "text");
            output::say(&format!("left out: {texts} too large in another form"));
        }
        Ok(Some(ended))
    }
}

fn show(progress: &Progress, asked: &AskedTexts) {
    let failures = asked.failures();
    let words = match failures {
        0 => String::new(),
        _ => format!(", {} failed", HumanCount(failures)),
    };
    progress.show(asked.answered + failures, &words);
}

fn say_failures(what: &str, asked: &AskedTexts) {
    for (error, failures) in &asked.failed {
        output::say(&format!("{what}: {} × {error}", HumanCount(*failures)));
    }
}

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

    /// The perturbations that are asked for.
    pub(super) fn perturbations(&self) -> Vec<Perturbation> {
        let all = Perturbation::ALL.into_iter();
        let asked = all.filter(|it| self.asks(it.kind()) && !self.without.contains(it));
        asked.collect()
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

/// A line for each question that was asked in other orders.
pub(super) fn render_orders(report: &OrdersReport) -> String {
    let rows = report.questions.iter().map(|asked| {
        let orders = format!("{:>ORDERS$}", asked.orders);
        (&asked.question, orders, asked.measures())
    });
    let header = format!("{:>ORDERS$}", "ORDERS");
    table(
        "Options in other orders",
        &header,
        &rows.collect::<Vec<_>>(),
    )
}

/// For each question a line for the noise, then one for each perturbation.
pub(super) fn render_forms(report: &RobustnessReport) -> String {
    let rows = report.questions.iter().flat_map(|asked| {
        let noise = (NOISE, asked.noise());
        let perturbed = asked.perturbed().map(|(by, it)| (by.name(), it));
        let named = std::iter::once(noise).chain(perturbed);
        named.map(|(name, it)| (&asked.question, format!("{name:NAME$}"), it))
    });
    let header = format!("{:NAME$}", "FORM");
    table(
        "Other forms and planted claims",
        &header,
        &rows.collect::<Vec<_>>(),
    )
}

/// A line for each question and form, in which answers were compared.
fn table(title: &str, form: &str, rows: &[(&QuestionKey, String, SensitivityMeasures)]) -> String {
    let palette = Palette::of_stdout();
    let keys = rows.iter().map(|(question, ..)| question.as_str().len());
    let width = keys.max().unwrap_or(0).max(8);
    let title = palette.heading.apply_to(title);
    let header = format!(
        "{:width$}  {form}  {:>8}  {:22}  PROBABILITIES MOVE",
        "QUESTION", "COMPARED", "ANSWER FLIPS"
    );
    let mut words = format!("{title}\n{}\n", palette.faint.apply_to(header));
    for (question, form, measures) in rows {
        let _ = writeln!(
            words,
            "{:width$}  {form}  {:>8}  {:22}  {} on average, {} at most",
            question.as_str(),
            HumanCount(measures.comparisons).to_string(),
            range(measures.flip_rate.value(), measures.flip_rate.interval()),
            number(measures.mean_total_variation),
            number(measures.largest_total_variation),
        );
    }
    words
}

/// Prints a JSON line for each question that was asked in other orders.
pub(super) fn print_orders(report: &OrdersReport) -> anyhow::Result<()> {
    report.questions.iter().try_for_each(|asked| {
        let measures = asked.measures();
        let mut members = vec![
            ("question", value(&asked.question.as_str())),
            ("orders", value(&asked.orders)),
        ];
        members.extend(flips(&measures));
        members.extend([
            ("total_variation", value(&measures.mean_total_variation)),
            (
                "largest_total_variation",
                value(&measures.largest_total_variation),
            ),
        ]);
        output::object(&members)
    })
}

/// Prints a JSON line for each question and perturbation.
pub(super) fn print_forms(report: &RobustnessReport) -> anyhow::Result<()> {
    for asked in &report.questions {
        let noise = asked.noise();
        for (by, measures) in asked.perturbed() {
            let mut members = vec![
                ("question", value(&asked.question.as_str())),
                ("perturbation", value(&by.name())),
                ("kind", value(&by.kind().name())),
            ];
            members.extend(flips(&measures));
            members.extend([
                ("movement", value(&measures.mean_total_variation)),
                ("largest_movement", value(&measures.largest_total_variation)),
                ("noise_flip_rate", value(&noise.flip_rate.value())),
                ("noise_movement", value(&noise.mean_total_variation)),
            ]);
            output::object(&members)?;
        }
    }
    Ok(())
}

/// How many answers were compared, and how many of them flipped.
fn flips(measures: &SensitivityMeasures) -> [(&'static str, Box<RawValue>); 4] {
    let interval = measures.flip_rate.interval();
    [
        ("comparisons", value(&measures.comparisons)),
        ("flip_rate", value(&measures.flip_rate.value())),
        ("flip_rate_low", value(&interval.map(|it| it.low))),
        ("flip_rate_high", value(&interval.map(|it| it.high))),
    ]
}
