//! `refract import-account`: an exported account, taken into an empty one.

use std::path::PathBuf;

use clap::Args;
use refract_domain::prism::DisplayName;
use refract_service::store::ImportedAccount;
use serde::Serialize;

use super::context;
use crate::output;
use crate::settings::DatabaseArgs;
use crate::terminal::Progress;

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

/// The JSON output of `refract import-account`.
#[derive(Serialize)]
struct ShownImport {
    id: String,
    account: String,
    outcome: &'static str,
    rows: u64,
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
        output::json(&ShownImport {
            id: imported.account.id.to_string(),
            account: imported.account.name,
            outcome: if imported.was_there {
                "unchanged"
            } else {
                "imported"
            },
            rows: imported.rows,
        })
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
