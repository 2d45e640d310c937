//! A prism with its lens, both from one moment.

use std::sync::Arc;

use refract_domain::ids::AccountId;
use refract_domain::lens::Lens;
use refract_domain::prism::PrismVersion;
use refract_domain::prism::slug::PrismSelector;
use refract_domain::result::view::RowColumns;
use refract_persistence::{Database, Prism};

use crate::InternalError;
use crate::lenses::Lenses;
use crate::prisms::PrismError;
use crate::prisms::versions::find_saved_version;

/// Attempts at reading a lens that is changed while it is read.
const ATTEMPTS: usize = 16;

/// A prism, its lens and its latest version, all from one moment.
#[derive(Clone)]
pub struct PrismLens {
    /// The prism.
    pub prism: Prism,
    /// The prism's lens.
    pub lens: Arc<Lens>,
    /// The prism's latest version, whose questions the automatic lens follows.
    pub latest: Arc<PrismVersion>,
}

impl PrismLens {
    /// The lens of the revision that `prism` names, or the newest lens if that one was replaced.
    /// Lenses and versions mostly come from the cache.
    pub(crate) async fn load(database: &Database, mut prism: Prism) -> Result<Self, InternalError> {
        for _ in 0..ATTEMPTS {
            if let Some(lens) = database.find_lens(prism.id, prism.lens_revision).await? {
                let latest = find_saved_version(database, prism.id, prism.latest_version).await?;
                return Ok(Self {
                    prism,
                    lens,
                    latest,
                });
            }
            let moved = database.find_prism_by_id(prism.id).await?;
            prism = moved.ok_or(InternalError::VersionMissing)?;
        }
        Err(InternalError::LensKeepsMoving)
    }

    /// The columns of the prism's rows.
    pub fn columns(&self) -> RowColumns<'_> {
        RowColumns {
            fields: self.latest.fields(),
            lens: self.latest.columns(&self.lens),
        }
    }
}

impl Lenses<'_> {
    /// The lens of a prism that was already found.
    pub async fn of(self, prism: Prism) -> Result<PrismLens, InternalError> {
        PrismLens::load(&self.refract.database, prism).await
    }

    /// The lens of a prism.
    ///
    /// # Errors
    /// When there is no such prism, or the database fails.
    pub async fn find(
        self,
        account: AccountId,
        selector: &PrismSelector,
    ) -> Result<PrismLens, PrismError> {
        let prism = self.refract.prisms().find(account, selector).await?;
        Ok(PrismLens::load(&self.refract.database, prism).await?)
    }
}
