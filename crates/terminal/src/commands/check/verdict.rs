//! The requirements of a check, its verdict with the reasons if it fails, and the verdict as a
//! `JUnit` report for CI systems.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use refract_domain::key::QuestionKey;
use refract_domain::lens::Cutoffs;
use refract_domain::prism::PrismVersion;
use refract_evaluation::flips::{AnswerSensitivity, SensitivityMeasures};
use refract_evaluation::marked::MarkedAnswers;
use refract_evaluation::requirement::Requirement;
use refract_evaluation::robustness::PerturbedBy;
use refract_service::measures::{OrdersReport, RobustnessReport, WrongAnswers};

use super::super::file_run::AskedPrism;
use super::super::requirement_finding::{self, RequirementFinding};
use crate::commands::measures::MeasuredQuestion;
use crate::output::file::OutputFile;
use crate::{output, suggestion};

/// The report's name.
const REPORT: &str = "refract check";
/// The name of the test case for unanswered rows.
const EVERY_ROW: &str = "every row is answered";
/// The name of the test case for other option orders, present only if they were requested.
const OTHER_ORDERS: &str = "other orders are all asked";
/// The name of the test case for perturbations, present only if they were requested.
const OTHER_FORMS: &str = "other forms are all asked";

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

/// Requirements whose questions and outcomes all exist in the version.
pub(super) struct Requirements<'a>(&'a [Requirement]);

impl<'a> Requirements<'a> {
    /// Refuses a requirement whose question or outcome the version lacks, or whose measure is for
    /// another type of question.
    pub(super) fn new(
        requirements: &'a [Requirement],
        version: &PrismVersion,
    ) -> anyhow::Result<Self> {
        for requirement in requirements {
            let key = requirement.question();
            let known = version.questions().iter().map(|known| known.key.as_str());
            let question = version.question(key).with_context(|| {
                let suggestion = suggestion::did_you_mean_or_list(key.as_str(), known);
                format!("--require: the prism has no question {key}{suggestion}")
            })?;
            if requirement.perturbed_by().is_some() {
                continue;
            }
            let mut nothing = MarkedAnswers::new(question.question_type(), Cutoffs::AUTOMATIC);
            nothing.expect_outcomes(question)?;
            let checked = requirement.check(&nothing.measures());
            checked.map_err(|error| anyhow::anyhow!("--require: {error}"))?;
        }
        Ok(Self(requirements))
    }

    /// Refuses a requirement about a question without expected answers in the gold file.
    pub(super) fn check_expected(&self, expected: &[(QuestionKey, u64)]) -> anyhow::Result<()> {
        let of_marks = |requirement: &&Requirement| requirement.perturbed_by().is_none();
        for requirement in self.0.iter().filter(of_marks) {
            let key = requirement.question();
            ensure!(
                expected.iter().any(|(expected, _)| expected == key),
                "--require: the gold file says of no row what is right for question {key}"
            );
        }
        Ok(())
    }

    /// Checks each requirement, in the order of the command line.
    pub(super) fn check(
        &self,
        measured: &[MeasuredQuestion],
        robustness: Option<&RobustnessReport>,
    ) -> anyhow::Result<Vec<RequirementFinding>> {
        let finding = |requirement: &Requirement| {
            let checked = if let Some(by) = requirement.perturbed_by() {
                requirement.check_robustness(&perturbed(requirement, by, robustness))
            } else {
                let mut questions = measured.iter();
                let measured = questions.find(|m| m.question.key == *requirement.question());
                let measured = measured.context("a question that is required was not measured")?;
                requirement.check(&measured.measures)?
            };
            Ok(RequirementFinding {
                requirement: requirement.to_string(),
                value: checked.value,
                holds: checked.holds,
            })
        };
        self.0.iter().map(finding).collect()
    }
}

/// The measures of a requirement's question under perturbations; undefined ones if it was not asked
/// under them.
fn perturbed(
    requirement: &Requirement,
    by: PerturbedBy,
    robustness: Option<&RobustnessReport>,
) -> SensitivityMeasures {
    let mut questions = robustness.iter().flat_map(|report| &report.questions);
    let asked = questions.find(|asked| asked.question == *requirement.question());
    asked.map_or_else(
        || AnswerSensitivity::default().measures(),
        |asked| asked.measures(by),
    )
}

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
