//! The limits of a workbook's parts, checked before anything in them is believed.
//!
//! A workbook is a ZIP archive whose directory may be wrong about sizes, so each part is unpacked
//! once to count its bytes. The reader of sheets keeps the table of texts in memory, and makes room
//! for as many texts as the table announces.

use std::io::{Cursor, Read};

use zip::ZipArchive;

use crate::input::WorkbookError;
use crate::input::raw_row::ROW_BYTES;

/// Upper bound on the bytes of all parts together.
const ALL_BYTES: u64 = 256 * 1024 * 1024;
/// Upper bound on the bytes of the table of texts.
const TEXTS_BYTES: u64 = 32 * 1024 * 1024;
/// Upper bound on the texts in the table: each takes some memory beside its bytes.
const MOST_TEXTS: usize = 1_000_000;
/// The end of the table's name.
const TEXTS: &str = "sharedstrings.xml";
/// The attribute with the number of texts that the table announces.
const ANNOUNCED: &[u8] = b"uniqueCount";

/// Checks all parts of a workbook.
pub(super) fn check(bytes: &[u8]) -> Result<(), WorkbookError> {
    let archive = ZipArchive::new(Cursor::new(bytes));
    let mut archive = archive.map_err(|_| WorkbookError::Damaged)?;
    let mut left = ALL_BYTES;
    for index in 0..archive.len() {
        let part = archive.by_index(index);
        let mut part = part.map_err(|_| WorkbookError::Damaged)?;
        let name = part.name().map_err(|_| WorkbookError::Damaged)?;
        if name.to_ascii_lowercase().ends_with(TEXTS) {
            left = left.saturating_sub(check_texts(&mut part)?);
        } else {
            left = check_size(&mut part, left)?;
        }
    }
    Ok(())
}

/// Returns how many of the bytes that are left remain after a part. No piece of the part between two
/// tags may be longer than a row.
fn check_size(part: &mut impl Read, mut left: u64) -> Result<u64, WorkbookError> {
    let mut buffer = vec![0; 64 * 1024];
    let mut since_tag = 0;
    loop {
        let read = part.read(&mut buffer);
        let read = read.map_err(|_| WorkbookError::Damaged)?;
        if read == 0 {
            return Ok(left);
        }
        let bytes = buffer.get(..read).unwrap_or_default();
        since_tag = match bytes.iter().rev().position(|byte| *byte == b'<') {
            Some(since) => widened(since),
            None => since_tag + widened(read),
        };
        left = left
            .checked_sub(widened(read))
            .ok_or(WorkbookError::UnpacksTooLarge)?;
        if since_tag > ROW_BYTES {
            return Err(WorkbookError::Damaged);
        }
    }
}

/// Checks the table of texts and returns its size.
fn check_texts(part: &mut impl Read) -> Result<u64, WorkbookError> {
    let mut table = Vec::new();
    let read = part.take(TEXTS_BYTES + 1).read_to_end(&mut table);
    let read = read.map_err(|_| WorkbookError::Damaged)?;
    if widened(read) > TEXTS_BYTES {
        return Err(WorkbookError::TextsTooLarge);
    }
    // in another encoding, the reader would see another table than this check
    if table.contains(&0) || std::str::from_utf8(&table).is_err() {
        return Err(WorkbookError::Damaged);
    }
    // a text takes at least two tags
    let tags = memchr::memchr_iter(b'<', &table).count();
    let mut announced = memchr::memmem::find_iter(&table, ANNOUNCED);
    let is_large = announced.any(|at| announced_texts(table.get(at..)) > MOST_TEXTS);
    if is_large || tags / 2 > MOST_TEXTS * 2 {
        return Err(WorkbookError::TextsTooLarge);
    }
    Ok(widened(read))
}

/// The number in an attribute at the beginning of these bytes; 0 if there is none.
fn announced_texts(attribute: Option<&[u8]>) -> usize {
    let value = attribute.and_then(|bytes| bytes.get(ANNOUNCED.len()..));
    let value = value.unwrap_or_default().trim_ascii_start();
    let value = value.strip_prefix(b"=").unwrap_or_default();
    let value = value.trim_ascii_start();
    let value = value.strip_prefix(b"\"").or(value.strip_prefix(b"'"));
    let digits = value.unwrap_or_default().trim_ascii_start().iter();
    let digits = digits.skip_while(|byte| **byte == b'+');
    let digits = digits.take_while(|byte| byte.is_ascii_digit());
    digits.fold(0, |number: usize, digit| {
        number
            .saturating_mul(10)
            .saturating_add(usize::from(digit - b'0'))
    })
}

fn widened(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
