//! The limits of a workbook's parts, checked before anything in them is believed.
//!
//! A workbook is a ZIP archive whose directory may be wrong about sizes, so each part is unpacked
//! once to count its bytes. The reader of sheets goes through the rows, but keeps the table of
//! texts, styles and names in memory, of which styles can take thousands of times their bytes.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::rc::Rc;

use quick_xml::events::Event;
use zip::ZipArchive;

use crate::input::WorkbookError;
use crate::input::raw_row::ROW_BYTES;

/// Upper bound on the bytes of all parts together.
const ALL_BYTES: u64 = 256 * 1024 * 1024;
/// Upper bound on the bytes of the table of texts.
const TEXTS_BYTES: u64 = 32 * 1024 * 1024;
/// Upper bound on the texts in the table: each takes some memory beside its bytes.
const MOST_TEXTS: usize = 1_000_000;
/// Upper bound on the bytes of any other part that the reader keeps.
const KEPT_BYTES: u64 = 1024 * 1024;
/// Upper bound on what the styles take in memory.
const STYLES_MEMORY: usize = 32 * 1024 * 1024;
/// What a reader takes beside the parts.
const READER_MEMORY: usize = 1024 * 1024;
/// The end of the name of the table of texts.
const TEXTS: &str = "sharedstrings.xml";
/// The end of the name of the styles.
const STYLES: &str = "styles.xml";
/// The ends of the names of other parts that the reader keeps.
const KEPT: [&str; 2] = [".rels", "theme1.xml"];
/// The part that names the part with the names of the sheets.
const RELATIONS: &str = "_rels/.rels";
/// The attribute with the number of texts that the table announces.
const ANNOUNCED: &[u8] = b"uniqueCount";

/// Checks all parts of a workbook. Returns how many bytes its reader may take.
pub(super) fn check(bytes: &[u8]) -> Result<usize, WorkbookError> {
    let archive = ZipArchive::new(Cursor::new(bytes));
    let mut archive = archive.map_err(|_| WorkbookError::Damaged)?;
    let mut names = Vec::new();
    for index in 0..archive.len() {
        let part = archive.by_index_raw(index);
        let part = part.map_err(|_| WorkbookError::Damaged)?;
        let name = part.name().map_err(|_| WorkbookError::Damaged)?;
        names.push(name.to_ascii_lowercase().replace('\\', "/"));
    }
    let relations = match names.iter().position(|name| name == RELATIONS) {
        Some(index) => kept_part(&mut part(&mut archive, index, KEPT_BYTES)?)?,
        None => Vec::new(),
    };
    let relations = relations.to_ascii_lowercase();
    // a name that is written otherwise, or in another encoding, would not be found in it
    if relations.contains(&b'&') || relations.contains(&0) {
        return Err(WorkbookError::Damaged);
    }
    let mut left = ALL_BYTES;
    let mut memory = READER_MEMORY + bytes.len() * 2;
    let mut longest_row = 0;
    for (index, name) in names.iter().enumerate() {
        let last = name.rsplit('/').next().unwrap_or_default();
        let is_named = memchr::memmem::find(&relations, last.as_bytes()).is_some();
        let size = if name.ends_with(TEXTS) {
            let (size, texts) = check_texts(&mut part(&mut archive, index, TEXTS_BYTES)?)?;
            memory += texts;
            size
        } else if name.ends_with(STYLES) {
            let styles = kept_part(&mut part(&mut archive, index, KEPT_BYTES)?)?;
            memory += styles_memory(&styles)?;
            widened(styles.len())
        } else if is_named || KEPT.iter().any(|end| name.ends_with(end)) {
            let kept = kept_part(&mut part(&mut archive, index, KEPT_BYTES)?)?;
            memory += kept.len() * 16;
            widened(kept.len())
        } else {
            let size = part_size(&mut part(&mut archive, index, left)?)?;
            if size > ROW_BYTES && size <= left {
                check_rows(part(&mut archive, index, left)?)?;
            }
            longest_row = longest_row.max(size.min(ROW_BYTES));
            size
        };
        left = left
            .checked_sub(size)
            .ok_or(WorkbookError::UnpacksTooLarge)?;
    }
    // the longest row: as it stands in the part, its cells, and the record of them
    let longest_row = usize::try_from(longest_row).unwrap_or(usize::MAX);
    Ok(memory.saturating_add(longest_row.saturating_mul(4)))
}

