//! Uploads: whole or not there, and deleted piece by piece.

use chrono::{DateTime, TimeDelta, Utc};
use refract_domain::event::{Event, EventAction, EventTarget};
use refract_domain::ids::{AccountId, UploadId};
use refract_domain::result::FileRunState;
use refract_persistence::{
    EventFilter, EventRange, NewUploadRow, OldUploadRow, OldUploads, PersistenceError,
    UploadDeletion,
};
use refract_test_support::on_both;
use uuid::Uuid;

use crate::fixture::{Fixture, account, connect, moment};

on_both!(
    an_upload_is_found_once_it_is_whole,
    a_deleted_upload_takes_its_pieces_with_it,
    an_interrupted_deletion_is_found_and_continued,
    old_and_unfinished_uploads_are_listed_in_pages,
    a_piece_of_a_deleted_upload_is_refused,
    an_upload_that_ends_while_it_is_deleted_is_whole_or_gone,
);

/// Saves an upload of this many pieces that is not whole.
pub(crate) async fn unfinished(it: &Fixture, pieces: i32, at: DateTime<Utc>) -> UploadId {
    let id = UploadId::new(Uuid::now_v7());
    let new = NewUploadRow {
        id,
        account: it.account,
        uploaded_by: None,
        file_name: "messages.csv".to_owned(),
        uploaded_at: at,
    };
    it.database.begin_upload(new).await.unwrap();
    for number in 0..pieces {
        let content = vec![u8::try_from(number % 256).unwrap(); 3];
        let saving = it.database.save_upload_piece(id, number, content);
        saving.await.unwrap();
    }
    id
}

/// Saves a whole upload of this many pieces.
pub(crate) async fn whole(it: &Fixture, pieces: i32) -> UploadId {
    let id = unfinished(it, pieces, moment(0)).await;
    let uploaded = event(it, it.account, EventAction::FileUploaded);
    let completing = it
        .database
        .complete_upload(id, pieces, 17, "ab".repeat(32), uploaded);
    assert!(completing.await.unwrap());
    id
}

fn event(it: &Fixture, account: AccountId, action: EventAction) -> Event {
    it.stamp(7).event(action, EventTarget::Account(account))
}

pub(crate) async fn begin_deletion(
    it: &Fixture,
    upload: UploadId,
    states: &[FileRunState],
) -> UploadDeletion {
    let deleted = event(it, it.account, EventAction::FileDeleted);
    let beginning =
        it.database
            .begin_upload_deletion(upload, states.to_vec(), deleted.stamp.at, deleted);
    beginning.await.unwrap()
}

/// How many events of the account have this action.
pub(crate) async fn events_of(it: &Fixture, action: EventAction) -> usize {
    let filter = EventFilter {
        action: Some(action),
        ..EventFilter::default()
    };
    let listing = it
        .database
        .list_events(it.account, filter, EventRange::Newest, 100);
    listing.await.unwrap().len()
}

async fn an_upload_is_found_once_it_is_whole(it: Fixture) {
    let id = unfinished(&it, 2, moment(3)).await;
    let find = async || it.database.find_upload(it.account, id).await.unwrap();
    assert_eq!(find().await, None);
    assert_eq!(it.database.find_upload_size(id).await.unwrap(), None);
    let complete = async |pieces| {
        let uploaded = event(&it, it.account, EventAction::FileUploaded);
        let completing =
            it.database
                .complete_upload(id, pieces, 500_000, "cd".repeat(32), uploaded);
        completing.await.unwrap()
    };
    assert!(!complete(3).await, "a piece is missing");
    assert_eq!(find().await, None);
    assert!(complete(2).await);
    assert!(!complete(2).await, "it is whole already");
    assert_eq!(events_of(&it, EventAction::FileUploaded).await, 1);
    let found = find().await.unwrap();
    assert_eq!((found.id, found.bytes), (id, 500_000));
    assert_eq!(found.sha256, "cd".repeat(32));
    assert_eq!(found.file_name, "messages.csv");
    assert_eq!((found.uploaded_at, found.uploaded_by), (moment(3), None));
    let size = it.database.find_upload_size(id).await.unwrap();
    assert_eq!(size, Some(500_000));
    let outline = async || it.database.find_outline(id).await.unwrap();
    assert_eq!(outline().await, None);
    it.database.save_outline(id, "{}".to_owned()).await.unwrap();
    assert_eq!(outline().await.as_deref(), Some("{}"));
    let piece = async |number| it.database.find_upload_piece(id, number).await.unwrap();
    assert_eq!(piece(1).await, Some(vec![1; 3]));
    assert_eq!(piece(2).await, None);
    let stranger = account(&it.database, "strangers").await;
    let theirs = it.database.find_upload(stranger, id).await.unwrap();
    assert_eq!(theirs, None);
    begin_deletion(&it, id, &[]).await;
    assert_eq!(outline().await, None, "it has texts of the file");
}

