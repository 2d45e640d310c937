//! Uploads: files that people want run, stored in compressed pieces. A file is whole once its hash
//! is stored; until then, and while its pieces are deleted, nobody finds it. A deletion removes the
//! pieces in bounded batches and the row last, so that a deletion that was interrupted is found
//! again.

use chrono::{DateTime, Utc};
use diesel::dsl::AssumeNotNull;
use diesel::prelude::*;
use refract_boxed_futures::boxed;
use refract_domain::event::Event;
use refract_domain::ids::{AccountId, PersonId, UploadId};
use refract_domain::result::FileRunState;

use crate::connections::{find_as, for_update, load_as, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::events::commit_with;
use crate::queries::file_runs::is_free;
use crate::schema::sql_types::Bind;
use crate::schema::stored::Stored;
use crate::schema::{file_runs, upload_pieces, uploads};

/// An upload before its first piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewUploadRow {
    /// `UUIDv7`.
    pub id: UploadId,
    /// The account that the file belongs to.
    pub account: AccountId,
    /// The person who uploads it; `None` for the terminal.
    pub uploaded_by: Option<PersonId>,
    /// The file's name, without folders.
    pub file_name: String,
    /// When the upload began.
    pub uploaded_at: DateTime<Utc>,
}

/// A whole upload.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = uploads)]
pub struct UploadRow {
    /// `UUIDv7`.
    pub id: UploadId,
    /// The person who uploaded it; `None` for the terminal.
    pub uploaded_by: Option<PersonId>,
    /// The file's name, without folders.
    pub file_name: String,
    /// When the upload began.
    pub uploaded_at: DateTime<Utc>,
    /// Size of the file as it was sent, in bytes.
    #[diesel(select_expression = uploads::bytes.assume_not_null())]
    #[diesel(deserialize_as = Stored<AssumeNotNull<uploads::bytes>>)]
    pub bytes: u64,
    /// SHA-256 of the file as it was sent, in hexadecimal.
    #[diesel(select_expression = uploads::sha256.assume_not_null())]
    pub sha256: String,
}

#[boxed]
impl Database {
    /// Saves an upload before its first piece.
    pub async fn begin_upload(&self, new: NewUploadRow) -> Result<(), PersistenceError> {
        let insert = diesel::insert_into(uploads::table).values((
            uploads::id.eq(Bind(new.id)),
            uploads::account_id.eq(Bind(new.account)),
            uploads::uploaded_by.eq(new.uploaded_by),
            uploads::file_name.eq(new.file_name),
            uploads::uploaded_at.eq(Bind(new.uploaded_at)),
        ));
        self.execute(insert).await?;
        Ok(())
    }

    /// Saves a piece of an upload: its number, from 0, and its compressed bytes.
    ///
    /// # Errors
    /// [`PersistenceError::ReferenceGone`] when the upload was deleted, or when the database fails.
    pub async fn save_upload_piece(
        &self,
        upload: UploadId,
        number: i32,
        content: Vec<u8>,
    ) -> Result<(), PersistenceError> {
        let insert = diesel::insert_into(upload_pieces::table).values((
            upload_pieces::upload_id.eq(Bind(upload)),
            upload_pieces::number.eq(number),
            upload_pieces::content.eq(content),
        ));
        self.execute(insert).await?;
        Ok(())
    }

    /// Makes an upload of which these many pieces are saved a whole one, with an event. One
    /// transaction. Returns `false` when the upload or a piece of it was deleted, or it is whole
    /// already.
    pub async fn complete_upload(
        &self,
        upload: UploadId,
        pieces: i32,
        bytes: u64,
        sha256: String,
        event: Event,
    ) -> Result<bool, PersistenceError> {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        self.begin(async move |mut tx| {
            let begun = uploads::table
                .find(Bind(upload))
                .filter(uploads::sha256.is_null());
            let update = diesel::update(begun).set((
                uploads::bytes.eq(Some(bytes)),
                uploads::sha256.eq(Some(sha256)),
            ));
            let is_begun = on!(tx, execute(update))? > 0;
            // from here on no piece is deleted as a part of an upload that took too long
            let saved = upload_pieces::table
                .filter(upload_pieces::upload_id.eq(Bind(upload)))
                .count();
            let saved: i64 = on!(tx, get_result(saved))?;
            if !is_begun || saved != i64::from(pieces) {
                return Ok(false);
            }
            commit_with(tx, event).await?;
            Ok(true)
        })
        .await
    }

