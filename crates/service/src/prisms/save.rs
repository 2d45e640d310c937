//! Creates prisms, saves their next versions, and renames, archives and restores them.

use refract_authoring::earlier_versions::{EarlierVersions, KeyHistory};
use refract_authoring::made_names;
use refract_authoring::prism_file::PrismFile;
use refract_domain::event::LensChangeDetails;
use refract_domain::ids::PrismId;
use refract_domain::lens::Lens;
use refract_domain::prism::slug::PrismSelector;
use refract_domain::prism::{DisplayName, PrismVersion, VersionNumber};
use refract_persistence::{NewPrism, NewVersion, Prism, PrismHistory, WriteOutcome};
use uuid::Uuid;

use super::{ATTEMPTS, PrismError};
use crate::people::accounts::AccountActor;
use crate::prisms::Prisms;

impl Prisms<'_> {
    /// Creates a prism with its first version. The slug is made from the name.
    ///
    /// # Errors
    /// When the file breaks rules, or the database fails.
    pub async fn create(self, actor: &AccountActor, file: &[u8]) -> Result<Prism, PrismError> {
        self.create_as(actor, self.new_id(), file).await
    }

    /// The id of a prism that is still to be created, for [`Prisms::create_once`].
    pub fn new_id(self) -> PrismId {
        PrismId::new(Uuid::now_v7())
    }

    /// Creates a prism with this id, or finds it if it was created before: a form that is sent
    /// twice creates one prism.
    ///
    /// # Errors
    /// When the file breaks rules, or the database fails.
    pub async fn create_once(
        self,
        actor: &AccountActor,
        id: PrismId,
        file: &[u8],
    ) -> Result<Prism, PrismError> {
        let selector = PrismSelector::Id(id);
        match self.find(actor.account(), &selector).await {
            Err(PrismError::NotFound) => {}
            found => return found,
        }
        match self.create_as(actor, id, file).await {
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
        file: &[u8],
    ) -> Result<Prism, PrismError> {
        let PrismFile { name, version } = PrismFile::read(file, None)?;
        let new = NewPrism {
            id,
            slugs: made_names::slugs(name.as_str()),
            name: &name,
            version: &version,
            stamp: actor.event_stamp(),
        };
        Ok(self.refract.database.create_prism(new).await?)
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
            if self.refract.database.save_version(&prism, new).await? == WriteOutcome::Saved {
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

impl Prisms<'_> {
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
}