async fn a_deleted_upload_takes_its_pieces_with_it(it: Fixture) {
    let id = whole(&it, 200).await;
    let other = whole(&it, 1).await;
    let stranger = account(&it.database, "strangers").await;
    let stamp = crate::fixture::new_stamp(stranger, 0);
    let theirs = stamp.event(EventAction::FileDeleted, EventTarget::Account(stranger));
    let (database, at) = (&it.database, theirs.stamp.at);
    let refused = database.begin_upload_deletion(id, vec![], at, theirs).await;
    assert_eq!(refused.unwrap(), UploadDeletion::NotFound);
    assert_eq!(begin_deletion(&it, id, &[]).await, UploadDeletion::Begun);
    let found = it.database.find_upload(it.account, id).await.unwrap();
    assert_eq!(found, None, "nobody finds it from then on");
    it.database.delete_unfinished_upload(id).await.unwrap();
    for number in [0, 63, 64, 199] {
        let piece = it.database.find_upload_piece(id, number).await.unwrap();
        assert_eq!(piece, None, "{number}");
    }
    assert_eq!(begin_deletion(&it, id, &[]).await, UploadDeletion::NotFound);
    assert_eq!(events_of(&it, EventAction::FileDeleted).await, 1);
    // a whole upload is not deleted without its event
    it.database.delete_unfinished_upload(other).await.unwrap();
    let kept = it.database.find_upload(it.account, other).await.unwrap();
    assert!(kept.is_some());
    let piece = it.database.find_upload_piece(other, 0).await.unwrap();
    assert!(piece.is_some());
}

async fn an_interrupted_deletion_is_found_and_continued(it: Fixture) {
    let id = whole(&it, 3).await;
    assert_eq!(begin_deletion(&it, id, &[]).await, UploadDeletion::Begun);
    // the node died here
    let old = OldUploads {
        whole_before: moment(-1),
        unfinished_before: moment(1),
    };
    let first = UploadId::new(Uuid::nil());
    let found = it.database.list_old_uploads(old, first, 9).await.unwrap();
    let row = OldUploadRow {
        id,
        account: it.account,
        is_whole: false,
    };
    assert_eq!(found, [row]);
    it.database.delete_unfinished_upload(id).await.unwrap();
    let found = it.database.list_old_uploads(old, first, 9).await.unwrap();
    assert_eq!(found, []);
}

async fn old_and_unfinished_uploads_are_listed_in_pages(it: Fixture) {
    let day = TimeDelta::days(1);
    let whole = [whole(&it, 1).await, whole(&it, 1).await];
    let early = unfinished(&it, 1, moment(0) + day).await;
    let late = unfinished(&it, 1, moment(0) + day * 3).await;
    let list = async |whole_before, unfinished_before, after, limit| {
        let old = OldUploads {
            whole_before,
            unfinished_before,
        };
        let listing = it.database.list_old_uploads(old, after, limit);
        let found = listing.await.unwrap();
        found.into_iter().map(|row| row.id).collect::<Vec<_>>()
    };
    let first = UploadId::new(Uuid::nil());
    let (begin, later) = (moment(0), moment(0) + day * 2);
    assert_eq!(list(begin, later, first, 9).await, [early]);
    assert_eq!(list(begin, later + day * 2, first, 9).await, [early, late]);
    let all = list(later, later, first, 9).await;
    assert_eq!(all, [whole[0], whole[1], early]);
    assert_eq!(list(later, later, first, 2).await, whole);
    assert_eq!(list(later, later, whole[1], 2).await, [early]);
}

async fn a_piece_of_a_deleted_upload_is_refused(it: Fixture) {
    let id = unfinished(&it, 1, moment(0)).await;
    it.database.delete_unfinished_upload(id).await.unwrap();
    let refused = it.database.save_upload_piece(id, 1, vec![1]).await;
    assert!(
        matches!(refused, Err(PersistenceError::ReferenceGone(_))),
        "{refused:?}"
    );
    let uploaded = event(&it, it.account, EventAction::FileUploaded);
    let completed = it
        .database
        .complete_upload(id, 1, 1, String::new(), uploaded);
    assert!(!completed.await.unwrap());
    assert_eq!(events_of(&it, EventAction::FileUploaded).await, 0);
}

async fn an_upload_that_ends_while_it_is_deleted_is_whole_or_gone(it: Fixture) {
    let other = connect(&it.url).await;
    for _ in 0..10 {
        let id = unfinished(&it, 70, moment(0)).await;
        let uploaded = event(&it, it.account, EventAction::FileUploaded);
        let completing = it
            .database
            .complete_upload(id, 70, 17, "ab".repeat(32), uploaded);
        let (is_whole, deleted) = tokio::join!(completing, other.delete_unfinished_upload(id));
        deleted.unwrap();
        let is_whole = is_whole.unwrap();
        let found = it.database.find_upload(it.account, id).await.unwrap();
        assert_eq!(found.is_some(), is_whole);
        for number in [0, 69] {
            let piece = it.database.find_upload_piece(id, number).await.unwrap();
            assert_eq!(piece.is_some(), is_whole, "{number}");
        }
    }
}
