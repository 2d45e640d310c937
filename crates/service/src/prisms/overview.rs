//! A prism and its versions as pages show them: who saved what, and what it changed.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use refract_authoring::version_difference::{VersionDifference, differences};
use refract_domain::ids::AccountId;
use refract_domain::prism::slug::PrismSelector;
use refract_domain::prism::{PrismVersion, VersionNumber};

use super::error::PrismError;
use super::history::{ChangeOfPrism, PrismChange};
use crate::lenses::prism_lens::PrismLens;
use crate::people::ActorName;
use crate::prisms::Prisms;
use crate::results::counts::PrismCounts;

/// Number of the newest versions of a prism that are compared with the versions before them.
pub const COMPARED_VERSIONS: usize = 20;

/// A prism with its lens, its history and its numbers of results.
pub struct PrismOverview {
    /// The prism, its lens and its latest version.
    pub prism_lens: PrismLens,
    /// Every change of the prism, newest first.
    pub changes: Vec<PrismChange>,
    /// The newest [`COMPARED_VERSIONS`] versions, newest first, each with what it changed.
    pub compared: Vec<(VersionNumber, Vec<VersionDifference>)>,
    /// Numbers of the prism's results.
    pub counts: PrismCounts,
}

/// A version with what it changed.
pub struct VersionOverview {
    /// The prism, its lens and its latest version.
    pub prism_lens: PrismLens,
    /// The number of the version that is shown.
    pub number: VersionNumber,
    /// The version that is shown.
    pub version: Arc<PrismVersion>,
    /// What the version changed; nothing for the first one.
    pub differences: Vec<VersionDifference>,
    /// Who saved the version; `None` for the terminal and for versions from before people were
    /// recorded.
    pub actor: Option<ActorName>,
    /// When the version was saved.
    pub made_at: DateTime<Utc>,
}

impl Prisms<'_> {
    /// Finds a prism, its history and its numbers of results.
    ///
    /// # Errors
    /// When there is no such prism in the account, or the database fails.
    pub async fn overview(
        self,
        account: AccountId,
        prism: &PrismSelector,
    ) -> Result<PrismOverview, PrismError> {
        let prism_lens = self.refract.lenses().find(account, prism).await?;
        let id = PrismSelector::Id(prism_lens.prism.id);
        let changes = self.history(account, &id).await?;
        let numbers = changes.iter().filter_map(|change| match change.what {
            ChangeOfPrism::Version(number) => Some(number),
            ChangeOfPrism::LensSet
            | ChangeOfPrism::LensReset
            | ChangeOfPrism::Renamed
            | ChangeOfPrism::Archived
            | ChangeOfPrism::Restored => None,
        });
        let mut compared = Vec::new();
        for number in numbers.take(COMPARED_VERSIONS) {
            let version = self.find_version(&prism_lens.prism, number).await?;
            let differences = self.changed_by(&prism_lens, number, &version).await?;
            compared.push((number, differences));
        }
        let counts = self.refract.results().counts(account, Utc::now()).await?;
        let counts = counts.of_prism(prism_lens.prism.id).clone();
        Ok(PrismOverview {
            prism_lens,
            changes,
            compared,
            counts,
        })
    }

    /// Finds a version of a prism, with what it changed and who saved it.
    ///
    /// # Errors
    /// When there is no such prism or version in the account, or the database fails.
    pub async fn version_overview(
        self,
        account: AccountId,
        prism: &PrismSelector,
        number: VersionNumber,
    ) -> Result<VersionOverview, PrismError> {
        let prism_lens = self.refract.lenses().find(account, prism).await?;
        let version = self.find_version(&prism_lens.prism, number).await?;
        let changes = self
            .history(account, &PrismSelector::Id(prism_lens.prism.id))
            .await?;
        let mut changes = changes.into_iter();
        let saved = changes
            .find(|change| change.what == ChangeOfPrism::Version(number))
            .ok_or(PrismError::VersionNotFound)?;
        let differences = self.changed_by(&prism_lens, number, &version).await?;
        Ok(VersionOverview {
            prism_lens,
            number,
            version,
            differences,
            actor: saved.actor,
            made_at: saved.made_at,
        })
    }

    /// The differences between a version and the version before it.
    async fn changed_by(
        self,
        prism_lens: &PrismLens,
        number: VersionNumber,
        version: &PrismVersion,
    ) -> Result<Vec<VersionDifference>, PrismError> {
        let Some(before) = VersionNumber::new(number.get() - 1) else {
            return Ok(Vec::new());
        };
        let before = self.find_version(&prism_lens.prism, before).await?;
        Ok(differences(&before, version, &prism_lens.lens))
    }
}
