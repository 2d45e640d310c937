//! Outputs, what a column can show of an answer (spec 2.5), and values, what it shows of one result
//! before a format writes it.

use std::fmt;

use crate::answer::{Decimal, Distribution, Probability};
use crate::key::OutcomeKey;
use crate::lens::cutoffs::{Cutoffs, YesNoLabel};
use crate::prism::{Question, QuestionType};

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

/// The value in one column of one result.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    /// No value.
    Null,
    /// An outcome of a Choice question or a level of a Scale.
    Outcome {
        /// The key, which json and jsonl show.
        key: &'a str,
        /// The label in the version that answered, which cells of csv and tsv show.
        label: &'a str,
    },
    /// A Yes / No label.
    YesNo(YesNoLabel),
    /// A probability.
    Probability(Probability),
    /// A level's position, from 1.
    Position(u32),
    /// An expected level number.
    Average(Average),
    /// Every outcome with its probability.
    All {
        /// The question, with its labels, in the version that answered.
        question: &'a Question,
        /// The probabilities in the prism's order.
        probabilities: &'a Distribution,
    },
}

impl Value<'_> {
    /// The label of a Yes / No; `None` for every other value.
    pub fn yes_no(self) -> Option<YesNoLabel> {
        if let Self::YesNo(label) = self {
            Some(label)
        } else {
            None
        }
    }

    /// The probability; `None` for every other value.
    pub fn probability(self) -> Option<Probability> {
        if let Self::Probability(probability) = self {
            Some(probability)
        } else {
            None
        }
    }
}

/// An expected level number, stored in hundredths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Average(u32);

impl Average {
    /// The sum of position times probability over all levels, rounded half away from zero to two
    /// decimals.
    pub(super) fn of(probabilities: &[(OutcomeKey, Probability)]) -> Self {
        let positions = 1_u64..;
        let weighed = positions
            .zip(probabilities)
            .map(|(n, (_, p))| n * u64::from(p.millionths()));
        let hundredths = (weighed.sum::<u64>() + 5_000) / 10_000;
        // ten levels give 55 at most
        Self(u32::try_from(hundredths).unwrap_or(u32::MAX))
    }

    /// The expected level number as a decimal number.
    #[inline]
    pub fn decimal(self) -> Decimal {
        Decimal::new(self.0, 2)
    }

    /// The nearest level, from 1; the higher of two equally near levels.
    pub fn nearest_level(self) -> u32 {
        (self.0 + 50) / 100
    }
}

/// A plain decimal without trailing zeros.
impl fmt::Display for Average {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.decimal().fmt(f)
    }
}
