//! The marks of both sides of a comparison.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use refract_domain::ids::ResultId;
use refract_domain::result::mark::Mark;
use refract_evaluation::marked::answer::NotComparable;

use super::asked_question::{AskedQuestion, OutcomeIndex};

/// Marks by the result and the position of the question.
#[derive(Default)]
pub(super) struct MarkedOutcomes(HashMap<(ResultId, usize), MarkedOutcome>);

#[derive(Clone, Copy)]
struct MarkedOutcome {
    outcome: OutcomeIndex,
    marked_at: DateTime<Utc>,
}

impl MarkedOutcomes {
    /// Adds a mark; a mark of a question that is not compared is ignored.
    pub(super) fn add(
        &mut self,
        asked: &mut [AskedQuestion<'_>],
        mark: &Mark,
    ) -> Result<(), NotComparable> {
        let mut numbered = asked.iter_mut().enumerate();
        let found = numbered.find(|(_, asked)| asked.question.key == mark.question);
        if let Some((position, asked)) = found {
            let marked = MarkedOutcome {
                outcome: asked.index_of(&mark.outcome)?,
                marked_at: mark.marked_at,
            };
            self.0.insert((mark.result, position), marked);
        }
        Ok(())
    }

    /// The mark of one question on either of two results: the newer mark where both results have
    /// one, and the second result's where both marks are of one moment.
    pub(super) fn of_either(
        &self,
        results: [ResultId; 2],
        question: usize,
    ) -> Option<OutcomeIndex> {
        let marks = results
            .iter()
            .filter_map(|result| self.0.get(&(*result, question)));
        let newest = marks.max_by_key(|mark| mark.marked_at);
        newest.map(|mark| mark.outcome)
    }
}
