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

    /// `topic.accuracy is 0.455, required >=0.9`.
    fn describe_failure(&self) -> String {
        let bound = self.requirement.find(['<', '>', '=']);
        let at = bound.unwrap_or(self.requirement.len());
        let (measure, bound) = self.requirement.split_at(at);
        format!("{measure} is {}, required {bound}", self.describe_value())
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

/// The requirements that do not hold, with their values; `None` if all hold.
pub(crate) fn failed(findings: &[RequirementFinding]) -> Option<String> {
    let failed = findings.iter().filter(|finding| !finding.holds);
    let failed: Vec<_> = failed.map(RequirementFinding::describe_failure).collect();
    (!failed.is_empty()).then(|| failed.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fails_is_stated_with_its_value() {
        let finding = |requirement: &str, value, holds| RequirementFinding {
            requirement: requirement.to_owned(),
            value,
            holds,
        };
        let findings = [
            finding("topic.accuracy>=0.9", Some(0.455), false),
            finding("urgency.within_one>=0.9", Some(0.97), true),
            finding("topic.billing.precision>=0.5", None, false),
        ];
        let expected = "topic.accuracy is 0.455, required >=0.9; \
                        topic.billing.precision is not defined, required >=0.5";
        assert_eq!(failed(&findings).as_deref(), Some(expected));
        assert_eq!(failed(&[]), None);
    }
}
