//! Group commit: rows that are inserted at the same time share a statement and a commit.
//!
//! While a group is in flight to the database, the rows that come queue for the next one. A row
//! that comes alone goes at once, alone. Under load one statement and one commit carry many rows.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use crate::error::PersistenceError;

/// Most rows of one group.
const ROWS: usize = 64;
/// Most bytes in the rows of one group, unless one row alone has more.
const BYTES: usize = 256 * 1024;

/// A group in flight for longer than this no longer holds back the next one: a slow disk, network
/// or lock must not serialise all saves. Quicker groups are cheaper one after the other, and larger.
const SLOW: Duration = Duration::from_millis(10);

/// A row that can be inserted together with others.
pub(crate) trait GroupRow: Send + 'static {
    /// Bytes of the row's texts.
    fn bytes(&self) -> usize;

    /// The values that the row may contend for with other rows.
    fn contended(&self) -> impl Ord + '_;
}

/// Rows that wait to be inserted, and how many groups of them are in flight.
pub(crate) struct GroupCommit<R> {
    groups_at_once: usize,
    queue: Mutex<Queue<R>>,
}

struct Queue<R> {
    rows: VecDeque<QueuedRow<R>>,
    /// Turns that send groups now.
    turns: usize,
    /// When the last group was sent.
    last_sent: Option<Instant>,
}

struct QueuedRow<R> {
    row: R,
    fate: oneshot::Sender<RowFate>,
}

/// What became of a row: whether it is in the database now, or another row excludes it. An error
/// is that of a row that went alone. After a group failed, perhaps because of one row among many,
/// no fate is sent: each of its rows should go alone.
pub(crate) type RowFate = Result<bool, PersistenceError>;

/// Rows that go out together. Every group has its rows in the order of what they contend for: two
/// groups that contend for the same keys then wait for each other in one direction only.
pub(crate) struct Group<R> {
    rows: Vec<R>,
    fates: Vec<oneshot::Sender<RowFate>>,
}

/// The right and the duty to send groups until the queue is empty.
pub(crate) struct Turn<R> {
    commit: Arc<GroupCommit<R>>,
    has_ended: bool,
}

impl<R: GroupRow> GroupCommit<R> {
    /// An empty queue, of which this many groups may be in flight at once, at least one.
    pub(crate) fn new(groups_at_once: usize) -> Self {
        Self {
            groups_at_once: groups_at_once.max(1),
            queue: Mutex::new(Queue {
                rows: VecDeque::new(),
                turns: 0,
                last_sent: None,
            }),
        }
    }

    /// Queues a row. Its fate comes by the channel once a turn has sent it; a turn that is returned
    /// is the caller's to run.
    pub(crate) fn join(self: &Arc<Self>, row: R) -> (oneshot::Receiver<RowFate>, Option<Turn<R>>) {
        let (sender, fate) = oneshot::channel();
        let mut queue = self.queue();
        queue.rows.push_back(QueuedRow { row, fate: sender });
        if queue.turns > 0 && (queue.turns == self.groups_at_once || !queue.is_slow()) {
            return (fate, None);
        }
        queue.turns += 1;
        let turn = Turn {
            commit: Arc::clone(self),
            has_ended: false,
        };
        (fate, Some(turn))
    }
}

impl<R> GroupCommit<R> {
    fn queue(&self) -> MutexGuard<'_, Queue<R>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<R> Queue<R> {
    /// Whether the group in flight has been so for long.
    fn is_slow(&self) -> bool {
        self.last_sent.is_some_and(|sent| sent.elapsed() >= SLOW)
    }
}

impl<R: GroupRow> Turn<R> {
    /// The rows that go next; `None` ends the turn.
    pub(crate) fn next_group(&mut self) -> Option<Group<R>> {
        let mut queue = self.commit.queue();
        let mut group = Vec::new();
        let mut bytes = 0;
        while let Some(next) = queue.rows.front() {
            bytes += next.row.bytes();
            let is_full = group.len() == ROWS || bytes > BYTES;
            if is_full && !group.is_empty() {
                break;
            }
            group.extend(queue.rows.pop_front());
        }
        if group.is_empty() {
            queue.turns -= 1;
            drop(queue);
            self.has_ended = true;
            return None;
        }
        queue.last_sent = Some(Instant::now());
        drop(queue);
        group.sort_unstable_by(|one, other| one.row.contended().cmp(&other.row.contended()));
        let (rows, fates) = group.into_iter().map(|one| (one.row, one.fate)).unzip();
        Some(Group { rows, fates })
    }
}

impl<R> Drop for Turn<R> {
    /// A turn that is broken off gives up the rows in the queue too: no other turn may come.
    fn drop(&mut self) {
        if !self.has_ended {
            let mut queue = self.commit.queue();
            queue.turns -= 1;
            queue.rows.clear();
        }
    }
}

impl<R> Group<R> {
    /// The rows, once.
    pub(crate) fn take_rows(&mut self) -> Vec<R> {
        std::mem::take(&mut self.rows)
    }

    /// Sends each row its fate: whether the insertion left it in the database.
    pub(crate) fn tell(self, inserted: Result<Vec<bool>, PersistenceError>) {
        let known: Vec<RowFate> = match inserted {
            Ok(inserted) => inserted.into_iter().map(Ok).collect(),
            Err(error) if self.fates.len() == 1 => vec![Err(error)],
            Err(error) => {
                tracing::debug!(%error, rows = self.fates.len(), "a group of results was not saved");
                return;
            }
        };
        for (sender, fate) in self.fates.into_iter().zip(known) {
            // a caller that has gone away needs no fate
            let _ = sender.send(fate);
        }
    }
}

#[cfg(test)]
mod tests;
