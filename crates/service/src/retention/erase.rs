//! Erases results on request, with everything that has the texts that were sent.

use std::collections::BTreeSet;

use refract_domain::ids::{AccountId, ResultId};
use refract_domain::submission::reference::Ref;
use refract_persistence::PersistenceError;

use crate::people::accounts::AccountActor;
use crate::retention::Retention;
use crate::retention::deletion::Deletion;

/// Number of results in one query or one transaction.
const CHUNK: usize = 100;

/// The outcome of an erasure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Erased {
    /// Number of erased results, linked ones included.
    pub results: u64,
    /// Number of erased results that were not named: retries of the named results, and the failed
    /// results that those retried.
    pub retries: u64,
    /// Number of erased example texts: copies of erased results, and those with the reference.
    pub examples: u64,
    /// The named ids that are not results of the account, in the order in which they were named.
    pub unknown: Vec<ResultId>,
}

impl Retention<'_> {
    /// Erases results by their ids, with the results that they retried and those that retried them:
    /// each has the same texts. Ids that the account does not have are reported and change nothing.
    ///
    /// # Errors
    /// When the database fails. Results erased until then stay erased.
    pub async fn erase(
        self,
        actor: &AccountActor,
        ids: &[ResultId],
    ) -> Result<Erased, PersistenceError> {
        let named: BTreeSet<ResultId> = ids.iter().copied().collect();
        let found = self.with_retries(actor.account(), &named).await?;
        let mut unknown = Vec::new();
        for id in ids {
            if !found.contains(id) && !unknown.contains(id) {
                unknown.push(*id);
            }
        }
        let retries = found.difference(&named).count();
        let mut erasure = Deletion::erasure(self.refract.database.clone(), actor.clone());
        erase(&mut erasure, found, true).await?;
        Ok(Erased {
            results: erasure.deleted(),
            examples: erasure.examples(),
            retries: u64::try_from(retries).unwrap_or(u64::MAX),
            unknown,
        })
    }

    /// Erases every result and every example text of the caller's account with a reference, of any
    /// prism.
    ///
    /// # Errors
    /// When the database fails. Results erased until then stay erased.
    pub async fn erase_reference(
        self,
        actor: &AccountActor,
        reference: &Ref,
    ) -> Result<Erased, PersistenceError> {
        let database = &self.refract.database;
        let account = actor.account();
        let mut erasure = Deletion::erasure(database.clone(), actor.clone());
        let limit = u32::try_from(CHUNK).unwrap_or(u32::MAX);
        loop {
            let page = database.list_results_of_reference(account, reference, limit);
            let named: BTreeSet<ResultId> = page.await?.into_iter().collect();
            if named.is_empty() {
                break;
            }
            let is_last = named.len() < CHUNK;
            let found = self.with_retries(account, &named).await?;
            erase(&mut erasure, found, is_last).await?;
        }
        erasure.end().await?;
        let stamp = actor.event_stamp();
        let examples = database.erase_examples_of_reference(reference, stamp);
        Ok(Erased {
            examples: erasure.examples() + examples.await?,
            results: erasure.deleted(),
            ..Erased::default()
        })
    }

    /// Removes traces of deleted results from an SQLite file; returns whether none are left.
    ///
    /// # Errors
    /// When the file cannot be rewritten.
    pub async fn remove_traces(self) -> Result<bool, PersistenceError> {
        self.refract.database.remove_deleted_traces().await
    }

    /// Which of these results the account has, with all results linked to them by retries.
    async fn with_retries(
        self,
        account: AccountId,
        named: &BTreeSet<ResultId>,
    ) -> Result<BTreeSet<ResultId>, PersistenceError> {
        let database = &self.refract.database;
        let mut found = BTreeSet::new();
        let mut next: Vec<ResultId> = named.iter().copied().collect();
        while !next.is_empty() {
            let mut linked = BTreeSet::new();
            for ids in next.chunks(CHUNK) {
                let known = database.list_originals(account, ids.to_vec()).await?;
                let known_ids = known.iter().map(|(id, _)| *id).collect::<Vec<_>>();
                linked.extend(known.iter().filter_map(|(_, original)| *original));
                found.extend(known_ids.iter().copied());
                linked.extend(database.list_retries(known_ids).await?.into_values());
            }
            next = linked.difference(&found).copied().collect();
        }
        Ok(found)
    }
}

/// Deletes results, chunk by chunk. `is_last` means that none follow.
async fn erase(
    erasure: &mut Deletion,
    ids: BTreeSet<ResultId>,
    is_last: bool,
) -> Result<(), PersistenceError> {
    let ids: Vec<ResultId> = ids.into_iter().collect();
    let mut chunks = ids.chunks(CHUNK).peekable();
    while let Some(ids) = chunks.next() {
        let is_last = is_last && chunks.peek().is_none();
        erasure.delete(ids.to_vec(), is_last).await?;
    }
    Ok(())
}
