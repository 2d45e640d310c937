//! `refract export-account` and `refract import-account`: everything that an account has, as files,
//! taken into an empty account.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use chrono::{DateTime, Utc};
use clap::Args;
use refract_domain::prism::DisplayName;
use refract_identity::people::AccountActor;
use refract_service::Refract;
use refract_service::store::{AccountExportOptions, AccountManifest, ImportedAccount};

use super::context::{self, AccountArg};
use super::selection;
use crate::output::{self, value};
use crate::settings::DatabaseArgs;
use crate::streams;
use crate::terminal::{Progress, counted};

/// The folder of the files in a tar archive.
const ARCHIVED: &str = "account";

/// The arguments of `refract export-account`.
#[derive(Args)]
pub struct ExportAccountCommand {
    /// A new or empty folder, which only you can read afterwards; `-` writes a tar archive to stdout
    folder: PathBuf,

    /// Only results and events from this time on: a date such as 2026-05-04, which begins at midnight
    /// UTC, or a time such as 2026-05-04T09:00:00Z. Such an export cannot be imported
    #[arg(long, value_name = "TIME", value_parser = selection::moment)]
    since: Option<DateTime<Utc>>,

    /// Without submitted texts and contexts. Such an export cannot be imported
    #[arg(long)]
    without_texts: bool,

    #[command(flatten)]
    account: AccountArg,
}

impl ExportAccountCommand {
    /// Runs `refract export-account`, and prints the manifest.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<()> {
        let is_archive = self.folder == Path::new("-");
        ensure!(
            !is_archive || !streams::stdout_is_terminal(),
            "refusing to write an archive to a terminal: write it to a file or a pipe"
        );
        let (refract, account) = self.account.open(database).await?;
        let actor = AccountActor::operator(account);
        if !is_archive {
            let manifest = self.export(&refract, &actor, &self.folder).await?;
            return output::json(&manifest);
        }
        let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
        let manifest = self.export(&refract, &actor, folder.path()).await?;
        write_archive(folder.path(), &manifest)?;
        let rows = manifest.files.iter().map(|listed| listed.rows).sum();
        output::say(&format!("{} written to stdout.", counted(rows, "row")));
        Ok(())
    }

    async fn export(
        &self,
        refract: &Refract,
        actor: &AccountActor,
        folder: &Path,
    ) -> anyhow::Result<AccountManifest> {
        let options = AccountExportOptions {
            since: self.since,
            without_texts: self.without_texts,
        };
        let progress = Progress::begin("rows", None);
        let show = |rows| progress.show(rows, "");
        let (store, name) = (refract.store(), self.account.name());
        let exported = store.export_account(actor, name, options, folder, show);
        let exported = exported.await;
        progress.end();
        Ok(exported?)
    }
}

/// Writes the files as a tar archive to stdout, the manifest first.
fn write_archive(folder: &Path, manifest: &AccountManifest) -> anyhow::Result<()> {
    let mut archive = tar::Builder::new(streams::stdout());
    let files = manifest.files.iter().map(|listed| listed.file.as_str());
    for file in ["manifest.json"].into_iter().chain(files) {
        let name = Path::new(ARCHIVED).join(file);
        let appended = archive.append_path_with_name(folder.join(file), name);
        appended.context(output::NOT_WRITTEN)?;
    }
    archive.finish().context(output::NOT_WRITTEN)
}

/// The arguments of `refract import-account`.
#[derive(Args)]
pub struct ImportAccountCommand {
    /// The folder of an export
    folder: PathBuf,

    /// The account to fill, which must be empty and is made when it is missing [default: the name of
    /// the exported account]
    #[arg(long, value_name = "NAME")]
    account: Option<String>,
}

impl ImportAccountCommand {
    /// Runs `refract import-account`.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<()> {
        let name = self.account.as_deref();
        let name = name.map(|name| context::name("--account", name));
        let name = name.transpose()?;
        let refract = context::open_or_create(&database.settings()).await?;
        let progress = Progress::begin("rows", None);
        let show = |rows| progress.show(rows, "");
        let name = name.as_ref().map(DisplayName::as_str);
        let imported = refract
            .store()
            .import_account(&self.folder, name, show)
            .await;
        progress.end();
        let imported = imported?;
        say_what_differs(&imported);
        let outcome = if imported.was_there {
            "unchanged"
        } else {
            "imported"
        };
        output::object(&[
            ("id", value(&imported.account.id.to_string())),
            ("account", value(&imported.account.name)),
            ("outcome", value(&outcome)),
            ("rows", value(&imported.rows)),
        ])
    }
}

/// Says what an import cannot keep.
fn say_what_differs(imported: &ImportedAccount) {
    if imported.was_there {
        output::say("The account has this export already: nothing was done.");
        return;
    }
    if imported.was_begun {
        output::say("The import that had begun went on.");
    }
    if imported.people_removed > 0 {
        output::say(&format!(
            "Imported as removed, because their addresses sign in to other accounts: {} people.",
            imported.people_removed
        ));
    }
    output::say(
        "Not kept: people's names, passwords and sign-ins (invite them again), API keys (all are \
         revoked: make new ones), and uploaded files. File runs and retests that had not ended are \
         ended.",
    );
}
