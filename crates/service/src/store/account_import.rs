//! Import of an exported account into an empty one, of either database.

use std::collections::BTreeSet;
use std::path::Path;

use chrono::Utc;
use refract_domain::answer::Answers;
use refract_domain::event::{Actor, Event, EventAction, EventDetail, EventTarget};
use refract_domain::ids::AccountId;
use refract_domain::lens::Column;
use refract_domain::prism::{ExpectedOutcomes, PrismVersion};
use refract_identity::events::event_stamp;
use refract_identity::people::Account;
use refract_persistence::{
    ACCOUNT_TABLES, AccountImportState, AccountTable, FileRow, ImportContext, ImportRows,
    ImportRowsOutcome, ImportedRow, PersistenceError, RowError,
};
use uuid::Uuid;

use super::Store;
use super::account_manifest::{AccountManifest, ManifestError, OpenLines, file_of};
use crate::Refract;

/// Bytes of lines that are saved in one transaction, unless one line is longer.
const BATCH_BYTES: usize = 1024 * 1024;
/// Rows that are saved in one transaction.
const BATCH_ROWS: usize = 1_000;
/// Addresses that are looked up at once.
const EMAILS_AT_ONCE: usize = 1_000;
/// The tables after the account that are saved in one transaction: a node that saw a prism without
/// its watermarks would count its results from the beginning.
const FIRST_TABLES: [&str; 3] = ["prisms", "counted_results", "watched_results"];

/// An account that has an export.
#[derive(Clone, Debug)]
pub struct ImportedAccount {
    /// The account.
    pub account: Account,
    /// Whether the account had the export before, so that nothing was done.
    pub was_there: bool,
    /// Whether an earlier import had begun.
    pub was_begun: bool,
    /// Number of lines of all files.
    pub rows: u64,
    /// Number of people who are imported as removed, because their address signs in to another
    /// account of the database.
    pub people_removed: u64,
}

/// Why an export was not imported, or not wholly.
#[derive(Debug, thiserror::Error)]
pub enum AccountImportError {
    /// The folder has no export that can be imported.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The account has rows of its own.
    #[error(
        "the account '{account}' is not empty, it has {table}: name a new one with --account NAME"
    )]
    Occupied {
        /// The account's name.
        account: String,
        /// A table in which it has rows.
        table: &'static str,
    },
    /// The database has the exported account under another name.
    #[error(
        "this database has the exported account, as '{0}': its ids are in use, import it into \
         another database"
    )]
    SameAccount(String),
    /// Rows of another account have the ids of the export.
    #[error(
        "another account of this database has {0} with ids of the export: import it into another \
         database"
    )]
    IdsTaken(&'static str),
    /// A line is no row of its table.
    #[error("{file}, line {line}: {error}")]
    Row {
        /// The file's name.
        file: String,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        error: RowError,
    },
    /// The database failed.
    #[error(transparent)]
    Persistence(#[from] PersistenceError),
}

impl Store<'_> {
    /// Imports the export in a folder into an account, which is made if it is missing; without a name
    /// into one of the exported name. Every file is checked first. An import that was interrupted
    /// goes on when it is repeated, and one that ended changes nothing then. `progress` gets the
    /// number of rows after each transaction.
    ///
    /// Bounded in memory: a mebibyte of lines, and the prisms.
    ///
    /// # Errors
    /// When the export is damaged, partial or newer, the account is not empty, ids are in use, or the
    /// database fails.
    pub async fn import_account(
        self,
        folder: &Path,
        name: Option<&str>,
        progress: impl FnMut(u64),
    ) -> Result<ImportedAccount, AccountImportError> {
        let (manifest, export) = AccountManifest::read(folder)?;
        let name = name.unwrap_or(&manifest.account.name);
        let account = self.target(&manifest, name).await?;
        let database = &self.refract.database;
        let state = database.find_account_import(account.id, &export).await?;
        let rows = manifest.files.iter().map(|listed| listed.rows).sum();
        let mut imported = ImportedAccount {
            account,
            was_there: state == AccountImportState::Done,
            was_begun: state == AccountImportState::Begun,
            rows,
            people_removed: 0,
        };
        if let AccountImportState::Occupied(table) = state {
            let account = imported.account.name;
            return Err(AccountImportError::Occupied { account, table });
        }
        if imported.was_there {
            return Ok(imported);
        }
        manifest.check(folder)?;
        let mut import = AccountImport {
            refract: self.refract,
            folder,
            manifest: &manifest,
            context: ImportContext {
                account: imported.account.id,
                account_name: imported.account.name.clone(),
                exported: manifest.account.id,
                now: Utc::now(),
                taken_emails: BTreeSet::new(),
            },
            progress,
            rows: 0,
            people_removed: 0,
            late_retries: Vec::new(),
        };
        import.context.taken_emails = import.taken_emails().await?;
        import.run(&export, imported.was_begun).await?;
        imported.people_removed = import.people_removed;
        Ok(imported)
    }

    /// The account of the name; a new one has the id of the exported account.
    async fn target(
        self,
        manifest: &AccountManifest,
        name: &str,
    ) -> Result<Account, AccountImportError> {
        let exported = AccountId::new(manifest.account.id);
        let accounts = self.refract.database.list_accounts().await?;
        let mut others = accounts.iter().filter(|found| found.name != name);
        if let Some(other) = others.find(|found| found.id == exported) {
            return Err(AccountImportError::SameAccount(other.name.clone()));
        }
        let found = accounts.into_iter().find(|found| found.name == name);
        Ok(found.map_or_else(
            || Account {
                id: exported,
                name: name.to_owned(),
            },
            Account::from,
        ))
    }
}

