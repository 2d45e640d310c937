//! `refract backup`: copies the SQLite file while it is in use.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use clap::Args;
use refract_service::store::{self, BackupError, DatabaseUrl};
use serde::Serialize;

use super::context;
use crate::settings::DatabaseArgs;
use crate::terminal::counted;
use crate::{output, streams};

/// The arguments of `refract backup`.
#[derive(Args)]
pub struct BackupCommand {
    /// A file that does not exist yet, which appears when the copy is complete; `-` is stdout
    file: PathBuf,
}

/// The JSON output of `refract backup`.
#[derive(Serialize)]
struct BackupReport {
    file: String,
    bytes: u64,
}

impl BackupCommand {
    /// Runs `refract backup`, without migrating: a backup precedes an upgrade.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<()> {
        let url = database.settings().url;
        if self.file == Path::new("-") {
            return to_stdout(&url).await;
        }
        let bytes = back_up(&url, &self.file).await?;
        output::json(&BackupReport {
            file: self.file.display().to_string(),
            bytes,
        })
    }
}

/// Creates the copy, and returns its size in bytes.
async fn back_up(url: &DatabaseUrl, file: &Path) -> anyhow::Result<u64> {
    match store::back_up(url, file).await {
        Err(BackupError::Source(error)) => Err(context::not_opened(error)),
        made => Ok(made?),
    }
}

/// Writes the copy to stdout through a temporary folder that only its owner can open.
async fn to_stdout(url: &DatabaseUrl) -> anyhow::Result<()> {
    ensure!(
        !streams::stdout_is_terminal(),
        "refusing to write a database to a terminal: write it to a file or a pipe"
    );
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    let copy = folder.path().join("backup.db");
    back_up(url, &copy).await?;
    let mut copy = File::open(&copy).context("cannot read the copy")?;
    let bytes = io::copy(&mut copy, &mut streams::stdout()).context(output::NOT_WRITTEN)?;
    output::say(&format!("{} written to stdout.", counted(bytes, "byte")));
    Ok(())
}
