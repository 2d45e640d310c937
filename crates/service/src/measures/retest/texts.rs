//! The texts of a retest: stored results, each with what is asked about it and what of the answers
//! can be compared.

use std::collections::BTreeSet;

use refract_domain::key::{OutcomeKey, QuestionKey};
use refract_domain::prism::PrismVersion;
use refract_domain::prism::question::Question;
use refract_domain::result::mark::Mark;
use refract_domain::submission::Submission;
use refract_domain::submission::budget;

use crate::results::readable_result::ReadableResult;

/// A stored text that is asked about again.
pub(super) struct RetestText {
    pub(super) stored: ReadableResult,
    /// The text with the fields of the version that is asked.
    pub(super) submission: Submission,
    /// The marks of the stored result that count.
    marks: Vec<(QuestionKey, OutcomeKey)>,
}

/// Why a stored text is not asked about again.
pub(super) enum NotAsked {
    /// The text lacks a field of the version.
    LacksField,
    /// The text is over the token budget with the version.
    TooLarge,
    /// No question of the stored answers can be compared.
    NothingToCompare,
}

impl RetestText {
    /// The text of a stored result, about which `asked` is asked, or the version that answered
    /// before.
    pub(super) fn new(
        stored: ReadableResult,
        asked: Option<&PrismVersion>,
    ) -> Result<Self, NotAsked> {
        let version = asked.unwrap_or_else(|| stored.version());
        let submission = stored.submission().for_fields(version.fields());
        let submission = submission.ok_or(NotAsked::LacksField)?;
        budget::check(version, &submission).map_err(|_| NotAsked::TooLarge)?;
        let mut questions = version.questions().iter();
        if !questions.any(|question| are_compared(stored.version(), question)) {
            return Err(NotAsked::NothingToCompare);
        }
        Ok(Self {
            stored,
            submission,
            marks: Vec::new(),
        })
    }

    /// Adds a mark of the stored result.
    pub(super) fn add_mark(&mut self, mark: Mark) {
        self.marks.push((mark.question, mark.outcome));
    }

    /// The marked outcome of a question.
    pub(super) fn mark(&self, question: &QuestionKey) -> Option<&OutcomeKey> {
        let mut marks = self.marks.iter();
        let (_, outcome) = marks.find(|(marked, _)| marked == question)?;
        Some(outcome)
    }

    /// The version that is asked: `asked`, or the one that answered before.
    pub(super) fn version<'a>(&'a self, asked: Option<&'a PrismVersion>) -> &'a PrismVersion {
        asked.unwrap_or_else(|| self.stored.version())
    }
}

/// Whether the answers of an earlier version to a question can be compared with new ones: the
/// earlier version has the question, with the same type and the same outcomes in any order.
pub(super) fn are_compared(before: &PrismVersion, question: &Question) -> bool {
    let outcomes = |question: &Question| -> BTreeSet<String> {
        let outcomes = question.outcomes();
        outcomes.map(|outcome| outcome.key.to_owned()).collect()
    };
    before.question(&question.key).is_some_and(|before| {
        before.question_type() == question.question_type() && outcomes(before) == outcomes(question)
    })
}
