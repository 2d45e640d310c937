//! A prism being edited: the form's values, valid or not, and the prism file made from them. Only
//! the parser of prism files knows the rules.
//!
//! Words of other scripts in Latin letters, from which keys and slugs are proposed.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::iter;

use any_ascii::any_ascii;
use refract_authoring::made_names::{self, TriedNumbers};
use refract_domain::limits::{FIELDS, OPTIONS, QUESTIONS};
use refract_domain::prism::{Outcome, PrismVersion, Question, QuestionType};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A prism being edited.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EditDraft {
    pub(crate) name: String,
    /// The slug of a new prism. If empty, it is derived from the name.
    pub(crate) slug: String,
    pub(crate) fields: Vec<DraftField>,
    pub(crate) context: String,
    pub(crate) questions: Vec<DraftQuestion>,
}

/// A key in the form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum DraftKey {
    /// A saved key, on which callers rely.
    Saved(String),
    /// The key of a new item. If empty, it is derived from the label or the question.
    Typed(String),
}

impl Default for DraftKey {
    /// The empty key of a new item.
    fn default() -> Self {
        Self::Typed(String::new())
    }
}

/// A field in the form.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DraftField {
    pub(crate) key: DraftKey,
    pub(crate) label: String,
}

/// A question in the form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DraftQuestion {
    pub(crate) key: DraftKey,
    pub(crate) question_type: QuestionType,
    pub(crate) text: String,
    pub(crate) instructions: String,
    /// Options or levels; empty for a Yes / No.
    pub(crate) outcomes: Vec<EditedOutcome>,
    /// Whether the question is shown as one line, because the prism is too large for one form.
    pub(crate) is_folded: bool,
}

/// An option or level in the form.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EditedOutcome {
    pub(crate) key: DraftKey,
    pub(crate) label: String,
    pub(crate) description: String,
}

/// The most lines of questions, instructions, options and levels that one form shows at once.
const LARGE: usize = 80;

impl DraftKey {
    /// The key as typed.
    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::Saved(key) | Self::Typed(key) => key,
        }
    }

    fn saved(key: &str) -> Self {
        Self::Saved(key.to_owned())
    }

    /// The key, derived if it is empty.
    fn filled(
        &self,
        taken: &mut BTreeSet<String>,
        make: impl FnOnce(&BTreeSet<String>) -> String,
    ) -> String {
        let key = self.as_str().trim();
        if !key.is_empty() {
            return key.to_owned();
        }
        let new = make(taken);
        taken.insert(new.clone());
        new
    }
}

impl DraftQuestion {
    /// The name of the list of outcomes in file and form; `None` for a Yes / No.
    pub(crate) fn list(&self) -> Option<&'static str> {
        match self.question_type {
            QuestionType::Choice => Some("options"),
            QuestionType::YesNo => None,
            QuestionType::Scale => Some("levels"),
        }
    }

    /// A new question, open and without options or levels.
    pub(crate) fn new(question_type: QuestionType) -> Self {
        Self {
            key: DraftKey::default(),
            question_type,
            text: String::new(),
            instructions: String::new(),
            outcomes: Vec::new(),
            is_folded: false,
        }
    }

    /// A saved question, open.
    pub(crate) fn of(question: &Question) -> Self {
        let outcomes = question.own_outcomes().iter();
        Self {
            key: DraftKey::saved(question.key.as_str()),
            text: question.text.clone(),
            instructions: question.instructions.clone().unwrap_or_default(),
            outcomes: outcomes.map(EditedOutcome::of).collect(),
            ..Self::new(question.question_type())
        }
    }

    fn in_file(&self, key: &str) -> Value {
        let mut file = json!({
            "key": key,
            "type": self.question_type.name(),
            "text": self.text,
            "instructions": self.instructions,
        });
        if let (Some(list), Some(object)) = (self.list(), file.as_object_mut()) {
            let outcomes = self.outcomes.iter().map(EditedOutcome::in_file);
            object.insert(list.to_owned(), outcomes.collect());
        }
        file
    }
}

impl EditedOutcome {
    fn of(outcome: &Outcome) -> Self {
        Self {
            key: DraftKey::saved(outcome.key.as_str()),
            label: outcome.label.clone(),
            description: outcome.description.clone().unwrap_or_default(),
        }
    }

    fn in_file(&self) -> Value {
        let mut file = json!({ "label": self.label, "description": self.description });
        let key = self.key.as_str().trim();
        if let (false, Some(object)) = (key.is_empty(), file.as_object_mut()) {
            object.insert("key".to_owned(), key.into());
        }
        file
    }
}

impl EditDraft {
    /// A prism with one field and one question, to start from.
    pub(crate) fn blank() -> Self {
        Self {
            fields: vec![DraftField {
                key: DraftKey::Typed("text".to_owned()),
                label: "Text".to_owned(),
            }],
            questions: vec![DraftQuestion::new(QuestionType::YesNo)],
            ..Self::default()
        }
    }

