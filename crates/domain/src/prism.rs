//! Prism versions: fields, context and questions; and what every version after them must keep.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::asking;
use crate::decimal::Decimal;
use crate::field::Field;
use crate::key::{FieldKey, QuestionKey};
use crate::lens::{self, Column, Lens};
use crate::limits::{LABEL_CHARS, VERSION_MAX};
use crate::problem::Fault;
use crate::question::{Question, QuestionType};
use crate::text;

/// A prism's display name, trimmed, 1 to 200 characters. It belongs to the prism, not to a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrismName(String);

impl PrismName {
    /// Reads a name.
    ///
    /// # Errors
    /// The faults of its length and characters.
    pub fn parse(name: &str) -> Result<Self, Vec<Fault>> {
        let name = name.trim();
        let faults = text::faults(name, &LABEL_CHARS);
        if faults.is_empty() {
            Ok(Self(name.to_owned()))
        } else {
            Err(faults)
        }
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Number of a prism version, from 1 (spec 9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct VersionNumber(i32);

impl VersionNumber {
    /// The first version of every prism.
    pub const FIRST: Self = Self(1);

    /// From 1 to 2147483647; `None` for anything else.
    pub fn new(number: i32) -> Option<Self> {
        (1..=VERSION_MAX).contains(&number).then_some(Self(number))
    }

    /// The number.
    pub fn get(self) -> i32 {
        self.0
    }

    /// The number of the version after this one; `None` after the highest.
    pub fn next(self) -> Option<Self> {
        self.0.checked_add(1).map(Self)
    }
}

impl From<VersionNumber> for Decimal {
    fn from(version: VersionNumber) -> Self {
        Self::from(version.0.unsigned_abs())
    }
}

impl fmt::Display for VersionNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One version of a prism: its fields, context and questions. A saved version never changes (spec 9).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "PrismVersionJson")]
pub struct PrismVersion {
    fields: Vec<Field>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<String>,
    questions: Vec<Question>,
    #[serde(skip)]
    automatic_columns: Vec<Column>,
    #[serde(skip)]
    longest_question_chars: usize,
}

impl PrismVersion {
    /// Puts together parts that [`prism_file`](crate::prism_file) has checked.
    pub(crate) fn new(
        fields: Vec<Field>,
        context: Option<String>,
        questions: Vec<Question>,
    ) -> Self {
        Self {
            automatic_columns: questions
                .iter()
                .filter_map(lens::automatic_column)
                .collect(),
            longest_question_chars: questions
                .iter()
                .map(asking::question_chars)
                .max()
                .unwrap_or(0),
            fields,
            context,
            questions,
        }
    }

    /// 1 to 8 fields, in order.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// What every question sees beside the text; up to 8,000 characters, never blank.
    pub fn context(&self) -> Option<&str> {
        self.context.as_deref()
    }

    /// 1 to 100 questions, in order.
    pub fn questions(&self) -> &[Question] {
        &self.questions
    }

    /// The question with this key.
    pub fn question(&self, key: &QuestionKey) -> Option<&Question> {
        self.questions.iter().find(|question| question.key == *key)
    }

    /// The columns of a lens in order, for the prism whose latest version this is: those of the
    /// automatic lens are one per question.
    pub fn columns<'a>(&'a self, lens: &'a Lens) -> &'a [Column] {
        match lens {
            Lens::Automatic => &self.automatic_columns,
            Lens::Custom(columns) => columns,
        }
    }

    /// Characters of the longest question as [`asking`] writes it.
    pub(crate) fn longest_question_chars(&self) -> usize {
        self.longest_question_chars
    }
}

#[derive(Deserialize)]
struct PrismVersionJson {
    fields: Vec<Field>,
    context: Option<String>,
    questions: Vec<Question>,
}

impl From<PrismVersionJson> for PrismVersion {
    fn from(json: PrismVersionJson) -> Self {
        Self::new(json.fields, json.context, json.questions)
    }
}

/// The keys that a prism's versions have ever had: they keep what they were (spec 2.3, readings).
#[derive(Clone, Debug, Default)]
pub struct KeyHistory {
    pub(crate) fields: BTreeSet<FieldKey>,
    pub(crate) questions: BTreeMap<QuestionKey, QuestionType>,
}

impl KeyHistory {
    /// The keys of these versions.
    pub fn of<'a>(versions: impl IntoIterator<Item = &'a PrismVersion>) -> Self {
        let mut history = Self::default();
        for version in versions {
            history
                .fields
                .extend(version.fields.iter().map(|field| field.key.clone()));
            let questions = version.questions.iter();
            history
                .questions
                .extend(questions.map(|q| (q.key.clone(), q.question_type())));
        }
        history
    }
}
