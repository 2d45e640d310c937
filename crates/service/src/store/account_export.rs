//! Export of an account: a folder with a file of JSON lines for each table, and a manifest.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use refract_domain::event::{EventAction, EventDetail, EventTarget};
use refract_domain::result::whole_milliseconds;
use refract_identity::people::AccountActor;
use refract_persistence::{
    ACCOUNT_TABLES, AccountRows, AccountSelection, AccountTable, PersistenceError,
};
use sha2::{Digest as _, Sha256};
use tokio::sync::mpsc;

use super::Store;
use super::account_manifest::{
    ACCOUNT_EXPORT_FORMAT, AccountManifest, MANIFEST, ManifestAccount, ManifestFile, digits,
    file_of,
};

/// Pages of rows that wait to be written.
const PAGES_WAITING: usize = 2;

/// Which rows of an account are exported.
#[derive(Clone, Copy, Debug, Default)]
pub struct AccountExportOptions {
    /// Only results and events from this moment on.
    pub since: Option<DateTime<Utc>>,
    /// Without submitted texts and contexts.
    pub without_texts: bool,
}

/// Why an account was not exported.
#[derive(Debug, thiserror::Error)]
pub enum AccountExportError {
    /// The folder has a whole export, or other files.
    #[error("{} is there already: name a new or empty folder", .0.display())]
    Occupied(PathBuf),
    /// A file cannot be written.
    #[error("cannot write {}: {reason}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: io::Error,
    },
    /// The database failed.
    #[error(transparent)]
    Persistence(#[from] PersistenceError),
}

impl Store<'_> {
    /// Writes everything that the actor's account has into a folder that only its owner can read, and
    /// returns the manifest, which is written last. All files are of one snapshot of the database. An
    /// event is saved before the first byte. What an export that did not end left in the folder is
    /// overwritten. `progress` gets the number of rows after each page.
    ///
    /// # Errors
    /// When the folder has other files, or the disk or the database fails.
    pub async fn export_account(
        self,
        actor: &AccountActor,
        name: &str,
        options: AccountExportOptions,
        folder: &Path,
        mut progress: impl FnMut(u64),
    ) -> Result<AccountManifest, AccountExportError> {
        make_folder(folder)?;
        let database = &self.refract.database;
        let exported_at = whole_milliseconds(Utc::now());
        let event = actor.event_stamp().noted(described(options));
        let target = EventTarget::Account(actor.account());
        database
            .save_event(event.event(EventAction::AccountExported, target))
            .await?;

        let (sender, mut pages) = mpsc::channel(PAGES_WAITING);
        let selection = AccountSelection {
            account: actor.account(),
            since: options.since,
            without_texts: options.without_texts,
        };
        let reading = database.read_account(selection, sender);
        let writing = async {
            let mut files = AccountFiles::begin(folder)?;
            let mut rows = 0;
            while let Some(page) = pages.recv().await {
                files.write(&page)?;
                rows += page.rows;
                progress(rows);
            }
            // the receiver ends here, and with it the reading after an error
            drop(pages);
            files.end()
        };
        let (read, written) = tokio::join!(reading, writing);
        let files = written?;
        read?;
        let manifest = AccountManifest {
            format: ACCOUNT_EXPORT_FORMAT,
            refract: env!("CARGO_PKG_VERSION").to_owned(),
            account: ManifestAccount {
                id: actor.account().uuid(),
                name: name.to_owned(),
            },
            exported_at,
            since: options.since,
            texts: !options.without_texts,
            files,
        };
        write_manifest(folder, &manifest)?;
        Ok(manifest)
    }
}

fn described(options: AccountExportOptions) -> EventDetail {
    let mut parts: Vec<EventDetail> = vec!["everything".into()];
    parts.extend(options.since.map(|since| EventDetail::at("since", since)));
    parts.extend(options.without_texts.then(|| "without texts".into()));
    EventDetail::list(&parts)
}