    /// A saved version, with fixed keys and types.
    pub(crate) fn of(name: &str, version: &PrismVersion) -> Self {
        let fields = version.fields().iter().map(|field| DraftField {
            key: DraftKey::saved(field.key.as_str()),
            label: field.label.clone(),
        });
        let questions = version.questions().iter().map(DraftQuestion::of);
        let mut draft = Self {
            name: name.to_owned(),
            slug: String::new(),
            fields: fields.collect(),
            context: version.context().unwrap_or_default().to_owned(),
            questions: questions.collect(),
        };
        draft.fold_besides(None);
        draft
    }

    /// Folds the questions of a large prism, except the one being edited.
    pub(crate) fn fold_besides(&mut self, open: Option<usize>) {
        if !self.is_large() {
            return;
        }
        for (place, question) in self.questions.iter_mut().enumerate() {
            question.is_folded = Some(place) != open;
        }
    }

    /// The draft with keys that can still be changed, for an unsaved prism.
    pub(crate) fn into_new(mut self) -> Self {
        for key in self.item_keys_mut() {
            *key = DraftKey::Typed(key.as_str().to_owned());
        }
        self
    }

    /// The keys of the fields, and of each question before its options or levels.
    pub(crate) fn item_keys_mut(&mut self) -> impl Iterator<Item = &mut DraftKey> {
        let fields = self.fields.iter_mut().map(|field| &mut field.key);
        let questions = self.questions.iter_mut().flat_map(|question| {
            let outcomes = question.outcomes.iter_mut().map(|outcome| &mut outcome.key);
            iter::once(&mut question.key).chain(outcomes)
        });
        fields.chain(questions)
    }

    /// Whether the prism has too many questions, options and levels to show all inputs at once.
    pub(crate) fn is_large(&self) -> bool {
        let questions = self.questions.iter();
        let lines: usize = questions.map(|question| 2 + question.outcomes.len()).sum();
        self.questions.len() > 1 && lines > LARGE
    }

    /// The prism file. Fields and questions without a key get a derived one.
    pub(crate) fn file(&self) -> Vec<u8> {
        let (field_keys, question_keys) = self.keys();
        let fields = self.fields.iter().zip(field_keys);
        let fields = fields.map(|(field, key)| json!({ "key": key, "label": field.label }));
        let questions = self.questions.iter().zip(question_keys);
        let questions = questions.map(|(question, key)| question.in_file(&key));
        let file = json!({
            "name": self.name,
            "fields": fields.collect::<Value>(),
            "context": self.context,
            "questions": questions.collect::<Value>(),
        });
        file.to_string().into_bytes()
    }

    /// Whether the draft has more fields, questions or outcomes than a prism can have: no keys are
    /// made for them.
    pub(crate) fn is_beyond_limits(&self) -> bool {
        let outcomes = |question: &DraftQuestion| question.outcomes.len() > *OPTIONS.end();
        self.fields.len() > *FIELDS.end()
            || self.questions.len() > *QUESTIONS.end()
            || self.questions.iter().any(outcomes)
    }

    /// The keys of the fields and of the questions, derived where they are empty.
    pub(crate) fn keys(&self) -> (Vec<String>, Vec<String>) {
        let typed = self.fields.iter().map(|field| &field.key);
        let typed = typed.chain(self.questions.iter().map(|question| &question.key));
        let mut taken: BTreeSet<String> = typed.map(|key| key.as_str().trim().to_owned()).collect();
        let mut tried = TriedNumbers::default();
        let mut fields = Vec::with_capacity(self.fields.len());
        for field in &self.fields {
            fields.push(field.key.filled(&mut taken, |taken| {
                let words = spelled(&field.label);
                let key = made_names::field_key(&words, &mut tried, |key| taken.contains(key));
                key.as_str().to_owned()
            }));
        }
        let mut questions = Vec::with_capacity(self.questions.len());
        for question in &self.questions {
            questions.push(question.key.filled(&mut taken, |taken| {
                let words = spelled(&question.text);
                let key = made_names::question_key(&words, &mut tried, |key| taken.contains(key));
                key.as_str().to_owned()
            }));
        }
        (fields, questions)
    }
}

/// The words that a key is made from: in Latin letters, by how they sound or by tables that come close
/// to it, where they have none of their own.
pub(super) fn spelled(words: &str) -> Cow<'_, str> {
    if made_names::has_words(words) {
        Cow::Borrowed(words)
    } else {
        // a quotation mark stands for a sound within a word
        Cow::Owned(any_ascii(words).replace(['\'', '`'], ""))
    }
}

/// Whether a key made from these words has to be asked for: they have no Latin letters.
pub(super) fn is_foreign(words: &str) -> bool {
    !words.trim().is_empty() && !made_names::has_words(words)
}

#[cfg(test)]
mod tests;
