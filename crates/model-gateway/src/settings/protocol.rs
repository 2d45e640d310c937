//! The protocols that model servers speak, by name, and the prompts of the protocol `chat`, by their
//! version.

use std::str::FromStr;

use crate::settings::setting_error::SettingError;

/// The protocol of a model server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// The System One format: typed questions in, probabilities out.
    SystemOne,
    /// The OpenAI Decisions format: typed questions in, probabilities out.
    Decisions,
    /// Google's Decisions format: typed questions in, probabilities out.
    Gemini,
    /// OpenAI-compatible chat completions with log-probabilities.
    Chat,
    /// OpenAI-compatible chat completions. The model states its probabilities in its answer.
    Stated,
}

impl Protocol {
    /// All protocols, those with the best probabilities first.
    pub const ALL: [Self; 5] = [
        Self::SystemOne,
        Self::Decisions,
        Self::Gemini,
        Self::Chat,
        Self::Stated,
    ];

    /// The name in settings and records.
    pub fn name(self) -> &'static str {
        match self {
            Self::SystemOne => "systemone",
            Self::Decisions => "decisions",
            Self::Gemini => "gemini",
            Self::Chat => "chat",
            Self::Stated => "stated",
        }
    }

    /// The value of `gen_ai.operation.name` in traces.
    pub(crate) fn operation(self) -> &'static str {
        match self {
            Self::SystemOne | Self::Decisions => self.name(),
            Self::Gemini => "decisions",
            Self::Chat | Self::Stated => "chat",
        }
    }

    /// The value of `gen_ai.provider.name` in traces: the owner of the format, not the party that
    /// serves the model.
    pub(crate) fn provider(self) -> &'static str {
        match self {
            Self::SystemOne => self.name(),
            Self::Gemini => "gcp.gemini",
            Self::Decisions | Self::Chat | Self::Stated => "openai",
        }
    }

    /// The path of the endpoint below the server's base address.
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::SystemOne => "systemone",
            Self::Decisions | Self::Gemini => "decisions",
            Self::Chat | Self::Stated => "chat/completions",
        }
    }

    /// The model's name if none is set. Every System One server that conforms to the format takes
    /// `jev-latest`.
    pub fn default_model(self) -> &'static str {
        match self {
            Self::SystemOne => "jev-latest",
            Self::Decisions | Self::Gemini | Self::Chat | Self::Stated => "default",
        }
    }
}

impl FromStr for Protocol {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Self, SettingError> {
        Self::ALL
            .into_iter()
            .find(|protocol| protocol.name() == text)
            .ok_or(SettingError::Protocol)
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_protocol_is_known_by_its_name() {
        for protocol in Protocol::ALL {
            assert_eq!(protocol.name().parse(), Ok(protocol));
        }
        assert_eq!("SystemOne".parse::<Protocol>(), Err(SettingError::Protocol));
    }
}
