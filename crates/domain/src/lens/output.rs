//! Outputs: what a column can show of an answer (spec 2.5).

use crate::lens::cutoffs::Cutoffs;
use crate::prism::question::QuestionType;

/// What a column shows of an answer. Each output belongs to one question type, and has a name in lens
/// files.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Output {
    /// Choice, `top`: the chosen outcome.
    Top,
    /// Choice, `probability`: the chosen outcome's probability.
    TopProbability,
    /// Choice, `all`: every outcome with its probability.
    AllOptions,
    /// Yes / No, `label`: `yes`, `no` or `unsure`.
    Label(Cutoffs),
    /// Yes / No, `probability`: the probability of yes.
    YesProbability,
    /// Scale, `level`: the most probable level.
    Level,
    /// Scale, `number`: the most probable level's position, 1 for the lowest.
    Number,
    /// Scale, `average`: the expected level number.
    Average,
    /// Scale, `probability`: the most probable level's probability.
    LevelProbability,
    /// Scale, `all`: every level with its probability.
    AllLevels,
}

impl Output {
    /// The names of a question type's outputs in lens files, the default first.
    pub fn names(question_type: QuestionType) -> &'static [&'static str] {
        match question_type {
            QuestionType::Choice => &["top", "probability", "all"],
            QuestionType::YesNo => &["label", "probability"],
            QuestionType::Scale => &["level", "number", "average", "probability", "all"],
        }
    }

    /// The output with this name for questions of this type; a `label` has no cutoffs yet.
    pub fn parse(question_type: QuestionType, name: &str) -> Option<Self> {
        let output = match (question_type, name) {
            (QuestionType::Choice, "top") => Self::Top,
            (QuestionType::Choice, "probability") => Self::TopProbability,
            (QuestionType::Choice, "all") => Self::AllOptions,
            (QuestionType::YesNo, "label") => Self::Label(Cutoffs::default()),
            (QuestionType::YesNo, "probability") => Self::YesProbability,
            (QuestionType::Scale, "level") => Self::Level,
            (QuestionType::Scale, "number") => Self::Number,
            (QuestionType::Scale, "average") => Self::Average,
            (QuestionType::Scale, "probability") => Self::LevelProbability,
            (QuestionType::Scale, "all") => Self::AllLevels,
            _ => return None,
        };
        Some(output)
    }

    /// The output's name in lens files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Top => "top",
            Self::TopProbability | Self::YesProbability | Self::LevelProbability => "probability",
            Self::AllOptions | Self::AllLevels => "all",
            Self::Label(_) => "label",
            Self::Level => "level",
            Self::Number => "number",
            Self::Average => "average",
        }
    }

    /// The type of question that the output belongs to.
    pub fn question_type(self) -> QuestionType {
        match self {
            Self::Top | Self::TopProbability | Self::AllOptions => QuestionType::Choice,
            Self::Label(_) | Self::YesProbability => QuestionType::YesNo,
            Self::Level
            | Self::Number
            | Self::Average
            | Self::LevelProbability
            | Self::AllLevels => QuestionType::Scale,
        }
    }

    /// The cutoffs of a `label`; `None` for every other output.
    pub fn cutoffs(self) -> Option<Cutoffs> {
        if let Self::Label(cutoffs) = self {
            Some(cutoffs)
        } else {
            None
        }
    }

    /// The suffix that the output adds to the question's key in a column's default name.
    pub fn name_suffix(self) -> &'static str {
        match self {
            Self::Top | Self::Label(_) | Self::Level => "",
            Self::TopProbability | Self::YesProbability | Self::LevelProbability => "_probability",
            Self::AllOptions | Self::AllLevels => "_all",
            Self::Number => "_number",
            Self::Average => "_average",
        }
    }

    /// The output that the automatic lens shows of a question of this type.
    pub(super) fn automatic(question_type: QuestionType) -> Self {
        match question_type {
            QuestionType::Choice => Self::Top,
            QuestionType::YesNo => Self::Label(Cutoffs::AUTOMATIC),
            QuestionType::Scale => Self::Level,
        }
    }
}
