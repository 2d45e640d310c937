//! The results of one side of a comparison, without their texts.

use refract_domain::ids::ResultId;
use refract_domain::result::SavedResult;
use refract_domain::submission::reference::Ref;

use super::asked_question::OutcomeIndex;
use crate::prisms::text_hash::TextHash;

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