/// An import under way.
struct AccountImport<'a, P> {
    refract: &'a Refract,
    folder: &'a Path,
    manifest: &'a AccountManifest,
    context: ImportContext,
    progress: P,
    rows: u64,
    people_removed: u64,
    /// Retries whose ids are lower than those of their originals: two nodes had different clocks.
    late_retries: Vec<(Uuid, Uuid)>,
}

impl<P: FnMut(u64)> AccountImport<'_, P> {
    async fn run(
        &mut self,
        export: &EventDetail,
        is_begun: bool,
    ) -> Result<(), AccountImportError> {
        let own = ACCOUNT_TABLES
            .iter()
            .filter(|table| table.name() == "accounts");
        let start = self.event(EventAction::AccountImportStarted, export);
        if !is_begun {
            let rows = self.whole_files(own)?;
            self.save(rows, Some(start)).await?;
        }
        let is_first = |table: &&AccountTable| FIRST_TABLES.contains(&table.name());
        let first = self.whole_files(ACCOUNT_TABLES.iter().filter(is_first))?;
        self.save(first, None).await?;
        let others = ACCOUNT_TABLES.iter();
        let others = others.filter(|table| !is_first(table) && table.name() != "accounts");
        for table in others {
            let Some(mut file) = self.open(table)? else {
                continue;
            };
            loop {
                let batch = self.next_batch(table, &mut file, BATCH_BYTES)?;
                let Some(batch) = batch else { break };
                self.save(vec![batch], None).await?;
            }
        }
        let database = &self.refract.database;
        let pairs = std::mem::take(&mut self.late_retries);
        if !pairs.is_empty() {
            database.import_retries(pairs).await?;
        }
        let end = self.event(EventAction::AccountImported, export);
        database.save_event(end).await?;
        Ok(())
    }

    fn event(&self, action: EventAction, export: &EventDetail) -> Event {
        let account = self.context.account;
        let stamp = event_stamp(account, Actor::Operator, None).noted(export.clone());
        stamp.event(action, EventTarget::Account(account))
    }

    async fn save(
        &mut self,
        batches: Vec<ImportRows>,
        event: Option<Event>,
    ) -> Result<(), AccountImportError> {
        let saving = self
            .refract
            .database
            .import_rows(self.context.account, batches, event);
        match saving.await? {
            ImportRowsOutcome::Saved => {
                (self.progress)(self.rows);
                Ok(())
            }
            ImportRowsOutcome::ElsewhereOwned(table) => Err(AccountImportError::IdsTaken(table)),
        }
    }

    /// All rows of small files, to save in one transaction.
    fn whole_files(
        &mut self,
        tables: impl Iterator<Item = &'static AccountTable>,
    ) -> Result<Vec<ImportRows>, AccountImportError> {
        let mut batches = Vec::new();
        for table in tables {
            if let Some(mut file) = self.open(table)? {
                batches.extend(self.next_batch(table, &mut file, usize::MAX)?);
            }
        }
        Ok(batches)
    }

    /// The next rows of a file; `None` at its end.
    fn next_batch(
        &mut self,
        table: &'static AccountTable,
        file: &mut OpenLines,
        most_bytes: usize,
    ) -> Result<Option<ImportRows>, AccountImportError> {
        let mut rows: Vec<ImportedRow> = Vec::new();
        let mut bytes = 0;
        while bytes < most_bytes && (rows.len() < BATCH_ROWS || most_bytes == usize::MAX) {
            let Some(line) = file.next()? else { break };
            bytes += line.len();
            let row = FileRow::parse(table, &line)
                .and_then(|row| {
                    check_readable(table, &row)?;
                    row.imported(table, &self.context)
                })
                .map_err(|error| refused(file, error))?;
            self.rows += 1;
            self.late_retries.extend(row.late_retry);
            self.people_removed += u64::from(row.is_taken);
            rows.push(row);
        }
        let is_some = !rows.is_empty();
        Ok(is_some.then(|| ImportRows::new(table, rows)))
    }

    /// The addresses of the export by which people sign in to other accounts.
    async fn taken_emails(&self) -> Result<BTreeSet<String>, AccountImportError> {
        let mut taken = BTreeSet::new();
        let people = ACCOUNT_TABLES.iter().find(|table| table.name() == "people");
        let Some(table) = people else {
            return Ok(taken);
        };
        let Some(mut file) = self.open(table)? else {
            return Ok(taken);
        };
        loop {
            let mut emails = Vec::new();
            while let Some(line) = file.next()? {
                let row = FileRow::parse(table, &line).map_err(|error| refused(&file, error))?;
                emails.extend(row.text("email"));
                if emails.len() == EMAILS_AT_ONCE {
                    break;
                }
            }
            if emails.is_empty() {
                return Ok(taken);
            }
            let account = self.context.account;
            let looking = self.refract.database.list_taken_emails(account, emails);
            taken.extend(looking.await?);
        }
    }

    /// Opens the file of a table; `None` if the export is of a version without that table.
    fn open(&self, table: &AccountTable) -> Result<Option<OpenLines>, AccountImportError> {
        if self.manifest.listed(table).is_none() {
            return Ok(None);
        }
        Ok(Some(OpenLines::open(self.folder, file_of(table))?))
    }
}

