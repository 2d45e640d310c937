//! Slugs, and how a caller names a prism: by slug or by id.

use std::fmt;

use crate::ids::{PrismId, parse_uuid};
use crate::limits::PRISM_PATH_CHARS;
use crate::problem::ValidationError;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chosen_slug_has_the_shape_of_a_made_one() {
        for slug in ["support-triage", "a", "2-b-3", &"a".repeat(64)] {
            assert_eq!(Slug::parse(slug).unwrap().as_str(), slug);
        }
        for wrong in [
            "",
            "-a",
            "a-",
            "a--b",
            "Support",
            "a_b",
            "a b",
            "\u{fc}",
            &"a".repeat(65),
            "0190b8f2-0000-7000-8000-0000000000aa",
        ] {
            assert_eq!(Slug::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_uuid_shape_selects_an_id() {
        let id = "0190B8F2-0000-7000-8000-0000000000AA";
        assert!(matches!(PrismSelector::parse(id), Ok(PrismSelector::Id(_))));
        assert!(matches!(
            PrismSelector::parse("support"),
            Ok(PrismSelector::Slug(_))
        ));
        assert_eq!(
            PrismSelector::parse(&"a".repeat(65)),
            Err(vec![ValidationError::StringTooLong(64)])
        );
    }
}
