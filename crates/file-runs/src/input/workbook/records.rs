//! Reads a sheet on a thread of its own, row by row.
//!
//! The reader of sheets borrows from its workbook, so both live on the thread's stack. A panic there
//! is an error of the file here, because the thread ends without its last message.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::{Duration, Instant};

use calamine::{Reader as _, Sheet, SheetType, SheetVisible};
use csv::ByteRecord;

use super::cell_text::cell_text;
use super::source::{LoadedWorkbook, WorkbookSource};
use crate::input::raw_row::{OddCell, ROW_BYTES};
use crate::input::{InputError, WorkbookError, listed};

/// Upper bound on the rows in a message.
const MOST_ROWS: usize = 64;
/// Size in bytes of cells at which a message ends.
const MOST_BYTES: usize = 256 * 1024;
/// Number of messages that are read ahead.
const AHEAD: usize = 2;
/// How often, at last, a reader whose messages are not taken looks whether others wait.
const LOOK: Duration = Duration::from_millis(20);

/// The rows of a sheet that have a cell with text. The first is the header; the others have at least
/// as many cells.
pub(crate) struct SheetRecords {
    messages: Receiver<SheetMessage>,
    rows: std::vec::IntoIter<SheetRow>,
    /// The odd cells of the row read last, with their columns from 0.
    odd_cells: Vec<(usize, OddCell)>,
    /// Whether a spreadsheet does not show the row read last.
    is_hidden: bool,
    /// Whether the thread has sent its last row.
    has_ended: bool,
}

/// The sheet of a workbook that is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReadSheet {
    /// The sheet's name.
    pub(crate) name: String,
    /// Whether a spreadsheet does not show the sheet.
    pub(crate) is_hidden: bool,
    /// The names of the workbook's sheets of cells.
    pub(crate) names: Vec<String>,
}

enum SheetMessage {
    Found(ReadSheet),
    Rows(Vec<SheetRow>),
    End(Result<(), InputError>),
}

/// How the reading of a workbook ended.
enum ReadEnd {
    /// These are the last rows.
    Last(Vec<SheetRow>),
    /// Nobody needs more rows.
    Unneeded,
    /// Others wait for the room: these rows are to be sent, and the others read later.
    GaveWay(Vec<SheetRow>),
}

/// A row of the sheet.
struct SheetRow {
    /// The row's number in the sheet, from 1.
    number: u64,
    is_hidden: bool,
    cells: ByteRecord,
    odd_cells: Vec<(usize, OddCell)>,
}

impl SheetRecords {
    /// Finds the sheet and starts to read it.
    pub(crate) fn begin(workbook: &WorkbookSource) -> Result<(ReadSheet, Self), InputError> {
        let (sender, messages) = sync_channel(AHEAD);
        let source = workbook.clone();
        let thread = std::thread::Builder::new().name("refract-sheet".to_owned());
        let started = thread.spawn(move || {
            let end = read_sheet(&source, &sender);
            // the channel is closed if nobody needs more rows
            let _ = sender.send(SheetMessage::End(end));
        });
        started.map_err(InputError::Unopened)?;
        let mut records = Self {
            messages,
            rows: Vec::new().into_iter(),
            odd_cells: Vec::new(),
            is_hidden: false,
            has_ended: false,
        };
        match records.receive()? {
            SheetMessage::Found(sheet) => Ok((sheet, records)),
            SheetMessage::Rows(_) | SheetMessage::End(_) => Err(WorkbookError::Damaged.into()),
        }
    }

    /// The odd cells of the row read last, with their columns from 0.
    pub(crate) fn odd_cells(&self) -> &[(usize, OddCell)] {
        &self.odd_cells
    }

    /// Whether a spreadsheet does not show the row read last.
    pub(crate) fn is_hidden(&self) -> bool {
        self.is_hidden
    }

    /// Reads the next row and returns its number; `None` after the last.
    pub(crate) fn next(&mut self, record: &mut ByteRecord) -> Result<Option<u64>, InputError> {
        loop {
            if let Some(row) = self.rows.next() {
                *record = row.cells;
                self.odd_cells = row.odd_cells;
                self.is_hidden = row.is_hidden;
                return Ok(Some(row.number));
            }
            if self.has_ended {
                return Ok(None);
            }
            match self.receive()? {
                SheetMessage::Found(_) => {}
                SheetMessage::Rows(rows) => self.rows = rows.into_iter(),
                SheetMessage::End(_) => self.has_ended = true,
            }
        }
    }

