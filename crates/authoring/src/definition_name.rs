//! What a definition's file is called: `NAME.prism.json` or `NAME.lens.json`, where NAME is the slug.

use std::fmt;

use refract_domain::prism::slug::Slug;

/// What a file defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DefinitionKind {
    /// A prism's name and what its versions hold.
    Prism,
    /// The lens of a prism.
    Lens,
}

/// The name of a definition's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinitionName {
    /// What the file defines.
    pub kind: DefinitionKind,
    /// The prism that it is of.
    pub slug: Slug,
}

/// Why a file's name is none of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DefinitionNameError {
    /// It ends otherwise.
    #[error("its name ends in neither .prism.json nor .lens.json")]
    Ending,
    /// What stands before the ending can be no slug.
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

    /// What the names of its files end in.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Prism => ".prism.json",
            Self::Lens => ".lens.json",
        }
    }

    /// The kind that a file's name ends in.
    pub fn of(file_name: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|kind| file_name.ends_with(kind.ending()))
    }
}

impl DefinitionName {
    /// Reads a file's name, without its folder.
    ///
    /// # Errors
    /// The name ends otherwise, or does not begin with a slug.
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
            let fault = DefinitionName::parse(wrong);
            assert_eq!(fault, Err(DefinitionNameError::Ending), "{wrong}");
        }
        for wrong in [
            ".prism.json",
            "A.prism.json",
            "a b.lens.json",
            "a.b.prism.json",
        ] {
            let fault = DefinitionName::parse(wrong);
            assert_eq!(fault, Err(DefinitionNameError::Slug), "{wrong}");
        }
    }
}
