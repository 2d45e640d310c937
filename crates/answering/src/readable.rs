//! A result with all that its formats need.

use std::sync::Arc;

use refract_domain::call::Ref;
use refract_domain::ids::ResultId;
use refract_domain::lens::Lens;
use refract_domain::prism::{Definition, VersionNumber};
use refract_domain::result::SavedResult;
use refract_domain::view::{Columns, ResultView};
use refract_persistence::{Database, PrismRow};

use crate::refusal::InternalError;

/// How often a lens that moves while it is read is read again.
const LENS_READS: usize = 4;

/// A saved result, the version that answered it, and the prism's lens as it is now.
#[derive(Clone)]
pub struct ReadableResult {
    result: SavedResult,
    prism: PrismRow,
    definition: Arc<Definition>,
    latest: Arc<Definition>,
    lens: Arc<Lens>,
}

impl ReadableResult {
    /// Brings what the result's formats need; all of it is cached as a rule.
    pub(crate) async fn load(
        database: &Database,
        result: SavedResult,
        mut prism: PrismRow,
    ) -> Result<Self, InternalError> {
        let definition = definition(database, &prism, result.version).await?;
        for _ in 0..LENS_READS {
            if let Some(lens) = database.find_lens(prism.id, prism.lens_revision).await? {
                let latest = self::definition(database, &prism, prism.latest_version).await?;
                return Ok(Self {
                    result,
                    prism,
                    definition,
                    latest,
                    lens,
                });
            }
            let moved = database.find_prism_by_id(prism.id).await?;
            prism = moved.ok_or(InternalError::VersionMissing)?;
        }
        Err(InternalError::LensKeepsMoving)
    }

    /// The result as its formats show it.
    pub fn view(&self) -> ResultView<'_> {
        ResultView {
            id: self.result.id,
            reference: self.result.reference.as_ref().map(Ref::as_str),
            prism: self.prism.slug.as_str(),
            version: self.result.version,
            definition: &self.definition,
            status: &self.result.status,
            took_ms: self.result.took_ms,
            created_at: self.result.created_at,
            fields: self.result.submission.field_values(),
        }
    }

    /// The columns of its rows.
    pub fn columns(&self) -> Columns<'_> {
        Columns {
            fields: self.latest.fields(),
            lens: self.lens.columns(&self.latest),
        }
    }

    /// Whether every question was answered.
    pub fn is_ok(&self) -> bool {
        self.result.status.answers().is_some()
    }

    /// The result's id.
    pub fn id(&self) -> ResultId {
        self.result.id
    }

    /// The slug of its prism.
    pub fn prism_slug(&self) -> &str {
        self.prism.slug.as_str()
    }
}

async fn definition(
    database: &Database,
    prism: &PrismRow,
    version: VersionNumber,
) -> Result<Arc<Definition>, InternalError> {
    let found = database.find_definition(prism.id, version).await?;
    found.ok_or(InternalError::VersionMissing)
}
