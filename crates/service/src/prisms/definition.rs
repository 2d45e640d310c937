//! The files that define prisms and lenses, and the outcome of applying them.

use refract_authoring::definition_name::DefinitionName;
use refract_authoring::version_difference::VersionDifference;
use refract_domain::prism::VersionNumber;
use refract_domain::problem::Problems;

/// A file that defines a prism or a lens.
#[derive(Clone, Debug)]
pub struct DefinitionFile {
    /// The name of the file, for messages.
    pub file: String,
    /// Whether the file defines a prism or a lens, and of which prism.
    pub name: DefinitionName,
    /// The content of the file.
    pub content: Vec<u8>,
}

/// What applying a file did, or would do.
#[derive(Clone, Debug)]
pub struct AppliedDefinition {
    /// The name of the file, for messages.
    pub file: String,
    /// Whether the file defines a prism or a lens, and of which prism.
    pub name: DefinitionName,
    /// What was done.
    pub outcome: ApplyOutcome,
    /// The prism's latest version afterwards.
    pub version: VersionNumber,
    /// What the next version of a prism changes.
    pub differences: Vec<VersionDifference>,
}

/// What applying a file does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApplyOutcome {
    /// It creates a prism, or the first custom lens of a prism.
    Created,
    /// It saves the next version of a prism, a new name or a new lens.
    Saved,
    /// It does nothing: the prism already is as the file defines it.
    Unchanged,
}

impl ApplyOutcome {
    /// The outcome's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Saved => "saved",
            Self::Unchanged => "unchanged",
        }
    }
}

/// A fault of a file that is to be applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinitionError {
    /// The name of the file, for messages.
    pub file: String,
    /// What is wrong, with the path in the file.
    pub text: String,
}

/// The files of one prism.
#[derive(Default)]
pub(super) struct PrismFiles<'a> {
    pub(super) prism: Option<&'a DefinitionFile>,
    pub(super) lens: Option<&'a DefinitionFile>,
}

/// The problems of a file, each as a fault.
pub(super) fn errors_of(file: &DefinitionFile, problems: &Problems) -> Vec<DefinitionError> {
    let problems = problems.as_slice().iter();
    let errors = problems.map(|problem| DefinitionError {
        file: file.file.clone(),
        text: format!("{}: {}", problem.path, problem.error),
    });
    errors.collect()
}
