//! What can be answered automatically as text: one table, what to do, and the figures behind it.

use std::path::Path;

use indicatif::HumanCount;
use refract_domain::prism::QuestionType;
use refract_evaluation::cutoffs::{CutoffAdvice, FEW_MARKS};
use refract_evaluation::measures::{Interval, Proportion};
use refract_evaluation::report::{
    AutomationPlan, AutomationRow, Cell, NamedFigure, Report, ReportPart, ReportTable, RowBasis,
    RowCutoffs, TWO_FIGURES,
};

use crate::output::report;
use crate::terminal::{self, Palette, counted};

/// The headings of a table for a Yes / No question.
const YES_NO_HEADINGS: [&str; 6] = [
    "",
    "No below",
    "Yes from",
    "Alone",
    "Wrong",
    "Wrong of 1,000 new",
];
/// The headings of a table for a choice or scale.
const CONFIDENCE_HEADINGS: [&str; 5] = ["", "Confidence", "Alone", "Wrong", "Wrong of 1,000 new"];

/// The plan: what is wanted, the ways to it, the recommended one and the next step.
pub(super) fn lines(plan: &AutomationPlan) -> Vec<String> {
    let palette = Palette::of_stdout();
    let mut lines = vec![palette.heading.apply_to(plan.wanted()).to_string()];
    if plan.marks > 0 {
        let mut table = Report::default();
        table.parts.push(ReportPart::Table(table_of(plan)));
        lines.extend(report::lines(&table, &palette, terminal::width()));
    }
    let missing = [
        ("guarantee", plan.no_guarantee()),
        ("rule of thumb", plan.no_rule()),
    ];
    for (name, reason) in missing {
        lines.extend(reason.map(|reason| format!("{name}: {reason}")));
    }
    lines.push(palette.chosen.apply_to(plan.headline()).to_string());
    lines.push(plan.outlook());
    lines.extend(plan.next_step());
    if plan.marks > 0 {
        lines.push(palette.faint.apply_to(TWO_FIGURES).to_string());
    }
    if let Some(advice) = plan.advice.as_ref().filter(|advice| advice.marks > 0) {
        lines.extend(figures(advice));
    }
    lines
}

fn table_of(plan: &AutomationPlan) -> ReportTable<'static> {
    let recommended = plan.recommended;
    let rows = plan.rows.iter().enumerate();
    ReportTable {
        caption: "",
        headings: match plan.question_type {
            QuestionType::YesNo => &YES_NO_HEADINGS,
            QuestionType::Choice | QuestionType::Scale => &CONFIDENCE_HEADINGS,
        },
        rows: rows
            .map(|(place, row)| cells(row, recommended == Some(place)))
            .collect(),
    }
}

fn cells(row: &AutomationRow, is_recommended: bool) -> Vec<Cell<'static>> {
    let words = |words: String| Cell::Words(words.into());
    let mark = if is_recommended { "▸" } else { " " };
    let cutoffs = match row.cutoffs {
        RowCutoffs::YesNo(cutoffs) => vec![cutoffs.no_ends_at(), cutoffs.yes_begins_at()]
            .into_iter()
            .map(|cutoff| words(cutoff.value().to_string()))
            .collect(),
        RowCutoffs::Confidence(confidence) => vec![words(confidence.to_string())],
    };
    let automatic = Cell::Share(NamedFigure {
        name: None,
        value: row.automatic.value(),
        interval: None,
    });
    let wrong = format!(
        "{} of {}",
        HumanCount(row.wrong.count),
        HumanCount(row.wrong.of)
    );
    let mut cells = vec![words(format!("{mark} {}", row.name()))];
    cells.extend(cutoffs);
    cells.extend([automatic, words(wrong), words(row.wrong_of_thousand())]);
    cells
}

/// What the rule of thumb of a Yes / No question finds on held-out marks, and what it rests on.
fn figures(advice: &CutoffAdvice) -> Vec<String> {
    let marks = format!(
        "from {}, {} of them yes",
        counted(advice.marks, "mark"),
        HumanCount(advice.marked_yes)
    );
    let Some(yes_from) = advice.yes_from.map(|share| share.to_string()) else {
        return vec![marks];
    };
    let held_out = &advice.held_out;
    let mut lines = vec![format!(
        "rule of thumb on held-out marks: yes is right in {} and finds {} of what is marked yes",
        describe(held_out.precision),
        describe(held_out.recall)
    )];
    lines.push(match advice.no_below.map(|share| share.to_string()) {
        None => format!(
            "no cutoff lets no be right so often: what is below {yes_from} stays no or unsure as the \
             lens has it"
        ),
        Some(_) if held_out.no_precision.of == 0 => "no is never said".to_owned(),
        Some(_) => format!("no is right in {}", describe(held_out.no_precision)),
    });
    if let Some(cost) = held_out.cost {
        lines.push(format!("costs {cost:.3} a row on held-out marks"));
    }
    if let Some((low, high)) = advice.yes_gap {
        lines.push(format!(
            "yes from any percent between {low} and {high} finds the same marks: {yes_from} is the middle"
        ));
    }
    lines.push(format!(
        "{marks}; the rule of thumb is based on {}",
        HumanCount(advice.behind)
    ));
    if advice.is_of_few_marks() {
        let palette = Palette::of_stdout();
        lines.push(palette.bad.apply_to(warning(advice)).to_string());
    }
    lines
}

/// The sentence for a lens file that was asked for and is not written.
pub(super) fn not_written(plan: &AutomationPlan, basis: RowBasis) -> String {
    let reason = match basis {
        RowBasis::Guarantee => plan.no_guarantee(),
        RowBasis::Now | RowBasis::RuleOfThumb => plan.no_rule(),
    };
    let name = match basis {
        RowBasis::Guarantee => "guarantee",
        RowBasis::Now | RowBasis::RuleOfThumb => "rule of thumb",
    };
    format!("there is no {name}: {}", reason.unwrap_or_default())
}

/// The warning for advice that is based on few marks.
pub(super) fn warning(advice: &CutoffAdvice) -> String {
    let behind = advice.behind;
    let marks = if behind == 1 { "mark" } else { "marks" };
    format!(
        "The rule of thumb is based on {behind} {marks}: with fewer than {FEW_MARKS} it may be chance. \
         Mark more before you rely on it."
    )
}

/// What to do with the cutoffs of a row, written into a file or not.
pub(super) fn next_step(prism: &str, written: Option<&Path>, row: &str) -> String {
    let steps = |file: &str| {
        format!(
            "`refract lens preview {prism} {file}` shows what would change, and `refract lens set \
             {prism} {file}` makes it the lens."
        )
    };
    match written {
        Some(path) => {
            let path = path.display().to_string();
            format!(
                "{path} is written, with the cutoffs of the {row}. Next: {}",
                steps(&path)
            )
        }
        None => format!(
            "Next: `--write lens.json` puts the cutoffs of the {row} into a lens file, {}",
            steps("lens.json")
        ),
    }
}

/// A share with its interval: `0.95 (0.91 to 0.98)`.
fn describe(proportion: Proportion) -> String {
    match (proportion.value(), proportion.interval()) {
        (Some(share), Some(Interval { low, high })) => {
            format!("{share:.2} ({low:.2} to {high:.2})")
        }
        (Some(_) | None, _) => "none".to_owned(),
    }
}