/// Refuses a row whose prism, lens or answers no page could show.
fn check_readable(table: &AccountTable, row: &FileRow<'_>) -> Result<(), RowError> {
    match table.name() {
        "prism_versions" => {
            let version = row.read::<PrismVersion>("definition")?;
            let is_usable = |version: PrismVersion| !version.questions().is_empty();
            if !version.is_some_and(is_usable) {
                return Err(RowError::Value("definition"));
            }
        }
        "prisms" | "lens_revisions" => drop(row.read::<Vec<Column>>("lens")?),
        "prism_examples" => drop(row.read::<ExpectedOutcomes>("expected")?),
        "results" => drop(row.read::<Answers>("answers")?),
        _ => {}
    }
    Ok(())
}

fn refused(file: &OpenLines, error: RowError) -> AccountImportError {
    let (file, line) = file.place();
    AccountImportError::Row { file, line, error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_page_could_show_is_refused() {
        for (name, column, line) in [
            ("prism_versions", "definition", r#"{"definition": {}}"#),
            ("prism_versions", "definition", r#"{"definition": null}"#),
            ("prism_versions", "definition", r#"{"version": 1}"#),
            (
                "prism_versions",
                "definition",
                r#"{"definition": {"fields": [], "questions": []}}"#,
            ),
            ("prisms", "lens", r#"{"lens": [{"name": "a"}]}"#),
            ("lens_revisions", "lens", r#"{"lens": {}}"#),
            ("prism_examples", "expected", r#"{"expected": [1]}"#),
            ("results", "answers", r#"{"answers": {"topic": "sports"}}"#),
        ] {
            let table = ACCOUNT_TABLES.iter().find(|table| table.name() == name);
            let table = table.unwrap();
            let row = FileRow::parse(table, line).unwrap();
            let refused = check_readable(table, &row);
            assert_eq!(refused, Err(RowError::Value(column)), "{name}: {line}");
        }
    }

    #[test]
    fn a_failed_result_and_an_automatic_lens_have_nothing_to_read() {
        for (name, line) in [
            ("results", r#"{"answers": null}"#),
            ("prisms", r#"{"lens": null}"#),
        ] {
            let table = ACCOUNT_TABLES.iter().find(|table| table.name() == name);
            let table = table.unwrap();
            let row = FileRow::parse(table, line).unwrap();
            assert_eq!(check_readable(table, &row), Ok(()), "{name}");
        }
    }
}
