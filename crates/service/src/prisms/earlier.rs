//! A saved prism as the base of its next version.

use refract_authoring::earlier_versions::{EarlierVersions, KeyHistory};
use refract_domain::event::LensChangeDetails;
use refract_domain::ids::PrismId;
use refract_domain::lens::Lens;
use refract_domain::prism::PrismVersion;
use refract_persistence::{Prism, PrismHistory};

use super::error::PrismError;
use crate::prisms::Prisms;

impl Prisms<'_> {
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
