//! Uploaded files: written in any chunks, read back byte for byte, and deleted.

use std::io::{ErrorKind, Read as _};

use chrono::TimeDelta;
use refract_domain::event::EventAction;
use refract_domain::ids::{AccountId, FileRunId, UploadId};
use refract_domain::result::FileRunChange;
use refract_identity::people::AccountActor;
use refract_service::runs::{
    CreateRunError, DeleteUploadOutcome, FileName, NewStoredRun, StoredBytes, UploadError,
};
use refract_test_support::on_both;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::fixture::{Fixture, account};
use crate::stored_runs::{actions, changed, run_of};

on_both!(
    a_file_is_read_back_as_it_was_sent,
    a_file_that_is_empty_or_too_large_is_refused,
    a_file_that_is_cut_off_is_nobodys,
    a_file_that_is_deleted_while_it_is_read_does_not_look_shorter,
    a_file_is_deleted_unless_a_run_needs_it,
    old_files_are_deleted_unless_a_run_is_worked_on,
);

/// A mebibyte.
const MIB: u64 = 1024 * 1024;

/// Bytes that compress a little, and differ from each other everywhere.
fn content(bytes: usize) -> Vec<u8> {
    let lines =
        (0_u64..).flat_map(|n| format!("{n};{}\r\n", n.wrapping_mul(0x9e37_79b9)).into_bytes());
    lines.take(bytes).collect()
}

/// Uploads a file in one chunk.
pub(crate) async fn upload(it: &Fixture, content: &[u8]) -> UploadId {
    let actor = AccountActor::operator(it.account);
    let name = FileName::parse("messages.csv").unwrap();
    let beginning = it.refract.runs().begin_upload(&actor, name, MIB * 10);
    let mut writer = beginning.await.unwrap();
    writer.write(content).await.unwrap();
    writer.finish().await.unwrap()
}

/// Reads a stored file to its end, on a thread that may block.
async fn read(bytes: StoredBytes) -> std::io::Result<Vec<u8>> {
    let reading = tokio::task::spawn_blocking(move || {
        let mut read = Vec::new();
        bytes.open().read_to_end(&mut read).map(|_| read)
    });
    reading.await.unwrap()
}

async fn a_file_is_read_back_as_it_was_sent(it: Fixture) {
    let actor = AccountActor::operator(it.account);
    let piece = 256 * 1024;
    for (size, chunk) in [
        (1, 1),
        (piece - 1, piece),
        (piece, piece),
        (piece + 1, 7_001),
        (piece * 4, 100_000),
        (piece * 5 + 77, piece * 6),
    ] {
        let sent = content(size);
        let name = FileName::parse("C:\\Temp\\Größen.csv").unwrap();
        let beginning = it.refract.runs().begin_upload(&actor, name, MIB * 10);
        let mut writer = beginning.await.unwrap();
        let id = writer.id();
        for chunk in sent.chunks(chunk) {
            writer.write(chunk).await.unwrap();
            writer.write(&[]).await.unwrap();
        }
        let found = it.refract.runs().find_upload(it.account, id).await.unwrap();
        assert_eq!(found, None, "it is not whole");
        assert_eq!(writer.finish().await.unwrap(), id);

        let found = it.refract.runs().find_upload(it.account, id).await.unwrap();
        let found = found.unwrap();
        assert_eq!(found.file_name, "Größen.csv");
        assert_eq!(found.bytes, u64::try_from(size).unwrap());
        let hash = Sha256::digest(&sent);
        assert_eq!(found.sha256, base16ct::lower::encode_string(&hash));
        let bytes = it.refract.runs().upload_reader(id);
        assert!(read(bytes.clone()).await.unwrap() == sent, "{size}");
        assert!(read(bytes).await.unwrap() == sent, "again, from the start");
    }
    let actions = actions(&it).await;
    let uploaded = actions
        .iter()
        .filter(|it| **it == EventAction::FileUploaded);
    assert_eq!(uploaded.count(), 6);
}

async fn a_file_that_is_empty_or_too_large_is_refused(it: Fixture) {
    let actor = AccountActor::operator(it.account);
    let begin = async || {
        let name = FileName::parse("a.csv").unwrap();
        let beginning = it.refract.runs().begin_upload(&actor, name, 10);
        beginning.await.unwrap()
    };
    let refused = begin().await.finish().await;
    assert!(matches!(refused, Err(UploadError::Empty)), "{refused:?}");
    let mut writer = begin().await;
    let id = writer.id();
    writer.write(b"0123456").await.unwrap();
    let refused = writer.write(b"7890").await;
    assert!(
        matches!(refused, Err(UploadError::TooLarge { most_bytes: 10 })),
        "{refused:?}"
    );
    writer.discard().await.unwrap();
    assert_eq!(read_error(&it, id).await, ErrorKind::NotFound);
    let mut writer = begin().await;
    writer.write(b"0123456789").await.unwrap();
    assert_eq!(writer.bytes(), 10);
    writer.finish().await.unwrap();
}

