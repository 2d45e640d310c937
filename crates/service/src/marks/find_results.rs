//! Finds the results that the rows of a file of marks name.

use std::collections::{BTreeSet, HashMap};

use refract_domain::ids::ResultId;
use refract_domain::prism::VersionNumber;
use refract_domain::submission::reference::Ref;
use refract_persistence::{Database, MarkableResult, PersistenceError, Prism};

use super::errors::MarkError;
use super::rows::{MarksRow, NamedResult};

/// Number of ids that one query looks up.
const IDS: usize = 1_000;
/// Number of results with a `ref` that one query reads.
const REFS: u32 = 4_096;

/// An answered result that can be marked.
#[derive(Clone, Copy)]
pub(super) struct AnsweredResult {
    pub(super) id: ResultId,
    /// The version that answered.
    pub(super) version: VersionNumber,
}

/// The results that the rows of a file name.
pub(super) struct NamedResults {
    /// `None` for a failed result.
    by_id: HashMap<ResultId, Option<VersionNumber>>,
    by_ref: HashMap<Ref, Vec<AnsweredResult>>,
}

impl NamedResults {
    /// Looks up the ids of all rows in batches. If any row names a `ref`, reads the prism's results
    /// with a `ref` once.
    pub(super) async fn find(
        database: &Database,
        prism: &Prism,
        rows: &[MarksRow],
    ) -> Result<Self, PersistenceError> {
        let mut ids = BTreeSet::new();
        let mut by_ref: HashMap<Ref, Vec<AnsweredResult>> = HashMap::new();
        for row in rows {
            match &row.named {
                NamedResult::Id(id) => {
                    ids.insert(*id);
                }
                NamedResult::Ref(reference) => {
                    by_ref.entry(reference.clone()).or_default();
                }
            }
        }
        let mut by_id = HashMap::with_capacity(ids.len());
        let ids: Vec<_> = ids.into_iter().collect();
        for some in ids.chunks(IDS) {
            let finding = database.find_markable_results(prism.account, prism.id, some.to_vec());
            for found in finding.await? {
                by_id.insert(found.id, found.is_ok.then_some(found.version));
            }
        }
        if !by_ref.is_empty() {
            find_refs(database, prism, &mut by_ref).await?;
        }
        Ok(Self { by_id, by_ref })
    }

    /// The answered results that a row names, at least one.
    pub(super) fn of(&self, named: &NamedResult) -> Result<Vec<AnsweredResult>, MarkError> {
        match named {
            NamedResult::Id(id) => match self.by_id.get(id) {
                None => Err(MarkError::UnknownResult),
                Some(None) => Err(MarkError::FailedResult),
                Some(Some(version)) => Ok(vec![AnsweredResult {
                    id: *id,
                    version: *version,
                }]),
            },
            NamedResult::Ref(reference) => {
                let found = self.by_ref.get(reference);
                let found = found.filter(|results| !results.is_empty());
                found.cloned().ok_or(MarkError::UnknownRef)
            }
        }
    }

    /// The versions that answered any of the results.
    pub(super) fn versions(&self) -> BTreeSet<VersionNumber> {
        let by_ref = self.by_ref.values().flatten();
        let by_ref = by_ref.map(|result| result.version);
        self.by_id
            .values()
            .flatten()
            .copied()
            .chain(by_ref)
            .collect()
    }
}

async fn find_refs(
    database: &Database,
    prism: &Prism,
    by_ref: &mut HashMap<Ref, Vec<AnsweredResult>>,
) -> Result<(), PersistenceError> {
    let mut last = None;
    loop {
        let page = database.list_results_with_ref(prism.account, prism.id, last, REFS);
        let page = page.await?;
        let Some(end) = page.last() else {
            return Ok(());
        };
        last = Some(end.id);
        for result in page {
            let MarkableResult {
                id,
                reference,
                version,
                is_ok,
            } = result;
            let named = reference.and_then(|reference| by_ref.get_mut(&reference));
            if let Some(results) = named.filter(|_| is_ok) {
                results.push(AnsweredResult { id, version });
            }
        }
    }
}
