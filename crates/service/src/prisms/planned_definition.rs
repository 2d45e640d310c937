//! The files that define a prism, what they change in the saved prism, and the outcome of applying
//! them.

use refract_authoring::definition_name::{DefinitionKind, DefinitionName};
use refract_authoring::earlier_versions::EarlierVersions;
use refract_authoring::lens_file;
use refract_authoring::prism_file::PrismFile;
use refract_authoring::version_difference::{VersionDifference, differences};
use refract_domain::event::LensChangeDetails;
use refract_domain::ids::PrismId;
use refract_domain::lens::Lens;
use refract_domain::prism::{DisplayName, PrismVersion, Slug, VersionNumber};
use refract_domain::problem::Problems;
use refract_identity::people::AccountActor;
use refract_persistence::{DefinedPrism, Prism, PrismDefinition};
use uuid::Uuid;

use super::save::lens_change;

/// A prism with the changes that its files make.
pub(super) struct PlannedDefinition<'a> {
    slug: &'a Slug,
    /// The prism as it was read; `None` for a prism to be created.
    read: Option<Prism>,
    name: DisplayName,
    is_renamed: bool,
    /// The version to be saved.
    version: Option<PrismVersion>,
    /// What that version changes.
    differences: Vec<VersionDifference>,
    /// The lens to be saved, with what it changes.
    lens: Option<(Lens, LensChangeDetails)>,
    lens_outcome: ApplyOutcome,
}

impl<'a> PlannedDefinition<'a> {
    /// Plans the files of a prism that does not exist.
    pub(super) fn of_new(
        slug: &'a Slug,
        files: &PrismFiles<'_>,
    ) -> Result<Self, Vec<DefinitionError>> {
        let Some(file) = files.prism else {
            let errors = files.lens.map(|lens| DefinitionError {
                file: lens.file.clone(),
                text: format!(
                    "there is no prism {slug}: apply its {slug}{} too, or make the prism first",
                    DefinitionKind::Prism.ending()
                ),
            });
            return Err(errors.into_iter().collect());
        };
        let read = PrismFile::read(&file.content, None);
        let PrismFile { name, version } = read.map_err(|problems| errors_of(file, &problems))?;
        let lens = read_lens(files, &version)?;
        let lens = lens.map(|lens| {
            let (before, after) = (version.columns(&Lens::Automatic), version.columns(&lens));
            let details = LensChangeDetails::between(0, before, after);
            (lens, details)
        });
        Ok(Self {
            slug,
            read: None,
            name,
            is_renamed: false,
            differences: Vec::new(),
            lens_outcome: ApplyOutcome::Created,
            version: Some(version),
            lens,
        })
    }

    /// Plans the files of a prism that was read.
    pub(super) fn of_read(
        slug: &'a Slug,
        read: Prism,
        earlier: &EarlierVersions,
        files: &PrismFiles<'_>,
    ) -> Result<Self, Vec<DefinitionError>> {
        let current_name = DisplayName::saved(read.name.clone());
        let (name, version) = match files.prism {
            None => (current_name.clone(), None),
            Some(file) => {
                // the names of a replaced lens are free again
                let lens = match files.lens {
                    Some(_) => Lens::Automatic,
                    None => earlier.lens.clone(),
                };
                let before = EarlierVersions {
                    lens,
                    ..earlier.clone()
                };
                let file_read = PrismFile::read(&file.content, Some(&before));
                let file_read = file_read.map_err(|problems| errors_of(file, &problems))?;
                let version = Some(file_read.version).filter(|it| *it != earlier.latest);
                if version.is_some() && read.latest_version.next().is_none() {
                    return Err(vec![DefinitionError {
                        file: file.file.clone(),
                        text: "the prism has its highest version already".to_owned(),
                    }]);
                }
                (file_read.name, version)
            }
        };
        let latest = version.as_ref().unwrap_or(&earlier.latest);
        let kept = earlier.lens.clone().after_save(latest.questions());
        let lens = read_lens(files, latest)?;
        let differences = match &version {
            Some(version) => {
                let lens = lens.as_ref().unwrap_or(&earlier.lens);
                differences(&earlier.latest, version, lens)
            }
            None => Vec::new(),
        };
        let lens_outcome = match (&lens, &earlier.lens) {
            (Some(lens), now) if lens == now => ApplyOutcome::Unchanged,
            (_, Lens::Automatic) => ApplyOutcome::Created,
            (_, Lens::Custom(_)) => ApplyOutcome::Saved,
        };
        let next_lens = Some(lens.unwrap_or(kept)).filter(|lens| *lens != earlier.lens);
        let lens = next_lens.map(|lens| {
            let details = lens_change(&read, earlier, latest, &lens);
            (lens, details)
        });
        Ok(Self {
            slug,
            is_renamed: name != current_name,
            name,
            differences,
            lens,
            lens_outcome,
            version,
            read: Some(read),
        })
    }

