//! Names of definition files: `NAME.prism.json` or `NAME.lens.json`, where NAME is the slug.

use std::fmt;

use refract_domain::prism::Slug;

/// The kind of definition in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DefinitionKind {
    /// A prism's name with its fields, context and questions.
    Prism,
    /// The lens of a prism.
    Lens,
}

/// The name of a definition's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinitionName {
    /// The kind of definition in the file.
    pub kind: DefinitionKind,
    /// The slug of the prism.
    pub slug: Slug,
}

/// Why a file name does not name a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DefinitionNameError {
    /// The name has another ending.
    #[error("its name ends in neither .prism.json nor .lens.json")]
    Ending,
    /// The text before the ending is not a valid slug.
    #[error(
        "its name must begin with the prism's slug: lower case letters and digits, in words joined \
         with -, at most 64 characters"
    )]
    Slug,
}

impl DefinitionKind {
    /// Both kinds.
    pub const ALL: [Self; 2] = [Self::Prism, Self::Lens];

    /// The kind's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Prism => "prism",
            Self::Lens => "lens",
        }
    }

    /// The ending of file names of this kind.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Prism => ".prism.json",
            Self::Lens => ".lens.json",
        }
    }

    /// The kind with the ending of this file name.
    pub fn of(file_name: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|kind| file_name.ends_with(kind.ending()))
    }
}

impl DefinitionName {
    /// Reads a file's name, without its folder.
    ///
    /// # Errors
    /// The name has another ending, or does not begin with a slug.
    pub fn parse(file_name: &str) -> Result<Self, DefinitionNameError> {
        let kind = DefinitionKind::of(file_name).ok_or(DefinitionNameError::Ending)?;
        let slug = file_name.strip_suffix(kind.ending()).and_then(Slug::parse);
        let slug = slug.ok_or(DefinitionNameError::Slug)?;
        Ok(Self { kind, slug })
    }
}

impl fmt::Display for DefinitionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.slug, self.kind.ending())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_the_slug_and_the_kind() {
        for (name, kind, slug) in [
            (
                "support-triage.prism.json",
                DefinitionKind::Prism,
                "support-triage",
            ),
            ("a.lens.json", DefinitionKind::Lens, "a"),
        ] {
            let read = DefinitionName::parse(name).unwrap();
            assert_eq!((read.kind, read.slug.as_str()), (kind, slug));
            assert_eq!(read.to_string(), name);
        }
        for wrong in ["a.json", "a.prism.yaml", "prism.json", "a.prism.json~"] {
            let error = DefinitionName::parse(wrong);
            assert_eq!(error, Err(DefinitionNameError::Ending), "{wrong}");
        }
        for wrong in [
            ".prism.json",
            "A.prism.json",
            "a b.lens.json",
            "a.b.prism.json",
        ] {
            let error = DefinitionName::parse(wrong);
            assert_eq!(error, Err(DefinitionNameError::Slug), "{wrong}");
        }
    }
}
