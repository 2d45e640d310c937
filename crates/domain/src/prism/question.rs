//! Fields of a prism (spec 2.2), and its questions (choice, yes/no and scale) and their possible
//! outcomes (spec 2.3).

use serde::{Deserialize, Serialize};

use crate::key::{FieldKey, INSUFFICIENT_INFORMATION, OTHER, OutcomeKey, QuestionKey};

/// One field of a prism version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// The field's key, fixed once it is saved.
    pub key: FieldKey,
    /// Display text, 1 to 200 characters.
    pub label: String,
}

/// The type of a question, fixed once the question's key is saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionType {
    /// The answer is one of the prism's options or of the two built-in outcomes.
    Choice,
    /// The answer is yes or no.
    YesNo,
    /// The answer is one of several ordered levels.
    Scale,
}

impl QuestionType {
    /// The names of all types, for messages.
    pub const NAMES: [&'static str; 3] = ["choice", "yes_no", "scale"];

    /// The type with this name; `None` for anything else. Names are case-sensitive.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Choice, Self::YesNo, Self::Scale]
            .into_iter()
            .find(|t| t.name() == name)
    }

    /// The type's name in files, answers and requests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Choice => "choice",
            Self::YesNo => "yes_no",
            Self::Scale => "scale",
        }
    }
}

/// An option of a Choice question or a level of a Scale.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// The key, which is stable over versions.
    pub key: OutcomeKey,
    /// Display text that the model reads too; 1 to 200 characters.
    pub label: String,
    /// The description, which helps the model tell this outcome from the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// One possible outcome of a question, the prism's own or built-in, borrowed from
/// [`Question::outcomes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutcomeRef<'a> {
    /// Key of the outcome in stored answers.
    pub key: &'a str,
    /// Display text that the model reads too.
    pub label: &'a str,
    /// The description, which helps the model tell this outcome from the others.
    pub description: Option<&'a str>,
}

/// The outcomes that every Choice question has after its own options (spec 2.3).
const BUILT_IN_OUTCOMES: [OutcomeRef<'static>; 2] = [
    OutcomeRef {
        key: OTHER,
        label: "Other",
        description: Some("the text answers the question, but with none of the options above"),
    },
    OutcomeRef {
        key: INSUFFICIENT_INFORMATION,
        label: "Not enough information",
        description: Some("the text does not say enough to answer the question"),
    },
];

/// A question's type with its own options or levels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QuestionKind {
    /// Choice among 2 to 253 options and the two built-in outcomes.
    Choice {
        /// The prism's own options, in the prism's order.
        options: Vec<Outcome>,
    },
    /// Yes or no.
    YesNo,
    /// Scale of 2 to 10 levels.
    Scale {
        /// The levels, lowest first.
        levels: Vec<Outcome>,
    },
}

/// One question of a prism version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "QuestionJson", try_from = "QuestionJson")]
pub struct Question {
    /// The question's key. Once it is saved, its type cannot change.
    pub key: QuestionKey,
    /// The question's wording, which the model reads first.
    pub text: String,
    /// Instructions that the model reads after the text.
    pub instructions: Option<String>,
    /// The type, with the options or levels.
    pub kind: QuestionKind,
}

impl Question {
    /// The type of the question.
    pub fn question_type(&self) -> QuestionType {
        match self.kind {
            QuestionKind::Choice { .. } => QuestionType::Choice,
            QuestionKind::YesNo => QuestionType::YesNo,
            QuestionKind::Scale { .. } => QuestionType::Scale,
        }
    }

    /// The prism's own options or levels in order; none for Yes / No.
    pub fn own_outcomes(&self) -> &[Outcome] {
        match &self.kind {
            QuestionKind::Choice { options } => options,
            QuestionKind::YesNo => &[],
            QuestionKind::Scale { levels } => levels,
        }
    }

    /// All possible outcomes in order: options and then the built-in outcomes, or levels; none for
    /// Yes / No.
    pub fn outcomes(&self) -> impl Iterator<Item = OutcomeRef<'_>> + Clone {
        let built_in: &[OutcomeRef<'static>] = match self.kind {
            QuestionKind::Choice { .. } => &BUILT_IN_OUTCOMES,
            QuestionKind::YesNo | QuestionKind::Scale { .. } => &[],
        };
        let own = self.own_outcomes().iter().map(|outcome| OutcomeRef {
            key: outcome.key.as_str(),
            label: &outcome.label,
            description: outcome.description.as_deref(),
        });
        own.chain(built_in.iter().copied())
    }

    /// The label of the outcome with this key; `None` if the question has no such outcome.
    pub fn label_of(&self, key: &OutcomeKey) -> Option<&str> {
        self.outcomes()
            .find(|outcome| outcome.key == key.as_str())
            .map(|outcome| outcome.label)
    }
}

/// A question in the form of the prism file.
#[derive(Serialize, Deserialize)]
struct QuestionJson {
    key: QuestionKey,
    #[serde(rename = "type")]
    question_type: QuestionType,
    text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    instructions: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    options: Vec<Outcome>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    levels: Vec<Outcome>,
}

impl From<Question> for QuestionJson {
    fn from(question: Question) -> Self {
        let question_type = question.question_type();
        let (options, levels) = match question.kind {
            QuestionKind::Choice { options } => (options, Vec::new()),
            QuestionKind::YesNo => (Vec::new(), Vec::new()),
            QuestionKind::Scale { levels } => (Vec::new(), levels),
        };
        let Question {
            key,
            text,
            instructions,
            kind: _,
        } = question;
        Self {
            key,
            question_type,
            text,
            instructions,
            options,
            levels,
        }
    }
}

impl TryFrom<QuestionJson> for Question {
    type Error = &'static str;

    fn try_from(json: QuestionJson) -> Result<Self, Self::Error> {
        let QuestionJson {
            key,
            question_type,
            text,
            instructions,
            options,
            levels,
        } = json;
        let kind = match (question_type, options.is_empty(), levels.is_empty()) {
            (QuestionType::Choice, false, true) => QuestionKind::Choice { options },
            (QuestionType::YesNo, true, true) => QuestionKind::YesNo,
            (QuestionType::Scale, true, false) => QuestionKind::Scale { levels },
            _ => return Err("a choice has options, a scale has levels, a yes_no has neither"),
        };
        Ok(Self {
            key,
            text,
            instructions,
            kind,
        })
    }
}