    /// Finds a whole upload of the account.
    pub async fn find_upload(
        &self,
        account: AccountId,
        upload: UploadId,
    ) -> Result<Option<UploadRow>, PersistenceError> {
        let query = uploads::table
            .find(Bind(upload))
            .filter(uploads::account_id.eq(Bind(account)))
            .filter(uploads::sha256.is_not_null());
        find_as!(self, query, UploadRow).await
    }

    /// The size of a whole upload in bytes; `None` when there is none.
    pub async fn find_upload_size(
        &self,
        upload: UploadId,
    ) -> Result<Option<u64>, PersistenceError> {
        let query = uploads::table
            .find(Bind(upload))
            .filter(uploads::sha256.is_not_null())
            .select(uploads::bytes);
        let found: Option<Option<i64>> = self.find(query).await?;
        Ok(found.flatten().and_then(|bytes| u64::try_from(bytes).ok()))
    }

    /// The stored outline of a whole upload; `None` when there is none.
    pub async fn find_outline(&self, upload: UploadId) -> Result<Option<String>, PersistenceError> {
        let query = uploads::table
            .find(Bind(upload))
            .filter(uploads::sha256.is_not_null())
            .select(uploads::outline);
        let found: Option<Option<String>> = self.find(query).await?;
        Ok(found.flatten())
    }

    /// Saves the outline of a whole upload.
    pub async fn save_outline(
        &self,
        upload: UploadId,
        outline: String,
    ) -> Result<(), PersistenceError> {
        let whole = uploads::table
            .find(Bind(upload))
            .filter(uploads::sha256.is_not_null());
        let update = diesel::update(whole).set(uploads::outline.eq(Some(outline)));
        self.execute(update).await?;
        Ok(())
    }

    /// Finds a piece of an upload, compressed.
    pub async fn find_upload_piece(
        &self,
        upload: UploadId,
        number: i32,
    ) -> Result<Option<Vec<u8>>, PersistenceError> {
        let query = upload_pieces::table
            .find((Bind(upload), number))
            .select(upload_pieces::content);
        self.find(query).await
    }
}

/// Number of pieces that one transaction deletes.
const PIECES: i32 = 64;

/// The outcome of the first step of a deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UploadDeletion {
    /// The upload is not whole any more, and no run refers to it: delete its pieces.
    Begun,
    /// The account has no such upload.
    NotFound,
    /// A run in one of the given states, or one that a node holds, needs the file.
    InUse,
}

/// Which uploads are old.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OldUploads {
    /// Whole uploads from before this moment are.
    pub whole_before: DateTime<Utc>,
    /// Uploads that are not whole from before this moment are.
    pub unfinished_before: DateTime<Utc>,
}

/// An old upload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = uploads)]
pub struct OldUploadRow {
    /// The upload's id.
    pub id: UploadId,
    /// The account that it belongs to.
    #[diesel(column_name = account_id)]
    pub account: AccountId,
    /// Whether the file is whole.
    #[diesel(select_expression = uploads::sha256.is_not_null())]
    pub is_whole: bool,
}

