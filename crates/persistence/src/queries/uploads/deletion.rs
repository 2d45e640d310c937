//! Deletion of uploads: their pieces go in bounded batches, and the row goes last, so that a
//! deletion that was interrupted is found again.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use refract_boxed_futures::boxed;
use refract_domain::event::Event;
use refract_domain::ids::{AccountId, UploadId};
use refract_domain::result::FileRunState;

use crate::connections::{for_update, load_as, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::events::commit_with;
use crate::queries::file_runs::is_free;
use crate::schema::sql_types::Bind;
use crate::schema::{file_runs, upload_pieces, uploads};

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
