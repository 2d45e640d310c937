//! A question with its measures, its version and its model, and these as the JSON object of
//! `evaluate --json`.

use indicatif::HumanCount;
use refract_domain::prism::{Question, QuestionType, VersionNumber};
use refract_domain::result::mark::MarksFrom;
use refract_evaluation::cutoffs::FEW_MARKS;
use refract_evaluation::marked::MarkedAnswers;
use refract_evaluation::measures::{CoveragePoint, HistogramBar, QuestionMeasures, ReliabilityBin};
use refract_evaluation::report::{Cell, Report, number, range};

use super::outcomes::{self, beside, wrapped};
use crate::output::{self, report, value};
use crate::terminal::{self, Palette, counted};

/// A question with its measures, its version and its model.
#[derive(Clone, Debug)]
pub(crate) struct MeasuredQuestion {
    /// The question as worded by the version that answered; by the newest if several did.
    pub(crate) question: Question,
    /// The version that answered; `None` if there are several.
    pub(crate) version: Option<VersionNumber>,
    /// The model that answered; `None` if there are several, or it is unknown.
    pub(crate) model: Option<String>,
    /// The measures over all marked answers.
    pub(crate) measures: QuestionMeasures,
    /// From which confidence on answers need no person.
    pub(crate) automation: Report<'static>,
    /// How many marks have which probability.
    pub(crate) histogram: Vec<HistogramBar>,
}

impl MeasuredQuestion {
    /// Measures the marked answers of a question.
    pub(crate) fn new(
        question: Question,
        version: Option<VersionNumber>,
        model: Option<String>,
        marked: &MarkedAnswers,
    ) -> Self {
        Self {
            question,
            version,
            model,
            measures: marked.measures(),
            automation: marked.automation(),
            histogram: marked.histogram(),
        }
    }
}

/// Prints the object of a question; undefined measures are null. `marks` says which marks count;
/// `None` for the answers of a gold file.
pub(crate) fn print_json(
    measured: &MeasuredQuestion,
    marks: Option<MarksFrom>,
) -> anyhow::Result<()> {
    let numbers = &measured.measures;
    let interval = numbers.accuracy.interval();
    let means = &numbers.macro_average;
    let mut members = vec![
        ("question", value(&measured.question.key)),
        ("type", value(&measured.question.question_type())),
        ("version", value(&measured.version)),
        ("model", value(&measured.model)),
        ("marks", value(&numbers.marks)),
        ("answered", value(&numbers.answered)),
        ("accuracy", value(&numbers.accuracy.value())),
        ("accuracy_low", value(&interval.map(|it| it.low))),
        ("accuracy_high", value(&interval.map(|it| it.high))),
        ("brier", value(&numbers.brier)),
        ("log_loss", value(&numbers.log_loss)),
        ("ece", value(&numbers.ece)),
        ("outcomes", value(&numbers.outcomes)),
        ("macro_f1", value(&means.f1)),
        ("confusion", value(&numbers.confusion)),
        ("reliability", value(&numbers.reliability)),
        ("coverage", value(&numbers.coverage.points)),
    ];
    if let Some(scale) = &numbers.scale {
        members.extend([
            ("mean_absolute_error", value(&scale.mean_absolute_error)),
            ("within_one", value(&scale.within_one)),
            ("quadratic_kappa", value(&scale.quadratic_kappa)),
        ]);
    }
    members.extend([
        ("macro_precision", value(&means.precision)),
        ("macro_recall", value(&means.recall)),
        ("coverage_area", value(&numbers.coverage.area)),
        ("majority_accuracy", value(&numbers.majority.value())),
        ("auc", value(&numbers.auc)),
        ("log_loss_floor", value(&numbers.log_loss_floor)),
        ("floored_log_loss", value(&numbers.floored_log_loss)),
    ]);
    members.extend(marks.map(|marks| ("marks_from", value(&marks.name()))));
    output::object(&members)
}

/// Terminal columns of a bar of the reliability diagram.
const RELIABILITY_BAR: usize = 16;
/// Terminal columns of a bar of the coverage curve.
const COVERAGE_BAR: usize = 14;
/// The figures for which a screen has no room; `--json` and the app have them.
const LEFT_OUT: [&str; 3] = ["macro_precision", "macro_recall", "coverage_area"];
/// The most points of the coverage curve that are drawn.
const POINTS: usize = 12;