#[boxed]
impl Database {
    /// Begins the deletion of a whole upload of the event's account, unless a run that is in one of
    /// `states` needs it, or a node holds it `now`. Every other run of it loses its link. One
    /// transaction, with the event.
    pub async fn begin_upload_deletion(
        &self,
        upload: UploadId,
        states: Vec<FileRunState>,
        now: DateTime<Utc>,
        event: Event,
    ) -> Result<UploadDeletion, PersistenceError> {
        let account = event.stamp.account;
        let states: Vec<String> = states.iter().map(|s| s.name().to_owned()).collect();
        self.begin(async move |mut tx| {
            let whole = uploads::table
                .find(Bind(upload))
                .filter(uploads::account_id.eq(Bind(account)))
                .filter(uploads::sha256.is_not_null());
            // from here on no run of it can be made
            let update = diesel::update(whole).set((
                uploads::bytes.eq(None::<i64>),
                uploads::sha256.eq(None::<String>),
                uploads::outline.eq(None::<String>),
            ));
            if on!(tx, execute(update))? == 0 {
                return Ok(UploadDeletion::NotFound);
            }
            let of_file = file_runs::table.filter(file_runs::upload_id.eq(Some(upload)));
            let idle = of_file
                .filter(file_runs::state.ne_all(states))
                .filter(is_free(now));
            let unlink = diesel::update(idle).set(file_runs::upload_id.eq(None::<UploadId>));
            on!(tx, execute(unlink))?;
            let left: i64 = on!(tx, get_result(of_file.count()))?;
            if left > 0 {
                return Ok(UploadDeletion::InUse);
            }
            commit_with(tx, event).await?;
            Ok(UploadDeletion::Begun)
        })
        .await
    }

    /// Deletes an upload that is not whole: the last of its pieces first, in transactions of a
    /// bounded size, then its row.
    ///
    /// # Errors
    /// When the database fails. The deletion can be continued.
    pub async fn delete_unfinished_upload(&self, upload: UploadId) -> Result<(), PersistenceError> {
        let unfinished = uploads::table
            .find(Bind(upload))
            .filter(uploads::sha256.is_null());
        loop {
            let is_left = self.delete_last_pieces(upload).await?;
            if !is_left {
                break;
            }
        }
        self.execute(diesel::delete(unfinished)).await?;
        Ok(())
    }

    /// Deletes the last pieces of an upload that is not whole; returns whether it may have more.
    async fn delete_last_pieces(&self, upload: UploadId) -> Result<bool, PersistenceError> {
        self.begin(async move |mut tx| {
            let unfinished = uploads::table
                .find(Bind(upload))
                .filter(uploads::sha256.is_null())
                .select(uploads::id);
            // from here on the upload does not become whole
            let unfinished = for_update(unfinished);
            let unfinished: Option<UploadId> = on!(tx, get_result(unfinished)).optional()?;
            let last = upload_pieces::table
                .filter(upload_pieces::upload_id.eq(Bind(upload)))
                .order(upload_pieces::number.desc())
                .select(upload_pieces::number);
            let last: Option<i32> = on!(tx, first(last)).optional()?;
            let (Some(_), Some(last)) = (unfinished, last) else {
                tx.commit().await?;
                return Ok(false);
            };
            let pieces = upload_pieces::table
                .filter(upload_pieces::upload_id.eq(Bind(upload)))
                .filter(upload_pieces::number.gt(last - PIECES));
            on!(tx, execute(diesel::delete(pieces)))?;
            tx.commit().await?;
            Ok(last >= PIECES)
        })
        .await
    }

    /// Up to `limit` old uploads of all accounts after an id, in the order of their ids.
    pub async fn list_old_uploads(
        &self,
        old: OldUploads,
        after: UploadId,
        limit: u32,
    ) -> Result<Vec<OldUploadRow>, PersistenceError> {
        let is_old = uploads::uploaded_at
            .lt(Bind(old.whole_before))
            .or(uploads::sha256
                .is_null()
                .and(uploads::uploaded_at.lt(Bind(old.unfinished_before))));
        let query = uploads::table
            .filter(is_old)
            .filter(uploads::id.gt(Bind(after)))
            .order(uploads::id)
            .limit(i64::from(limit));
        load_as!(self, query, OldUploadRow).await
    }
}
