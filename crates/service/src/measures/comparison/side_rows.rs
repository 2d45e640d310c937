//! The results of one side of a comparison, without their texts.

use refract_domain::ids::ResultId;
use refract_domain::reference::Ref;
use refract_domain::result::SavedResult;

use super::asked_question::OutcomeIndex;
use super::text_hash::TextHash;

/// The results of one side, oldest first: what they predict, and hashes by which they are paired.
#[derive(Default)]
pub(super) struct SideRows(Vec<SideRow>);

/// A result of one side.
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

impl SideRows {
    /// Adds a result that is newer than those before, with what it predicts for each question.
    pub(super) fn add(&mut self, result: &SavedResult, predicted: Vec<Option<OutcomeIndex>>) {
        let reference = result.reference.as_ref().map(Ref::as_str);
        self.0.push(SideRow {
            id: result.id,
            reference: reference.map(TextHash::of_reference),
            content: TextHash::of_submission(&result.submission),
            predicted: predicted.into(),
        });
    }

    /// Number of results.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The results, oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &SideRow> {
        self.0.iter()
    }
}

impl SideRow {
    /// What the result predicts for the question at a position.
    pub(super) fn predicted(&self, question: usize) -> Option<OutcomeIndex> {
        self.predicted.get(question).copied().flatten()
    }
}
