//! Slugs, and how a caller names a prism: by slug or by id.

use std::fmt;

use crate::ids::{PrismId, parse_uuid};
use crate::limits::PRISM_PATH_CHARS;
use crate::problem::Fault;
use crate::text::{ascii_prefix, ascii_words};

/// A prism's name in paths, unique in the account; made once and never changed (spec 2.1).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slug(Box<str>);

impl Slug {
    /// The slugs to try for a new prism of this name, in order: the prism gets the first one that
    /// is free in the account.
    pub fn candidates(name: &str) -> impl Iterator<Item = Self> {
        let words = ascii_words(name).join("-");
        let base = if words.is_empty() {
            "prism".to_owned()
        } else {
            words
        };
        let numbered = (1_u32..).map(move |number| {
            let suffix = if number == 1 {
                String::new()
            } else {
                format!("-{number}")
            };
            let kept = ascii_prefix(&base, PRISM_PATH_CHARS - suffix.len());
            format!("{}{suffix}", kept.trim_end_matches('-'))
        });
        numbered
            .filter(|text| parse_uuid(text).is_none())
            .map(|text| Self(text.into_boxed_str()))
    }

    /// Reads a slug that somebody chose: lower case ASCII letters and digits, in words joined with
    /// `-`, at most 64 characters. `None` for anything else, and for what looks like a UUID.
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
    pub fn parse(text: &str) -> Result<Self, Vec<Fault>> {
        let faults = crate::text::faults(text, &(1..=PRISM_PATH_CHARS));
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(PrismId::parse(text).map_or_else(|| Self::Slug(text.to_owned()), Self::Id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(name: &str) -> String {
        Slug::candidates(name).next().unwrap().to_string()
    }

    #[test]
    fn a_slug_is_made_from_the_name() {
        assert_eq!(first("Support triage"), "support-triage");
        assert_eq!(first("  Ärger -- & Ñandú 2! "), "arger-nandu-2");
        assert_eq!(first("日本"), "prism");
        assert_eq!(first(&"abc ".repeat(60)).len(), 63);
    }

    #[test]
    fn a_taken_slug_gets_a_number_within_64_characters() {
        let slugs: Vec<_> = Slug::candidates(&"a".repeat(90)).take(3).collect();
        assert_eq!(slugs[0].as_str(), "a".repeat(64));
        assert_eq!(slugs[1].as_str(), format!("{}-2", "a".repeat(62)));
        assert_eq!(slugs[2].as_str(), format!("{}-3", "a".repeat(62)));
    }

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
    fn no_slug_looks_like_a_uuid() {
        let name = "0190b8f2-0000-7000-8000-0000000000aa";
        assert_eq!(first(name), format!("{name}-2"));
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
            Err(vec![Fault::StringTooLong(64)])
        );
    }
}
