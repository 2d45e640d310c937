//! A copy of an SQLite file, made while other processes write to it.
//!
//! The copy is a consistent snapshot: it has everything that was acknowledged before it began.

use std::fs::File;
use std::path::{Path, PathBuf};

use diesel::sql_types::Text;
use diesel::{RunQueryDsl as _, sql_query};

use crate::connections::address::Address;
use crate::connections::{DatabaseUrl, sqlite};
use crate::error::{BackupError, ConnectError, PersistenceError};

/// Copies the SQLite file of `url` into a new file that only its owner can read, and returns the
/// size of the copy in bytes. The schema stays as it is.
///
/// The copy is written to a temporary file in the target's folder, flushed to the disk and then
/// renamed.
///
/// # Errors
/// `url` names no existing SQLite file, `to` exists already, or the disk fails.
pub async fn back_up(url: &DatabaseUrl, to: &Path) -> Result<u64, BackupError> {
    let Address::Sqlite(from) = Address::parse(&url.read()?)? else {
        return Err(BackupError::NoFile);
    };
    let to = to.to_owned();
    let copying = tokio::task::spawn_blocking(move || copy(&from, &to));
    copying.await.unwrap_or(Err(BackupError::ShuttingDown))
}

fn copy(from: &Path, to: &Path) -> Result<u64, BackupError> {
    if !from.exists() {
        let path = from.to_owned();
        return Err(BackupError::Source(ConnectError::NoFile { path }));
    }
    if to.symlink_metadata().is_ok() {
        return Err(BackupError::Exists(to.to_owned()));
    }
    let failed = |error: std::io::Error| BackupError::Place {
        path: to.to_owned(),
        reason: error.to_string(),
    };
    let folder = match to.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    if !folder.exists() {
        return Err(BackupError::Place {
            path: to.to_owned(),
            reason: format!("there is no folder {}", folder.display()),
        });
    }
    // an empty file, readable by its owner only, which SQLite fills
    let draft = tempfile::Builder::new()
        .prefix(".refract-backup-")
        .tempfile_in(folder)
        .map_err(failed)?;
    fill(from, draft.path())?;
    draft.as_file().sync_all().map_err(failed)?;
    let copy = draft.persist_noclobber(to).map_err(|error| {
        if error.error.kind() == std::io::ErrorKind::AlreadyExists {
            BackupError::Exists(to.to_owned())
        } else {
            failed(error.error)
        }
    })?;
    // flush the folder too, so that the new name survives a crash
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(failed)?;
    Ok(copy.metadata().map_err(failed)?.len())
}

fn fill(from: &Path, draft: &Path) -> Result<(), BackupError> {
    let mut connection = sqlite::open_copier(from).map_err(|error| {
        BackupError::Source(ConnectError::File {
            path: from.display().to_string(),
            reason: error.to_string(),
        })
    })?;
    let draft: PathBuf = std::path::absolute(draft).unwrap_or_else(|_| draft.to_owned());
    let path = draft.to_string_lossy().into_owned();
    sql_query("VACUUM INTO ?")
        .bind::<Text, _>(path)
        .execute(&mut connection)
        .map_err(PersistenceError::from)?;
    Ok(())
}
