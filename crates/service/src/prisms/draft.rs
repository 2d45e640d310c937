//! A version that is being edited, and the versions that others saved meanwhile.

use refract_authoring::earlier_versions::{EarlierVersions, KeyHistory};
use refract_authoring::prism_file::PrismFile;
use refract_authoring::version_difference::{VersionDifference, differences};
use refract_domain::ids::AccountId;
use refract_domain::prism::slug::PrismSelector;
use refract_domain::prism::{PrismVersion, VersionNumber};
use refract_domain::problem::Problems;
use refract_domain::submission::budget;
use refract_persistence::Prism;

use super::PrismError;
use super::history::{ChangeOfPrism, PrismChange};
use crate::prisms::Prisms;

/// What a draft of a prism's next version is checked against.
pub struct NextVersion {
    prism: Prism,
    earlier: EarlierVersions,
}

/// A version that would be saved as it is, with the version that it would follow.
pub struct VersionDraft {
    /// The prism, with the number of its latest version.
    pub prism: Prism,
    /// The name and the version that would be saved.
    pub file: PrismFile,
    earlier: EarlierVersions,
}

impl Prisms<'_> {
    /// Parses a prism file by the rules for the next version of a prism. Nothing is saved.
    ///
    /// # Errors
    /// When there is no such prism, the file breaks rules, or the database fails.
    pub async fn draft(
        self,
        account: AccountId,
        prism: &PrismSelector,
        file: &[u8],
    ) -> Result<VersionDraft, PrismError> {
        Ok(self.next_version(account, prism).await?.draft(file)?)
    }

    /// What the next version of a prism is checked against.
    ///
    /// # Errors
    /// When there is no such prism, or the database fails.
    pub async fn next_version(
        self,
        account: AccountId,
        prism: &PrismSelector,
    ) -> Result<NextVersion, PrismError> {
        let id = self.find(account, prism).await?.id;
        let (prism, earlier) = self.read_earlier(id).await?;
        Ok(NextVersion { prism, earlier })
    }
}

impl NextVersion {
    /// Parses a prism file by the rules for the next version. A version of 25,300 options takes
    /// long: call it where a thread may block.
    ///
    /// # Errors
    /// The rules that the file breaks.
    pub fn draft(self, file: &[u8]) -> Result<VersionDraft, Problems> {
        let Self { prism, earlier } = self;
        let file = PrismFile::read(file, Some(&earlier))?;
        Ok(VersionDraft {
            prism,
            file,
            earlier,
        })
    }
}

impl VersionDraft {
    /// The latest version.
    pub fn latest(&self) -> &PrismVersion {
        &self.earlier.latest
    }

    /// The differences between the latest version and the draft.
    pub fn differences(&self) -> Vec<VersionDifference> {
        let Self { file, earlier, .. } = self;
        differences(&earlier.latest, &file.version, &earlier.lens)
    }

    /// Estimated tokens that the version adds to every call, before any text.
    pub fn size(&self) -> usize {
        budget::size_of_version(&self.file.version)
    }
}

/// A version that is being edited, with the versions that were saved after the one it is based on.
pub struct SavedMeanwhile {
    /// The prism, with the number of its latest version.
    pub prism: Prism,
    /// The versions that were saved meanwhile, newest first, with who saved them.
    pub saved: Vec<PrismChange>,
    /// The differences between the version that the draft is based on and the latest version.
    pub theirs: Vec<VersionDifference>,
    /// The differences between the version that the draft is based on and the draft, or the draft's
    /// problems.
    pub mine: Result<Vec<VersionDifference>, Problems>,
    /// The differences between the latest version and the draft, or the problems of the draft as
    /// the next version.
    pub on_top: Result<Vec<VersionDifference>, Problems>,
}

impl Prisms<'_> {
    /// Compares a draft with the versions that were saved after `based_on`. Nothing is saved.
    ///
    /// # Errors
    /// When there is no such prism or version in the account, or the database fails.
    pub async fn saved_meanwhile(
        self,
        account: AccountId,
        prism: &PrismSelector,
        file: &[u8],
        based_on: VersionNumber,
    ) -> Result<SavedMeanwhile, PrismError> {
        let id = self.find(account, prism).await?.id;
        let found = self.refract.database.prism_history(id).await?;
        let found = found.ok_or(PrismError::NotFound)?;
        let numbers = std::iter::successors(Some(VersionNumber::FIRST), |number| number.next());
        let mut numbered = numbers.zip(&found.versions);
        let base = numbered.find(|(number, _)| *number == based_on);
        let (_, base) = base.ok_or(PrismError::VersionNotFound)?;
        let latest = found.versions.last();
        let latest = latest.ok_or(PrismError::VersionNotFound)?;
        let against = |version: &PrismVersion| {
            let earlier = EarlierVersions {
                latest: version.clone(),
                keys: KeyHistory::of(&found.versions),
                lens: found.lens.clone(),
            };
            let draft = PrismFile::read(file, Some(&earlier))?;
            Ok(differences(version, &draft.version, &found.lens))
        };
        let mut saved = self.history(account, &PrismSelector::Id(id)).await?;
        saved.retain(
            |change| matches!(change.what, ChangeOfPrism::Version(number) if number > based_on),
        );
        Ok(SavedMeanwhile {
            theirs: differences(base, latest, &found.lens),
            mine: against(base),
            on_top: against(latest),
            prism: found.prism,
            saved,
        })
    }
}
