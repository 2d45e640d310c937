//! Answers to a gold file and the correct outcomes, collected while the file is run.

use refract_boxed_futures::boxed;
use std::collections::BTreeSet;

use refract_domain::answer::{Answer, Probability};
use refract_domain::ids::ResultId;
use refract_domain::key::{OutcomeKey, QuestionKey};
use refract_domain::lens::{Cutoffs, cutoffs_of};
use refract_domain::prism::{Question, QuestionType};
use refract_evaluation::marked::{MarkedAnswer, MarkedAnswers, NotComparable, predicted};

use crate::CallError;
use crate::results::ReadableResult;
use crate::runs::PinnedPrism;

/// Most wrong answers that are listed.
const MOST_LISTED: usize = 50;

/// The answers to a gold file and the correct outcomes.
pub struct GoldAnswers {
    questions: Vec<GoldQuestion>,
    /// The wrong answers.
    pub wrong: WrongAnswers,
}

/// The wrong answers: the first fifty, and the number of all.
#[derive(Debug, Default)]
pub struct WrongAnswers {
    /// The first fifty, in the order of the file.
    pub listed: Vec<WrongAnswer>,
    /// Number of all wrong answers.
    pub all: u64,
}

/// A wrong answer.
#[derive(Debug)]
pub struct WrongAnswer {
    /// The line on which the row begins.
    pub line: u64,
    /// The row's `ref`.
    pub reference: Option<String>,
    /// The result.
    pub result: ResultId,
    /// The question that was answered wrongly.
    pub question: QuestionKey,
    /// The question's type.
    pub question_type: QuestionType,
    /// The correct outcome.
    pub expected: OutcomeKey,
    /// The probability of the correct outcome; `None` where the answer has none for it.
    pub expected_probability: Option<Probability>,
    /// The outcome that the answer predicts; `None` when it predicts nothing.
    pub predicted: Option<OutcomeKey>,
    /// The probability of the predicted outcome.
    pub predicted_probability: Option<Probability>,
}

/// A question for which the file has correct outcomes.
struct GoldQuestion {
    question: Question,
    cutoffs: Cutoffs,
    answers: Vec<GoldAnswer>,
}

/// One answer and the correct outcome.
struct GoldAnswer {
    result: ResultId,
    answer: Answer,
    expected: OutcomeKey,
}

#[boxed]
impl GoldAnswers {
    /// An empty collection for these questions. Yes / No is decided by the cutoffs of the prism's
    /// lens.
    pub fn new<'a>(
        prism: &PinnedPrism,
        questions: impl IntoIterator<Item = &'a QuestionKey>,
    ) -> Self {
        let keys = questions.into_iter();
        let questions = keys.filter_map(|key| prism.version().question(key));
        let question = |question: &Question| GoldQuestion {
            question: question.clone(),
            cutoffs: cutoffs_of(prism.columns().lens, &question.key),
            answers: Vec::new(),
        };
        Self {
            questions: questions.map(question).collect(),
            wrong: WrongAnswers::default(),
        }
    }

    /// Adds a row's result, with the line of the row and the correct outcomes. A failed result is
    /// ignored.
    pub fn add(
        &mut self,
        line: u64,
        result: &ReadableResult,
        expected: impl IntoIterator<Item = (QuestionKey, OutcomeKey)>,
    ) {
        let view = result.view();
        let Some(answers) = view.status.answers() else {
            return;
        };
        for (question, expected) in expected {
            let mut questions = self.questions.iter_mut();
            let gold = questions.find(|gold| gold.question.key == question);
            let Some((gold, answer)) = gold.zip(answers.get(&question)) else {
                continue;
            };
            let predicted = predicted(&gold.question, answer, gold.cutoffs);
            if predicted.as_ref() != Some(&expected) {
                let of_predicted = predicted.as_ref();
                self.wrong.add(WrongAnswer {
                    line,
                    reference: view.reference.map(str::to_owned),
                    result: view.id,
                    expected_probability: answer.probability_of(&expected),
                    predicted_probability: of_predicted.and_then(|key| answer.probability_of(key)),
                    question,
                    question_type: answer.question_type(),
                    expected: expected.clone(),
                    predicted,
                });
            }
            gold.answers.push(GoldAnswer {
                result: view.id,
                answer: answer.clone(),
                expected,
            });
        }
    }

    /// The names of the models that answered, with `None` if a server reported none.
    pub async fn models(&self, prism: &PinnedPrism) -> Result<BTreeSet<Option<String>>, CallError> {
        let answers = self.questions.iter().flat_map(|gold| &gold.answers);
        let results: BTreeSet<_> = answers.map(|answer| answer.result).collect();
        let results: Vec<_> = results.into_iter().collect();
        prism.model_names(&results).await
    }

    /// Each question with its answers, in the version's order.
    ///
    /// # Errors
    /// When an answer does not fit the correct outcome.
    pub fn marked(&mut self) -> Result<Vec<(&Question, MarkedAnswers)>, NotComparable> {
        let questions = self.questions.iter_mut();
        let marked = questions.map(|gold| {
            let marked = gold.marked()?;
            Ok((&gold.question, marked))
        });
        marked.collect()
    }
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
                // the names are only read for the report: a coarse step must hold for all answers
                model: None,
            })?;
        }
        Ok(marked)
    }
}

impl WrongAnswers {
    /// Counts a wrong answer, and lists it if there is room.
    pub fn add(&mut self, answer: WrongAnswer) {
        self.all += 1;
        if self.listed.len() < MOST_LISTED {
            self.listed.push(answer);
        }
    }

    /// Number of answers that are not listed.
    pub fn unlisted(&self) -> u64 {
        self.all - u64::try_from(self.listed.len()).unwrap_or(self.all)
    }
}

impl WrongAnswer {
    /// The answer: an outcome's key, `unsure`, or `none` for a choice without a value.
    pub fn answered(&self) -> &str {
        match (&self.predicted, self.question_type) {
            (Some(predicted), _) => predicted.as_str(),
            (None, QuestionType::YesNo) => "unsure",
            (None, QuestionType::Choice | QuestionType::Scale) => "none",
        }
    }
}
