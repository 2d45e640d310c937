//! A version that is being edited, and what each saved version changed.

use refract_domain::budget;
use refract_domain::earlier_versions::EarlierVersions;
use refract_domain::ids::AccountId;
use refract_domain::prism::{PrismVersion, VersionNumber};
use refract_domain::prism_file::PrismFile;
use refract_domain::slug::PrismSelector;
use refract_domain::version_difference::{VersionDifference, differences};
use refract_persistence::{Database, PrismRow};

use super::earlier::read_earlier;
use super::find::find;
use super::refusal::PrismRefusal;

/// A version that would be saved as it is, beside the version that it would follow.
pub struct VersionDraft {
    /// The prism, with the number of its latest version.
    pub prism: PrismRow,
    /// The name and the version that would be saved.
    pub file: PrismFile,
    earlier: EarlierVersions,
}

/// A saved version with what it changed.
#[derive(Clone, Debug)]
pub struct ChangedVersion {
    /// The version's number.
    pub number: VersionNumber,
    /// What it changed against the version before; nothing for the first version.
    pub differences: Vec<VersionDifference>,
}

impl VersionDraft {
    /// Reads a prism file by the rules of saving it as the next version of a prism. Nothing is saved.
    ///
    /// # Errors
    /// When there is no such prism, the file breaks rules, or the database fails.
    pub async fn read(
        database: &Database,
        account: AccountId,
        prism: &PrismSelector,
        file: &[u8],
    ) -> Result<Self, PrismRefusal> {
        let id = find(database, account, prism).await?.id;
        let (prism, earlier) = read_earlier(database, id).await?;
        let file = PrismFile::read(file, Some(&earlier))?;
        Ok(Self {
            prism,
            file,
            earlier,
        })
    }

    /// The latest version.
    pub fn latest(&self) -> &PrismVersion {
        &self.earlier.latest
    }

    /// What saving would change against the latest version.
    pub fn differences(&self) -> Vec<VersionDifference> {
        let Self { file, earlier, .. } = self;
        differences(&earlier.latest, &file.version, &earlier.lens)
    }

    /// Estimated tokens that the version takes of every call before any text.
    pub fn size(&self) -> usize {
        budget::size_of_version(&self.file.version)
    }
}

/// What each version of a prism changed, newest first. Columns are told by the lens as it is now.
///
/// # Errors
/// When there is no such prism, or the database fails.
pub async fn changed_versions(
    database: &Database,
    account: AccountId,
    prism: &PrismSelector,
) -> Result<Vec<ChangedVersion>, PrismRefusal> {
    let id = find(database, account, prism).await?.id;
    let history = database.prism_history(id).await?;
    let history = history.ok_or(PrismRefusal::NotFound)?;
    let (versions, lens) = (&history.versions, &history.lens);
    let numbers = std::iter::successors(Some(VersionNumber::FIRST), |number| number.next());
    let before = std::iter::once(None).chain(versions.iter().map(Some));
    let pairs = numbers.zip(before.zip(versions));
    let changed = pairs.map(|(number, (before, version))| ChangedVersion {
        number,
        differences: before.map_or_else(Vec::new, |before| differences(before, version, lens)),
    });
    let mut changed: Vec<_> = changed.collect();
    changed.reverse();
    Ok(changed)
}
