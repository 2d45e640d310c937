//! What a retest found, as text and as JSON: the flips of each question, and the surest flips.

use std::fmt::Write as _;

use refract_domain::key::OutcomeKey;
use refract_service::measures::{FlippedAnswer, PredictedOutcome, RetestReport, RetestedQuestion};

use crate::output::{self, report, value};
use crate::terminal::{self, Palette, counted, plain, widened};

/// The most flips that are listed.
pub(super) const MOST_LISTED: usize = 20;
/// The most terminal columns of a `ref`.
const REFERENCE: usize = 24;

/// The flips of each question, then the surest flips, within `width` terminal columns.
pub(super) fn render(found: &RetestReport, width: usize) -> String {
    let palette = Palette::of_stdout();
    let questions = found.questions.iter();
    let mut blocks: Vec<_> = questions
        .map(|question| of_question(question, &palette, width))
        .collect();
    blocks.extend(listed(&found.flipped(), &palette));
    blocks.join("\n")
}

fn of_question(retested: &RetestedQuestion, palette: &Palette, width: usize) -> String {
    let question = &retested.question;
    let key = question.key.as_str();
    let text = terminal::fit(&question.text, width.saturating_sub(key.len() + 2));
    let heading = format!("{}: {}", palette.heading.apply_to(key), text.trim_end());
    let lines = report::lines(&retested.measures().report(), palette, width);
    format!("{heading}\n{}\n", lines.join("\n"))
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

/// Prints the object of a question; undefined measures are null.
pub(super) fn print_json(retested: &RetestedQuestion) -> anyhow::Result<()> {
    let measures = retested.measures();
    let (rate, interval) = (measures.flip_rate, measures.flip_rate.interval());
    output::object(&[
        ("question", value(&retested.question.key)),
        ("asked", value(&rate.of)),
        ("flips", value(&rate.count)),
        ("flip_rate", value(&rate.value())),
        ("low", value(&interval.map(|it| it.low))),
        ("high", value(&interval.map(|it| it.high))),
        ("towards", value(&measures.towards)),
        ("mcnemar_p", value(&measures.mcnemar_p())),
    ])
}
