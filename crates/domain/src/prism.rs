//! Prisms: their names and their versions with fields, context and questions.

pub(crate) mod display_name;
pub mod example;
pub mod field;
pub mod option_orders;
pub mod question;
pub mod slug;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::answer::Decimal;
use crate::key::QuestionKey;
use crate::lens::{Column, Lens};
use crate::limits::VERSION_MAX;
use crate::submission::model_input::SystemOneQuestion;

pub(crate) use self::display_name::display_name;
pub use self::example::{EXAMPLE_TEXTS, ExpectedOutcomes};
pub use self::field::Field;
pub use self::option_orders::in_other_orders;
pub use self::question::{Outcome, OutcomeRef, Question, QuestionKind, QuestionType};
pub use self::slug::{PrismSelector, Slug};

display_name! {
    /// A prism's display name, trimmed, 1 to 200 characters. A name belongs to the prism and not to
    /// a version.
    DisplayName
}

/// Number of a prism version, from 1 to 2147483647 (spec 9); in JSON an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "i32", try_from = "i32")]
pub struct VersionNumber(i32);

/// A number is not that of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a version number is from 1 to {VERSION_MAX}")]
pub struct NotAVersionNumber;

impl VersionNumber {
    /// The first version of every prism.
    pub const FIRST: Self = Self(1);

    /// A version number from 1 to 2147483647; `None` for anything else.
    pub fn new(number: i32) -> Option<Self> {
        (1..=VERSION_MAX).contains(&number).then_some(Self(number))
    }

    /// The version number as an integer.
    pub fn get(self) -> i32 {
        self.0
    }

    /// The number of the next version; `None` after the highest.
    pub fn next(self) -> Option<Self> {
        self.0.checked_add(1).map(Self)
    }
}

impl TryFrom<i32> for VersionNumber {
    type Error = NotAVersionNumber;

    fn try_from(number: i32) -> Result<Self, NotAVersionNumber> {
        Self::new(number).ok_or(NotAVersionNumber)
    }
}

impl From<VersionNumber> for i32 {
    fn from(version: VersionNumber) -> Self {
        version.0
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

/// One version of a prism: its fields, context and questions. A saved version never changes (spec
/// 9).
///
/// JSON is for versions that were saved: reading it checks no rule of prism files.
/// `refract_authoring::prism_file` reads and checks files.
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
    questions_json: Vec<Box<str>>,
    #[serde(skip)]
    question_chars: Vec<usize>,
}

impl PrismVersion {
    /// Makes a version from checked parts. The caller enforces the prism file's rules, such as
    /// distinct keys and the sizes in [`limits`](crate::limits); `refract_authoring` does so for
    /// files.
    pub fn new(fields: Vec<Field>, context: Option<String>, questions: Vec<Question>) -> Self {
        let json = questions.iter().map(SystemOneQuestion::from);
        let json: Vec<_> = json.map(|question| question.json()).collect();
        Self {
            automatic_columns: questions.iter().filter_map(Column::automatic).collect(),
            question_chars: json.iter().map(|json| json.chars().count()).collect(),
            questions_json: json,
            fields,
            context,
            questions,
        }
    }

    /// The 1 to 8 fields, in order.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The context that the model reads with every text; up to 8,000 characters, never blank.
    pub fn context(&self) -> Option<&str> {
        self.context.as_deref()
    }

    /// The 1 to 100 questions, in order.
    pub fn questions(&self) -> &[Question] {
        &self.questions
    }

    /// Each question in order as compact System One JSON, written once: a version is answered far
    /// more often than it is read from the database.
    pub fn questions_json(&self) -> &[Box<str>] {
        &self.questions_json
    }

    /// Length of each question in order, in characters of compact System One JSON.
    pub fn question_chars(&self) -> &[usize] {
        &self.question_chars
    }

    /// The question with this key.
    pub fn question(&self, key: &QuestionKey) -> Option<&Question> {
        self.questions.iter().find(|question| question.key == *key)
    }

    /// The columns of a lens, in order. `self` must be the prism's latest version: the automatic
    /// lens has a column for each of its questions.
    pub fn columns<'a>(&'a self, lens: &'a Lens) -> &'a [Column] {
        match lens {
            Lens::Automatic => &self.automatic_columns,
            Lens::Custom(columns) => columns,
        }
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