/// A part, read to one byte beyond its limit.
fn part(
    archive: &mut ZipArchive<Cursor<&[u8]>>,
    index: usize,
    limit: u64,
) -> Result<impl Read, WorkbookError> {
    let part = archive.by_index(index);
    let part = part.map_err(|_| WorkbookError::Damaged)?;
    Ok(part.take(limit.saturating_add(1)))
}

/// Reads a part that the reader keeps.
fn kept_part(part: &mut impl Read) -> Result<Vec<u8>, WorkbookError> {
    let mut bytes = Vec::new();
    let read = part.read_to_end(&mut bytes);
    if widened(read.map_err(|_| WorkbookError::Damaged)?) > KEPT_BYTES {
        return Err(WorkbookError::PartTooLarge);
    }
    Ok(bytes)
}

/// Unpacks a part to count its bytes.
fn part_size(part: &mut impl Read) -> Result<u64, WorkbookError> {
    let mut buffer = vec![0; 64 * 1024];
    let mut size = 0;
    loop {
        let read = part.read(&mut buffer);
        match read.map_err(|_| WorkbookError::Damaged)? {
            0 => return Ok(size),
            read => size += widened(read),
        }
    }
}

/// What the styles take in memory: each cell format has copies of a font and a number format.
fn styles_memory(styles: &[u8]) -> Result<usize, WorkbookError> {
    let (mut events, mut formats, mut longest) = (0_usize, 0_usize, 0_usize);
    each_event(styles, |event| {
        if let Event::Start(tag) | Event::Empty(tag) = event {
            formats += usize::from(tag.local_name().as_ref() == "xf");
            longest = longest.max(tag.len());
        }
        events += 1;
    })?;
    let memory = formats
        .saturating_mul(longest * 2 + 512)
        .saturating_add(events * 256);
    if memory > STYLES_MEMORY {
        return Err(WorkbookError::PartTooLarge);
    }
    Ok(memory)
}

/// Passes each event of a part. Tags need not match: the reader of sheets does not look either.
pub(super) fn each_event(
    part: impl BufRead,
    mut pass: impl FnMut(&Event<'_>),
) -> Result<(), WorkbookError> {
    let mut xml = quick_xml::Reader::from_reader(part);
    xml.config_mut().check_end_names = false;
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        let event = xml.read_event_into(&mut buffer);
        let event = event.map_err(|_| WorkbookError::Damaged)?;
        if matches!(event, Event::Eof) {
            return Ok(());
        }
        pass(&event);
    }
}

/// Checks a part in which a row may be too long. The reader keeps a whole cell, however many pieces
/// its text has, so a cell is bounded together with everything in it.
fn check_rows(part: impl Read) -> Result<(), WorkbookError> {
    let left = Rc::new(Cell::new(0));
    let part = BoundedEvents {
        part,
        left: Rc::clone(&left),
    };
    let mut xml = quick_xml::Reader::from_reader(BufReader::new(part));
    let mut buffer = Vec::new();
    let mut cell_from = None;
    loop {
        buffer.clear();
        left.set(ROW_BYTES);
        let event = xml.read_event_into(&mut buffer);
        let event = event.map_err(|_| WorkbookError::Damaged)?;
        if matches!(event, Event::Eof) {
            return Ok(());
        }
        if let Event::Start(tag) = &event
            && tag.local_name().as_ref() == "c"
            // a cell in a cell would hide how much the outer one has
            && cell_from.replace(xml.buffer_position()).is_some()
        {
            return Err(WorkbookError::Damaged);
        }
        if let Event::End(tag) = &event
            && tag.local_name().as_ref() == "c"
        {
            cell_from = None;
        }
        let cell = cell_from.map_or(0, |from| xml.buffer_position() - from);
        if cell > ROW_BYTES {
            return Err(WorkbookError::Damaged);
        }
    }
}

/// A part of which only so many bytes are read for one event.
struct BoundedEvents<R> {
    part: R,
    left: Rc<Cell<u64>>,
}

impl<R: Read> Read for BoundedEvents<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.part.read(buffer)?;
        let left = self.left.get().checked_sub(widened(read));
        self.left.set(left.ok_or(io::ErrorKind::FileTooLarge)?);
        Ok(read)
    }
}

/// Checks the table of texts. Returns its size, and what its texts take in memory.
fn check_texts(part: &mut impl Read) -> Result<(u64, usize), WorkbookError> {
    let mut table = Vec::new();
    let read = part.read_to_end(&mut table);
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
    Ok((widened(read), read * 2 + tags * 32))
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
