//! Uploaded files: found, and deleted by people or by age.

use chrono::{DateTime, TimeDelta, Utc};
use refract_boxed_futures::boxed;
use refract_domain::event::{Event, EventAction, EventDetail, EventTarget};
use refract_domain::ids::{AccountId, PersonId, UploadId};
use refract_domain::result::FileRunState;
use refract_identity::people::AccountActor;
use refract_persistence::{OldUploads, UploadDeletion, UploadRow};
use uuid::Uuid;

use super::Runs;
use crate::InternalError;

/// How long an upload may take; one that is not whole by then is deleted.
const UNFINISHED: TimeDelta = TimeDelta::days(1);
/// Number of old uploads that are looked up at once.
const PAGE: u32 = 100;

/// The states of a run in which nobody may delete its file.
const KEEP_FILE: [FileRunState; 4] = [
    FileRunState::Checking,
    FileRunState::Previewing,
    FileRunState::Running,
    FileRunState::Paused,
];
/// The states of a run in which its file is kept however old it is.
const WORKED_ON: [FileRunState; 3] = [
    FileRunState::Checking,
    FileRunState::Previewing,
    FileRunState::Running,
];

/// An uploaded file, which is whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upload {
    /// The upload's id.
    pub id: UploadId,
    /// The file's name, without folders.
    pub file_name: String,
    /// Size of the file, in bytes.
    pub bytes: u64,
    /// SHA-256 of the file, in hexadecimal.
    pub sha256: String,
    /// When the upload began.
    pub uploaded_at: DateTime<Utc>,
    /// The name of the person who uploaded the file; `None` for the terminal.
    pub uploaded_by: Option<String>,
}

/// The outcome of deleting an uploaded file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeleteUploadOutcome {
    /// The file is deleted. Its runs keep their counts and their results.
    Deleted,
    /// The account has no such file.
    NotFound,
    /// A run of the file is worked on or paused: cancel the run first.
    InUse,
}

#[boxed]
impl Runs<'_> {
    /// Finds an uploaded file of the account. A file that is still sent, or was deleted, is none.
    pub async fn find_upload(
        self,
        account: AccountId,
        upload: UploadId,
    ) -> Result<Option<Upload>, InternalError> {
        let Some(row) = self.refract.database.find_upload(account, upload).await? else {
            return Ok(None);
        };
        let uploaded_by = self.name_of(account, row.uploaded_by).await?;
        Ok(Some(Upload::of(row, uploaded_by)))
    }

    /// The outline of an uploaded file as it was kept; `None` before that.
    pub async fn find_outline(self, upload: UploadId) -> Result<Option<String>, InternalError> {
        Ok(self.refract.database.find_outline(upload).await?)
    }

    /// Keeps the outline of an uploaded file, so that pages need not read the file.
    pub async fn keep_outline(
        self,
        upload: UploadId,
        outline: String,
    ) -> Result<(), InternalError> {
        Ok(self.refract.database.save_outline(upload, outline).await?)
    }

    /// Deletes an uploaded file, unless a run of it is worked on or paused. Results are kept.
    ///
    /// # Errors
    /// When the database fails. A deletion that began is completed by
    /// [`Runs::delete_old_uploads`].
    pub async fn delete_upload(
        self,
        actor: &AccountActor,
        upload: UploadId,
    ) -> Result<DeleteUploadOutcome, InternalError> {
        self.delete_unless_needed(actor, upload, &KEEP_FILE).await
    }

    /// Deletes uploaded files that are older than this, unless a run of them is worked on, and
    /// uploads of over a day ago that were never completed or whose deletion was interrupted.
    /// Returns how many. Any number of nodes may do this at once.
    ///
    /// # Errors
    /// When the database fails. Files deleted until then stay deleted.
    pub async fn delete_old_uploads(self, older_than: TimeDelta) -> Result<u64, InternalError> {
        let database = &self.refract.database;
        let now = database.time(Utc::now()).await?;
        let before = |age| now.checked_sub_signed(age).unwrap_or_default();
        let old = OldUploads {
            whole_before: before(older_than),
            unfinished_before: before(UNFINISHED),
        };
        let (mut deleted, mut after) = (0, UploadId::new(Uuid::nil()));
        loop {
            let page = database.list_old_uploads(old, after, PAGE).await?;
            let Some(last) = page.last() else {
                return Ok(deleted);
            };
            after = last.id;
            for upload in page {
                let outcome = if upload.is_whole {
                    let node = AccountActor::node(upload.account);
                    self.delete_unless_needed(&node, upload.id, &WORKED_ON)
                        .await?
                } else {
                    database.delete_unfinished_upload(upload.id).await?;
                    DeleteUploadOutcome::Deleted
                };
                deleted += u64::from(outcome == DeleteUploadOutcome::Deleted);
            }
        }
    }

    /// Deletes a whole upload, unless a run in one of these states needs it.
    async fn delete_unless_needed(
        self,
        actor: &AccountActor,
        upload: UploadId,
        states: &[FileRunState],
    ) -> Result<DeleteUploadOutcome, InternalError> {
        let database = &self.refract.database;
        let event = upload_event(actor, EventAction::FileDeleted, upload);
        let now = database.time(Utc::now()).await?;
        let begun = database.begin_upload_deletion(upload, states.to_vec(), now, event);
        Ok(match begun.await? {
            UploadDeletion::Begun => {
                database.delete_unfinished_upload(upload).await?;
                DeleteUploadOutcome::Deleted
            }
            UploadDeletion::NotFound => DeleteUploadOutcome::NotFound,
            UploadDeletion::InUse => DeleteUploadOutcome::InUse,
        })
    }

    /// The name of a person who made something; `None` for the terminal.
    pub(super) async fn name_of(
        self,
        account: AccountId,
        person: Option<PersonId>,
    ) -> Result<Option<String>, InternalError> {
        let people: Vec<PersonId> = person.into_iter().collect();
        let names = self.refract.people().names(account, &people).await?;
        Ok(names.into_values().next().map(|name| name.to_string()))
    }
}

impl Upload {
    pub(super) fn of(row: UploadRow, uploaded_by: Option<String>) -> Self {
        Self {
            id: row.id,
            file_name: row.file_name,
            bytes: row.bytes,
            sha256: row.sha256,
            uploaded_at: row.uploaded_at,
            uploaded_by,
        }
    }
}

/// An event about an uploaded file, which belongs to no prism. It has the file's id, since a name
/// may be that of a person.
pub(super) fn upload_event(actor: &AccountActor, action: EventAction, upload: UploadId) -> Event {
    let stamp = actor.event_stamp().noted(EventDetail::upload(upload));
    stamp.event(action, EventTarget::Account(actor.account()))
}
