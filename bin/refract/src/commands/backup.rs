//! `refract backup`: copies the SQLite file while it is in use.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use crate::output;
use crate::settings::DatabaseArgs;

/// Where the copy goes.
#[derive(Args)]
pub(crate) struct BackupCommand {
    /// A file that is not there yet; the copy appears in its place when it is whole
    file: PathBuf,
}

#[derive(Serialize)]
struct Backup {
    file: String,
    bytes: u64,
}

impl BackupCommand {
    /// Carries it out. The database is not brought up to date: a backup is what an upgrade begins
    /// with.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<()> {
        let bytes = refract_persistence::back_up(&database.settings().url, &self.file).await?;
        output::json(&Backup {
            file: self.file.display().to_string(),
            bytes,
        })
    }
}
