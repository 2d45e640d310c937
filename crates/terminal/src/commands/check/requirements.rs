//! The requirements of a check: validates them, and compares them with the measures.

use anyhow::{Context as _, ensure};
use refract_domain::key::QuestionKey;
use refract_domain::lens::cutoffs::Cutoffs;
use refract_domain::prism::PrismVersion;
use refract_evaluation::answer_sensitivity::{AnswerSensitivity, SensitivityMeasures};
use refract_evaluation::marked::answers::MarkedAnswers;
use refract_evaluation::requirement::Requirement;
use refract_evaluation::robustness::PerturbedBy;
use refract_service::measures::RobustnessReport;

use super::super::measures::MeasuredQuestion;
use super::super::requirement_finding::RequirementFinding;
use crate::suggestion;

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
