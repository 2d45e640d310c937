//! Earlier versions of a prism: the rules that they impose on the next one.

use std::collections::{BTreeMap, BTreeSet};

use refract_domain::key::{FieldKey, QuestionKey};
use refract_domain::lens::Lens;
use refract_domain::prism::{PrismVersion, Question};

/// The part of a prism's history that restricts its next version.
#[derive(Clone, Debug)]
pub struct EarlierVersions {
    /// The latest version: an option or level keeps the key that its label has there, or had when its
    /// question was asked last.
    pub latest: PrismVersion,
    /// The keys of all versions.
    pub keys: KeyHistory,
    /// The prism's lens: no field may have the name of one of its columns as its key.
    pub lens: Lens,
}

/// All keys that a prism's versions have ever had. A field's key never becomes a question's, or
/// vice versa, and a question's key keeps its type (spec 2.3, readings).
#[derive(Clone, Debug, Default)]
pub struct KeyHistory {
    fields: BTreeSet<FieldKey>,
    /// Each question as it was asked last.
    questions: BTreeMap<QuestionKey, Question>,
}

impl KeyHistory {
    /// Collects the keys of all versions of a prism, oldest first.
    pub fn of<'a>(
        versions: impl IntoIterator<Item = &'a PrismVersion, IntoIter: DoubleEndedIterator>,
    ) -> Self {
        let mut history = Self::default();
        // the newest first, so that each question is copied once
        for version in versions.into_iter().rev() {
            let fields = version.fields().iter();
            history.fields.extend(fields.map(|field| field.key.clone()));
            for question in version.questions() {
                if !history.questions.contains_key(&question.key) {
                    let key = question.key.clone();
                    history.questions.insert(key, question.clone());
                }
            }
        }
        history
    }

    /// Whether a question of an earlier version has the key of this field.
    pub(crate) fn has_question_named(&self, field: &FieldKey) -> bool {
        let mut questions = self.questions.keys();
        questions.any(|question| question.as_str() == field.as_str())
    }

    /// Whether a field of an earlier version has the key of this question.
    pub(crate) fn has_field_named(&self, question: &QuestionKey) -> bool {
        let mut fields = self.fields.iter();
        fields.any(|field| field.as_str() == question.as_str())
    }

    /// The question with this key as an earlier version asked it last.
    pub(crate) fn question(&self, key: &QuestionKey) -> Option<&Question> {
        self.questions.get(key)
    }
}
