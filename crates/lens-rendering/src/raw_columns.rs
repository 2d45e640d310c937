//! The columns of stored answers without a lens: each question's answer, and the probability of each
//! of its outcomes.

use refract_domain::answer::Answer;
use refract_domain::key::{OutcomeKey, QuestionKey};
use refract_domain::lens::{Column, Cutoffs, Value, cutoffs_of};
use refract_domain::prism::{PrismVersion, Question, QuestionType};
use refract_domain::result::ResultView;

use crate::row::further::{FurtherColumn, FurtherKind};

/// The outcomes of a Yes / No, of which a prism says nothing.
const YES_NO: [&str; 2] = ["yes", "no"];

/// A column for each question, with the key of its answer, followed by a column for each outcome
/// that any version knows, with its probability: `topic`, `topic.billing`, `topic.delivery`, ….
#[derive(Clone, Debug)]
pub struct RawColumns {
    columns: Vec<FurtherColumn>,
    questions: Vec<RawQuestion>,
}

#[derive(Clone, Debug)]
struct RawQuestion {
    key: QuestionKey,
    outcomes: Vec<String>,
    /// Decide the answer of a Yes / No.
    cutoffs: Cutoffs,
}

impl RawColumns {
    /// The columns for a prism with these versions, oldest first: the questions of the latest version
    /// in its order, then those that only older versions have. A Yes / No is answered by its cutoffs in
    /// the lens.
    pub fn new(versions: &[PrismVersion], lens: &[Column]) -> Self {
        let mut questions: Vec<RawQuestion> = Vec::new();
        for question in versions.iter().rev().flat_map(PrismVersion::questions) {
            let known = questions.iter().position(|known| known.key == question.key);
            let at = known.unwrap_or(questions.len());
            if known.is_none() {
                questions.push(RawQuestion {
                    key: question.key.clone(),
                    outcomes: Vec::new(),
                    cutoffs: cutoffs_of(lens, &question.key),
                });
            }
            let Some(raw) = questions.get_mut(at) else {
                continue;
            };
            for outcome in outcomes_of(question) {
                if raw.outcomes.iter().all(|known| known != outcome) {
                    raw.outcomes.push(outcome.to_owned());
                }
            }
        }
        let columns = questions.iter().flat_map(|question| {
            let key = question.key.as_str();
            let answer = FurtherColumn {
                name: key.to_owned(),
                kind: FurtherKind::Text,
            };
            let outcomes = question.outcomes.iter().map(move |outcome| FurtherColumn {
                name: format!("{key}.{outcome}"),
                kind: FurtherKind::Decimal,
            });
            std::iter::once(answer).chain(outcomes)
        });
        Self {
            columns: columns.collect(),
            questions,
        }
    }

    /// The columns, from left to right.
    pub fn columns(&self) -> &[FurtherColumn] {
        &self.columns
    }

    /// The values of the columns; `Null` for a failed result and for what its version does not have.
    pub fn values<'a>(&self, result: &ResultView<'a>) -> Vec<Value<'a>> {
        let mut values = Vec::with_capacity(self.columns.len());
        let answers = result.status.answers();
        for question in &self.questions {
            let answer = answers.and_then(|answers| answers.get(&question.key));
            values.push(answer.map_or(Value::Null, |answer| question.answer(answer)));
            for outcome in &question.outcomes {
                values.push(answer.map_or(Value::Null, |answer| probability(answer, outcome)));
            }
        }
        values
    }
}

impl RawQuestion {
    /// The key of the answer, in cells of every format.
    fn answer<'a>(&self, answer: &'a Answer) -> Value<'a> {
        let key = match answer {
            Answer::Choice { value, .. } => value.as_ref().map(OutcomeKey::as_str),
            Answer::YesNo { probability } => Some(self.cutoffs.label(*probability).key()),
            Answer::Scale { level, .. } => Some(level.as_str()),
        };
        key.map_or(Value::Null, |key| Value::Outcome { key, label: key })
    }
}

fn outcomes_of(question: &Question) -> Vec<&str> {
    match question.question_type() {
        QuestionType::YesNo => YES_NO.to_vec(),
        QuestionType::Choice | QuestionType::Scale => {
            question.outcomes().map(|outcome| outcome.key).collect()
        }
    }
}

fn probability<'a>(answer: &'a Answer, outcome: &str) -> Value<'a> {
    let probability = match answer {
        Answer::YesNo { probability } => match outcome {
            "yes" => Some(*probability),
            "no" => Some(probability.complement()),
            _ => None,
        },
        Answer::Choice { probabilities, .. } | Answer::Scale { probabilities, .. } => {
            let mut probabilities = probabilities.iter();
            let found = probabilities.find(|(key, _)| key.as_str() == outcome);
            found.map(|(_, probability)| *probability)
        }
    };
    probability.map_or(Value::Null, Value::Probability)
}
