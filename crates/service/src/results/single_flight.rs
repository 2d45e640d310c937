//! Single flight: of concurrent first calls of one node with one idempotency key, one asks the
//! model and the others wait for the result that it saves.
//!
//! The database decides every race, so that calls of several nodes are safe together. This module
//! only spares the model: without it, each of these calls would ask, and all but one answer would
//! be thrown away.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use refract_domain::ids::AccountId;
use refract_domain::result::SavedResult;
use refract_domain::submission::IdempotencyKey;
use tokio::sync::watch;

/// The calls of a node that have an idempotency key. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct SingleFlight(Arc<Mutex<CallsByKey>>);

type CallsByKey = HashMap<IdempotencyKey, Arc<CallsWithKey>>;

/// The calls with one idempotency key. They may be of several accounts, which are not known yet
/// when the calls enter.
#[derive(Default)]
struct CallsWithKey(Mutex<Vec<(AccountId, watch::Receiver<Outcome>)>>);

/// The result that the first call saved; `None` before it ends.
type Outcome = Option<Arc<SavedResult>>;

/// A call with an idempotency key, registered before the database is asked for the key's holder. So
/// a call that finds the key free shares a flight with the call that takes the key meanwhile.
pub(crate) struct CallWithKey {
    calls: SingleFlight,
    key: IdempotencyKey,
    beside: Arc<CallsWithKey>,
}

/// Whether a call asks the model.
pub(crate) enum FlightRole {
    /// The call is the first: it asks.
    Lead(FlightLeader),
    /// Another call asks.
    Follow(FlightFollower),
}

/// The call that asks for all. If it is dropped without a result, each of the others asks.
pub(crate) struct FlightLeader {
    call: CallWithKey,
    outcome: watch::Sender<Outcome>,
}

/// The call in flight, as waiting duplicates see it.
pub(crate) struct FlightFollower(watch::Receiver<Outcome>);

impl SingleFlight {
    /// Registers a call before the database is asked for the holder of its key.
    pub(crate) fn enter(&self, key: &IdempotencyKey) -> CallWithKey {
        let beside = Arc::clone(self.lock().entry(key.clone()).or_default());
        CallWithKey {
            calls: self.clone(),
            key: key.clone(),
            beside,
        }
    }

    fn lock(&self) -> MutexGuard<'_, CallsByKey> {
        locked(&self.0)
    }
}

impl CallWithKey {
    /// Decides who asks, once the call has passed every check and found its key free.
    pub(crate) fn role(self, account: AccountId) -> FlightRole {
        let mut asking = locked(&self.beside.0);
        if let Some((_, outcome)) = asking.iter().find(|(of, _)| *of == account) {
            return FlightRole::Follow(FlightFollower(outcome.clone()));
        }
        let (outcome, receiver) = watch::channel(None);
        asking.push((account, receiver));
        drop(asking);
        FlightRole::Lead(FlightLeader {
            call: self,
            outcome,
        })
    }

    /// Makes later calls with the key start a new flight.
    fn close(&self) {
        remove(&mut self.calls.lock(), &self.key, &self.beside);
    }
}

impl Drop for CallWithKey {
    fn drop(&mut self) {
        let mut calls = self.calls.lock();
        // the map has one reference, this call the other; the count grows only under the map's lock
        if Arc::strong_count(&self.beside) == 2 {
            remove(&mut calls, &self.key, &self.beside);
        }
    }
}

impl FlightLeader {
    /// Passes the saved result to the waiting calls. Later calls find it in the database.
    pub(crate) fn saved(self, result: &SavedResult) {
        self.call.close();
        // nobody can join any more: every call that shares this flight has entered already
        if Arc::strong_count(&self.call.beside) > 1 {
            self.outcome.send_replace(Some(Arc::new(result.clone())));
        }
    }
}

impl FlightFollower {
    /// Waits for the result; `None` when the other call ended and saved none.
    pub(crate) async fn saved(mut self) -> Option<Arc<SavedResult>> {
        let outcome = self.0.wait_for(Option::is_some).await.ok()?;
        outcome.clone()
    }
}

/// Removes the map's entry for a key, if it is `known`.
fn remove(calls: &mut CallsByKey, key: &IdempotencyKey, known: &Arc<CallsWithKey>) {
    if calls
        .get(key)
        .is_some_and(|present| Arc::ptr_eq(present, known))
    {
        calls.remove(key);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
