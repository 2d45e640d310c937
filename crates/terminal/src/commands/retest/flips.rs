//! What a retest found, as text and as JSON: the flips of each question, and the surest flips.

use std::fmt::Write as _;

use indicatif::HumanCount;
use refract_domain::key::OutcomeKey;
use refract_evaluation::comparison::{Comparison, ComparisonVerdict};
use refract_evaluation::flips::{FlipDirection, FlipMeasures};
use refract_evaluation::measures::figures::range;
use refract_service::measures::{FlippedAnswer, PredictedOutcome, RetestReport, RetestedQuestion};
use serde::Serialize;

use crate::terminal::{self, Palette, counted, plain, widened};

/// The most flips that are listed.
pub(super) const MOST_LISTED: usize = 20;
/// The most directions of a question that are listed.
const MOST_DIRECTIONS: usize = 8;
/// The most terminal columns of a `ref`.
const REFERENCE: usize = 24;

/// The flips of each question, then the surest flips, within `width` terminal columns.
pub(super) fn render(report: &RetestReport, width: usize) -> String {
    let palette = Palette::of_stdout();
    let questions = report.questions.iter();
    let mut blocks: Vec<_> = questions
        .map(|question| of_question(question, &palette, width))
        .collect();
    blocks.extend(listed(&report.flipped(), &palette));
    blocks.join("\n")
}

fn of_question(retested: &RetestedQuestion, palette: &Palette, width: usize) -> String {
    let (question, measures) = (&retested.question, retested.measures());
    let key = question.key.as_str();
    let text = terminal::fit(&question.text, width.saturating_sub(key.len() + 2));
    let rate = measures.flip_rate;
    let mut words = format!(
        "{}: {}\n{}, {} flip: {}\n",
        palette.heading.apply_to(key),
        text.trim_end(),
        counted(rate.of, "answer"),
        HumanCount(rate.count),
        range(rate.value(), rate.interval()),
    );
    for direction in measures.towards.iter().take(MOST_DIRECTIONS) {
        let (from, to) = (
            outcome(direction.from.as_ref()),
            outcome(direction.to.as_ref()),
        );
        let count = HumanCount(direction.count).to_string();
        let _ = writeln!(words, "{count:>7}  {from} -> {to}");
    }
    let rest = measures.towards.iter().skip(MOST_DIRECTIONS);
    let rest: u64 = rest.map(|direction| direction.count).sum();
    if rest > 0 {
        let count = HumanCount(rest).to_string();
        let _ = writeln!(words, "{count:>7}  otherwise");
    }
    words.push_str(&marked(&measures));
    words
}

/// Which answers are right more often on the marked texts; empty without marks.
fn marked(measures: &FlipMeasures) -> String {
    let Some(marked) = measures.marked else {
        return String::new();
    };
    format!(
        "{}; only the answer before is right on {}, only the new one on {}; McNemar p {:.3}\n{}\n",
        counted(marked.rows, "marked text"),
        HumanCount(marked.only_a_right),
        HumanCount(marked.only_b_right),
        marked.mcnemar_p,
        verdict(&marked),
    )
}

fn verdict(marked: &Comparison) -> &'static str {
    match marked.verdict() {
        ComparisonVerdict::Equal => "Both are right equally often.",
        ComparisonVerdict::MayBeChance => "The difference may be chance.",
        ComparisonVerdict::FirstIsBetter => {
            "The answers before are better: so large a difference is unlikely to be chance."
        }
        ComparisonVerdict::SecondIsBetter => {
            "The new answers are better: so large a difference is unlikely to be chance."
        }
    }
}

/// The surest flips as a table; `None` if no answer flipped.
fn listed(flipped: &[&FlippedAnswer], palette: &Palette) -> Option<String> {
    let shown = || flipped.iter().take(MOST_LISTED);
    let widest = |column: &dyn Fn(&FlippedAnswer) -> usize| {
        let columns = shown().copied().map(column);
        columns.max().unwrap_or(0)
    };
    let key = |side: &PredictedOutcome| outcome(side.outcome.as_ref()).len();
    let question = widest(&|flip| flip.question.as_str().len()).max(8);
    let outcomes = widest(&|flip| key(&flip.before).max(key(&flip.after))).max(6);
    let marks = widest(&|flip| outcome(flip.marked.as_ref()).len()).max(6);
    let side = |side: &PredictedOutcome| {
        let probability = side.probability.map_or_else(String::new, |probability| {
            format!("{:.3}", probability.to_f64())
        });
        format!(
            "{:outcomes$} {probability:5}",
            outcome(side.outcome.as_ref())
        )
    };
    if flipped.is_empty() {
        return None;
    }
    let title = palette.heading.apply_to("The surest flips");
    let wide = outcomes + 6;
    let header = format!(
        "{:question$}  {:wide$}  {:wide$}  {:marks$}  {:36}  REF",
        "QUESTION", "BEFORE", "AFTER", "MARKED", "RESULT"
    );
    let mut words = format!("{title}\n{}\n", palette.faint.apply_to(header));
    for flip in shown() {
        let reference = flip.reference.as_deref().map(plain).unwrap_or_default();
        let reference = terminal::fit(&reference, REFERENCE);
        let line = format!(
            "{:question$}  {}  {}  {:marks$}  {}  {reference}",
            flip.question.as_str(),
            side(&flip.before),
            side(&flip.after),
            outcome(flip.marked.as_ref()),
            flip.result,
        );
        let _ = writeln!(words, "{}", line.trim_end());
    }
    let rest = flipped.len().saturating_sub(MOST_LISTED);
    if rest > 0 {
        let _ = writeln!(words, "and {}", counted(widened(rest), "more flip"));
    }
    Some(words)
}

fn outcome(key: Option<&OutcomeKey>) -> &str {
    key.map_or("–", OutcomeKey::as_str)
}

/// The object; undefined measures are null.
#[derive(Serialize)]
pub(super) struct RetestJson<'a> {
    question: &'a str,
    asked: u64,
    flips: u64,
    flip_rate: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    towards: Vec<DirectionJson>,
    mcnemar_p: Option<f64>,
}

/// The flips from one outcome to another; null for no outcome.
#[derive(Serialize)]
struct DirectionJson {
    from: Option<String>,
    to: Option<String>,
    count: u64,
}

impl<'a> RetestJson<'a> {
    /// The object of a question.
    pub(super) fn of(retested: &'a RetestedQuestion) -> Self {
        let measures = retested.measures();
        let (rate, interval) = (measures.flip_rate, measures.flip_rate.interval());
        Self {
            question: retested.question.key.as_str(),
            asked: rate.of,
            flips: rate.count,
            flip_rate: rate.value(),
            low: interval.map(|interval| interval.low),
            high: interval.map(|interval| interval.high),
            mcnemar_p: measures.mcnemar_p(),
            towards: measures.towards.iter().map(DirectionJson::of).collect(),
        }
    }
}

impl DirectionJson {
    fn of(direction: &FlipDirection) -> Self {
        let key = |outcome: &Option<_>| outcome.as_ref().map(ToString::to_string);
        Self {
            from: key(&direction.from),
            to: key(&direction.to),
            count: direction.count,
        }
    }
}
