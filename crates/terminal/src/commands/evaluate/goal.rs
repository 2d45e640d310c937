//! The goal of cutoffs: the arguments of `refract evaluate --advise`.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use clap::{ArgGroup, Args};
use refract_domain::prism::{Question, QuestionType};
use refract_domain::result::mark::MarksFrom;
use refract_evaluation::cutoffs::{CertifiedGoal, CutoffGoal};
use refract_evaluation::report::{RowBasis, others};

use super::advice::AdvisedQuestion;

/// The probability of a guarantee beside a precision.
const SURE: f64 = 0.95;

/// The arguments that ask for cutoffs.
#[derive(Args)]
#[command(group(ArgGroup::new("goal").requires("advise")))]
pub(super) struct AdviceArgs {
    /// Names cutoffs of this question for a goal: of a Yes / No, with `--error` of any type
    #[arg(
        id = "advise",
        long = "advise",
        value_name = "QUESTION",
        conflicts_with = "question",
        requires = "goal"
    )]
    pub(super) question: Option<String>,

    /// Goal: at least this precision for yes and for no, such as 0.95
    #[arg(long, value_name = "P", group = "goal", value_parser = share)]
    precision: Option<f64>,

    /// Goal: at least this precision for yes alone, with one cutoff, such as 0.95
    #[arg(long, value_name = "P", group = "goal", value_parser = share)]
    yes_precision: Option<f64>,

    /// Goal: at least this recall of yes, such as 0.95
    #[arg(long, value_name = "R", group = "goal", value_parser = share)]
    recall: Option<f64>,

    /// Goal: the lowest total cost of wrong answers, where a wrong yes costs C
    #[arg(long, value_name = "C", group = "goal", value_parser = cost)]
    cost_of_wrong_yes: Option<f64>,

    /// What a wrong no costs
    #[arg(
        long,
        value_name = "C",
        requires = "cost_of_wrong_yes",
        conflicts_with_all = ["precision", "yes_precision", "recall"],
        default_value = "1",
        value_parser = cost
    )]
    cost_of_wrong_no: f64,

    /// Goal: certified cutoffs, with which at most this share of the automatic answers is wrong,
    /// such as 0.05
    #[arg(long, value_name = "E", group = "goal", value_parser = part)]
    error: Option<f64>,

    /// The probability, over the drawing of the marks, with which certified cutoffs keep to it
    #[arg(
        long,
        value_name = "S",
        requires = "error",
        conflicts_with_all = ["precision", "yes_precision", "recall", "cost_of_wrong_yes"],
        default_value = "0.95",
        value_parser = part
    )]
    sure: f64,

    /// Writes the lens with these cutoffs into a lens file; `-` is stdout
    #[arg(long, value_name = "FILE", requires = "advise")]
    write: Option<PathBuf>,
}

impl AdviceArgs {
    /// The lens file to write, if one is given.
    pub(super) fn write(&self) -> Option<&Path> {
        self.write.as_deref()
    }

    /// The requested advice on a question; `None` if none is requested.
    ///
    /// # Errors
    /// The question is not a Yes / No, and not to be certified; a certificate is asked of marks that
    /// are no fair sample, or of a question whose cutoff no lens file has.
    pub(super) fn of(
        &self,
        question: &Question,
        marks: MarksFrom,
    ) -> anyhow::Result<Option<AdvisedQuestion>> {
        let promise = self
            .error
            .and_then(|error| CertifiedGoal::new(error, self.sure));
        if let Some(goal) = promise {
            return Ok(Some(self.certified(goal, question, marks)?));
        }
        let Some(goal) = self.goal() else {
            return Ok(None);
        };
        let (key, name) = (&question.key, question.question_type().name());
        match question.question_type() {
            QuestionType::YesNo => {}
            QuestionType::Choice | QuestionType::Scale => bail!(
                "question '{key}' is a {name}: only a yes_no question has cutoffs to advise on; \
                 `--error` certifies a confidence"
            ),
        }
        let promise = match (goal, marks) {
            (CutoffGoal::Precision(wanted), MarksFrom::Random) => {
                CertifiedGoal::new(others(wanted), SURE)
            }
            (CutoffGoal::Precision(_), MarksFrom::All)
            | (CutoffGoal::YesPrecision(_) | CutoffGoal::Recall(_) | CutoffGoal::Costs { .. }, _) => {
                None
            }
        };
        Ok(Some(AdvisedQuestion {
            goal,
            promise,
            asked: RowBasis::RuleOfThumb,
            write: self.write.clone(),
        }))
    }

    fn certified(
        &self,
        goal: CertifiedGoal,
        question: &Question,
        marks: MarksFrom,
    ) -> anyhow::Result<AdvisedQuestion> {
        match marks {
            MarksFrom::Random => {}
            MarksFrom::All => bail!(
                "marks of results that somebody chose certify nothing: leave out `--marks all`"
            ),
        }
        let (key, name) = (&question.key, question.question_type().name());
        match question.question_type() {
            QuestionType::YesNo => {}
            QuestionType::Choice | QuestionType::Scale => ensure!(
                self.write.is_none(),
                "question '{key}' is a {name}: a lens has no cutoff for its confidence. Leave out \
                 `--write`."
            ),
        }
        Ok(AdvisedQuestion {
            goal: CutoffGoal::Precision(others(goal.error())),
            promise: Some(goal),
            asked: RowBasis::Guarantee,
            write: self.write.clone(),
        })
    }

    fn goal(&self) -> Option<CutoffGoal> {
        let precision = self.precision.map(CutoffGoal::Precision);
        let of_yes = self.yes_precision.map(CutoffGoal::YesPrecision);
        let recall = self.recall.map(CutoffGoal::Recall);
        let costs = self.cost_of_wrong_yes.map(|wrong_yes| CutoffGoal::Costs {
            wrong_yes,
            wrong_no: self.cost_of_wrong_no,
        });
        precision.or(of_yes).or(recall).or(costs)
    }
}

/// Parses a precision or recall.
fn share(text: &str) -> anyhow::Result<f64> {
    let expected = "expected a number above 0 and up to 1, such as 0.95";
    let share: f64 = text.parse().context(expected)?;
    ensure!(share > 0.0 && share <= 1.0, expected);
    Ok(share)
}

/// Parses a share of wrong answers, or a probability.
fn part(text: &str) -> anyhow::Result<f64> {
    let expected = "expected a number above 0 and below 1, such as 0.05";
    let part: f64 = text.parse().context(expected)?;
    ensure!(part > 0.0 && part < 1.0, expected);
    Ok(part)
}

/// Parses a cost.
fn cost(text: &str) -> anyhow::Result<f64> {
    let expected = "expected a number above 0, such as 5";
    let cost: f64 = text.parse().context(expected)?;
    ensure!(cost > 0.0 && cost.is_finite(), expected);
    Ok(cost)
}
