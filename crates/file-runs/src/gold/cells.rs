//! The correct answers in one row of a gold file: the cells of its `expected_…` columns.

use refract_domain::key::{OutcomeKey, QuestionKey};
use refract_domain::prism::Question;
use refract_domain::result::mark::outcome_named;

use crate::input::RawValue;

/// Prefix of the columns with correct answers; a question's key follows.
pub(crate) const EXPECTED: &str = "expected_";

/// The correct outcome of one question by a gold file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedOutcome {
    /// The question.
    pub question: QuestionKey,
    /// The correct outcome: an option or a built-in outcome, `yes` or `no`, or a level.
    pub outcome: OutcomeKey,
}

/// The expected outcomes of a row, and the invalid cells.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct GoldCells {
    pub(crate) expected: Vec<ExpectedOutcome>,
    /// The questions whose cell is not one of their outcomes.
    pub(crate) wrong: Vec<QuestionKey>,
}

impl GoldCells {
    /// Reads a value for each question, in the version's order. A row of a plain file run has no
    /// values.
    ///
    /// A blank cell and JSON null mean that no outcome is expected.
    pub(crate) fn read(values: impl Iterator<Item = RawValue>, questions: &[Question]) -> Self {
        let mut cells = Self::default();
        for (value, question) in values.zip(questions) {
            let outcome = match value.naming() {
                RawValue::Absent { .. } => continue,
                RawValue::Text { text, .. } if text.trim().is_empty() => continue,
                RawValue::Text { text, .. } => outcome_named(question, &text),
                RawValue::Scalar { .. } | RawValue::NoText(_) => None,
            };
            let question = question.key.clone();
            match outcome {
                Some(outcome) => cells.expected.push(ExpectedOutcome { question, outcome }),
                None => cells.wrong.push(question),
            }
        }
        cells
    }
}

#[cfg(test)]
mod tests {
    use refract_domain::prism::PrismVersion;

    use super::*;

    fn version() -> PrismVersion {
        serde_json::from_str(
            r#"{ "fields": [{ "key": "text", "label": "T" }], "questions": [
                { "key": "topic", "type": "choice", "text": "?", "options": [
                    { "key": "a", "label": "Bills" }, { "key": "b", "label": "B" }] },
                { "key": "angry", "type": "yes_no", "text": "?" },
                { "key": "urgency", "type": "scale", "text": "?", "levels": [
                    { "key": "low", "label": "Low" }, { "key": "high", "label": "High" }] }] }"#,
        )
        .unwrap()
    }

    fn text(text: &str) -> RawValue {
        RawValue::Text {
            text: text.to_owned(),
            has_unpaired_surrogate: false,
        }
    }

    fn read<const N: usize>(values: [RawValue; N]) -> (Vec<String>, Vec<String>) {
        let cells = GoldCells::read(values.into_iter(), version().questions());
        let expected = cells.expected.iter();
        let expected = expected.map(|one| format!("{} {}", one.question, one.outcome));
        let wrong = cells.wrong.iter().map(ToString::to_string);
        (expected.collect(), wrong.collect())
    }

    #[test]
    fn cells_name_outcomes_by_key_or_label_and_blank_ones_expect_nothing() {
        let (expected, wrong) = read([text(" Bills "), text("no"), text(" \n")]);
        assert_eq!(expected, ["topic a", "angry no"]);
        assert_eq!(wrong, [""; 0]);
        let absent = |is_null| RawValue::Absent { is_null };
        let scalar = |text: &str| RawValue::Scalar {
            text: text.to_owned(),
            type_name: "boolean",
        };
        let (expected, _) = read([absent(true), scalar("true")]);
        assert_eq!(expected, ["angry yes"]);
        let (expected, wrong) = read([absent(true), absent(false), text("high")]);
        assert_eq!((expected.len(), wrong.len()), (1, 0));
        assert_eq!(read([]), (Vec::new(), Vec::new()));
    }

    #[test]
    fn a_cell_that_names_no_outcome_is_wrong() {
        let (expected, wrong) = read([text("bills"), text("unsure"), RawValue::NoText("number")]);
        assert_eq!(expected, [""; 0]);
        assert_eq!(wrong, ["topic", "angry", "urgency"]);
    }
}
