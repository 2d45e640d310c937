//! The names of uploaded files.

use std::fmt;

use refract_domain::problem::ValidationError;
use refract_domain::problem::text;

/// The name of an uploaded file, without folders: 1 to 200 characters, none of them a control
/// character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileName(String);

impl FileName {
    /// The last component of a path as a browser sends it, with `/` or `\`, trimmed.
    ///
    /// # Errors
    /// The faults of the name's length and characters.
    pub fn parse(path: &str) -> Result<Self, Vec<ValidationError>> {
        let name = path.rsplit(['/', '\\']).next().unwrap_or_default().trim();
        let mut errors = text::errors(name, &(1..=200));
        if errors.is_empty() && name.chars().any(char::is_control) {
            errors.push(ValidationError::rule("must have no control characters"));
        }
        if errors.is_empty() {
            Ok(Self(name.to_owned()))
        } else {
            Err(errors)
        }
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_the_last_component_of_a_path() {
        for path in [
            "a b.csv",
            " a b.csv ",
            "/home/ada/a b.csv",
            "C:\\Temp\\a b.csv",
        ] {
            assert_eq!(FileName::parse(path).unwrap().as_str(), "a b.csv", "{path}");
        }
        let longest = "ä".repeat(200);
        assert_eq!(FileName::parse(&longest).unwrap().to_string(), longest);
    }

    #[test]
    fn an_empty_a_long_and_an_unprintable_name_are_refused() {
        for path in ["", " ", "folder/", "a\nb.csv", "a\0.csv", &"a".repeat(201)] {
            assert!(FileName::parse(path).is_err(), "{path:?}");
        }
    }
}
