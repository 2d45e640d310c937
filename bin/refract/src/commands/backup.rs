//! `refract backup`: copies the SQLite file while it is in use.

use std::path::PathBuf;

use clap::Args;
use refract_persistence::BackupError;
use serde::Serialize;

use super::operator;
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
        let url = database.settings().url;
        let bytes = match refract_persistence::back_up(&url, &self.file).await {
            Err(BackupError::Source(error)) => return Err(operator::not_opened(error)),
            made => made?,
        };
        output::json(&BackupReport {
            file: self.file.display().to_string(),
            bytes,
        })
    }
}
