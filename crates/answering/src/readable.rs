//! A result with all that its formats need.

use std::sync::Arc;

use refract_domain::ids::{AccountId, ResultId};
use refract_domain::prism::PrismVersion;
use refract_domain::reference::Ref;
use refract_domain::result::SavedResult;
use refract_domain::view::{ResultView, RowColumns};
use refract_persistence::{Database, PrismRow};

use crate::Refusal;
use crate::prisms::PrismLens;
use crate::refusal::InternalError;

/// A saved result, the version that answered it, and the prism's lens as it is now.
#[derive(Clone)]
pub struct ReadableResult {
    result: SavedResult,
    version: Arc<PrismVersion>,
    lens: Arc<PrismLens>,
}

impl ReadableResult {
    /// Brings what the result's formats need; all of it is cached as a rule.
    pub(crate) async fn load(
        database: &Database,
        result: SavedResult,
        prism: PrismRow,
    ) -> Result<Self, InternalError> {
        let lens = Arc::new(PrismLens::load(database, prism).await?);
        Self::through(database, result, &lens).await
    }

    /// A result of an account, for its operator, and the result that retried it when one did.
    ///
    /// # Errors
    /// When the account has no such result, or the database fails.
    pub async fn find(
        database: &Database,
        account: AccountId,
        id: ResultId,
    ) -> Result<(Self, Option<ResultId>), Refusal> {
        let found = database.find_result(account, id).await?;
        let found = found.ok_or(Refusal::ResultNotFound)?;
        let readable = Self::load(database, found.result, found.prism).await?;
        Ok((readable, found.retried_as))
    }

    /// The same through a lens that was brought before.
    pub(crate) async fn through(
        database: &Database,
        result: SavedResult,
        lens: &Arc<PrismLens>,
    ) -> Result<Self, InternalError> {
        let found = database.find_version(lens.prism.id, result.version);
        let version = found.await?.ok_or(InternalError::VersionMissing)?;
        Ok(Self::new(result, version, lens))
    }

    /// A result with all that was brought before it was made.
    pub(crate) fn new(
        result: SavedResult,
        version: Arc<PrismVersion>,
        lens: &Arc<PrismLens>,
    ) -> Self {
        Self {
            result,
            version,
            lens: Arc::clone(lens),
        }
    }

    /// The result as its formats show it.
    pub fn view(&self) -> ResultView<'_> {
        ResultView {
            id: self.result.id,
            reference: self.result.reference.as_ref().map(Ref::as_str),
            prism: self.lens.prism.slug.as_str(),
            version: self.result.version,
            questions: self.version.questions(),
            status: &self.result.status,
            took_ms: self.result.took_ms,
            created_at: self.result.created_at,
            fields: self.result.submission.field_values(),
        }
    }

    /// The columns of its rows.
    pub fn columns(&self) -> RowColumns<'_> {
        self.lens.columns()
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
        self.lens.prism.slug.as_str()
    }
}
