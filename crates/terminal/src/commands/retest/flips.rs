//! What a retest found, as text and as JSON: the flips of each question, and the surest flips.

use std::fmt::Write as _;

use refract_domain::key::OutcomeKey;
use refract_evaluation::report::{Cell, Report, ReportPart, ReportTable};
use refract_service::measures::{FlippedAnswer, PredictedOutcome, RetestReport, RetestedQuestion};

use crate::output::{self, report, value};
use crate::terminal::{self, Palette, counted, plain, widened};

/// The most flips that are listed.
const MOST_LISTED: usize = 20;
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
    let heading = report::heading(question, "", palette, width);
    let lines = report::lines(&retested.measures().report(), palette, width);
    format!("{heading}\n{}\n", lines.join("\n"))
}

/// The surest flips as a table; `None` if no answer flipped.
fn listed(flipped: &[&FlippedAnswer], palette: &Palette) -> Option<String> {
    let shown = flipped.get(..MOST_LISTED).unwrap_or(flipped);
    let sides = shown.iter().flat_map(|flip| [&flip.before, &flip.after]);
    let keys = sides.map(|side| outcome(side.outcome.as_ref()).len());
    let width = keys.max()?.max(6);
    let words = |words: String| Cell::Words(words.into());
    let side = |side: &PredictedOutcome| {
        let probability = side.probability.map_or_else(String::new, |probability| {
            format!("{:.3}", probability.to_f64())
        });
        let outcome = outcome(side.outcome.as_ref());
        words(format!("{outcome:width$} {probability:5}"))
    };
    let rows = shown.iter().map(|flip| {
        let reference = flip.reference.as_deref().map(plain).unwrap_or_default();
        vec![
            words(flip.question.to_string()),
            side(&flip.before),
            side(&flip.after),
            Cell::Outcome(flip.marked.as_ref()),
            words(flip.result.to_string()),
            words(terminal::fit(&reference, REFERENCE)),
        ]
    });
    let table = ReportPart::Table(ReportTable {
        caption: "",
        headings: &["Question", "Before", "After", "Marked", "Result", "Ref"],
        rows: rows.collect(),
    });
    let report = Report { parts: vec![table] };
    let title = palette.heading.apply_to("The surest flips");
    let lines = report::lines(&report, palette, usize::MAX);
    let mut words = format!("{title}\n{}\n", lines.join("\n"));
    let rest = flipped.len() - shown.len();
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
