//! Calibration and coverage as bars: whether probabilities can be trusted, and the share of answers
//! that can be automated.

use indicatif::HumanCount;
use refract_domain::prism::question::QuestionType;
use refract_evaluation::measures::coverage::CoveragePoint;
use refract_evaluation::measures::figures::number;
use refract_evaluation::measures::reliability::ReliabilityBin;

use super::layout::beside;
use super::measured_question::MeasuredQuestion;
use crate::output::report;
use crate::terminal::{self, Palette};

/// Terminal columns of a bar of the reliability diagram.
const RELIABILITY_BAR: usize = 16;
/// Terminal columns of a bar of the coverage curve.
const COVERAGE_BAR: usize = 14;
/// The most points of the coverage curve that are drawn.
const POINTS: usize = 12;

/// The reliability diagram next to the coverage curve, then the confidence needed for each wanted
/// accuracy.
pub(super) fn lines(measured: &MeasuredQuestion, palette: &Palette, width: usize) -> Vec<String> {
    let numbers = &measured.measures;
    let question_type = measured.question.question_type();
    let reliability = reliability(&numbers.reliability, question_type, palette);
    let coverage = coverage(&numbers.coverage.points, palette);
    let mut lines = beside(reliability, coverage, width);
    lines.extend(report::lines(&measured.automation, palette, width));
    lines
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
    let lines = last.min(POINTS - 1);
    let drawn = (0..=lines).filter_map(|line| points.get(line * last / lines.max(1)));
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
