//! Prisms: their names and their versions with fields, context and questions. And slugs, example
//! texts, and other orders of options.

pub mod question;

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_with::{As, Map, Same};

use crate::answer::Decimal;
use crate::ids::{PrismId, parse_uuid};
use crate::key::{OutcomeKey, QuestionKey};
use crate::lens::{Column, Lens};
use crate::limits::{PRISM_PATH_CHARS, VERSION_MAX};
use crate::problem::ValidationError;
use crate::submission::model_input::SystemOneQuestion;

pub use self::question::{Field, Outcome, OutcomeRef, Question, QuestionKind, QuestionType};

/// Defines a type for one kind of name; a value of the type is always valid.
macro_rules! display_name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name(String);

        impl $name {
            /// Trims and checks a name.
            ///
            /// # Errors
            /// The faults of the name's length and characters.
            pub fn parse(name: &str) -> Result<Self, Vec<$crate::problem::ValidationError>> {
                let name = name.trim();
                let errors = $crate::problem::text::errors(name, &$crate::limits::LABEL_CHARS);
                if errors.is_empty() {
                    Ok(Self(name.to_owned()))
                } else {
                    Err(errors)
                }
            }

            /// Wraps a name read from the database without checking it again.
            pub fn saved(name: String) -> Self {
                Self(name)
            }

            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

pub(crate) use display_name;

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

/// A prism's name in paths, unique in the account and never changed (spec 2.1).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slug(Box<str>);

impl Slug {
    /// Reads a chosen slug: words of lower case ASCII letters and digits, joined with `-`, at most
    /// 64 characters. `None` for anything else, and for text that looks like a UUID.
    pub fn parse(text: &str) -> Option<Self> {
        let is_word = |word: &str| {
            let mut bytes = word.bytes();
            !word.is_empty() && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        };
        let is_slug = text.len() <= PRISM_PATH_CHARS && text.split('-').all(is_word);
        (is_slug && parse_uuid(text).is_none()).then(|| Self(text.into()))
    }

    /// A slug read from the database, which is not checked again.
    pub fn saved(text: String) -> Self {
        Self(text.into_boxed_str())
    }

    /// The slug as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Slug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A prism as a path or a command names it: by id or by slug (spec 2.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrismSelector {
    /// An id: anything that looks like a UUID.
    Id(PrismId),
    /// A slug: anything else. There may be no prism with this slug.
    Slug(String),
}

impl PrismSelector {
    /// Reads a slug or an id of 1 to 64 characters.
    ///
    /// # Errors
    /// The faults of the text's length and characters.
    pub fn parse(text: &str) -> Result<Self, Vec<ValidationError>> {
        let errors = crate::problem::text::errors(text, &(1..=PRISM_PATH_CHARS));
        if !errors.is_empty() {
            return Err(errors);
        }
        Ok(PrismId::parse(text).map_or_else(|| Self::Slug(text.to_owned()), Self::Id))
    }
}

/// Up to `most` versions with only the Choice questions of `version`, each with its options in
/// another order. A question with fewer other orders occurs only in the first versions; the list is
/// empty when no question has another order.
///
/// The orders are the rotations of the options (by one, by two and so on), then the reversed list
/// and its rotations. The built-in outcomes stay last.
pub fn in_other_orders(version: &PrismVersion, most: usize) -> Vec<PrismVersion> {
    let questions = version.questions().iter();
    let mut orders: Vec<_> = questions.filter_map(|q| orders(q, most)).collect();
    let with = |questions| {
        let context = version.context().map(str::to_owned);
        PrismVersion::new(version.fields().to_vec(), context, questions)
    };
    let next = || -> Option<Vec<Question>> {
        let questions: Vec<_> = orders.iter_mut().filter_map(Iterator::next).collect();
        (!questions.is_empty()).then_some(questions)
    };
    std::iter::from_fn(next).map(with).collect()
}

/// A Choice question in at most `most` other orders; `None` for other types.
fn orders(question: &Question, most: usize) -> Option<std::vec::IntoIter<Question>> {
    let own = match &question.kind {
        QuestionKind::Choice { options } => options,
        QuestionKind::YesNo | QuestionKind::Scale { .. } => return None,
    };
    let reversed: Vec<_> = own.iter().rev().cloned().collect();
    let moved = (1..own.len()).map(|places| moved_up(own, places));
    let reversed = (0..own.len()).map(|places| moved_up(&reversed, places));
    let mut found: Vec<Vec<Outcome>> = Vec::new();
    for order in moved.chain(reversed) {
        if found.len() == most {
            break;
        }
        if order != *own && !found.contains(&order) {
            found.push(order);
        }
    }
    let questions = found.into_iter().map(|options| Question {
        kind: QuestionKind::Choice { options },
        ..question.clone()
    });
    Some(questions.collect::<Vec<_>>().into_iter())
}

fn moved_up(options: &[Outcome], places: usize) -> Vec<Outcome> {
    let mut moved = options.to_vec();
    moved.rotate_left(places);
    moved
}

#[cfg(test)]
mod tests;