/// The lines of the screen, within the width unless the outcomes' keys are too long.
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
    lines.extend(calibration_lines(measured, &palette, width));
    lines
}

fn head(measured: &MeasuredQuestion, palette: &Palette, width: usize) -> Vec<String> {
    let question = &measured.question;
    let kind = format!(" ({})", question.question_type().name());
    let heading = report::heading(question, &kind, palette, width);
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
    let mut lines = vec![
        heading,
        format!(
            "{}, {} of them answered; {version}; {model}",
            counted(numbers.marks, "mark"),
            HumanCount(numbers.answered),
        ),
    ];
    if numbers.marks < FEW_MARKS {
        let warning = format!(
            "Fewer than {FEW_MARKS} marks: the intervals are wide, and any number here may be chance."
        );
        lines.push(palette.bad.apply_to(warning).to_string());
    }
    lines
}

fn figures(measured: &MeasuredQuestion, width: usize) -> Vec<String> {
    let numbers = &measured.measures;
    let accuracy = range(numbers.accuracy.value(), numbers.accuracy.interval());
    let mut parts = vec![format!("accuracy {accuracy}")];
    let figures = numbers.figures();
    parts.extend(figures.rows.iter().filter_map(|row| match row.as_slice() {
        [_, Cell::Share(figure) | Cell::Number(figure), ..]
            if figure.name.is_some_and(|name| LEFT_OUT.contains(&name)) =>
        {
            None
        }
        [label, value, ..] => Some(format!(
            "{} {}",
            within_a_line(&report::cell(label)),
            report::cell(value)
        )),
        _ => None,
    }));
    let mut lines = wrapped(&parts, "   ", width);
    lines.extend(numbers.log_loss_of_zero());
    lines
}

/// A label in small letters, unless it is a name or an abbreviation.
fn within_a_line(label: &str) -> String {
    let mut letters = label.chars();
    match (letters.next(), letters.next()) {
        (Some(first), Some(second)) if second.is_lowercase() && !label.starts_with("Brier") => {
            first.to_lowercase().chain(label.chars().skip(1)).collect()
        }
        _ => label.to_owned(),
    }
}

/// The reliability diagram next to the coverage curve, then the confidence needed for each wanted
/// accuracy.
fn calibration_lines(measured: &MeasuredQuestion, palette: &Palette, width: usize) -> Vec<String> {
    let numbers = &measured.measures;
    let question_type = measured.question.question_type();
    let reliability = reliability(&numbers.reliability, question_type, palette);
    let coverage = coverage(&numbers.coverage.points, palette);
    let mut calibration_lines = beside(reliability, coverage, width);
    calibration_lines.extend(report::lines(&measured.automation, palette, width));
    calibration_lines
}

/// A line for each bin: the share of right rows as a bar, with a tick at the mean probability.
fn reliability(
    bins: &[ReliabilityBin],
    question_type: QuestionType,
    palette: &Palette,
) -> Vec<String> {
    let came_true = match question_type {
        QuestionType::YesNo => "YES",
        QuestionType::Choice | QuestionType::Scale => "RIGHT",
    };
    let header = format!(
        "{:>5}  {came_true:>5}  {:RELIABILITY_BAR$}  {:>7}",
        "SAID", "│ is at SAID", "ROWS"
    );
    let header = palette.faint.apply_to(header).to_string();
    let bars = bins.iter().map(|bin| {
        format!(
            "{:.3}  {:.3}  {}  {:>7}",
            bin.mean_probability,
            bin.share_right,
            terminal::bar(bin.share_right, &[bin.mean_probability], RELIABILITY_BAR),
            HumanCount(bin.count).to_string(),
        )
    });
    std::iter::once(header).chain(bars).collect()
}

/// A line for each point: the share of answers with at least this confidence as a bar, and their
/// accuracy.
fn coverage(points: &[CoveragePoint], palette: &Palette) -> Vec<String> {
    let header = format!(
        "{:>4}  {:COVERAGE_BAR$}  {:>7}  {:>5}",
        "FROM", "COVERED", "", "RIGHT"
    );
    let header = palette.faint.apply_to(header).to_string();
    let last = points.len().saturating_sub(1);
    let calibration_lines = last.min(POINTS - 1);
    let drawn = (0..=calibration_lines)
        .filter_map(|line| points.get(line * last / calibration_lines.max(1)));
    let bars = drawn.map(|point| {
        format!(
            "{:.2}  {}  {:>5.1} %  {}",
            point.confidence,
            terminal::bar(point.coverage, &[], COVERAGE_BAR),
            100.0 * point.coverage,
            number(Some(point.accuracy)),
        )
    });
    std::iter::once(header).chain(bars).collect()
}

