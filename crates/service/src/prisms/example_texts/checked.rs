//! An example beside what a wording of the prism answers: does it hold, or is it broken?

use chrono::{DateTime, Utc};
use refract_domain::answer::{Answer, Answers};
use refract_domain::key::{FieldKey, OutcomeKey, QuestionKey};
use refract_domain::lens::{Column, cutoffs_of};
use refract_domain::prism::{ExpectedOutcomes, PrismVersion, Question};
use refract_domain::result::mark::outcomes;
use refract_evaluation::marked::predicted;
use refract_persistence::{ExampleCheck, ExampleText};

/// An example with what a wording answered about it last.
pub struct CheckedExample {
    /// The example.
    pub example: ExampleText,
    /// What the wording answered; `None` if it was not asked.
    pub check: Option<ExampleCheck>,
}

/// How an example stands with a wording of the prism.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExampleState {
    /// An answer is not the expected one.
    Broken,
    /// The model gave no usable answer, for this reason.
    Failed(String),
    /// The text lacks these fields of the wording, so that it cannot be asked.
    LacksFields(Vec<FieldKey>),
    /// The wording was not asked about the text yet.
    NotChecked,
    /// No expected outcome is one that the wording asks for.
    NothingExpected,
    /// Every answer is the expected one.
    Holds,
}

/// An expected outcome and the answer.
pub struct ExpectedAnswer<'a> {
    /// The question, as the wording asks it.
    pub question: &'a Question,
    /// The expected outcome.
    pub expected: &'a OutcomeKey,
    /// The answer; `None` if there is none.
    pub answer: Option<&'a Answer>,
    /// Whether the answer is another one than expected, as the lens reads it.
    pub is_broken: bool,
}

impl ExampleState {
    /// Whether the example is broken.
    pub fn is_broken(&self) -> bool {
        *self == Self::Broken
    }

    /// The place of the state in a list: what needs somebody's look comes first.
    pub fn rank(&self) -> u8 {
        match self {
            Self::Broken => 0,
            Self::Failed(_) => 1,
            Self::LacksFields(_) => 2,
            Self::NotChecked => 3,
            Self::NothingExpected => 4,
            Self::Holds => 5,
        }
    }
}

impl CheckedExample {
    /// How the example stands with the wording, as a lens reads its answers.
    pub fn state(&self, version: &PrismVersion, lens: &[Column]) -> ExampleState {
        if asked(&self.example.expected, version).next().is_none() {
            return ExampleState::NothingExpected;
        }
        let submission = &self.example.submission;
        let values = submission.field_values();
        let fields = version.fields().iter().map(|field| &field.key);
        let lacking: Vec<_> = fields.filter(|key| values.get(key).is_none()).collect();
        if !lacking.is_empty() {
            return ExampleState::LacksFields(lacking.into_iter().cloned().collect());
        }
        match self.check.as_ref().map(|check| &check.answers) {
            None => ExampleState::NotChecked,
            Some(Err(error)) => ExampleState::Failed(error.clone()),
            Some(Ok(_)) => {
                let mut expected = self.expected(version, lens);
                // a question that is expected since the check has no answer yet
                if expected.any(|one| one.is_broken) {
                    ExampleState::Broken
                } else if self.expected(version, lens).any(|one| one.answer.is_none()) {
                    ExampleState::NotChecked
                } else {
                    ExampleState::Holds
                }
            }
        }
    }

    /// The expected outcomes that the wording asks for, each with the answer, in the order of its
    /// questions.
    pub fn expected<'a>(
        &'a self,
        version: &'a PrismVersion,
        lens: &'a [Column],
    ) -> impl Iterator<Item = ExpectedAnswer<'a>> {
        asked(&self.example.expected, version).map(move |(question, expected)| {
            let answer = self
                .answers()
                .and_then(|answers| answers.get(&question.key));
            let cutoffs = cutoffs_of(lens, &question.key);
            let is_broken = answer.is_some_and(|answer| {
                predicted(question, answer, cutoffs).as_ref() != Some(expected)
            });
            ExpectedAnswer {
                question,
                expected,
                answer,
                is_broken,
            }
        })
    }

    /// The expected outcomes that the wording no longer asks for: the question or the outcome is
    /// gone.
    pub fn no_longer_asked<'a>(
        &'a self,
        version: &'a PrismVersion,
    ) -> impl Iterator<Item = &'a (QuestionKey, OutcomeKey)> {
        no_longer_asked(&self.example.expected, version)
    }

    /// The answers of the wording.
    pub fn answers(&self) -> Option<&Answers> {
        self.check.as_ref()?.answers.as_ref().ok()
    }

    /// When the wording was asked.
    pub fn checked_at(&self) -> Option<DateTime<Utc>> {
        self.check.as_ref().map(|check| check.checked_at)
    }
}

/// The expected outcomes that a version asks for, in the order of its questions.
fn asked<'a>(
    expected: &'a ExpectedOutcomes,
    version: &'a PrismVersion,
) -> impl Iterator<Item = (&'a Question, &'a OutcomeKey)> {
    let questions = version.questions().iter();
    questions.filter_map(|question| {
        let outcome = expected.get(&question.key)?;
        has_outcome(question, outcome).then_some((question, outcome))
    })
}

/// The expected outcomes that a version does not ask for.
pub(super) fn no_longer_asked<'a>(
    expected: &'a ExpectedOutcomes,
    version: &'a PrismVersion,
) -> impl Iterator<Item = &'a (QuestionKey, OutcomeKey)> {
    expected.0.iter().filter(|(key, outcome)| {
        let question = version.question(key);
        !question.is_some_and(|question| has_outcome(question, outcome))
    })
}

fn has_outcome(question: &Question, outcome: &OutcomeKey) -> bool {
    outcomes(question).any(|one| one.key == outcome.as_str())
}
