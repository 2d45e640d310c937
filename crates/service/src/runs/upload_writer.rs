//! Uploads a file, piece by piece, under the name that it has.

use refract_boxed_futures::boxed;
use std::fmt;

use chrono::Utc;
use refract_domain::event::EventAction;
use refract_domain::ids::UploadId;
use refract_domain::problem::{ValidationError, text};
use refract_domain::result::whole_milliseconds;
use refract_identity::people::AccountActor;
use refract_persistence::{Database, NewUploadRow, PersistenceError};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::Runs;
use super::stored_bytes::{PIECE_BYTES, compress};
use super::uploads::upload_event;
use crate::InternalError;

/// Why a file was not uploaded. Nothing of it is kept for longer than a day.
#[derive(Debug, thiserror::Error)]
pub enum UploadError {
    /// The file is larger than the limit.
    #[error("the file is larger than {most_bytes} bytes: split it, or upload fewer columns")]
    TooLarge {
        /// The limit, in bytes.
        most_bytes: u64,
    },
    /// The file has no bytes.
    #[error("the file is empty")]
    Empty,
    /// The upload took longer than a day, so that what there was of it was deleted.
    #[error("the upload took too long: upload the file again")]
    Expired,
    /// The database failed.
    #[error(transparent)]
    Internal(#[from] InternalError),
}

/// A file that is being uploaded. The database has all of it but the last piece, which is at most
/// 256 KiB. An upload that is not finished is deleted after a day.
pub struct UploadWriter {
    database: Database,
    actor: AccountActor,
    id: UploadId,
    most_bytes: u64,
    bytes: u64,
    pieces: i32,
    hash: Sha256,
    piece: Vec<u8>,
}

#[boxed]
impl Runs<'_> {
    /// Begins the upload of a file of at most this many bytes.
    pub async fn begin_upload(
        self,
        actor: &AccountActor,
        name: FileName,
        most_bytes: u64,
    ) -> Result<UploadWriter, UploadError> {
        let database = self.refract.database.clone();
        let id = UploadId::new(Uuid::now_v7());
        let new = NewUploadRow {
            id,
            account: actor.account(),
            uploaded_by: actor.person_id(),
            file_name: name.as_str().to_owned(),
            uploaded_at: whole_milliseconds(Utc::now()),
        };
        database.begin_upload(new).await?;
        Ok(UploadWriter {
            database,
            actor: actor.clone(),
            id,
            most_bytes,
            bytes: 0,
            pieces: 0,
            hash: Sha256::new(),
            piece: Vec::new(),
        })
    }
}

#[boxed]
impl UploadWriter {
    /// The upload's id.
    pub fn id(&self) -> UploadId {
        self.id
    }

    /// The number of bytes that were written.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Appends bytes of the file.
    ///
    /// # Errors
    /// When the file is larger than the limit, the upload expired, or the database fails. Discard
    /// the upload then.
    pub async fn write(&mut self, mut bytes: &[u8]) -> Result<(), UploadError> {
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let in_all = self.bytes.saturating_add(length);
        if in_all > self.most_bytes {
            let most_bytes = self.most_bytes;
            return Err(UploadError::TooLarge { most_bytes });
        }
        self.bytes = in_all;
        self.hash.update(bytes);
        loop {
            let room = PIECE_BYTES.saturating_sub(self.piece.len());
            let Some((first, rest)) = bytes.split_at_checked(room) else {
                self.piece.extend_from_slice(bytes);
                return Ok(());
            };
            self.piece.extend_from_slice(first);
            self.save_piece().await?;
            bytes = rest;
        }
    }

    /// Saves the last piece, which makes the file whole, and returns the file's id.
    ///
    /// # Errors
    /// When the file is empty, the upload expired, or the database fails.
    pub async fn finish(mut self) -> Result<UploadId, UploadError> {
        if self.bytes == 0 {
            self.discard().await?;
            return Err(UploadError::Empty);
        }
        if !self.piece.is_empty() {
            self.save_piece().await?;
        }
        let hash = self.hash.finalize();
        let sha256 = base16ct::lower::encode_string(&hash);
        let event = upload_event(&self.actor, EventAction::FileUploaded, self.id);
        let completing =
            self.database
                .complete_upload(self.id, self.pieces, self.bytes, sha256, event);
        if completing.await? {
            Ok(self.id)
        } else {
            Err(UploadError::Expired)
        }
    }

    /// Deletes what was written.
    ///
    /// # Errors
    /// When the database fails. The upload is deleted after a day then.
    pub async fn discard(self) -> Result<(), UploadError> {
        Ok(self.database.delete_unfinished_upload(self.id).await?)
    }

    async fn save_piece(&mut self) -> Result<(), UploadError> {
        let piece = std::mem::take(&mut self.piece);
        // some milliseconds of work, which other calls of this thread need not wait for
        let compressing = tokio::task::spawn_blocking(move || compress(&piece));
        let compressed = compressing.await.map_err(std::io::Error::other);
        let content = compressed.flatten().map_err(|error| {
            PersistenceError::Failed(format!("a piece of a file was not compressed: {error}"))
        })?;
        let saving = self
            .database
            .save_upload_piece(self.id, self.pieces, content);
        saving.await?;
        self.pieces += 1;
        Ok(())
    }
}

impl From<PersistenceError> for UploadError {
    fn from(error: PersistenceError) -> Self {
        match error {
            PersistenceError::ReferenceGone(_) => Self::Expired,
            PersistenceError::Unavailable(_)
            | PersistenceError::Failed(_)
            | PersistenceError::ReadOnly(_)
            | PersistenceError::Refused(_)
            | PersistenceError::Unreadable { .. } => Self::Internal(error.into()),
        }
    }
}

/// The name of an uploaded file, without folders: 1 to 200 characters, none of them a control
/// character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileName(String);

impl FileName {
    /// The last component of a path as a browser sends it, with `/` or `\`, trimmed.
    ///
    /// # Errors
    /// The faults of the name's length and characters.
    pub fn parse(path: &str) -> Result<Self, Vec<ValidationError>> {
        let name = path.rsplit(['/', '\\']).next().unwrap_or_default().trim();
        let mut errors = text::errors(name, &(1..=200));
        if errors.is_empty() && name.chars().any(char::is_control) {
            errors.push(ValidationError::rule("must have no control characters"));
        }
        if errors.is_empty() {
            Ok(Self(name.to_owned()))
        } else {
            Err(errors)
        }
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_the_last_component_of_a_path() {
        for path in [
            "a b.csv",
            " a b.csv ",
            "/home/ada/a b.csv",
            "C:\\Temp\\a b.csv",
        ] {
            assert_eq!(FileName::parse(path).unwrap().as_str(), "a b.csv", "{path}");
        }
        let longest = "ä".repeat(200);
        assert_eq!(FileName::parse(&longest).unwrap().to_string(), longest);
    }

    #[test]
    fn an_empty_a_long_and_an_unprintable_name_are_refused() {
        for path in ["", " ", "folder/", "a\nb.csv", "a\0.csv", &"a".repeat(201)] {
            assert!(FileName::parse(path).is_err(), "{path:?}");
        }
    }
}
