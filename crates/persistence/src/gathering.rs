//! Rows that wait to be inserted, and how they go out in groups.
//!
//! While a group is on its way to the database, the rows that come gather for the next one. No row
//! waits for company: one that comes alone goes at once, alone. Under load one statement and one
//! commit carry many rows ("group commit").

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use crate::error::PersistenceError;
use crate::result_rows::ResultRow;

/// Rows of one group, at most.
const ROWS: usize = 64;
/// Bytes of their texts, at most, unless one row alone has more.
const BYTES: usize = 256 * 1024;

/// So long a group may be on its way before another need not wait for it: those that are quick are
/// cheaper one after the other, larger, and those that are not wait for a disk, a network or a lock.
const QUICK: Duration = Duration::from_millis(10);

/// Where rows wait.
pub(crate) struct Gathering {
    groups_at_once: usize,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Waiting>,
    /// Turns that send groups now.
    turns: usize,
    /// When the last group went.
    went: Option<Instant>,
}

struct Waiting {
    row: ResultRow,
    told: oneshot::Sender<Fate>,
}

/// What became of a row: whether it is in the database now, or another was there that excludes it.
/// An error is that of a row that went alone. Nobody is told anything when a group failed, perhaps
/// because of one row among many: then each should go alone.
type Fate = Result<bool, PersistenceError>;

/// Rows that go out together, in the order in which every group has them: two groups that contend
/// for the same keys then wait for each other in one direction only.
pub(crate) struct Group {
    rows: Vec<ResultRow>,
    told: Vec<oneshot::Sender<Fate>>,
}

/// The right and the duty to send groups until no row waits.
pub(crate) struct Turn {
    gathering: Arc<Gathering>,
    has_ended: bool,
}

impl Gathering {
    /// Nobody waits yet; so many groups may be on their way at the same time, at least one.
    pub(crate) fn new(groups_at_once: usize) -> Self {
        Self {
            groups_at_once: groups_at_once.max(1),
            queue: Mutex::default(),
        }
    }

    /// Adds a row. Its fate comes by the channel, if somebody sends it: when there is a turn with
    /// it, the caller has to see to that.
    pub(crate) fn join(
        self: &Arc<Self>,
        row: ResultRow,
    ) -> (oneshot::Receiver<Fate>, Option<Turn>) {
        let (told, fate) = oneshot::channel();
        let mut queue = self.queue();
        queue.waiting.push_back(Waiting { row, told });
        if queue.turns > 0 && (queue.turns == self.groups_at_once || queue.is_quick()) {
            return (fate, None);
        }
        queue.turns += 1;
        let turn = Turn {
            gathering: Arc::clone(self),
            has_ended: false,
        };
        (fate, Some(turn))
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    fn is_quick(&self) -> bool {
        self.went.is_none_or(|went| went.elapsed() < QUICK)
    }
}

impl Turn {
    /// The rows that go next; `None` ends the turn.
    pub(crate) fn next_group(&mut self) -> Option<Group> {
        let mut queue = self.gathering.queue();
        let mut group = Vec::new();
        let mut bytes = 0;
        while let Some(next) = queue.waiting.front() {
            bytes += next.row.text_bytes();
            let is_full = group.len() == ROWS || bytes > BYTES;
            if is_full && !group.is_empty() {
                break;
            }
            group.extend(queue.waiting.pop_front());
        }
        if group.is_empty() {
            queue.turns -= 1;
            drop(queue);
            self.has_ended = true;
            return None;
        }
        queue.went = Some(Instant::now());
        drop(queue);
        group.sort_unstable_by(|one, other| one.row.contended().cmp(&other.row.contended()));
        let (rows, told) = group.into_iter().map(|one| (one.row, one.told)).unzip();
        Some(Group { rows, told })
    }
}

impl Drop for Turn {
    /// A turn that is broken off gives up those who wait too: nobody else may come to send them.
    fn drop(&mut self) {
        if !self.has_ended {
            let mut queue = self.gathering.queue();
            queue.turns -= 1;
            queue.waiting.clear();
        }
    }
}

impl Group {
    /// The rows, once.
    pub(crate) fn take_rows(&mut self) -> Vec<ResultRow> {
        std::mem::take(&mut self.rows)
    }

    /// Tells everybody what the insertion came to: of each row, whether it is in the database.
    pub(crate) fn tell(self, inserted: Result<Vec<bool>, PersistenceError>) {
        let fates: Vec<Fate> = match inserted {
            Ok(inserted) => inserted.into_iter().map(Ok).collect(),
            Err(error) if self.told.len() == 1 => vec![Err(error)],
            Err(error) => {
                tracing::debug!(%error, rows = self.told.len(), "a group of results was not saved");
                return;
            }
        };
        for (told, fate) in self.told.into_iter().zip(fates) {
            // whoever has stopped waiting need not know
            let _ = told.send(fate);
        }
    }
}

#[cfg(test)]
mod tests;