    /// Whether anything is to be saved.
    pub(super) fn is_change(&self) -> bool {
        self.version.is_some() || self.is_renamed || self.lens.is_some()
    }

    /// The definition to save for the caller.
    pub(super) fn definition(&self, actor: &AccountActor) -> PrismDefinition<'_> {
        let prism = match &self.read {
            Some(read) => DefinedPrism::Read(read),
            None => DefinedPrism::New {
                id: PrismId::new(Uuid::now_v7()),
                slug: self.slug,
            },
        };
        let lens = self.lens.as_ref();
        PrismDefinition {
            prism,
            name: &self.name,
            version: self.version.as_ref(),
            lens: lens.map(|(lens, details)| (lens, details.clone())),
            stamp: actor.event_stamp(),
        }
    }

    /// The outcome of a file; `None` for a file of another prism.
    pub(super) fn applied(&self, file: &DefinitionFile) -> Option<AppliedDefinition> {
        if file.name.slug != *self.slug {
            return None;
        }
        let is_prism = file.name.kind == DefinitionKind::Prism;
        let outcome = match (file.name.kind, &self.read) {
            (DefinitionKind::Lens, _) => self.lens_outcome,
            (DefinitionKind::Prism, None) => ApplyOutcome::Created,
            (DefinitionKind::Prism, Some(_)) if self.version.is_some() || self.is_renamed => {
                ApplyOutcome::Saved
            }
            (DefinitionKind::Prism, Some(_)) => ApplyOutcome::Unchanged,
        };
        Some(AppliedDefinition {
            file: file.file.clone(),
            name: file.name.clone(),
            outcome,
            version: self.latest_version(),
            differences: self
                .differences
                .iter()
                .filter(|_| is_prism)
                .cloned()
                .collect(),
            lens_change: self
                .lens
                .as_ref()
                .filter(|_| !is_prism)
                .map(|(_, details)| details.clone()),
        })
    }

    /// The prism's latest version after everything is saved.
    fn latest_version(&self) -> VersionNumber {
        let latest = self.read.as_ref().map(|read| read.latest_version);
        match latest {
            None => VersionNumber::FIRST,
            Some(latest) if self.version.is_some() => latest.next().unwrap_or(latest),
            Some(latest) => latest,
        }
    }
}

/// The lens of the lens file, if there is one.
fn read_lens(
    files: &PrismFiles<'_>,
    latest: &PrismVersion,
) -> Result<Option<Lens>, Vec<DefinitionError>> {
    let Some(file) = files.lens else {
        return Ok(None);
    };
    let columns = lens_file::read(&file.content, latest);
    let columns = columns.map_err(|problems| errors_of(file, &problems))?;
    Ok(Some(Lens::Custom(columns)))
}

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
    /// What a new lens changes, in the words of its event.
    pub lens_change: Option<LensChangeDetails>,
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
fn errors_of(file: &DefinitionFile, problems: &Problems) -> Vec<DefinitionError> {
    let problems = problems.as_slice().iter();
    let errors = problems.map(|problem| DefinitionError {
        file: file.file.clone(),
        text: format!("{}: {}", problem.path, problem.error),
    });
    errors.collect()
}
