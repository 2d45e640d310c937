//! Edit conflicts: the versions that others saved while a version was edited.

use refract_authoring::earlier_versions::{EarlierVersions, KeyHistory};
use refract_authoring::prism_file::PrismFile;
use refract_authoring::version_difference::{VersionDifference, differences};
use refract_domain::ids::AccountId;
use refract_domain::prism::slug::PrismSelector;
use refract_domain::prism::{PrismVersion, VersionNumber};
use refract_domain::problem::Problems;
use refract_persistence::Prism;

use super::error::PrismError;
use super::history::{ChangeOfPrism, PrismChange};
use crate::prisms::Prisms;

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
