//! The two sides of a comparison: the question that they were asked, their results without the
//! texts, the pairs that answer one text, and the marks.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use indexmap::IndexSet;
use refract_domain::answer::Answer;
use refract_domain::ids::ResultId;
use refract_domain::key::OutcomeKey;
use refract_domain::lens::Cutoffs;
use refract_domain::prism::Question;
use refract_domain::result::SavedResult;
use refract_domain::result::mark::Mark;
use refract_domain::submission::Ref;
use refract_evaluation::marked::{NotComparable, predicted};

use crate::prisms::TextHash;

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
    fn index_of(&mut self, key: &OutcomeKey) -> Result<OutcomeIndex, NotComparable> {
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

/// A result of one side: what it predicts, and hashes by which it is paired.
pub(super) struct SideRow {
    /// The result.
    pub(super) id: ResultId,
    /// Hash of the caller's reference.
    pub(super) reference: Option<TextHash>,
    /// Hash of the fields and the context.
    pub(super) content: TextHash,
    /// What the result predicts for each question.
    predicted: Box<[Option<OutcomeIndex>]>,
}

impl SideRow {
    /// A result with what it predicts for each question.
    pub(super) fn new(result: &SavedResult, predicted: Vec<Option<OutcomeIndex>>) -> Self {
        let reference = result.reference.as_ref().map(Ref::as_str);
        Self {
            id: result.id,
            reference: reference.map(TextHash::of_reference),
            content: TextHash::of_submission(&result.submission),
            predicted: predicted.into(),
        }
    }

    /// What the result predicts for the question at a position.
    pub(super) fn predicted(&self, question: usize) -> Option<OutcomeIndex> {
        self.predicted.get(question).copied().flatten()
    }
}

/// Pairs of two results of one text, the first side's result first, in the order of the first
/// side's results.
///
/// A result is matched by its `ref` if the other side has that `ref` too, otherwise by its fields
/// and context. The newest result of each side counts. A result that is on both sides forms no
/// pair.
pub(super) fn pairs<'a>(a: &'a [SideRow], b: &'a [SideRow]) -> Vec<[&'a SideRow; 2]> {
    let (refs_of_a, refs_of_b) = (references(a), references(b));
    let newest_of_a = newest(a, &refs_of_b);
    let newest_of_b = newest(b, &refs_of_a);
    let is_newest = |row: &&SideRow| {
        let newest = newest_of_a.get(&known_by(row, &refs_of_b));
        newest.is_some_and(|newest| newest.id == row.id)
    };
    let pair = |a: &'a SideRow| {
        let b = *newest_of_b.get(&known_by(a, &refs_of_b))?;
        (a.id != b.id).then_some([a, b])
    };
    a.iter().filter(is_newest).filter_map(pair).collect()
}

fn references(rows: &[SideRow]) -> HashSet<TextHash> {
    rows.iter().filter_map(|row| row.reference).collect()
}

/// The newest result for each key by which results are matched.
fn newest<'a>(
    rows: &'a [SideRow],
    refs_of_other: &HashSet<TextHash>,
) -> HashMap<TextHash, &'a SideRow> {
    let known = rows.iter().map(|row| (known_by(row, refs_of_other), row));
    // a later result of the same key replaces the earlier one
    known.collect()
}

fn known_by(row: &SideRow, refs_of_other: &HashSet<TextHash>) -> TextHash {
    let reference = row.reference.filter(|it| refs_of_other.contains(it));
    reference.unwrap_or(row.content)
}

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