/// Makes the folder, or checks that it has nothing but an export that did not end.
fn make_folder(folder: &Path) -> Result<(), AccountExportError> {
    let failed = |reason| failed(folder, reason);
    match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let mut builder = fs::DirBuilder::new();
            builder.recursive(true).mode(0o700);
            builder.create(folder).map_err(failed)
        }
        Err(error) => Err(failed(error)),
        Ok(entries) => {
            for entry in entries {
                let name = entry.map_err(failed)?.file_name();
                let is_ours = |table: &AccountTable| name == *file_of(table);
                if !ACCOUNT_TABLES.iter().any(is_ours) && name != *DRAFT {
                    return Err(AccountExportError::Occupied(folder.join(name)));
                }
            }
            Ok(())
        }
    }
}

/// The manifest while it is written.
const DRAFT: &str = "manifest.json.part";

/// The files of an export while they are written, one after the other.
struct AccountFiles<'a> {
    folder: &'a Path,
    tables: std::slice::Iter<'static, AccountTable>,
    open: Option<OpenFile>,
    written: Vec<ManifestFile>,
}

struct OpenFile {
    table: &'static str,
    name: String,
    path: PathBuf,
    out: BufWriter<File>,
    hash: Sha256,
    rows: u64,
    bytes: u64,
}

impl<'a> AccountFiles<'a> {
    fn begin(folder: &'a Path) -> Result<Self, AccountExportError> {
        let mut files = Self {
            folder,
            tables: ACCOUNT_TABLES.iter(),
            open: None,
            written: Vec::new(),
        };
        files.open_next()?;
        Ok(files)
    }

    fn write(&mut self, page: &AccountRows) -> Result<(), AccountExportError> {
        while let Some(open) = &mut self.open {
            if open.table == page.table.name() {
                return open.write(page);
            }
            self.open_next()?;
        }
        Ok(())
    }

    /// Ends the open file and opens that of the next table, which may stay empty.
    fn open_next(&mut self) -> Result<(), AccountExportError> {
        if let Some(open) = self.open.take() {
            self.written.push(open.end()?);
        }
        if let Some(table) = self.tables.next() {
            self.open = Some(OpenFile::create(self.folder, table)?);
        }
        Ok(())
    }

    fn end(mut self) -> Result<Vec<ManifestFile>, AccountExportError> {
        while self.open.is_some() {
            self.open_next()?;
        }
        Ok(self.written)
    }
}

impl OpenFile {
    fn create(folder: &Path, table: &AccountTable) -> Result<Self, AccountExportError> {
        let name = file_of(table);
        let path = folder.join(&name);
        let file = create(&path)?;
        Ok(Self {
            table: table.name(),
            name,
            path,
            out: BufWriter::new(file),
            hash: Sha256::new(),
            rows: 0,
            bytes: 0,
        })
    }

    fn write(&mut self, page: &AccountRows) -> Result<(), AccountExportError> {
        self.hash.update(&page.lines);
        self.rows += page.rows;
        self.bytes += u64::try_from(page.lines.len()).unwrap_or(u64::MAX);
        let written = self.out.write_all(&page.lines);
        written.map_err(|reason| failed(&self.path, reason))
    }

    fn end(mut self) -> Result<ManifestFile, AccountExportError> {
        let ended = self
            .out
            .flush()
            .and_then(|()| self.out.get_ref().sync_all());
        ended.map_err(|reason| failed(&self.path, reason))?;
        Ok(ManifestFile {
            file: self.name,
            rows: self.rows,
            bytes: self.bytes,
            sha256: digits(self.hash),
        })
    }
}

fn write_manifest(folder: &Path, manifest: &AccountManifest) -> Result<(), AccountExportError> {
    let path = folder.join(MANIFEST);
    let draft = folder.join(DRAFT);
    let write = |file: File| {
        let mut out = BufWriter::new(file);
        serde_json::to_writer_pretty(&mut out, manifest)?;
        out.write_all(b"\n")?;
        out.flush()?;
        out.get_ref().sync_all()?;
        fs::rename(&draft, &path)?;
        File::open(folder)?.sync_all()
    };
    write(create(&draft)?).map_err(|reason| failed(&path, reason))
}

/// Creates a file that only its owner can read.
fn create(path: &Path) -> Result<File, AccountExportError> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    options.open(path).map_err(|reason| failed(path, reason))
}

fn failed(path: &Path, reason: io::Error) -> AccountExportError {
    AccountExportError::Write {
        path: path.to_owned(),
        reason,
    }
}
