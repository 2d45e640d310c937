//! The bytes of a workbook, read into memory for as long as somebody reads its rows; and which rows
//! of a sheet a spreadsheet does not show: hidden by a person, by a filter or in a group.

use std::borrow::Cow;
use std::io::{BufReader, Cursor, Read as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use calamine::{Reader as _, Xlsx};
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use zip::ZipArchive;

use super::parts;
use super::parts::each_event;
use crate::input::input_source::{InputBytes, SheetChoice};
use crate::input::workbook_budget::{WorkbookBudget, WorkbookRoom};
use crate::input::{InputError, WorkbookError};

/// Upper bound on the bytes of a workbook, which is kept in memory while it is read.
pub(super) const FILE_BYTES: usize = 32 * 1024 * 1024;
/// A reader whose rows nobody takes for this time gives way to others.
const IDLE: Duration = Duration::from_millis(250);

/// A workbook within the limits, not yet in memory. Clones are cheap.
#[derive(Clone)]
pub(crate) struct WorkbookSource {
    bytes: InputBytes,
    /// What a reader may take in memory, in bytes.
    memory: usize,
    /// What is read.
    pub(super) choice: SheetChoice,
    /// The rows of the sheet that a spreadsheet does not show, from 0 and in order.
    pub(super) hidden_rows: Arc<[u32]>,
}

/// A workbook in memory.
pub(super) struct LoadedWorkbook {
    pub(super) workbook: Xlsx<Cursor<Vec<u8>>>,
    pub(super) turn: ReadingTurn,
}

/// The turn of a reader, with the room that it has.
pub(super) struct ReadingTurn {
    budget: Option<WorkbookBudget>,
    began: Instant,
    _room: Option<WorkbookRoom>,
}

impl WorkbookSource {
    /// Reads the bytes of a workbook, and checks its limits.
    pub(super) fn check(bytes: InputBytes, choice: SheetChoice) -> Result<Self, InputError> {
        // how much it takes is not known yet
        let _room = room(&bytes, usize::MAX)?;
        let memory = parts::check(&whole(&bytes)?)?;
        Ok(Self {
            bytes,
            memory,
            choice,
            hidden_rows: Arc::default(),
        })
    }

    /// Finds the rows of the sheet that a spreadsheet does not show.
    pub(super) fn find_hidden_rows(&mut self, sheet: &str) -> Result<(), InputError> {
        let _room = room(&self.bytes, self.memory)?;
        let found = hidden_rows(&whole(&self.bytes)?, sheet)?;
        self.hidden_rows = found.into();
        Ok(())
    }

    /// Waits for room, and reads the workbook without the rows of its sheets.
    pub(super) fn load(&self) -> Result<LoadedWorkbook, InputError> {
        let room = room(&self.bytes, self.memory)?;
        let workbook = Xlsx::new(Cursor::new(whole(&self.bytes)?));
        Ok(LoadedWorkbook {
            workbook: workbook.map_err(|_| WorkbookError::NoWorkbook)?,
            turn: ReadingTurn {
                budget: budget(&self.bytes).cloned(),
                began: Instant::now(),
                _room: room,
            },
        })
    }
}

impl ReadingTurn {
    /// Whether to give the room to somebody who waits, after rows have waited to be taken for this
    /// time.
    pub(super) fn is_over(&self, waited: Duration) -> bool {
        self.budget.as_ref().is_some_and(|budget| {
            (waited >= IDLE || self.began.elapsed() >= budget.turn()) && budget.is_wanted()
        })
    }
}

fn budget(bytes: &InputBytes) -> Option<&WorkbookBudget> {
    match bytes {
        InputBytes::File { .. } => None,
        InputBytes::Stored(stored) => stored.workbooks.as_ref(),
    }
}

fn room(bytes: &InputBytes, memory: usize) -> Result<Option<WorkbookRoom>, WorkbookError> {
    budget(bytes).map(|budget| budget.room(memory)).transpose()
}

fn whole(bytes: &InputBytes) -> Result<Vec<u8>, InputError> {
    let limit = u64::try_from(FILE_BYTES).unwrap_or(u64::MAX);
    let mut read = Vec::new();
    let reading = bytes
        .read()
        .take(limit.saturating_add(1))
        .read_to_end(&mut read);
    reading.map_err(InputError::Unopened)?;
    if read.len() > FILE_BYTES {
        return Err(WorkbookError::TooLarge.into());
    }
    Ok(read)
}

/// The folder of a workbook's parts.
const FOLDER: &str = "xl/";
/// The part with the names of the sheets, and the one with their parts.
const WORKBOOK: &str = "xl/workbook.xml";
const RELATIONS: &str = "xl/_rels/workbook.xml.rels";

/// The hidden rows of a sheet of a checked workbook, counted from 0 and in order. None for a workbook
/// whose parts have unusual names.
pub(super) fn hidden_rows(bytes: &[u8], sheet: &str) -> Result<Vec<u32>, WorkbookError> {
    let archive = ZipArchive::new(Cursor::new(bytes));
    let mut archive = archive.map_err(|_| WorkbookError::Damaged)?;
    let mut id = None;
    each_tag(&mut archive, WORKBOOK, |tag| {
        if tag.local_name().as_ref() == "sheet" && value(tag, "name").as_deref() == Some(sheet) {
            let mut attributes = tag.attributes();
            let attributes = attributes.with_checks(false).flatten();
            let mut ids = attributes.filter(|it| it.key.local_name().as_ref() == "id");
            id = ids.next().map(|it| it.value.to_string());
        }
    })?;
    let mut part = None;
    each_tag(&mut archive, RELATIONS, |tag| {
        if id.is_some() && value(tag, "Id") == id {
            part = value(tag, "Target");
        }
    })?;
    let Some(part) = part else {
        return Ok(Vec::new());
    };
    let part = match part.strip_prefix('/') {
        Some(part) => part.to_owned(),
        None => format!("{FOLDER}{part}"),
    };
    let (mut next, mut hidden) = (0, Vec::new());
    each_tag(&mut archive, &part, |tag| {
        if tag.local_name().as_ref() != "row" {
            return;
        }
        // a row without a number follows the one before
        let number = value(tag, "r").and_then(|number| number.parse::<u32>().ok());
        let row = number.and_then(|number| number.checked_sub(1));
        let row = row.unwrap_or(next);
        next = row.saturating_add(1);
        if matches!(value(tag, "hidden").as_deref(), Some("1" | "true")) {
            hidden.push(row);
        }
    })?;
    hidden.sort_unstable();
    Ok(hidden)
}

/// Passes each tag of a part; none if there is no such part.
fn each_tag(
    archive: &mut ZipArchive<Cursor<&[u8]>>,
    part: &str,
    mut pass: impl FnMut(&BytesStart<'_>),
) -> Result<(), WorkbookError> {
    let Ok(part) = archive.by_name(part) else {
        return Ok(());
    };
    each_event(BufReader::new(part), |event| {
        if let Event::Start(tag) | Event::Empty(tag) = event {
            pass(tag);
        }
    })
}

fn value(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let attribute = tag.try_get_attribute(name).ok().flatten()?;
    let value = attribute.normalized_value(XmlVersion::Implicit1_0);
    value.ok().map(Cow::into_owned)
}
