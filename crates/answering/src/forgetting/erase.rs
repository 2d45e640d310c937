//! Erases results that somebody asked to have forgotten, with all that holds what was sent.

use std::collections::BTreeSet;

use refract_domain::ids::{AccountId, ResultId};
use refract_domain::reference::Ref;
use refract_persistence::{Database, PersistenceError};

/// Number of results that one query or one transaction is about.
const CHUNK: usize = 100;

/// What was erased.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Erased {
    /// The number of results, retries included.
    pub results: u64,
    /// The number of those that nobody named: retries of the named results, and the failed results
    /// that those retried.
    pub retries: u64,
    /// The ids that were named and are of no result of the account, in the order of their naming.
    pub unknown: Vec<ResultId>,
}

/// Erases results by their ids, with those that they retried and those that retried them: each holds
/// the same texts. Ids that the account does not have are told and change nothing.
///
/// # Errors
/// When the database fails. What was erased until then stays erased.
pub async fn erase(
    database: &Database,
    account: AccountId,
    ids: &[ResultId],
) -> Result<Erased, PersistenceError> {
    let named: BTreeSet<ResultId> = ids.iter().copied().collect();
    let found = with_retries(database, account, &named).await?;
    let mut unknown = Vec::new();
    for id in ids {
        if !found.contains(id) && !unknown.contains(id) {
            unknown.push(*id);
        }
    }
    let retries = found.difference(&named).count();
    let results = forget(database, found).await?;
    Ok(Erased {
        results,
        retries: u64::try_from(retries).unwrap_or(u64::MAX),
        unknown,
    })
}

/// Erases every result of an account that has a reference, of any prism.
///
/// # Errors
/// When the database fails. What was erased until then stays erased.
pub async fn erase_reference(
    database: &Database,
    account: AccountId,
    reference: &Ref,
) -> Result<Erased, PersistenceError> {
    let mut erased = Erased::default();
    let limit = u32::try_from(CHUNK).unwrap_or(u32::MAX);
    loop {
        let page = database.list_results_of_reference(account, reference, limit);
        let named: BTreeSet<ResultId> = page.await?.into_iter().collect();
        if named.is_empty() {
            break;
        }
        let found = with_retries(database, account, &named).await?;
        erased.results += forget(database, found).await?;
    }
    Ok(erased)
}

/// Those of these results that the account has, with all that are linked to them by retries.
async fn with_retries(
    database: &Database,
    account: AccountId,
    named: &BTreeSet<ResultId>,
) -> Result<BTreeSet<ResultId>, PersistenceError> {
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

async fn forget(database: &Database, ids: BTreeSet<ResultId>) -> Result<u64, PersistenceError> {
    let ids: Vec<ResultId> = ids.into_iter().collect();
    let mut forgotten = 0;
    for ids in ids.chunks(CHUNK) {
        forgotten += database
            .forget_results(ids.to_vec(), rand::random())
            .await?;
    }
    Ok(forgotten)
}
