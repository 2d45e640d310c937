//! The name of a model that a person types.

use std::fmt;
use std::str::FromStr;

/// Most characters of a model's name.
const MOST: usize = 200;

/// The name of a model, as the model's servers know it: 1 to 200 characters without control
/// characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelName(String);

/// Why a text is not the name of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelNameError {
    /// The text is blank.
    #[error("the name of a model is not empty")]
    Empty,
    /// The text is too long.
    #[error("the name of a model has at most {MOST} characters")]
    TooLong,
    /// The text has a line break or another control character.
    #[error("the name of a model has no control characters")]
    Control,
}

impl ModelName {
    /// The name as it is sent.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ModelName {
    type Err = ModelNameError;

    /// Parses a name, without the white space around it.
    fn from_str(text: &str) -> Result<Self, ModelNameError> {
        let name = text.trim();
        if name.is_empty() {
            Err(ModelNameError::Empty)
        } else if name.chars().count() > MOST {
            Err(ModelNameError::TooLong)
        } else if name.chars().any(char::is_control) {
            Err(ModelNameError::Control)
        } else {
            Ok(Self(name.to_owned()))
        }
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_short_and_on_one_line() {
        let name = |text: &str| text.parse::<ModelName>().map(|name| name.0);
        assert_eq!(name(" org/model:7b \n"), Ok("org/model:7b".to_owned()));
        assert_eq!(name("  "), Err(ModelNameError::Empty));
        assert_eq!(name("a\nb"), Err(ModelNameError::Control));
        assert!(name(&"ä".repeat(200)).is_ok());
        assert_eq!(name(&"a".repeat(201)), Err(ModelNameError::TooLong));
    }
}
