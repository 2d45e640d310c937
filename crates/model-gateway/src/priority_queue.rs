//! A queue of requests that wait for the same thing: by priority, then in order of arrival.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Which requests wait least. Requests of equal priority keep their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum CallPriority {
    /// Somebody waits for the answer: a call of the API or a text tried by a person.
    #[default]
    Interactive,
    /// Nobody waits for this answer alone: a row of a file, or one of many results.
    Batch,
}

/// The waiting requests, shared by all threads.
#[derive(Debug, Default)]
pub(crate) struct PriorityQueue {
    waiting: Mutex<WaitingRequests>,
    /// Number of waiting requests, to be read without the lock.
    count: AtomicUsize,
}

#[derive(Debug, Default)]
struct WaitingRequests {
    interactive: VecDeque<Arc<Notify>>,
    batch: VecDeque<Arc<Notify>>,
}

impl WaitingRequests {
    fn head(&self) -> Option<&Arc<Notify>> {
        self.interactive.front().or_else(|| self.batch.front())
    }

    fn of(&mut self, priority: CallPriority) -> &mut VecDeque<Arc<Notify>> {
        match priority {
            CallPriority::Interactive => &mut self.interactive,
            CallPriority::Batch => &mut self.batch,
        }
    }
}

impl PriorityQueue {
    /// Number of waiting requests.
    pub(crate) fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// Waits until no request has precedence, then for `take`. A request that gets precedence
    /// meanwhile interrupts `take`, which begins again afterwards.
    pub(crate) async fn take_in_order<T, F: Future<Output = T>>(
        &self,
        priority: CallPriority,
        take: impl Fn() -> F,
    ) -> T {
        let place = QueuePlace::join(self, priority);
        loop {
            let changed = place.wakes.notified();
            if place.is_head() {
                tokio::select! {
                    biased;
                    taken = take() => return taken,
                    () = changed => {}
                }
            } else {
                changed.await;
            }
        }
    }

    fn waiting(&self) -> MutexGuard<'_, WaitingRequests> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The place of a waiting request. Dropping it leaves the queue.
struct QueuePlace<'a> {
    queue: &'a PriorityQueue,
    priority: CallPriority,
    /// Notified when this request may have become the head of the queue, or is no longer.
    wakes: Arc<Notify>,
}

impl<'a> QueuePlace<'a> {
    fn join(queue: &'a PriorityQueue, priority: CallPriority) -> Self {
        let wakes = Arc::new(Notify::new());
        let mut waiting = queue.waiting();
        let head = waiting.head().cloned();
        waiting.of(priority).push_back(Arc::clone(&wakes));
        queue.count.fetch_add(1, Ordering::Relaxed);
        let is_head = waiting.head().is_some_and(|head| Arc::ptr_eq(head, &wakes));
        if let (true, Some(passed)) = (is_head, head) {
            passed.notify_one();
        }
        Self {
            queue,
            priority,
            wakes,
        }
    }

    fn is_head(&self) -> bool {
        let waiting = self.queue.waiting();
        waiting
            .head()
            .is_some_and(|head| Arc::ptr_eq(head, &self.wakes))
    }
}

impl Drop for QueuePlace<'_> {
    fn drop(&mut self) {
        let mut waiting = self.queue.waiting();
        let of_priority = waiting.of(self.priority);
        if let Some(index) = of_priority
            .iter()
            .position(|other| Arc::ptr_eq(other, &self.wakes))
        {
            of_priority.remove(index);
        }
        self.queue.count.fetch_sub(1, Ordering::Relaxed);
        if let Some(head) = waiting.head() {
            head.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use tokio::sync::Semaphore;
    use tokio::task::LocalSet;

    use super::*;

    /// Lets every other task of the thread run until it waits.
    async fn settle() {
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn interactive_requests_pass_those_of_a_batch_and_each_kind_keeps_its_order() {
        let tasks = LocalSet::new();
        let queue = Rc::new(PriorityQueue::default());
        let free = Rc::new(Semaphore::new(0));
        let order = Rc::new(RefCell::new(Vec::new()));
        tasks
            .run_until(async {
                for (name, priority) in [
                    ("row 1", CallPriority::Batch),
                    ("row 2", CallPriority::Batch),
                    ("call 1", CallPriority::Interactive),
                    ("row 3", CallPriority::Batch),
                    ("call 2", CallPriority::Interactive),
                ] {
                    let (queue, free, order) =
                        (Rc::clone(&queue), Rc::clone(&free), Rc::clone(&order));
                    tasks.spawn_local(async move {
                        let permit = queue.take_in_order(priority, || free.acquire()).await;
                        drop(permit.unwrap());
                        order.borrow_mut().push(name);
                    });
                    settle().await;
                }
                assert_eq!(queue.count(), 5);
                free.add_permits(1);
                settle().await;
            })
            .await;
        assert_eq!(
            *order.borrow(),
            ["call 1", "call 2", "row 1", "row 2", "row 3"]
        );
        assert_eq!(queue.count(), 0);
    }

    #[tokio::test]
    async fn a_request_that_is_abandoned_leaves_its_place_to_the_next() {
        let tasks = LocalSet::new();
        let queue = Rc::new(PriorityQueue::default());
        let free = Rc::new(Semaphore::new(0));
        tasks
            .run_until(async {
                let wait = || {
                    let (queue, free) = (Rc::clone(&queue), Rc::clone(&free));
                    tasks.spawn_local(async move {
                        let permit = queue.take_in_order(CallPriority::Batch, || free.acquire());
                        drop(permit.await.unwrap());
                    })
                };
                let (first, second) = (wait(), wait());
                settle().await;
                first.abort();
                settle().await;
                assert_eq!(queue.count(), 1);
                free.add_permits(1);
                second.await.unwrap();
            })
            .await;
        assert_eq!((free.available_permits(), queue.count()), (1, 0));
    }
}
