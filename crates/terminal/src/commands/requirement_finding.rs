//! Requirements with their values, as `check` and `watch` print them.

use std::fmt::Write as _;

use serde::Serialize;

use crate::output;
use crate::terminal::Palette;

/// A requirement with the measured value, as printed with `--json`.
#[derive(Serialize)]
pub(crate) struct RequirementFinding {
    /// The requirement in the syntax of the command line.
    pub(crate) requirement: String,
    /// The measure's value; `None` if undefined.
    pub(crate) value: Option<f64>,
    pub(crate) holds: bool,
}

impl RequirementFinding {
    /// The value with up to six decimals, enough to distinguish it from the bound.
    pub(crate) fn describe_value(&self) -> String {
        let Some(value) = self.value else {
            return "not defined".to_owned();
        };
        let decimals = format!("{value:.6}");
        let shortest = decimals.trim_end_matches('0').trim_end_matches('.');
        shortest.to_owned()
    }
}

/// A line for each requirement.
pub(crate) fn render(findings: &[RequirementFinding]) -> String {
    let palette = Palette::of_stdout();
    let width = findings.iter().map(|finding| finding.requirement.len());
    let width = width.max().unwrap_or(0);
    let mut words = String::new();
    for finding in findings {
        let (style, outcome) = if finding.holds {
            (&palette.chosen, "ok    ")
        } else {
            (&palette.bad, "FAILED")
        };
        let (requirement, value) = (&finding.requirement, finding.describe_value());
        let outcome = style.apply_to(outcome);
        let _ = writeln!(words, "{outcome}  {requirement:width$}  {value}");
    }
    words
}

/// Prints a JSON line for each requirement.
pub(crate) fn print_json(findings: &[RequirementFinding]) -> anyhow::Result<()> {
    findings.iter().try_for_each(output::json)
}

/// How many requirements do not hold, in words; `None` if all hold.
pub(crate) fn failed(findings: &[RequirementFinding]) -> Option<String> {
    let failed = findings.iter().filter(|finding| !finding.holds);
    match (failed.count(), findings.len()) {
        (0, _) => None,
        (1, 1) => Some("the requirement does not hold".to_owned()),
        (failed, all) => Some(format!("{failed} of {all} requirements do not hold")),
    }
}
