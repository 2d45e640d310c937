//! Creates prisms, saves their next versions, and renames, archives and restores them; checks a
//! version that is being edited, and finds the versions that others saved meanwhile.

use refract_authoring::earlier_versions::{EarlierVersions, KeyHistory};
use refract_authoring::made_names;
use refract_authoring::prism_file::PrismFile;
use refract_authoring::version_difference::{VersionDifference, differences};
use refract_boxed_futures::boxed;
use refract_domain::event::LensChangeDetails;
use refract_domain::ids::{AccountId, PrismId};
use refract_domain::lens::Lens;
use refract_domain::prism::{DisplayName, PrismSelector, PrismVersion, Slug, VersionNumber};
use refract_domain::problem::Problems;
use refract_domain::submission::budget;
use refract_identity::people::AccountActor;
use refract_persistence::{NewPrism, NewVersion, Prism, PrismHistory, WriteOutcome};
use uuid::Uuid;

use super::history::{ChangeOfPrism, PrismChange};
use super::{ATTEMPTS, PrismError};
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

#[boxed]
impl Prisms<'_> {
    /// Creates a prism with its first version. The slug is made from the name.
    ///
    /// # Errors
    /// When the file breaks rules, or the database fails.
    pub async fn create(self, actor: &AccountActor, file: &[u8]) -> Result<Prism, PrismError> {
        self.create_as(actor, self.new_id(), None, file).await
    }

    /// The id of a prism that is still to be created, for [`Prisms::create_once`].
    pub fn new_id(self) -> PrismId {
        PrismId::new(Uuid::now_v7())
    }

    /// Creates a prism with this id, or finds it if it was created before: a form that is sent
    /// twice creates one prism. Without a `slug` it is made from the name; a slug that is taken gets a
    /// number either way.
    ///
    /// # Errors
    /// When the file breaks rules, or the database fails.
    pub async fn create_once(
        self,
        actor: &AccountActor,
        id: PrismId,
        slug: Option<&Slug>,
        file: &[u8],
    ) -> Result<Prism, PrismError> {
        let selector = PrismSelector::Id(id);
        match self.find(actor.account(), &selector).await {
            Err(PrismError::NotFound) => {}
            found => return found,
        }
        match self.create_as(actor, id, slug, file).await {
            // the other one of two concurrent calls may have created it
            Err(error @ PrismError::Persistence(_)) => {
                let found = self.find(actor.account(), &selector).await;
                found.map_err(|_| error)
            }
            created => created,
        }
    }

    async fn create_as(
        self,
        actor: &AccountActor,
        id: PrismId,
        slug: Option<&Slug>,
        file: &[u8],
    ) -> Result<Prism, PrismError> {
        let PrismFile { name, version } = PrismFile::read(file, None)?;
        let new = NewPrism {
            id,
            name: &name,
            version: &version,
            stamp: actor.event_stamp(),
        };
        let mut slugs = made_names::slugs(slug.map_or(name.as_str(), Slug::as_str));
        Ok(self.refract.database.create_prism(&new, &mut slugs).await?)
    }

    /// Saves the next version of a prism and drops the lens columns whose question it removes. If
    /// `based_on` is given, the version is saved only if that version is still the latest.
    ///
    /// # Errors
    /// When there is no such prism, the file breaks rules, another version than `based_on` is the
    /// latest, or the database fails.
    pub async fn save_version(
        self,
        actor: &AccountActor,
        prism: &PrismSelector,
        file: &[u8],
        based_on: Option<VersionNumber>,
    ) -> Result<(Prism, VersionNumber), PrismError> {
        let id = self.find(actor.account(), prism).await?.id;
        for _ in 0..ATTEMPTS {
            let (prism, earlier) = self.read_earlier(id).await?;
            let latest = prism.latest_version;
            if based_on.is_some_and(|based_on| based_on != latest) {
                return Err(PrismError::VersionMeanwhile { latest });
            }
            let number = latest.next().ok_or(PrismError::NoMoreVersions)?;
            let PrismFile { name, version } = PrismFile::read(file, Some(&earlier))?;
            let lens = earlier.lens.clone().after_save(version.questions());
            let new = NewVersion {
                name: &name,
                version: &version,
                lens: (lens != earlier.lens)
                    .then(|| (&lens, lens_change(&prism, &earlier, &version, &lens))),
                stamp: actor.event_stamp(),
            };
            if self.refract.database.save_version(&prism, &new).await? == WriteOutcome::Saved {
                return Ok((prism, number));
            }
        }
        Err(PrismError::Contended)
    }

    /// The prism, and the constraints that its saved versions put on the next one.
    pub(super) async fn read_earlier(
        self,
        prism: PrismId,
    ) -> Result<(Prism, EarlierVersions), PrismError> {
        let history = self.refract.database.prism_history(prism).await?;
        let PrismHistory {
            prism,
            versions,
            lens,
        } = history.ok_or(PrismError::NotFound)?;
        let keys = KeyHistory::of(&versions);
        let latest = versions.into_iter().next_back();
        let latest = latest.ok_or(PrismError::VersionNotFound)?;
        Ok((prism, EarlierVersions { latest, keys, lens }))
    }

    /// Whether a version that was just saved has the same definition as the version before. `read`
    /// is the prism as it was before saving.
    ///
    /// # Errors
    /// When there is no such version, or the database fails.
    pub async fn repeats_version_before(
        self,
        read: &Prism,
        saved: VersionNumber,
    ) -> Result<bool, PrismError> {
        let before = self.find_version(read, read.latest_version).await?;
        if before != self.find_version(read, saved).await? {
            return Ok(false);
        }
        let now = self.refract.database.find_prism_by_id(read.id).await?;
        Ok(now.is_some_and(|now| now.name == read.name))
    }

    /// Renames a prism. Its slug stays.
    ///
    /// # Errors
    /// When there is no such prism, or the database fails.
    pub async fn rename(
        self,
        actor: &AccountActor,
        prism: &PrismSelector,
        name: &DisplayName,
    ) -> Result<(), PrismError> {
        let prism = self.find(actor.account(), prism).await?;
        let stamp = actor.event_stamp();
        let database = &self.refract.database;
        Ok(database.rename_prism(prism.id, name, stamp).await?)
    }

    /// Archives a prism or makes it active again. Its results stay readable either way (spec 3.2).
    ///
    /// # Errors
    /// When there is no such prism, or the database fails.
    pub async fn set_archived(
        self,
        actor: &AccountActor,
        prism: &PrismSelector,
        archived: bool,
    ) -> Result<(), PrismError> {
        let prism = self.find(actor.account(), prism).await?;
        let stamp = actor.event_stamp();
        let database = &self.refract.database;
        Ok(database
            .set_prism_archived(prism.id, archived, stamp)
            .await?)
    }

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

/// What a new lens changes, for a prism with this latest version.
pub(super) fn lens_change(
    prism: &Prism,
    earlier: &EarlierVersions,
    latest: &PrismVersion,
    lens: &Lens,
) -> LensChangeDetails {
    let before = earlier.latest.columns(&earlier.lens);
    LensChangeDetails::between(prism.lens_revision, before, latest.columns(lens))
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
