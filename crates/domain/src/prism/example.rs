//! Example texts of a prism: what the right answers to fixed texts are, whatever the version.

use serde::{Deserialize, Serialize};
use serde_with::{As, Map, Same};

use crate::key::{OutcomeKey, QuestionKey};
use crate::prism::display_name::display_name;

/// The most example texts of a prism: few enough to ask a new version about all of them before it is
/// saved.
pub const EXAMPLE_TEXTS: usize = 100;

display_name! {
    /// What a person noted beside an example text, trimmed, 1 to 200 characters.
    ExampleNote
}

/// The expected outcomes of an example text, by question. A question without one is not checked. In
/// JSON an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ExpectedOutcomes(
    #[serde(with = "As::<Map<Same, Same>>")] pub Vec<(QuestionKey, OutcomeKey)>,
);

impl ExpectedOutcomes {
    /// The expected outcome of a question; `None` for a question that is not checked.
    pub fn get(&self, question: &QuestionKey) -> Option<&OutcomeKey> {
        let (_, outcome) = self.0.iter().find(|(key, _)| key == question)?;
        Some(outcome)
    }

    /// Whether no question is checked.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expected_outcomes_are_an_object_in_json() {
        let json = r#"{"topic":"billing","angry":"yes"}"#;
        let expected: ExpectedOutcomes = serde_json::from_str(json).unwrap();
        let angry = QuestionKey::parse("angry").unwrap();
        assert_eq!(expected.get(&angry).unwrap().as_str(), "yes");
        let other = QuestionKey::parse("urgency").unwrap();
        assert_eq!(expected.get(&other), None);
        assert_eq!(serde_json::to_string(&expected).unwrap(), json);
        assert!(ExpectedOutcomes::default().is_empty() && !expected.is_empty());
    }
}
