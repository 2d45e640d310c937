//! Group commit: rows that are inserted at the same time share a statement and a commit.
//!
//! While a group is in flight to the database, new rows queue for the next group. A row that finds
//! no group in flight is sent immediately, alone. Under load one statement and one commit carry
//! many rows.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use crate::error::PersistenceError;

/// Most rows of one group.
const ROWS: usize = 64;
/// Most bytes in the rows of one group; a single larger row is a group by itself.
const BYTES: usize = 256 * 1024;

/// A group in flight for longer than this no longer holds back the next one: a slow disk, network
/// or lock must not serialise all saves. Quicker groups are cheaper in sequence, since each then
/// carries more rows.
const SLOW: Duration = Duration::from_millis(10);

/// A row that can be inserted together with others.
pub(crate) trait GroupRow: Send + 'static {
    /// Bytes of the row's texts.
    fn bytes(&self) -> usize;

    /// The values on which the row may conflict with other rows.
    fn contended(&self) -> impl Ord + '_;
}

/// Rows that wait to be inserted, and how many groups of them are in flight.
pub(crate) struct GroupCommit<R> {
    groups_at_once: usize,
    queue: Mutex<Queue<R>>,
}

struct Queue<R> {
    rows: VecDeque<QueuedRow<R>>,
    /// Number of leaders that are sending groups now.
    leaders: usize,
    /// When the last group was sent.
    last_sent: Option<Instant>,
}

struct QueuedRow<R> {
    row: R,
    fate: oneshot::Sender<RowFate>,
}

/// The outcome of inserting a row: `true` if it is in the database now, `false` if another row
/// excludes it by a unique constraint. Only a row that was sent alone gets an error. When a group
/// fails, perhaps because of one row among many, its rows get no outcome: insert each of them
/// alone.
pub(crate) type RowFate = Result<bool, PersistenceError>;

/// Rows that are sent together, sorted by the keys on which they may conflict: two groups with
/// common keys then lock them in one order, and cannot deadlock.
pub(crate) struct Group<R> {
    rows: Vec<R>,
    fates: Vec<oneshot::Sender<RowFate>>,
}

/// A group leader, with the right and the duty to send groups until the queue is empty.
pub(crate) struct GroupLeader<R> {
    commit: Arc<GroupCommit<R>>,
    has_ended: bool,
}

impl<R: GroupRow> GroupCommit<R> {
    /// An empty queue that may have this many groups in flight at once, at least one.
    pub(crate) fn new(groups_at_once: usize) -> Self {
        Self {
            groups_at_once: groups_at_once.max(1),
            queue: Mutex::new(Queue {
                rows: VecDeque::new(),
                leaders: 0,
                last_sent: None,
            }),
        }
    }

    /// Queues a row. The channel receives the row's outcome once a leader has sent it. The caller
    /// must run a leader that is returned.
    pub(crate) fn join(
        self: &Arc<Self>,
        row: R,
    ) -> (oneshot::Receiver<RowFate>, Option<GroupLeader<R>>) {
        let (sender, fate) = oneshot::channel();
        let mut queue = self.queue();
        queue.rows.push_back(QueuedRow { row, fate: sender });
        if queue.leaders > 0 && (queue.leaders == self.groups_at_once || !queue.is_slow()) {
            return (fate, None);
        }
        queue.leaders += 1;
        let leader = GroupLeader {
            commit: Arc::clone(self),
            has_ended: false,
        };
        (fate, Some(leader))
    }
}

impl<R> GroupCommit<R> {
    fn queue(&self) -> MutexGuard<'_, Queue<R>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<R> Queue<R> {
    /// Whether the last group was sent at least `SLOW` ago.
    fn is_slow(&self) -> bool {
        self.last_sent.is_some_and(|sent| sent.elapsed() >= SLOW)
    }
}

impl<R: GroupRow> GroupLeader<R> {
    /// The next group to send; `None` when the leader is done.
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
            queue.leaders -= 1;
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

impl<R> Drop for GroupLeader<R> {
    /// An aborted leader drops the queued rows too: perhaps no other leader would send them.
    fn drop(&mut self) {
        if !self.has_ended {
            let mut queue = self.commit.queue();
            queue.leaders -= 1;
            queue.rows.clear();
        }
    }
}

impl<R> Group<R> {
    /// Takes the rows out of the group, once.
    pub(crate) fn take_rows(&mut self) -> Vec<R> {
        std::mem::take(&mut self.rows)
    }

    /// Sends each row its outcome: whether the row is in the database now.
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
            // the receiver is gone when the caller was cancelled
            let _ = sender.send(fate);
        }
    }
}

#[cfg(test)]
mod tests;
