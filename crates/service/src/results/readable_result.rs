//! A saved result with everything that its formats need.

use std::sync::Arc;

use refract_domain::ids::{AccountId, ResultId};
use refract_domain::lens::cutoffs::YesNoLabel;
use refract_domain::prism::PrismVersion;
use refract_domain::result::SavedResult;
use refract_domain::result::view::{ResultView, RowColumns};
use refract_domain::submission::Submission;
use refract_domain::submission::reference::{IdempotencyKey, Ref};
use refract_persistence::{Database, Prism};

use crate::lenses::prism_lens::PrismLens;
use crate::prisms::versions::find_saved_version;
use crate::results::Results;
use crate::{CallError, InternalError};

/// A saved result with the version that answered and the prism's current lens.
#[derive(Clone)]
pub struct ReadableResult {
    result: SavedResult,
    version: Arc<PrismVersion>,
    lens: Arc<PrismLens>,
}

impl Results<'_> {
    /// Finds a result of an account.
    ///
    /// # Errors
    /// When the account has no such result, or the database fails.
    pub async fn find(self, account: AccountId, id: ResultId) -> Result<ReadableResult, CallError> {
        let database = &self.refract.database;
        let found = database.find_result(account, id).await?;
        let found = found.ok_or(CallError::ResultNotFound)?;
        Ok(ReadableResult::load(database, found.result, found.prism).await?)
    }
}

impl ReadableResult {
    /// Loads the version that answered and the prism's lens, mostly from the cache.
    pub(crate) async fn load(
        database: &Database,
        result: SavedResult,
        prism: Prism,
    ) -> Result<Self, InternalError> {
        let lens = Arc::new(PrismLens::load(database, prism).await?);
        Self::through_lens(database, result, &lens).await
    }

    /// Loads the version that answered; the prism's lens was loaded before.
    pub(crate) async fn through_lens(
        database: &Database,
        result: SavedResult,
        lens: &Arc<PrismLens>,
    ) -> Result<Self, InternalError> {
        let version = find_saved_version(database, lens.prism.id, result.version).await?;
        Ok(Self::new(result, version, lens))
    }

    /// Combines parts that were loaded before.
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

    /// The saved result.
    pub(crate) fn saved(&self) -> &SavedResult {
        &self.result
    }

    /// The plain data that every format renders.
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

    /// The field values and the context that were sent.
    pub fn submission(&self) -> &Submission {
        &self.result.submission
    }

    /// The idempotency key that the result holds.
    pub fn idempotency_key(&self) -> Option<&IdempotencyKey> {
        self.result.idempotency_key.as_ref()
    }

    /// The version that answered.
    pub fn version(&self) -> &PrismVersion {
        &self.version
    }

    /// The columns of the prism's rows.
    pub fn columns(&self) -> RowColumns<'_> {
        self.lens.columns()
    }

    /// Whether the result's status is `ok`.
    pub fn is_ok(&self) -> bool {
        self.result.status.answers().is_some()
    }

    /// Whether a Yes / No column of the lens is unsure.
    pub(crate) fn is_unsure(&self) -> bool {
        let (view, columns) = (self.view(), self.columns());
        let mut values = view.values(columns.lens);
        values.any(|value| value.yes_no() == Some(YesNoLabel::Unsure))
    }

    /// The prism, as it was when the result was read.
    pub fn prism(&self) -> &Prism {
        &self.lens.prism
    }

    /// The result's id.
    pub fn id(&self) -> ResultId {
        self.result.id
    }

    /// The slug of the result's prism.
    pub fn prism_slug(&self) -> &str {
        self.lens.prism.slug.as_str()
    }
}
