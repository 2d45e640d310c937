//! The memory in which a process reads workbooks.
//!
//! What a workbook takes in memory is not known from the size of its file, and is kept while its
//! rows are read. So each reader reserves it first, and gives it back once others wait: a run whose
//! model is slow reads its file for hours.
//!
//! Errors of workbooks.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Upper bound on the workbooks that a process reads at once.
const MOST_READERS: usize = 2;
/// Upper bound on the readers that wait: each holds a thread.
const MOST_WAITING: usize = 32;
/// Longest time that a reader waits.
const PATIENCE: Duration = Duration::from_mins(1);
/// How long a reader reads before it gives way to others that wait. To go on, it reads the file again
/// up to where it was.
const TURN: Duration = Duration::from_secs(5);

/// The memory budget of a process for the workbooks that it reads. Clones share it.
#[derive(Clone, Debug)]
pub struct WorkbookBudget(Arc<SharedBudget>);

#[derive(Debug)]
struct SharedBudget {
    bytes: usize,
    patience: Duration,
    turn: Duration,
    state: Mutex<BudgetState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct BudgetState {
    held: usize,
    readers: usize,
    /// The tickets of those who wait, in their order.
    queue: VecDeque<u64>,
    next_ticket: u64,
}

/// Memory reserved for the reading of one workbook, released on drop.
#[derive(Debug)]
pub(crate) struct WorkbookRoom {
    budget: WorkbookBudget,
    bytes: usize,
}

impl WorkbookBudget {
    /// A budget of this many bytes. A workbook that takes more is read alone.
    pub fn of_bytes(bytes: usize) -> Self {
        Self::with_times(bytes, PATIENCE, TURN)
    }

    pub(crate) fn with_times(bytes: usize, patience: Duration, turn: Duration) -> Self {
        Self(Arc::new(SharedBudget {
            bytes,
            patience,
            turn,
            state: Mutex::default(),
            changed: Condvar::new(),
        }))
    }

    /// Waits for room for a reader that takes this many bytes. Blocks the thread.
    pub(crate) fn room(&self, bytes: usize) -> Result<WorkbookRoom, WorkbookError> {
        let shared = &*self.0;
        let bytes = bytes.min(shared.bytes);
        let deadline = Instant::now() + shared.patience;
        let mut state = self.state();
        if state.queue.len() >= MOST_WAITING {
            return Err(WorkbookError::Busy);
        }
        let ticket = state.next_ticket;
        state.next_ticket += 1;
        state.queue.push_back(ticket);
        loop {
            let is_first = state.queue.front() == Some(&ticket);
            let fits = state.held + bytes <= shared.bytes && state.readers < MOST_READERS;
            let left = deadline.saturating_duration_since(Instant::now());
            if (is_first && fits) || left.is_zero() {
                state.queue.retain(|waiting| *waiting != ticket);
                shared.changed.notify_all();
                if !(is_first && fits) {
                    return Err(WorkbookError::Busy);
                }
                state.held += bytes;
                state.readers += 1;
                let budget = self.clone();
                return Ok(WorkbookRoom { budget, bytes });
            }
            let waited = shared.changed.wait_timeout(state, left);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// How long a reader reads before it gives way to others that wait.
    pub(crate) fn turn(&self) -> Duration {
        self.0.turn
    }

    /// Whether somebody waits for room.
    pub(crate) fn is_wanted(&self) -> bool {
        !self.state().queue.is_empty()
    }

    /// Counts stay right if a thread panics: nothing panics while they change.
    fn state(&self) -> MutexGuard<'_, BudgetState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for WorkbookRoom {
    fn drop(&mut self) {
        let mut state = self.budget.state();
        state.held = state.held.saturating_sub(self.bytes);
        state.readers = state.readers.saturating_sub(1);
        drop(state);
        self.budget.0.changed.notify_all();
    }
}

/// Why a workbook cannot be read. The text repeats no cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WorkbookError {
    /// The file is too large.
    #[error("it has over 32 MiB, too many for a workbook: save the table as CSV in UTF-8")]
    TooLarge,
    /// The parts of the file are too large once they are unpacked.
    #[error("it unpacks to over 256 MiB, too many for a workbook: save the table as CSV in UTF-8")]
    UnpacksTooLarge,
    /// The table of texts is too large: it is kept in memory.
    #[error("its texts have over 32 MiB, too many for a workbook: save the table as CSV in UTF-8")]
    TextsTooLarge,
    /// A part that has no rows is too large: the reader keeps far more than its bytes.
    #[error(
        "its styles, names or relations have over 1 MiB, too many for a workbook: save the table as \
         CSV in UTF-8"
    )]
    PartTooLarge,
    /// Other workbooks are being read, and this one waited too long.
    #[error("other workbooks are being read: try again in a minute")]
    Busy,
    /// The file is a ZIP archive of another kind.
    #[error("it is a ZIP archive and no Excel workbook (.xlsx): save the table as CSV in UTF-8")]
    NoWorkbook,
    /// The workbook has no visible sheet of cells.
    #[error("the workbook has no visible sheet with cells")]
    NoSheet,
    /// The workbook is damaged.
    #[error("the workbook is damaged: save the table as CSV in UTF-8")]
    Damaged,
    /// A row is longer than 16 MiB.
    #[error("row {row} of the sheet has over 16 MiB")]
    LongRow {
        /// The row's number in the sheet.
        row: u64,
    },
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    const KIB: usize = 1024;

    #[test]
    fn two_readers_within_the_bytes_have_room_and_others_wait_in_their_order() {
        let budget = WorkbookBudget::of_bytes(100 * KIB);
        let small = budget.room(10 * KIB).unwrap();
        let other = budget.room(10 * KIB).unwrap();
        assert!(!budget.is_wanted());
        let (sender, got_room) = std::sync::mpsc::channel();
        let wait_for = |bytes: usize, waiting: usize| {
            let (waiter, sender) = (budget.clone(), sender.clone());
            let thread = thread::spawn(move || {
                let room = waiter.room(bytes).unwrap();
                sender.send(bytes).unwrap();
                drop(room);
            });
            while budget.state().queue.len() < waiting {
                thread::yield_now();
            }
            thread
        };
        // more than all gets all, and a later small one does not overtake it
        let threads = [wait_for(500 * KIB, 1), wait_for(KIB, 2)];
        drop(small);
        assert!(budget.is_wanted());
        assert!(got_room.try_recv().is_err());
        drop(other);
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(got_room.try_iter().collect::<Vec<_>>(), [500 * KIB, KIB]);
        let state = budget.state();
        assert_eq!((state.held, state.readers), (0, 0));
    }

    #[test]
    fn a_reader_waits_no_longer_than_its_patience() {
        let budget = WorkbookBudget::with_times(KIB, Duration::ZERO, TURN);
        let room = budget.room(KIB).unwrap();
        assert_eq!(budget.room(1).err(), Some(WorkbookError::Busy));
        assert!(!budget.is_wanted());
        drop(room);
        assert!(budget.room(1).is_ok());
        budget.state().queue.extend(0..32);
        assert_eq!(budget.room(1).err(), Some(WorkbookError::Busy));
    }
}