/// The kind of the error with which reading a file ends.
async fn read_error(it: &Fixture, id: UploadId) -> ErrorKind {
    let reading = read(it.refract.runs().upload_reader(id));
    reading.await.unwrap_err().kind()
}

async fn a_file_that_is_cut_off_is_nobodys(it: Fixture) {
    let actor = AccountActor::operator(it.account);
    let name = FileName::parse("a.csv").unwrap();
    let beginning = it.refract.runs().begin_upload(&actor, name, MIB);
    let mut writer = beginning.await.unwrap();
    let id = writer.id();
    writer.write(&content(700_000)).await.unwrap();
    drop(writer);
    assert_eq!(read_error(&it, id).await, ErrorKind::NotFound);
    let prism = it.prism(it.account).await;
    let new = NewStoredRun {
        id: FileRunId::new(Uuid::now_v7()),
        prism: prism.prism.id,
        version: None,
        upload: id,
        mappings: Vec::new(),
    };
    let refused = it.refract.runs().create_file_run(&actor, new).await;
    assert!(
        matches!(refused, Err(CreateRunError::UploadNotFound)),
        "{refused:?}"
    );
    // it may still be in flight from another node: it is deleted after a day
    let deleting = it.refract.runs().delete_old_uploads(TimeDelta::days(30));
    assert_eq!(deleting.await.unwrap(), 0);
    let piece = it.database.find_upload_piece(id, 1).await.unwrap();
    assert!(piece.is_some());
}

async fn a_file_that_is_deleted_while_it_is_read_does_not_look_shorter(it: Fixture) {
    let id = upload(&it, &content(700_000)).await;
    let bytes = it.refract.runs().upload_reader(id);
    let reading = tokio::task::spawn_blocking(move || {
        let mut reader = bytes.open();
        reader.read_exact(&mut [0; 1_000]).unwrap();
        reader
    });
    let mut reader = reading.await.unwrap();
    let actor = AccountActor::operator(it.account);
    let deleting = it.refract.runs().delete_upload(&actor, id);
    assert_eq!(deleting.await.unwrap(), DeleteUploadOutcome::Deleted);
    let reading = tokio::task::spawn_blocking(move || reader.read_to_end(&mut Vec::new()));
    let refused = reading.await.unwrap().unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::NotFound);
    assert_eq!(refused.to_string(), "the uploaded file was deleted");
}

async fn a_file_is_deleted_unless_a_run_needs_it(it: Fixture) {
    let actor = AccountActor::operator(it.account);
    let id = upload(&it, b"text\r\none\r\n").await;
    let run = run_of(&it, id).await;
    let delete = async |account: AccountId| {
        let actor = AccountActor::operator(account);
        let deleting = it.refract.runs().delete_upload(&actor, id);
        deleting.await.unwrap()
    };
    let stranger = account(&it.database).await;
    assert_eq!(delete(stranger).await, DeleteUploadOutcome::NotFound);
    changed(&it, run, FileRunChange::Check).await;
    assert_eq!(delete(it.account).await, DeleteUploadOutcome::InUse);
    changed(&it, run, FileRunChange::Cancel).await;
    assert_eq!(delete(it.account).await, DeleteUploadOutcome::Deleted);
    assert_eq!(delete(it.account).await, DeleteUploadOutcome::NotFound);
    let found = it.refract.runs().find_file_run(it.account, run).await;
    let found = found.unwrap().unwrap();
    assert_eq!(found.upload, None);
    assert_eq!(found.file_name, "messages.csv", "it is remembered");
    assert_eq!(actions(&it).await[0], EventAction::FileDeleted);
    let found = it.refract.runs().find_upload(actor.account(), id).await;
    assert_eq!(found.unwrap(), None);
}

async fn old_files_are_deleted_unless_a_run_is_worked_on(it: Fixture) {
    let free = upload(&it, b"one").await;
    let checked = upload(&it, b"two").await;
    let run = run_of(&it, checked).await;
    changed(&it, run, FileRunChange::Check).await;
    let delete = async |age| {
        let deleting = it.refract.runs().delete_old_uploads(age);
        deleting.await.unwrap()
    };
    assert_eq!(delete(TimeDelta::days(30)).await, 0);
    // files from before a moment to come
    let any = TimeDelta::seconds(-30);
    assert_eq!(delete(any).await, 1);
    assert_eq!(read_error(&it, free).await, ErrorKind::NotFound);
    let bytes = it.refract.runs().upload_reader(checked);
    assert_eq!(read(bytes).await.unwrap(), b"two");
    changed(&it, run, FileRunChange::Cancel).await;
    assert_eq!(delete(any).await, 1);
    assert_eq!(delete(any).await, 0);
}
