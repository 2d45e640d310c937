//! The goal of cutoffs: the arguments of `refract evaluate --advise`.

use std::path::PathBuf;

use anyhow::{Context as _, bail, ensure};
use clap::{ArgGroup, Args};
use refract_domain::prism::question::{Question, QuestionType};
use refract_evaluation::cutoffs::advice::CutoffGoal;

use super::advice::AdvisedQuestion;

/// The arguments that ask for cutoffs of a Yes / No question.
#[derive(Args)]
#[command(group(ArgGroup::new("goal").requires("advise")))]
pub(super) struct AdviceArgs {
    /// Names cutoffs of this Yes / No question for a goal
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
        conflicts_with_all = ["precision", "recall"],
        default_value = "1",
        value_parser = cost
    )]
    cost_of_wrong_no: f64,

    /// Writes the lens with these cutoffs into a lens file; `-` is stdout
    #[arg(long, value_name = "FILE", requires = "advise")]
    write: Option<PathBuf>,
}

impl AdviceArgs {
    /// The requested advice on a question; `None` if none is requested.
    ///
    /// # Errors
    /// The question is not a Yes / No.
    pub(super) fn of(&self, question: &Question) -> anyhow::Result<Option<AdvisedQuestion>> {
        let Some(goal) = self.goal() else {
            return Ok(None);
        };
        let (key, name) = (&question.key, question.question_type().name());
        match question.question_type() {
            QuestionType::YesNo => {}
            QuestionType::Choice | QuestionType::Scale => bail!(
                "question '{key}' is a {name}: only a yes_no question has cutoffs to advise on"
            ),
        }
        Ok(Some(AdvisedQuestion {
            goal,
            write: self.write.clone(),
        }))
    }

    fn goal(&self) -> Option<CutoffGoal> {
        let precision = self.precision.map(CutoffGoal::Precision);
        let recall = self.recall.map(CutoffGoal::Recall);
        let costs = self.cost_of_wrong_yes.map(|wrong_yes| CutoffGoal::Costs {
            wrong_yes,
            wrong_no: self.cost_of_wrong_no,
        });
        precision.or(recall).or(costs)
    }
}

/// Parses a precision or recall.
fn share(text: &str) -> anyhow::Result<f64> {
    let expected = "expected a number above 0 and up to 1, such as 0.95";
    let share: f64 = text.parse().context(expected)?;
    ensure!(share > 0.0 && share <= 1.0, expected);
    Ok(share)
}

/// Parses a cost.
fn cost(text: &str) -> anyhow::Result<f64> {
    let expected = "expected a number above 0, such as 5";
    let cost: f64 = text.parse().context(expected)?;
    ensure!(cost > 0.0 && cost.is_finite(), expected);
    Ok(cost)
}
