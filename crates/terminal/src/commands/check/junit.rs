//! A check as a `JUnit` report for CI systems: a test case for each requirement, and one for
//! unanswered rows.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use refract_service::measures::WrongAnswers;

use super::super::requirement_finding::RequirementFinding;
use super::verdict::Verdict;
use crate::output::file::OutputFile;

/// The report's name.
const REPORT: &str = "refract check";
/// The name of the test case for unanswered rows.
const EVERY_ROW: &str = "every row is answered";
/// The name of the test case for other option orders, present only if they were requested.
const OTHER_ORDERS: &str = "other orders are all asked";
/// The name of the test case for perturbations, present only if they were requested.
const OTHER_FORMS: &str = "other forms are all asked";

/// The file of a report, opened before the model is asked.
pub(super) struct JunitFile {
    path: PathBuf,
    file: OutputFile,
}

impl JunitFile {
    /// Starts writing a file, which is deleted unless it is finished.
    pub(super) fn create(path: &Path) -> anyhow::Result<Self> {
        Ok(Self {
            path: path.to_owned(),
            file: OutputFile::create(path)?,
        })
    }

    /// Writes the report.
    pub(super) fn write(
        mut self,
        verdict: &Verdict<'_>,
        wrong: &WrongAnswers,
    ) -> anyhow::Result<()> {
        let xml = report(verdict, wrong).to_string()?;
        let written = self.file.write_all(xml.as_bytes());
        written.with_context(|| format!("cannot write {}", self.path.display()))?;
        self.file.finish()
    }
}

fn report(verdict: &Verdict<'_>, wrong: &WrongAnswers) -> Report {
    let prism = &verdict.prism.prism;
    let mut suite = TestSuite::new(format!(
        "{} version {}",
        prism.slug(),
        prism.version_number()
    ));
    suite.set_time(verdict.took);
    for finding in verdict.requirements {
        suite.add_test_case(requirement(finding, prism.slug()));
    }
    let failure = verdict.unanswered.as_deref();
    let mut rows = case(EVERY_ROW, failure, prism.slug());
    rows.set_time(verdict.took);
    suite.add_test_case(rows);
    if let Some(orders) = verdict.orders {
        let stop = orders.asked.end.as_ref().map(ToString::to_string);
        suite.add_test_case(case(OTHER_ORDERS, stop.as_deref(), prism.slug()));
    }
    if let Some(robustness) = verdict.robustness {
        let stop = robustness.asked.end.as_ref().map(ToString::to_string);
        suite.add_test_case(case(OTHER_FORMS, stop.as_deref(), prism.slug()));
    }
    let wrong = listed(wrong);
    if !wrong.is_empty() {
        suite.set_system_out(wrong);
    }
    let mut report = Report::new(REPORT);
    report.set_time(verdict.took);
    report.add_test_suite(suite);
    report
}

fn requirement(finding: &RequirementFinding, prism: &str) -> TestCase {
    let failure = (!finding.holds).then(|| format!("the value is {}", finding.describe_value()));
    case(&finding.requirement, failure.as_deref(), prism)
}

fn case(name: &str, failure: Option<&str>, prism: &str) -> TestCase {
    let mut status = TestCaseStatus::success();
    if let Some(failure) = failure {
        status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        status.set_message(failure);
    }
    let mut case = TestCase::new(name, status);
    case.set_classname(prism);
    case
}

/// A line for each listed wrong answer: ids and outcome keys, no texts.
fn listed(wrong: &WrongAnswers) -> String {
    let mut words = String::new();
    for one in &wrong.listed {
        let _ = writeln!(
            words,
            "line {}, result {}: {} expected {}, answered {}",
            one.line,
            one.result,
            one.question,
            one.expected,
            one.answered()
        );
    }
    if wrong.unlisted() > 0 {
        let _ = writeln!(words, "and {} more", wrong.unlisted());
    }
    words
}
