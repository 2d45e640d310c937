//! Create a result: answer one text (spec 4.1).

use std::sync::Arc;

use chrono::Utc;
use refract_domain::prism::{PrismSelector, VersionNumber};
use refract_domain::result::{Repeat, SavedResult};
use refract_domain::submission::{
    CallContext, IdempotencyKey, Ref, SentFields, Submission, budget,
};
use refract_identity::keys::PresentedKey;
use refract_identity::people::AccountActor;
use refract_persistence::Prism;

use crate::CallError;
use crate::prisms::{check_active, find_version_to_ask};
use crate::results::Results;
use crate::results::ask_and_save::CheckedCall;
use crate::results::read::ReadableResult;
use crate::results::single_flight::{CallWithKey, FlightFollower, FlightRole};

/// The input of a create, each value valid on its own.
pub struct CreateCall {
    /// The prism that is to answer.
    pub prism: PrismSelector,
    /// The field values, by the keys that the caller sent.
    pub fields: SentFields,
    /// Background for this call.
    pub context: Option<CallContext>,
    /// The caller's own reference.
    pub reference: Option<Ref>,
    /// The version that is to answer; the latest when absent.
    pub version: Option<VersionNumber>,
    /// The key with which a repeated call gets the saved result.
    pub idempotency_key: Option<IdempotencyKey>,
}

impl Results<'_> {
    /// Runs a prism on one text.
    ///
    /// # Errors
    /// The first check that fails, in the specification's order. Nothing was saved then, and the
    /// model was asked only where two first calls to different prisms raced for one idempotency
    /// key.
    pub async fn create(
        self,
        presented: &PresentedKey,
        call: CreateCall,
    ) -> Result<ReadableResult, CallError> {
        let keys = self.refract.keys();
        let hash = keys.hash_of(presented)?;
        let key = call.idempotency_key.as_ref();
        let with_key = key.map(|key| self.refract.single_flight.enter(key));
        let database = &self.refract.database;
        let found = database.find_create_call(&hash, &call.prism, key, Utc::now());
        let (actor, row) = keys.authenticate(presented, found.await?, |row| &row.key)?;
        self.check_and_ask(actor, row.prism, row.held, call, with_key)
            .await
    }

    /// Creates a result for a caller without an API key: the operator's terminal or a person.
    ///
    /// # Errors
    /// As [`Results::create`].
    pub async fn create_as(
        self,
        actor: AccountActor,
        call: CreateCall,
    ) -> Result<ReadableResult, CallError> {
        let account = actor.account();
        let key = call.idempotency_key.as_ref();
        let with_key = key.map(|key| self.refract.single_flight.enter(key));
        let database = &self.refract.database;
        let prism = database.find_prism(account, &call.prism).await?;
        let held = match key {
            Some(key) => {
                self.refract
                    .database
                    .find_result_by_key(account, key)
                    .await?
            }
            None => None,
        };
        self.check_and_ask(actor, prism, held.map(Box::new), call, with_key)
            .await
    }

    /// The checks after authentication, in the order of spec 4.1, then the model.
    async fn check_and_ask(
        self,
        actor: AccountActor,
        prism: Option<Prism>,
        held: Option<Box<SavedResult>>,
        call: CreateCall,
        with_key: Option<CallWithKey>,
    ) -> Result<ReadableResult, CallError> {
        let prism = check_active(prism)?;
        if let Some(held) = held {
            // the model small
            return Box::pin(self.repeat(actor, *held, prism)).await;
        }
        let asked = find_version_to_ask(&self.refract.database, &prism, call.version).await?;
        let submission = Submission::new(call.fields, call.context, asked.version.fields())?;
        let account = actor.account();
        budget::check(&asked.version, &submission)?;
        let checked = CheckedCall {
            actor,
            prism: prism.id,
            asked,
            submission,
            reference: call.reference,
            idempotency_key: call.idempotency_key,
            retry_of: None,
        };
        let Some(call) = with_key else {
            return self.ask_and_save(checked, prism).await;
        };
        match call.role(account) {
            FlightRole::Lead(first) => {
                let answered = self.ask_and_save(checked, prism).await?;
                first.saved(answered.saved());
                Ok(answered)
            }
            FlightRole::Follow(other) => Box::pin(self.wait_or_ask(other, checked, prism)).await,
        }
    }

    /// Answers a call whose idempotency key has a result: replays it, or retries it when it failed.
    async fn repeat(
        self,
        actor: AccountActor,
        held: SavedResult,
        prism: Prism,
    ) -> Result<ReadableResult, CallError> {
        match held.repeat(prism.id)? {
            Repeat::Replay => Ok(ReadableResult::load(&self.refract.database, held, prism).await?),
            Repeat::Retry => self.retry_failed_result(actor, held, prism).await,
        }
    }

    /// Waits for the call that already asks for the same key. If that call ends without a result,
    /// and no other call saved one with the key, this call asks.
    async fn wait_or_ask(
        self,
        other: FlightFollower,
        call: CheckedCall,
        prism: Prism,
    ) -> Result<ReadableResult, CallError> {
        let waiting = self.refract.metrics.repeat_waits();
        let saved = other.saved().await;
        drop(waiting);
        let saved = match (saved, &call.idempotency_key) {
            (Some(saved), _) => Some(Arc::unwrap_or_clone(saved)),
            (None, Some(key)) => {
                let account = call.actor.account();
                self.refract
                    .database
                    .find_result_by_key(account, key)
                    .await?
            }
            (None, None) => None,
        };
        let Some(saved) = saved else {
            return self.ask_and_save(call, prism).await;
        };
        // a failed result is no reason to retry: both calls came at the same time
        saved.repeat(prism.id)?;
        Ok(ReadableResult::load(&self.refract.database, saved, prism).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Size in bytes of the future that a use case returns.
    fn bytes_of_future<F>(
        _: impl FnOnce(Results<'static>, &'static PresentedKey, CreateCall) -> F,
    ) -> usize {
        size_of::<F>()
    }

    #[test]
    fn a_call_that_waits_for_the_model_takes_less_than_three_kibibytes() {
        let bytes = bytes_of_future(Results::create);
        assert!(bytes < 3 * 1024, "{bytes}");
    }
}
