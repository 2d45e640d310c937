//! What an operator does to prisms and their lenses on the command line.

use std::sync::Arc;

use chrono::Utc;
use refract_domain::earlier_versions::{EarlierVersions, KeyHistory};
use refract_domain::ids::{AccountId, PrismId};
use refract_domain::lens::Column;
use refract_domain::lens_file;
use refract_domain::prism::{PrismName, PrismVersion, VersionNumber};
use refract_domain::prism_file::PrismFile;
use refract_domain::problem::Problems;
use refract_domain::slug::{PrismSelector, Slug};
use refract_persistence::{
    Database, NewPrism, NewVersion, PersistenceError, PrismHistory, PrismRow, Writing,
};
use uuid::Uuid;

use crate::prism_lens::PrismLens;
use crate::refusal::InternalError;

/// Attempts at a change that collides with other changes of the prism.
const ATTEMPTS: usize = 16;

/// A change to a prism was refused; nothing was saved.
#[derive(Debug, thiserror::Error)]
pub enum PrismRefusal {
    /// No such prism in the account.
    #[error("Prism not found")]
    NotFound,
    /// The prism has no such version.
    #[error("Prism version not found")]
    VersionNotFound,
    /// The prism or lens file breaks rules.
    #[error(transparent)]
    Invalid(#[from] Problems),
    /// The prism's latest version has the highest number that there is.
    #[error("the prism has its highest version already")]
    NoMoreVersions,
    /// Every attempt collided with another change of the prism.
    #[error("the prism is being changed by others: try again")]
    Contended,
    /// The database failed.
    #[error(transparent)]
    Persistence(#[from] PersistenceError),
}

impl From<InternalError> for PrismRefusal {
    fn from(error: InternalError) -> Self {
        match error {
            InternalError::Persistence(error) => Self::Persistence(error),
            InternalError::VersionMissing => Self::VersionNotFound,
            InternalError::LensKeepsMoving => Self::Contended,
        }
    }
}

/// Creates a prism with its first version. The slug is made from the name.
///
/// # Errors
/// When the file breaks rules, or the database fails.
pub async fn create(
    database: &Database,
    account: AccountId,
    file: &[u8],
) -> Result<PrismRow, PrismRefusal> {
    let PrismFile { name, version } = PrismFile::read(file, None)?;
    let new = NewPrism {
        id: PrismId(Uuid::now_v7()),
        slugs: Slug::candidates(name.as_str()),
        name: &name,
        version: &version,
        now: Utc::now(),
    };
    Ok(database.create_prism(account, new).await?)
}

/// Saves the next version of a prism and drops the lens columns whose question it removes.
///
/// # Errors
/// When there is no such prism, the file breaks rules, or the database fails.
pub async fn save_version(
    database: &Database,
    account: AccountId,
    prism: &PrismSelector,
    file: &[u8],
) -> Result<(PrismRow, VersionNumber), PrismRefusal> {
    let id = find(database, account, prism).await?.id;
    for _ in 0..ATTEMPTS {
        let history = database
            .prism_history(id)
            .await?
            .ok_or(PrismRefusal::NotFound)?;
        let PrismHistory {
            prism,
            versions,
            lens,
        } = history;
        let keys = KeyHistory::of(&versions);
        let latest = versions
            .into_iter()
            .next_back()
            .ok_or(PrismRefusal::VersionNotFound)?;
        let number = prism
            .latest_version
            .next()
            .ok_or(PrismRefusal::NoMoreVersions)?;
        let earlier = EarlierVersions { latest, keys, lens };
        let PrismFile { name, version } = PrismFile::read(file, Some(&earlier))?;
        let lens = earlier.lens.clone().after_save(version.questions());
        let new = NewVersion {
            name: &name,
            version: &version,
            lens: (lens != earlier.lens).then_some(&lens),
            now: Utc::now(),
        };
        if database.save_version(&prism, new).await? == Writing::Saved {
            return Ok((prism, number));
        }
    }
    Err(PrismRefusal::Contended)
}

/// Saves a lens file as the prism's lens.
///
/// # Errors
/// When there is no such prism, the file breaks rules, or the database fails.
pub async fn set_lens(
    database: &Database,
    account: AccountId,
    prism: &PrismSelector,
    file: &[u8],
) -> Result<(), PrismRefusal> {
    change_lens(database, account, prism, |latest| {
        lens_file::read(file, latest).map(Some)
    })
    .await
}

/// Resets the prism's lens to the automatic one.
///
/// # Errors
/// When there is no such prism, or the database fails.
pub async fn reset_lens(
    database: &Database,
    account: AccountId,
    prism: &PrismSelector,
) -> Result<(), PrismRefusal> {
    change_lens(database, account, prism, |_| Ok(None)).await
}

async fn change_lens(
    database: &Database,
    account: AccountId,
    selector: &PrismSelector,
    columns_for: impl Fn(&PrismVersion) -> Result<Option<Vec<Column>>, Problems>,
) -> Result<(), PrismRefusal> {
    for _ in 0..ATTEMPTS {
        let prism = find(database, account, selector).await?;
        let latest = find_version(database, &prism, prism.latest_version).await?;
        let columns = columns_for(&latest)?;
        if database.save_lens(&prism, columns.as_deref()).await? == Writing::Saved {
            return Ok(());
        }
    }
    Err(PrismRefusal::Contended)
}

/// The lens of a prism.
///
/// # Errors
/// When there is no such prism, or the database fails.
pub async fn find_lens(
    database: &Database,
    account: AccountId,
    selector: &PrismSelector,
) -> Result<PrismLens, PrismRefusal> {
    let prism = find(database, account, selector).await?;
    Ok(PrismLens::load(database, prism).await?)
}

/// A prism by slug or id, archived or not.
///
/// # Errors
/// When there is no such prism in the account, or the database fails.
pub async fn find(
    database: &Database,
    account: AccountId,
    prism: &PrismSelector,
) -> Result<PrismRow, PrismRefusal> {
    database
        .find_prism(account, prism)
        .await?
        .ok_or(PrismRefusal::NotFound)
}

/// A version of a prism, by its number.
///
/// # Errors
/// When there is no such version, or the database fails.
pub async fn find_version(
    database: &Database,
    prism: &PrismRow,
    version: VersionNumber,
) -> Result<Arc<PrismVersion>, PrismRefusal> {
    let found = database.find_version(prism.id, version).await?;
    found.ok_or(PrismRefusal::VersionNotFound)
}

/// Renames a prism. Its slug stays.
///
/// # Errors
/// When there is no such prism, or the database fails.
pub async fn rename(
    database: &Database,
    account: AccountId,
    prism: &PrismSelector,
    name: &PrismName,
) -> Result<(), PrismRefusal> {
    let prism = find(database, account, prism).await?;
    Ok(database.rename_prism(prism.id, name).await?)
}

/// Archives a prism or makes it active again. Its results stay readable either way (spec 3.2).
///
/// # Errors
/// When there is no such prism, or the database fails.
pub async fn set_archived(
    database: &Database,
    account: AccountId,
    prism: &PrismSelector,
    archived: bool,
) -> Result<(), PrismRefusal> {
    let prism = find(database, account, prism).await?;
    let archived_at = archived.then(Utc::now);
    Ok(database.set_prism_archived(prism.id, archived_at).await?)
}
