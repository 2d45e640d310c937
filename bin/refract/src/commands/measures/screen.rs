//! The measures of a question on one screen.

use indicatif::HumanCount;
use refract_evaluation::cutoff_advice::FEW_MARKS;

use super::layout::{number, range, wrapped};
use super::measured_question::MeasuredQuestion;
use super::{calibration, outcomes};
use crate::terminal::{self, Palette};

/// The lines of the screen, which fit the width where the keys of the outcomes allow.
pub(super) fn lines(measured: &MeasuredQuestion, width: usize) -> Vec<String> {
    let palette = Palette::of_stdout();
    let mut lines = head(measured, &palette, width);
    if measured.measures.marks == 0 {
        return lines;
    }
    lines.extend(figures(measured, width));
    lines.push(String::new());
    lines.extend(outcomes::lines(&measured.measures, &palette, width));
    lines.push(String::new());
    lines.extend(calibration::lines(measured, &palette, width));
    lines
}

fn head(measured: &MeasuredQuestion, palette: &Palette, width: usize) -> Vec<String> {
    let question = &measured.question;
    let key = question.key.as_str();
    let kind = format!(" ({}): ", question.question_type().name());
    let left = width.saturating_sub(key.len() + kind.len());
    let text = terminal::fit(&question.text, left);
    let heading = format!("{}{kind}{}", palette.heading.apply_to(key), text.trim_end());
    let numbers = &measured.measures;
    if numbers.marks == 0 {
        return vec![heading, "no marks".to_owned()];
    }
    let version = measured.version.map_or_else(
        || "several versions".to_owned(),
        |version| format!("version {}", version.get()),
    );
    let model = measured.model.as_ref().map_or_else(
        || "several or unknown models".to_owned(),
        |model| format!("model {}", terminal::plain(model)),
    );
    let marks = if numbers.marks == 1 { "mark" } else { "marks" };
    let mut lines = vec![
        heading,
        format!(
            "{} {marks}, {} of them answered; {version}; {model}",
            HumanCount(numbers.marks),
            HumanCount(numbers.answered),
        ),
    ];
    if numbers.marks < FEW_MARKS {
        let warning = format!(
            "Fewer than {FEW_MARKS} marks: the intervals are wide, and any number here may be luck."
        );
        lines.push(palette.bad.apply_to(warning).to_string());
    }
    lines
}

fn figures(measured: &MeasuredQuestion, width: usize) -> Vec<String> {
    let numbers = &measured.measures;
    let accuracy = range(numbers.accuracy.value(), numbers.accuracy.interval());
    let mut parts = vec![
        format!("accuracy {accuracy}"),
        format!("macro F1 {}", number(numbers.macro_average.f1)),
        format!("Brier {}", number(numbers.brier)),
        format!("log loss {}", number(numbers.log_loss)),
        format!("ECE {}", number(numbers.ece)),
    ];
    if let Some(scale) = &numbers.scale {
        parts.extend([
            format!("mean absolute error {}", number(scale.mean_absolute_error)),
            format!("within one level {}", number(scale.within_one)),
            format!("quadratic kappa {}", number(scale.quadratic_kappa)),
        ]);
    }
    wrapped(&parts, "   ", width)
}