    /// The next message that is no error.
    fn receive(&mut self) -> Result<SheetMessage, InputError> {
        let message = self.messages.recv();
        match message.map_err(|_| WorkbookError::Damaged)? {
            SheetMessage::End(Err(error)) => Err(error),
            message @ (SheetMessage::End(Ok(()))
            | SheetMessage::Found(_)
            | SheetMessage::Rows(_)) => Ok(message),
        }
    }
}

/// Sends the sheet's name, then its rows, until nobody needs more. Gives its room to others that
/// wait while rows are not taken, and goes on after that.
fn read_sheet(
    source: &WorkbookSource,
    sender: &SyncSender<SheetMessage>,
) -> Result<(), InputError> {
    let mut rows = RowGatherer {
        hidden_rows: Arc::clone(&source.hidden_rows),
        skips_hidden: source.choice.skips_hidden_rows,
        ..RowGatherer::default()
    };
    let mut is_found = false;
    loop {
        // nothing of the workbook is in memory while the rows wait to be taken
        let loaded = source.load()?;
        let sheet = source.choice.sheet.as_deref();
        let (read, is_last) = match read_on(loaded, sheet, &mut rows, &mut is_found, sender)? {
            ReadEnd::Last(read) => (read, true),
            ReadEnd::GaveWay(read) => (read, false),
            ReadEnd::Unneeded => return Ok(()),
        };
        if sender.send(SheetMessage::Rows(read)).is_err() || is_last {
            return Ok(());
        }
        rows.drop_row();
    }
}

/// Reads a workbook from the row that was not read to its end.
fn read_on(
    loaded: LoadedWorkbook,
    sheet: Option<&str>,
    rows: &mut RowGatherer,
    is_found: &mut bool,
    sender: &SyncSender<SheetMessage>,
) -> Result<ReadEnd, InputError> {
    let LoadedWorkbook { mut workbook, turn } = loaded;
    let sheet = chosen_sheet(workbook.sheets_metadata(), sheet)?;
    let cells = workbook.worksheet_cells_reader(&sheet.name);
    let mut cells = cells.map_err(|_| WorkbookError::Damaged)?;
    if !std::mem::replace(is_found, true) && sender.send(SheetMessage::Found(sheet)).is_err() {
        return Ok(ReadEnd::Unneeded);
    }
    let from = rows.row;
    loop {
        let cell = cells.next_cell_with_formula_metadata();
        let Some(cell) = cell.map_err(|_| WorkbookError::Damaged)? else {
            break;
        };
        if cell.pos.0 < from {
            continue;
        }
        let odd = OddCell::of(&cell.value, cell.formula.is_some());
        rows.add(cell.pos, &cell_text(&cell.value), odd)?;
        let Some(mut full) = rows.full() else {
            continue;
        };
        let (began, mut look) = (Instant::now(), LOOK / 200);
        loop {
            if turn.is_over(began.elapsed()) {
                return Ok(ReadEnd::GaveWay(full));
            }
            match sender.try_send(SheetMessage::Rows(full)) {
                Ok(()) => break,
                Err(TrySendError::Full(SheetMessage::Rows(unsent))) => full = unsent,
                Err(_) => return Ok(ReadEnd::Unneeded),
            }
            std::thread::sleep(look);
            look = (look * 2).min(LOOK);
        }
    }
    Ok(ReadEnd::Last(rows.end()))
}

