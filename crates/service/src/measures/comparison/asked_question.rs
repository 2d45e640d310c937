//! A question that two sides were asked, with its outcomes numbered.

use indexmap::IndexSet;
use refract_domain::answer::Answer;
use refract_domain::key::OutcomeKey;
use refract_domain::lens::cutoffs::Cutoffs;
use refract_domain::prism::question::Question;
use refract_evaluation::marked::answer::NotComparable;
use refract_evaluation::prediction::predicted;

/// A question with the numbers of its outcomes.
pub(super) struct AskedQuestion<'a> {
    /// The question, in the wording of the newest version that has it.
    pub(super) question: &'a Question,
    cutoffs: Cutoffs,
    outcomes: IndexSet<OutcomeKey>,
}

/// The number of an outcome among those of one question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OutcomeIndex(u16);

impl<'a> AskedQuestion<'a> {
    /// A question whose Yes / No answers are read with these cutoffs.
    pub(super) fn new(question: &'a Question, cutoffs: Cutoffs) -> Self {
        Self {
            question,
            cutoffs,
            outcomes: IndexSet::new(),
        }
    }

    /// The outcome that an answer predicts; `question` is from the version that answered.
    pub(super) fn predicted(
        &mut self,
        question: &Question,
        answer: &Answer,
    ) -> Result<Option<OutcomeIndex>, NotComparable> {
        let predicted = predicted(question, answer, self.cutoffs);
        predicted.map(|key| self.index_of(&key)).transpose()
    }

    /// The number of an outcome; a new outcome gets a new number.
    pub(super) fn index_of(&mut self, key: &OutcomeKey) -> Result<OutcomeIndex, NotComparable> {
        let index = match self.outcomes.get_index_of(key) {
            Some(index) => index,
            None => self.outcomes.insert_full(key.clone()).0,
        };
        let index = u16::try_from(index).map_err(|_| NotComparable::TooManyOutcomes)?;
        Ok(OutcomeIndex(index))
    }

    /// The outcome with a number.
    pub(super) fn key_of(&self, index: OutcomeIndex) -> Option<&OutcomeKey> {
        self.outcomes.get_index(usize::from(index.0))
    }
}