#[cfg(test)]
mod tests {
    use refract_domain::answer::Answer;
    use refract_domain::lens::Cutoffs;
    use refract_domain::prism::Question;
    use refract_evaluation::marked::{MarkedAnswer, MarkedAnswers};
    use serde_json::json;

    use super::*;

    fn measured(question: &Question, answers: impl Iterator<Item = (Answer, String)>) -> String {
        let cutoffs = Cutoffs::new(Some(0.4), Some(0.6)).unwrap();
        let mut marked = MarkedAnswers::new(question.question_type(), cutoffs);
        marked.expect_outcomes(question).unwrap();
        for (answer, mark) in answers {
            let mark = serde_json::from_value(json!(mark)).unwrap();
            let row = MarkedAnswer {
                question,
                answer: &answer,
                mark: &mark,
                model: Some("m"),
            };
            marked.add(&row).unwrap();
        }
        let measured = MeasuredQuestion::new(question.clone(), None, None, &marked);
        for width in [80, 100] {
            let lines = lines(&measured, width);
            assert!(lines.len() <= 40, "{}", lines.join("\n"));
            let widest = lines.iter().map(|line| terminal::columns_of(line)).max();
            assert!(widest <= Some(width), "{}", lines.join("\n"));
        }
        lines(&measured, 100).join("\n")
    }

    #[test]
    fn two_hundred_outcomes_fit_too() {
        let options: Vec<_> = (0..200)
            .map(|number| json!({"key": format!("a_very_long_key_of_option_{number}"), "label": "L"}))
            .collect();
        let question = json!({"key": "topic", "type": "choice", "text": "long ".repeat(99), "options": options});
        let question: Question = serde_json::from_value(question).unwrap();
        let rows = (0..400).map(|number: usize| {
            let key = |number: usize| format!("a_very_long_key_of_option_{}", number % 200);
            let answer = json!({"type": "choice", "value": key(number * 7 / 2), "confidence": 0.5,
                "probabilities": {key(number * 7 / 2): 0.7, key(number): 0.3}});
            (serde_json::from_value(answer).unwrap(), key(number / 30))
        });
        let screen = measured(&question, rows);
        assert!(
            screen.contains("and 193 more outcomes, marked "),
            "{screen}"
        );
        assert!(
            screen.contains("Most mistaken (marked > predicted):"),
            "{screen}"
        );
        assert!(
            screen.contains("several versions; several or unknown models"),
            "{screen}"
        );
    }

    #[test]
    fn answers_that_are_all_unsure_have_no_accuracy() {
        let question = json!({"key": "angry", "type": "yes_no", "text": "Angry?"});
        let question: Question = serde_json::from_value(question).unwrap();
        let unsure: Answer =
            serde_json::from_value(json!({"type": "yes_no", "probability": 0.5})).unwrap();
        let rows = ["yes", "no"].map(|mark| (unsure.clone(), mark.to_owned()));
        let screen = measured(&question, rows.into_iter());
        assert!(screen.contains("2 marks, 0 of them answered"), "{screen}");
        assert!(
            screen.contains("accuracy –   majority –   AUC 0.500   "),
            "{screen}"
        );
        for figure in ["macro F1 –", "Brier score 0.250"] {
            assert!(screen.contains(figure), "{figure}: {screen}");
        }
        assert!(screen.contains("Fewer than 30 marks"), "{screen}");
        assert!(measured(&question, std::iter::empty()).ends_with("\nno marks"));
        assert!(!screen.contains("Log loss with"), "{screen}");
    }

    #[test]
    fn what_stands_for_0_is_stated_where_a_server_rounds() {
        let question = json!({"key": "angry", "type": "yes_no", "text": "Angry?"});
        let question: Question = serde_json::from_value(question).unwrap();
        let rows = (0..40).map(|percent| {
            let answer = json!({"type": "yes_no", "probability": f64::from(percent) / 100.0});
            let mark = if percent == 0 { "yes" } else { "no" };
            (serde_json::from_value(answer).unwrap(), mark.to_owned())
        });
        let screen = measured(&question, rows);
        let begin = "Log loss with 0 as 0.005, half of the server's rounding step: ";
        assert!(screen.lines().any(|it| it.starts_with(begin)), "{screen}");
    }
}
