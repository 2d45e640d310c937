//! The answers to a gold file beside what is right, gathered while the file is run.

use std::collections::BTreeSet;

use refract_domain::answer::Answer;
use refract_domain::cutoffs::Cutoffs;
use refract_domain::ids::ResultId;
use refract_domain::key::{OutcomeKey, QuestionKey};
use refract_domain::lens::cutoffs_of;
use refract_domain::question::Question;
use refract_evaluation::marked_answer::{MarkedAnswer, NotComparable};
use refract_evaluation::marked_answers::MarkedAnswers;
use refract_evaluation::prediction::predicted;
use refract_file_runs::{ExpectedOutcome, FinishedRow};
use refract_service::results::ReadableResult;
use refract_service::runs::PinnedPrism;

use super::super::measures::MeasuredQuestion;
use super::wrong_rows::{WrongAnswer, WrongRows};
use crate::output;
use crate::terminal::plain;

/// The answers to a gold file beside what is right.
pub(super) struct GoldAnswers {
    questions: Vec<GoldQuestion>,
    wrong: WrongRows,
    /// The answered results, for orders of options; `None` when they are not needed.
    results: Option<Vec<ReadableResult>>,
}

/// A question for which the file says what is right.
struct GoldQuestion {
    question: Question,
    cutoffs: Cutoffs,
    answers: Vec<GoldAnswer>,
}

/// One answer beside what is right.
struct GoldAnswer {
    result: ResultId,
    answer: Answer,
    expected: OutcomeKey,
}

impl GoldAnswers {
    /// No answers yet to the questions with right answers. Yes / No is answered by the cutoffs of
    /// the prism's lens.
    pub(super) fn new(
        prism: &PinnedPrism,
        expected: &[(QuestionKey, u64)],
        keeps_results: bool,
    ) -> Self {
        let keys = expected.iter();
        let questions = keys.filter_map(|(key, _)| prism.version().question(key));
        let question = |question: &Question| GoldQuestion {
            question: question.clone(),
            cutoffs: cutoffs_of(prism.columns().lens, &question.key),
            answers: Vec::new(),
        };
        Self {
            questions: questions.map(question).collect(),
            wrong: WrongRows::default(),
            results: keeps_results.then(Vec::new),
        }
    }

    /// Takes a row. One that failed counts for nothing.
    pub(super) fn add(&mut self, row: FinishedRow) {
        let FinishedRow {
            line,
            expected,
            result,
        } = row;
        let view = result.view();
        let Some(answers) = view.status.answers() else {
            return;
        };
        for right in expected {
            let ExpectedOutcome { question, outcome } = right;
            let mut questions = self.questions.iter_mut();
            let gold = questions.find(|gold| gold.question.key == question);
            let Some((gold, answer)) = gold.zip(answers.get(&question)) else {
                continue;
            };
            let predicted = predicted(&gold.question, answer, gold.cutoffs);
            if predicted.as_ref() != Some(&outcome) {
                self.wrong.add(WrongAnswer {
                    line,
                    reference: view.reference.map(str::to_owned),
                    result: view.id,
                    expected_probability: answer.probability_of(&outcome),
                    predicted_probability: predicted
                        .as_ref()
                        .and_then(|predicted| answer.probability_of(predicted)),
                    question,
                    question_type: answer.question_type(),
                    expected: outcome.clone(),
                    predicted,
                });
            }
            gold.answers.push(GoldAnswer {
                result: view.id,
                answer: answer.clone(),
                expected: outcome,
            });
        }
        if let Some(results) = &mut self.results {
            results.push(result);
        }
    }

    /// The measures of each question, in the version's order. Says when several models answered: a
    /// changed model is not asked about what another one answered.
    pub(super) async fn measure(
        &mut self,
        prism: &PinnedPrism,
    ) -> anyhow::Result<Vec<MeasuredQuestion>> {
        let answers = self.questions.iter().flat_map(|gold| &gold.answers);
        let results: BTreeSet<_> = answers.map(|answer| answer.result).collect();
        let results: Vec<_> = results.into_iter().collect();
        let models = prism.model_names(&results).await?;
        if models.len() > 1 {
            output::say(&several(&models));
        }
        let is_one = models.len() == 1;
        let model = models.into_iter().flatten().next().filter(|_| is_one);
        let version = Some(prism.version_number());
        let questions = self.questions.iter_mut();
        let measured = questions.map(|gold| {
            let marked = gold.marked()?;
            let (question, model) = (gold.question.clone(), model.clone());
            Ok(MeasuredQuestion::new(question, version, model, &marked))
        });
        measured.collect()
    }

    /// The answers that are not right.
    pub(super) fn wrong_rows(&self) -> &WrongRows {
        &self.wrong
    }

    /// The answered results, when they are kept.
    pub(super) fn results(&self) -> &[ReadableResult] {
        self.results.as_deref().unwrap_or_default()
    }
}

/// That the answers are of several models.
fn several(models: &BTreeSet<Option<String>>) -> String {
    let names = models.iter();
    let names = names.map(|name| name.as_deref().map_or_else(|| "unknown".to_owned(), plain));
    let names: Vec<_> = names.collect();
    format!(
        "The saved answers are of several models ({}): another --name asks one about all rows.",
        names.join(", ")
    )
}

impl GoldQuestion {
    /// The answers in the order of their ids, which decides between equal probabilities.
    fn marked(&mut self) -> Result<MarkedAnswers, NotComparable> {
        self.answers.sort_unstable_by_key(|answer| answer.result);
        let mut marked = MarkedAnswers::new(self.question.question_type(), self.cutoffs);
        marked.expect_outcomes(&self.question)?;
        for gold in &self.answers {
            marked.add(&MarkedAnswer {
                question: &self.question,
                answer: &gold.answer,
                mark: &gold.expected,
            })?;
        }
        Ok(marked)
    }
}
