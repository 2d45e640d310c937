//! Read a result (spec 4.2): find the one that a read or retry names, with everything that its formats
//! need, and show it with all details and who made it.

use std::sync::Arc;

use chrono::Utc;
use refract_domain::ids::{AccountId, ResultId};
use refract_domain::lens::YesNoLabel;
use refract_domain::prism::PrismVersion;
use refract_domain::result::mark::Mark;
use refract_domain::result::{ResultActor, ResultView, RowColumns, SavedResult};
use refract_domain::submission::{IdempotencyKey, Ref, Submission};
use refract_identity::keys::PresentedKey;
use refract_identity::people::AccountActor;
use refract_persistence::{Database, FoundResult, PersistenceError, Prism, Provenance};

use crate::lenses::prism_lens::PrismLens;
use crate::prisms::find_saved_version;
use crate::results::Results;
use crate::{CallError, InternalError};

/// An authenticated read or retry with the result that it names.
pub(crate) struct ResultCall {
    pub(crate) actor: AccountActor,
    pub(crate) found: FoundResult,
}

/// A result with its provenance, its actor, its retries and its marks.
pub struct ResultDetails {
    /// The result.
    pub result: ReadableResult,
    /// Where the answers came from.
    pub provenance: Provenance,
    /// Who made the result.
    pub actor: ResultActor,
    /// The failed result that this one retried.
    pub retry_of: Option<ResultId>,
    /// The result that retried this one.
    pub retried_as: Option<ResultId>,
    /// The correct outcomes as people state them, in the order of the question keys.
    pub marks: Vec<Mark>,
    /// The marks of other people beside them.
    pub other_marks: Vec<Mark>,
}

/// A saved result with the version that answered and the prism's current lens.
#[derive(Clone)]
pub struct ReadableResult {
    result: SavedResult,
    version: Arc<PrismVersion>,
    lens: Arc<PrismLens>,
}

impl Results<'_> {
    /// Reads any result of the caller's account, made by any key, person or file run.
    ///
    /// # Errors
    /// The first check that fails: key, then result.
    pub async fn read(
        self,
        presented: &PresentedKey,
        id: ResultId,
    ) -> Result<ReadableResult, CallError> {
        let FoundResult { result, prism } = self.find_result_call(presented, id).await?.found;
        Ok(ReadableResult::load(&self.refract.database, result, prism).await?)
    }

    /// Checks the key, then the result, of a read or retry.
    pub(crate) async fn find_result_call(
        self,
        presented: &PresentedKey,
        id: ResultId,
    ) -> Result<ResultCall, CallError> {
        let keys = self.refract.keys();
        let hash = keys.hash_of(presented)?;
        let database = &self.refract.database;
        let found = database.find_result_call(&hash, id, Utc::now());
        let (actor, row) = keys.authenticate(presented, found.await?, |row| &row.key)?;
        let found = row.result.ok_or(CallError::ResultNotFound)?;
        Ok(ResultCall { actor, found })
    }

    /// Where the answers of a result came from; empty for a result that the account lacks.
    pub async fn provenance(
        self,
        account: AccountId,
        id: ResultId,
    ) -> Result<Provenance, InternalError> {
        let found = self.refract.database.find_provenance(account, id).await?;
        Ok(found.unwrap_or_default())
    }

    /// Finds a result of an account with its details.
    ///
    /// # Errors
    /// When the account has no such result, or the database fails.
    pub async fn details(
        self,
        account: AccountId,
        id: ResultId,
    ) -> Result<ResultDetails, CallError> {
        let database = &self.refract.database;
        let result = self.find(account, id).await?;
        let actor = self.actor(account, id).await?;
        Ok(ResultDetails {
            result,
            provenance: self.provenance(account, id).await?,
            actor: actor.unwrap_or(ResultActor::Operator),
            retry_of: database.find_retry_of(account, id).await?,
            retried_as: database.find_retry(id).await?,
            marks: database.list_marks(id).await?,
            other_marks: database.list_other_marks_of(vec![id]).await?,
        })
    }

    /// The actor of a result of the account; `None` when the account has no such result. A result
    /// without a key from before people were recorded is the terminal's.
    pub async fn actor(
        self,
        account: AccountId,
        result: ResultId,
    ) -> Result<Option<ResultActor>, PersistenceError> {
        let found = self
            .refract
            .database
            .find_result_actor(account, result)
            .await?;
        Ok(found.map(ResultActor::from))
    }

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
