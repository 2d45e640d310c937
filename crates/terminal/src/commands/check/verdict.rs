//! The verdict of a check: whether it passes, and the reasons if it fails.

use std::process::ExitCode;
use std::time::Duration;

use refract_service::measures::{OrdersReport, RobustnessReport};

use super::super::file_run::AskedPrism;
use super::super::requirement_finding::{self, RequirementFinding};
use crate::output;

/// Everything that decides whether a check passes.
pub(super) struct Verdict<'a> {
    pub(super) prism: &'a AskedPrism,
    pub(super) requirements: &'a [RequirementFinding],
    /// A message about rows without an answer; `None` if all have one.
    pub(super) unanswered: Option<String>,
    /// The effect of other option orders, if requested.
    pub(super) orders: Option<&'a OrdersReport>,
    /// The effect of perturbations, if requested.
    pub(super) robustness: Option<&'a RobustnessReport>,
    /// Duration of the file run.
    pub(super) took: Duration,
}

impl Verdict<'_> {
    /// The exit status; prints one line with all causes of a failure.
    pub(super) fn exit(&self) -> ExitCode {
        let requirements = requirement_finding::failed(self.requirements);
        let orders = self.orders.and_then(|report| report.asked.end.as_ref());
        let orders = orders.map(|stop| format!("other orders were not all asked: {stop}"));
        let forms = self.robustness.and_then(|report| report.asked.end.as_ref());
        let forms = forms.map(|stop| format!("other forms were not all asked: {stop}"));
        let unanswered = self.unanswered.clone();
        let causes = [requirements, unanswered, orders, forms]
            .into_iter()
            .flatten();
        let causes: Vec<_> = causes.collect();
        if causes.is_empty() {
            ExitCode::SUCCESS
        } else {
            output::fail_with(&format!("error: {}", causes.join("; ")))
        }
    }
}
