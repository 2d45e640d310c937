//! `refract backup`: copies the SQLite file while it is in use.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use crate::output;
use crate::settings::DatabaseArgs;

/// The arguments of `refract backup`.
#[derive(Args)]
pub(crate) struct BackupCommand {
    /// A file that does not exist yet; it appears when the copy is complete
    file: PathBuf,
}

/// What `refract backup` prints.
#[derive(Serialize)]
struct BackupReport {
    file: String,
    bytes: u64,
}

impl BackupCommand {
    /// Runs `refract backup`. Migrations are not run: a backup is made before an upgrade.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<()> {
        let bytes = refract_persistence::back_up(&database.settings().url, &self.file).await?;
        output::json(&BackupReport {
            file: self.file.display().to_string(),
            bytes,
        })
    }
}
