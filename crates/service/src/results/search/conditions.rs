//! The conditions of a search that no index decides.

use std::collections::HashMap;

use refract_domain::answer::Answers;
use refract_domain::ids::ResultId;
use refract_domain::prism::PrismVersion;
use refract_domain::result::mark::Mark;

use super::result_search::{MarkCondition, ResultSearch};
use super::text_words::TextWords;
use crate::lenses::prism_lens::PrismLens;
use crate::results::column_value::{ColumnNotSearchable, WantedValue};
use crate::results::readable_result::ReadableResult;

/// The conditions of a search that are checked on each candidate, for the lens as it is.
pub(crate) struct SearchConditions {
    wanted: Vec<WantedValue>,
    pub(super) words: Option<TextWords>,
    pub(super) marks: Option<MarkCondition>,
}

impl SearchConditions {
    pub(crate) fn of(lens: &PrismLens, search: &ResultSearch) -> Result<Self, ColumnNotSearchable> {
        let shown = search
            .values
            .iter()
            .map(|value| WantedValue::of(lens, value));
        let mut wanted = shown.collect::<Result<Vec<_>, _>>()?;
        let answered = search.answers.iter();
        wanted.extend(answered.filter_map(|answer| WantedValue::answered(lens, answer)));
        Ok(Self {
            wanted,
            words: search.words.clone(),
            marks: search.marks.clone(),
        })
    }

    /// Whether every result matches.
    pub(crate) fn are_none(&self) -> bool {
        self.wanted.is_empty() && self.words.is_none() && self.marks.is_none()
    }

    /// Whether marks decide.
    pub(crate) fn has_marks(&self) -> bool {
        self.marks.is_some()
    }

    /// Whether a result matches all conditions. `marks` are those of results by id.
    pub(crate) fn match_result(
        &self,
        result: &ReadableResult,
        marks: &HashMap<ResultId, Vec<Mark>>,
    ) -> bool {
        let marks = marks.get(&result.id()).map(Vec::as_slice);
        let answers = result.saved().status.answers();
        let values = result.submission().field_values();
        self.match_answers(result.version(), answers)
            && self.match_marks(marks.unwrap_or_default())
            && self.words.as_ref().is_none_or(|words| words.are_in(values))
    }

    /// Whether answers decide.
    pub(crate) fn has_values(&self) -> bool {
        !self.wanted.is_empty()
    }

    /// Whether a result with these answers of this version matches the conditions on answers; a
    /// failed result has no answers.
    pub(crate) fn match_answers(&self, version: &PrismVersion, answers: Option<&Answers>) -> bool {
        let mut wanted = self.wanted.iter();
        wanted.all(|wanted| wanted.is_shown(version, answers))
    }

    /// Whether a result with these marks matches the condition on marks.
    pub(crate) fn match_marks(&self, marks: &[Mark]) -> bool {
        match &self.marks {
            None => true,
            Some(MarkCondition::Marked) => !marks.is_empty(),
            Some(MarkCondition::Unmarked) => marks.is_empty(),
            Some(MarkCondition::Outcome(question, outcome)) => {
                let mut marks = marks.iter();
                marks.any(|mark| mark.question == *question && mark.outcome == *outcome)
            }
        }
    }
}

/// Marks by their results.
pub(crate) fn by_result(marks: Vec<Mark>) -> HashMap<ResultId, Vec<Mark>> {
    let mut by_result: HashMap<ResultId, Vec<Mark>> = HashMap::new();
    for mark in marks {
        by_result.entry(mark.result).or_default().push(mark);
    }
    by_result
}