/// The sheet of this name in any case, or the first visible one. A hidden one must be named.
fn chosen_sheet(sheets: &[Sheet], wanted: Option<&str>) -> Result<ReadSheet, InputError> {
    let of_cells = sheets
        .iter()
        .filter(|sheet| sheet.typ == SheetType::WorkSheet);
    let names: Vec<_> = of_cells.clone().map(|sheet| sheet.name.clone()).collect();
    let found = match wanted {
        None => of_cells
            .clone()
            .find(|sheet| sheet.visible == SheetVisible::Visible)
            .ok_or(WorkbookError::NoSheet)?,
        Some(wanted) => {
            let is_wanted = |sheet: &&Sheet| sheet.name.to_lowercase() == wanted.to_lowercase();
            let missing = || InputError::NoSuchSheet {
                sheets: listed(&names),
            };
            of_cells.clone().find(is_wanted).ok_or_else(missing)?
        }
    };
    Ok(ReadSheet {
        name: found.name.clone(),
        is_hidden: found.visible != SheetVisible::Visible,
        names,
    })
}

/// Gathers cells into rows and rows into messages.
#[derive(Default)]
struct RowGatherer {
    /// Number of columns, once the header is read.
    width: Option<usize>,
    /// The row being read, and its cells up to the last one with text.
    row: u32,
    cells: Vec<String>,
    odd_cells: Vec<(usize, OddCell)>,
    cell_bytes: usize,
    rows: Vec<SheetRow>,
    bytes: usize,
    hidden_rows: Arc<[u32]>,
    skips_hidden: bool,
}

impl RowGatherer {
    /// Adds a cell. Cells come row by row, and those of a row from left to right.
    fn add(
        &mut self,
        (row, column): (u32, u32),
        text: &str,
        odd: Option<OddCell>,
    ) -> Result<(), WorkbookError> {
        if row < self.row {
            return Err(WorkbookError::Damaged);
        }
        if row > self.row {
            self.end_row();
            self.row = row;
        }
        if text.is_empty() && odd.is_none() {
            return Ok(());
        }
        let column = usize::try_from(column).map_err(|_| WorkbookError::Damaged)?;
        // a spreadsheet has 16,384 columns
        if column < self.cells.len() || column >= 16_384 {
            return Err(WorkbookError::Damaged);
        }
        self.odd_cells.extend(odd.map(|odd| (column, odd)));
        self.cell_bytes += text.len();
        if u64::try_from(self.cell_bytes).is_ok_and(|bytes| bytes > ROW_BYTES) {
            let row = u64::from(row) + 1;
            return Err(WorkbookError::LongRow { row });
        }
        self.cells.resize(column, String::new());
        self.cells.push(text.to_owned());
        Ok(())
    }

    /// Ends the row that was read, and drops it if it has no text.
    fn end_row(&mut self) {
        let mut cells = std::mem::take(&mut self.cells);
        let bytes = std::mem::take(&mut self.cell_bytes);
        let odd_cells = std::mem::take(&mut self.odd_cells);
        // a row of nothing but formulas without a value is counted, unless it stands above the header
        let is_blank = cells.iter().all(|cell| cell.trim().is_empty());
        if is_blank && (odd_cells.is_empty() || self.width.is_none()) {
            return;
        }
        // a hidden header is the header all the same
        let is_hidden = self.width.is_some() && self.hidden_rows.binary_search(&self.row).is_ok();
        if is_hidden && self.skips_hidden {
            return;
        }
        let width = *self.width.get_or_insert(cells.len());
        while cells.len() > width && cells.last().is_some_and(|cell| cell.trim().is_empty()) {
            cells.pop();
        }
        if cells.len() < width {
            cells.resize(width, String::new());
        }
        // a record also keeps the end of each cell
        self.bytes += bytes + (cells.len() + 2 * odd_cells.len()) * size_of::<usize>();
        self.rows.push(SheetRow {
            number: u64::from(self.row) + 1,
            is_hidden,
            cells: ByteRecord::from(cells),
            odd_cells,
        });
    }

    /// The rows so far, if they fill a message.
    fn full(&mut self) -> Option<Vec<SheetRow>> {
        let is_full = self.rows.len() >= MOST_ROWS || self.bytes >= MOST_BYTES;
        is_full.then(|| {
            self.bytes = 0;
            std::mem::take(&mut self.rows)
        })
    }

    /// Forgets the cells of the row being read, which is read again.
    fn drop_row(&mut self) {
        self.cells.clear();
        self.odd_cells.clear();
        self.cell_bytes = 0;
    }

    /// The last rows.
    fn end(&mut self) -> Vec<SheetRow> {
        self.end_row();
        std::mem::take(&mut self.rows)
    }
}
