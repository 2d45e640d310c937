//! The prompts of the protocol `chat`, by their version.

use std::str::FromStr;

use crate::settings::setting_error::SettingError;

/// The version of the prompts, but for the newer one of the protocol `chat`, which
/// [`ChatPrompt`] numbers. Change the number with every change to the text that a
/// model is sent, apart from the text of prisms and callers: answers to different prompts are
/// different measurements. Tests that spell out the requests pin this number together with the
/// prompts.
pub const PROMPT_VERSION: i32 = 3;

/// The order of what a `chat` request says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChatPrompt {
    /// Prompt 3: the material, then the question with its outcomes.
    MaterialFirst,
    /// Prompt 4: all questions of the version with their outcomes, the material, then the key of the
    /// question. A version whose questions are too long for it has prompt 3.
    #[default]
    QuestionsFirst,
}

impl ChatPrompt {
    /// The version that results keep.
    pub fn version(self) -> i32 {
        match self {
            Self::MaterialFirst => PROMPT_VERSION,
            Self::QuestionsFirst => 4,
        }
    }
}

impl FromStr for ChatPrompt {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Self, SettingError> {
        [Self::MaterialFirst, Self::QuestionsFirst]
            .into_iter()
            .find(|prompt| prompt.version().to_string() == text)
            .ok_or(SettingError::Prompt)
    }
}
