//! The manifest of an exported account: what its files are and how they are checked.
//!
//! The lines of a file of an export.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Lines, Read as _};
use std::path::Path;

use chrono::{DateTime, Utc};
use refract_domain::event::EventDetail;
use refract_persistence::{ACCOUNT_TABLES, AccountTable};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

/// The format of exports that this version writes, and the newest that it reads.
pub const ACCOUNT_EXPORT_FORMAT: u32 = 1;

/// The manifest's file. It is written last: a folder without it is no whole export.
pub(super) const MANIFEST: &str = "manifest.json";

/// What `manifest.json` says about an exported account.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AccountManifest {
    /// [`ACCOUNT_EXPORT_FORMAT`] of the version that wrote it.
    pub format: u32,
    /// The version of Refract that wrote it.
    pub refract: String,
    /// The account.
    pub account: ManifestAccount,
    /// When the export began.
    pub exported_at: DateTime<Utc>,
    /// From when on the export has results and events; null for all.
    pub since: Option<DateTime<Utc>>,
    /// Whether the export has submitted texts and contexts.
    pub texts: bool,
    /// The files, in the order of an import.
    pub files: Vec<ManifestFile>,
}

/// The account of an export.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ManifestAccount {
    /// Its id.
    pub id: Uuid,
    /// Its name.
    pub name: String,
}

/// A file of an export: a line of JSON for each row of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestFile {
    /// The file's name, `TABLE.jsonl`.
    pub file: String,
    /// Number of lines.
    pub rows: u64,
    /// Number of bytes.
    pub bytes: u64,
    /// SHA-256 in hexadecimal digits.
    pub sha256: String,
}

/// Why a folder is no export that can be imported.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// The folder has no manifest.
    #[error("there is no {MANIFEST} in the folder: it is no export, or its export did not end")]
    Missing,
    /// A file cannot be read.
    #[error("cannot read {file}: {reason}")]
    Unreadable {
        /// The file's name.
        file: String,
        /// Why not.
        reason: String,
    },
    /// The manifest is no manifest.
    #[error("{MANIFEST} is not the manifest of an exported account")]
    NoManifest,
    /// A newer version wrote the export.
    #[error(
        "the export has format {0}, this version of refract reads up to {ACCOUNT_EXPORT_FORMAT}: \
         take a newer one"
    )]
    NewerFormat(u64),
    /// The manifest names a file that this version does not know.
    #[error("{MANIFEST} names {0:?}, which is no file of an export, or one of a newer refract")]
    UnknownFile(String),
    /// The export has only a part of the account.
    #[error("the export is a part of an account, made with {0}: only whole ones can be imported")]
    Partial(&'static str),
    /// A file is not as the manifest says.
    #[error("{0} was changed or cut after the export: its SHA-256 is another")]
    Changed(String),
}

impl AccountManifest {
    /// Reads the manifest of a folder, with a detail that names the export in events.
    pub(super) fn read(folder: &Path) -> Result<(Self, EventDetail), ManifestError> {
        let mut bytes = Vec::new();
        let reading = open_regular(&folder.join(MANIFEST));
        match reading.and_then(|mut file| file.read_to_end(&mut bytes)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(ManifestError::Missing);
            }
            Err(error) => return Err(unreadable(MANIFEST, &error)),
            Ok(_) => {}
        }
        let json: serde_json::Value =
            serde_json::from_slice(&bytes).map_err(|_| ManifestError::NoManifest)?;
        let format = json.get("format").and_then(serde_json::Value::as_u64);
        let format = format.ok_or(ManifestError::NoManifest)?;
        if format > ACCOUNT_EXPORT_FORMAT.into() {
            return Err(ManifestError::NewerFormat(format));
        }
        let manifest: Self = serde_json::from_value(json).map_err(|_| ManifestError::NoManifest)?;
        let export = EventDetail::account_export(&Sha256::digest(&bytes).into());
        Ok((manifest, export))
    }

    /// Refuses an export that cannot be imported, after reading every file once.
    pub(super) fn check(&self, folder: &Path) -> Result<(), ManifestError> {
        if self.since.is_some() {
            return Err(ManifestError::Partial("--since"));
        }
        if !self.texts {
            return Err(ManifestError::Partial("--without-texts"));
        }
        for listed in &self.files {
            if !ACCOUNT_TABLES
                .iter()
                .any(|table| file_of(table) == listed.file)
            {
                return Err(ManifestError::UnknownFile(listed.file.clone()));
            }
            let hash = hash_of(&folder.join(&listed.file));
            let hash = hash.map_err(|error| unreadable(&listed.file, &error))?;
            if hash != listed.sha256 {
                return Err(ManifestError::Changed(listed.file.clone()));
            }
        }
        Ok(())
    }

    /// The file of a table, if the export has one.
    pub(super) fn listed(&self, table: &AccountTable) -> Option<&ManifestFile> {
        let name = file_of(table);
        self.files.iter().find(|listed| listed.file == name)
    }
}

/// The name of a table's file.
pub(super) fn file_of(table: &AccountTable) -> String {
    format!("{}.jsonl", table.name())
}

/// The digits of a hash.
pub(super) fn digits(hash: Sha256) -> String {
    base16ct::lower::encode_string(&hash.finalize())
}

pub(super) fn unreadable(file: &str, error: &io::Error) -> ManifestError {
    ManifestError::Unreadable {
        file: file.to_owned(),
        reason: error.to_string(),
    }
}

/// Opens a file; a pipe or a device, which may never end, is refused.
fn open_regular(path: &Path) -> io::Result<File> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    File::open(path)
}

fn hash_of(file: &Path) -> io::Result<String> {
    let mut file = BufReader::with_capacity(PIECE, open_regular(file)?);
    let mut hash = Sha256::new();
    let mut piece = vec![0; PIECE];
    loop {
        let read = file.read(&mut piece)?;
        if read == 0 {
            return Ok(digits(hash));
        }
        hash.update(piece.get(..read).unwrap_or_default());
    }
}

/// Bytes that are read at once.
const PIECE: usize = 64 * 1024;

/// The lines of a file.
pub(super) struct OpenLines {
    name: String,
    lines: Lines<BufReader<File>>,
    line: u64,
}

impl OpenLines {
    /// Opens a file of a folder.
    pub(super) fn open(folder: &Path, name: String) -> Result<Self, ManifestError> {
        let file = open_regular(&folder.join(&name));
        let file = file.map_err(|error| unreadable(&name, &error))?;
        Ok(Self {
            name,
            lines: BufReader::new(file).lines(),
            line: 0,
        })
    }

    /// The next line; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<String>, ManifestError> {
        self.line += 1;
        let line = self.lines.next().transpose();
        line.map_err(|error| unreadable(&self.name, &error))
    }

    /// The file's name and the number of the last line.
    pub(super) fn place(&self) -> (String, u64) {
        (self.name.clone(), self.line)
    }
}
