//! Create a result: answer one text (spec 4.1).

use refract_domain::api_key::ApiKey;
use refract_domain::ids::AccountId;
use refract_domain::prism::VersionNumber;
use refract_domain::reference::{IdempotencyKey, Ref};
use refract_domain::result::{Repeat, SavedResult};
use refract_domain::slug::PrismSelector;
use refract_domain::submission::{CallContext, SentFields, Submission};
use refract_persistence::PrismRow;

use crate::ask::{Caller, Question};
use crate::{Answering, ReadableResult, Refusal};

/// One text and what a caller says about it, each value valid on its own.
pub struct CreateCall {
    /// The prism that is to answer.
    pub prism: PrismSelector,
    /// The field values, by the caller's names for them.
    pub fields: SentFields,
    /// Background for this call.
    pub context: Option<CallContext>,
    /// The caller's own reference.
    pub reference: Option<Ref>,
    /// The version that is to answer; the latest when absent.
    pub version: Option<VersionNumber>,
    /// Makes a repeat safe.
    pub idempotency_key: Option<IdempotencyKey>,
}

impl Answering {
    /// Runs a prism on one text, in the specification's order of checks.
    ///
    /// `api_key` is `None` when what the caller sent has not the shape of a key.
    ///
    /// # Errors
    /// The first check that fails; then nothing was saved, and the model was asked only where two
    /// first calls of different prisms raced for one idempotency key.
    pub async fn create_result(
        &self,
        api_key: Option<&ApiKey>,
        call: CreateCall,
    ) -> Result<ReadableResult, Refusal> {
        let hash = api_key.ok_or(Refusal::InvalidApiKey)?.hash();
        let key = call.idempotency_key.as_ref();
        let found = self
            .database
            .find_create_call(&hash, &call.prism, key)
            .await?;
        let found = found
            .filter(|row| !row.key.is_revoked)
            .ok_or(Refusal::InvalidApiKey)?;
        self.key_uses.note(found.key.id);
        let caller = Caller {
            account: found.key.account,
            api_key: Some(found.key.id),
        };
        self.create(caller, found.prism, found.held, call).await
    }

    /// The same from the operator's terminal, for a whole account.
    ///
    /// # Errors
    /// As [`Answering::create_result`].
    pub async fn create_result_in(
        &self,
        account: AccountId,
        call: CreateCall,
    ) -> Result<ReadableResult, Refusal> {
        let prism = self.database.find_prism(account, &call.prism).await?;
        let held = match &call.idempotency_key {
            Some(key) => self.database.find_result_by_key(account, key).await?,
            None => None,
        };
        self.create(
            Caller {
                account,
                api_key: None,
            },
            prism,
            held,
            call,
        )
        .await
    }

    async fn create(
        &self,
        caller: Caller,
        prism: Option<PrismRow>,
        held: Option<SavedResult>,
        call: CreateCall,
    ) -> Result<ReadableResult, Refusal> {
        let active = prism.filter(|prism| prism.archived_at.is_none());
        let prism = active.ok_or(Refusal::PrismNotFound)?;
        if let Some(held) = held {
            return match held.repeat(prism.id)? {
                Repeat::Replay => Ok(ReadableResult::load(&self.database, held, prism).await?),
                Repeat::Retry => self.ask_again(caller, held, prism).await,
            };
        }
        let number = call.version.unwrap_or(prism.latest_version);
        let found = self.database.find_version(prism.id, number).await?;
        let version = found.ok_or(Refusal::VersionNotFound)?;
        let submission = Submission::new(call.fields, call.context, version.fields())?;
        let question = Question {
            caller,
            prism: prism.id,
            number,
            version,
            submission,
            reference: call.reference,
            idempotency_key: call.idempotency_key,
            retry_of: None,
        };
        self.ask_and_save(question, prism).await
    }
}
