//! First calls of one node that have the same idempotency key at the same moment: one asks the
//! model, the others wait for the result that it saves.
//!
//! The database decides every race, so that calls of several nodes are safe together. This module
//! only spares the model: without it, each of these calls would ask, and all but one answer would be
//! thrown away.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use refract_domain::ids::AccountId;
use refract_domain::result::SavedResult;
use refract_domain::submission::reference::IdempotencyKey;
use tokio::sync::watch;

/// The calls of a node that have an idempotency key. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct SingleFlight(Arc<Mutex<CallsByKey>>);

type CallsByKey = HashMap<IdempotencyKey, Arc<CallsWithKey>>;

/// The calls with one idempotency key, which may be of several accounts: their accounts are not
/// known yet when they enter.
#[derive(Default)]
struct CallsWithKey(Mutex<Vec<(AccountId, watch::Receiver<Outcome>)>>);

/// The result that the first call saved; `None` before it ends.
type Outcome = Option<Arc<SavedResult>>;

/// A call with an idempotency key, from before the database is asked who holds the key. So a call
/// that finds the key free takes part in the same race as the call that takes the key meanwhile.
pub(crate) struct CallWithKey {
    calls: SingleFlight,
    key: IdempotencyKey,
    beside: Arc<CallsWithKey>,
}

/// Whether a call asks the model.
pub(crate) enum KeyTurn {
    /// The call is the first: it asks.
    Ask(FirstCall),
    /// Another call asks.
    Wait(OtherCall),
}

/// The call that asks for all. Dropped without a result, it lets each of the others ask.
pub(crate) struct FirstCall {
    call: CallWithKey,
    outcome: watch::Sender<Outcome>,
}

/// The call that asks, as those see it that wait for it.
pub(crate) struct OtherCall(watch::Receiver<Outcome>);

impl SingleFlight {
    /// Notes a call before the database is asked who holds its key.
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
    pub(crate) fn turn(self, account: AccountId) -> KeyTurn {
        let mut asking = locked(&self.beside.0);
        if let Some((_, outcome)) = asking.iter().find(|(of, _)| *of == account) {
            return KeyTurn::Wait(OtherCall(outcome.clone()));
        }
        let (outcome, receiver) = watch::channel(None);
        asking.push((account, receiver));
        drop(asking);
        KeyTurn::Ask(FirstCall {
            call: self,
            outcome,
        })
    }

    /// Lets calls that come from now on begin anew.
    fn close(&self) {
        remove(&mut self.calls.lock(), &self.key, &self.beside);
    }
}

impl Drop for CallWithKey {
    fn drop(&mut self) {
        let mut calls = self.calls.lock();
        // the map has one, this call the other, and only under the map's lock do they grow in number
        if Arc::strong_count(&self.beside) == 2 {
            remove(&mut calls, &self.key, &self.beside);
        }
    }
}

impl FirstCall {
    /// Gives the saved result to the calls that wait. Calls that come later find it in the database.
    pub(crate) fn saved(self, result: &SavedResult) {
        self.call.close();
        // nobody can join any more: who is beside this call, is so already
        if Arc::strong_count(&self.call.beside) > 1 {
            self.outcome.send_replace(Some(Arc::new(result.clone())));
        }
    }
}

impl OtherCall {
    /// Waits for the result; `None` when the other call ended and saved none.
    pub(crate) async fn saved(mut self) -> Option<Arc<SavedResult>> {
        let outcome = self.0.wait_for(Option::is_some).await.ok()?;
        outcome.clone()
    }
}

/// Removes what the map has under a key, if it is `known`.
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
