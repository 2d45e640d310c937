//! The memory budget, in bytes, for bodies, forms and pages made from forms in one process.
//!
//! A body reserves its largest size in advance, and a holder of room in a share never waits for
//! more of that share. So half-read bodies cannot deadlock.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bytes for each permit of a share.
const KIB: usize = 1024;
/// The smallest budget, in MiB: with less, the shares would have room for too few bodies at a time.
const LEAST_MIB: usize = 32;
/// The default budget, in MiB.
const USUAL_MIB: usize = 256;
/// The largest body that may use the share of small bodies.
const SMALL_BYTES: usize = 64 * KIB;

/// The memory budget of this process for all bodies and forms in flight and for pages made from
/// forms. Requests without room wait. Clones share one budget.
///
/// One eighth is reserved for bodies of up to 64 KiB, so that large bodies never block them. One
/// quarter is for pages. The rest is for bodies of any size. The reading of workbooks may take one
/// eighth more, and keeps its own account.
#[derive(Clone, Debug)]
pub struct BodyBudget(Arc<BudgetShares>);

/// The budget is below the smallest one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} MiB is too little for the bodies and forms under way: give at least {LEAST_MIB}")]
pub struct BudgetTooSmall(usize);

/// Room in a budget, released on drop.
#[derive(Debug)]
pub struct HeldRoom(Option<OwnedSemaphorePermit>);

#[derive(Debug)]
struct BudgetShares {
    kib: usize,
    small: BudgetShare,
    any: BudgetShare,
    pages: BudgetShare,
    workbooks: usize,
    waiting: AtomicUsize,
}

#[derive(Debug)]
struct BudgetShare {
    room: Arc<Semaphore>,
    permits: u32,
}

/// A request that waits for room, counted until the value is dropped.
struct CountedWait<'a>(&'a AtomicUsize);

impl BodyBudget {
    /// A budget of `mib` MiB.
    ///
    /// # Errors
    /// [`BudgetTooSmall`] below 32 MiB.
    pub fn of_mib(mib: usize) -> Result<Self, BudgetTooSmall> {
        if mib < LEAST_MIB {
            return Err(BudgetTooSmall(mib));
        }
        Ok(Self::of_kib(mib.saturating_mul(KIB)))
    }

    fn of_kib(kib: usize) -> Self {
        let (small, pages, workbooks) = (kib / 8, kib / 4, kib / 8);
        Self(Arc::new(BudgetShares {
            kib,
            small: BudgetShare::of_kib(small),
            any: BudgetShare::of_kib(kib - small - pages),
            pages: BudgetShare::of_kib(pages),
            workbooks: workbooks.saturating_mul(KIB),
            waiting: AtomicUsize::new(0),
        }))
    }

    /// Waits for room for a body of `bytes` bytes, held in memory `copies` times while it is read
    /// and used. A body larger than a whole share gets the whole share.
    pub async fn room_for_body(&self, bytes: usize, copies: usize) -> HeldRoom {
        let held = bytes.saturating_mul(copies);
        let BudgetShares { small, any, .. } = &*self.0;
        if bytes > SMALL_BYTES {
            return self.room_in(any, held).await;
        }
        match small.room_now(held).or_else(|| any.room_now(held)) {
            Some(room) => room,
            None => self.room_in(small, held).await,
        }
    }

    /// Waits for room for a page of `bytes` bytes made from a form. A holder of room for a form may
    /// wait for room for a page, but not vice versa.
    pub async fn room_for_page(&self, bytes: usize) -> HeldRoom {
        self.room_in(&self.0.pages, bytes).await
    }

    /// The bytes of the budget that are for the reading of workbooks.
    pub fn workbook_bytes(&self) -> usize {
        self.0.workbooks
    }

    /// The size of the whole budget in MiB.
    pub(crate) fn mib(&self) -> usize {
        self.0.kib / KIB
    }

    /// The bytes that are reserved now.
    pub fn held_bytes(&self) -> usize {
        let shares = [&self.0.small, &self.0.any, &self.0.pages];
        shares.into_iter().map(BudgetShare::held_bytes).sum()
    }

    /// The number of bodies, forms and pages that wait for room now.
    pub fn waiting(&self) -> usize {
        self.0.waiting.load(Ordering::Relaxed)
    }

    async fn room_in(&self, share: &BudgetShare, bytes: usize) -> HeldRoom {
        if let Some(room) = share.room_now(bytes) {
            return room;
        }
        let _counted = CountedWait::begin(&self.0.waiting);
        let room = Arc::clone(&share.room);
        // the semaphore is never closed, so there is always a permit
        HeldRoom(room.acquire_many_owned(share.permits_for(bytes)).await.ok())
    }
}

impl Default for BodyBudget {
    fn default() -> Self {
        Self::of_kib(USUAL_MIB * KIB)
    }
}

impl BudgetShare {
    fn of_kib(kib: usize) -> Self {
        let most = Semaphore::MAX_PERMITS.min(u32::MAX.try_into().unwrap_or(usize::MAX));
        let permits = kib.clamp(1, most);
        Self {
            room: Arc::new(Semaphore::new(permits)),
            permits: u32::try_from(permits).unwrap_or(u32::MAX),
        }
    }

    fn permits_for(&self, bytes: usize) -> u32 {
        let kib = u32::try_from(bytes.div_ceil(KIB)).unwrap_or(u32::MAX);
        kib.min(self.permits)
    }

    fn room_now(&self, bytes: usize) -> Option<HeldRoom> {
        let room = Arc::clone(&self.room);
        let permit = room.try_acquire_many_owned(self.permits_for(bytes)).ok()?;
        Some(HeldRoom(Some(permit)))
    }

    fn held_bytes(&self) -> usize {
        let permits = usize::try_from(self.permits).unwrap_or(usize::MAX);
        (permits - self.room.available_permits().min(permits)) * KIB
    }
}

impl HeldRoom {
    /// Releases everything beyond `bytes` bytes.
    pub fn shrink_to(&mut self, bytes: usize) {
        if let Some(permit) = &mut self.0 {
            let beyond = permit.num_permits().saturating_sub(bytes.div_ceil(KIB));
            drop(permit.split(beyond));
        }
    }
}

impl<'a> CountedWait<'a> {
    fn begin(waiting: &'a AtomicUsize) -> Self {
        waiting.fetch_add(1, Ordering::Relaxed);
        Self(waiting)
    }
}

impl Drop for CountedWait<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    const MIB: usize = 1024 * KIB;

    /// Takes room that is available now; never waits.
    fn body(budget: &BodyBudget, bytes: usize) -> Option<HeldRoom> {
        budget.room_for_body(bytes, 1).now_or_never()
    }

    #[test]
    fn a_budget_that_holds_too_little_is_refused() {
        assert_eq!(
            BodyBudget::of_mib(31).unwrap_err().to_string(),
            "31 MiB is too little for the bodies and forms under way: give at least 32"
        );
        assert!(BodyBudget::of_mib(32).is_ok());
        assert!(BodyBudget::of_mib(usize::MAX).is_ok());
    }

    #[test]
    fn large_bodies_wait_for_room_and_never_hold_small_ones_up() {
        let budget = BodyBudget::of_mib(32).unwrap();
        let mut large: Vec<_> = (0..20).map(|_| body(&budget, MIB).unwrap()).collect();
        assert_eq!(budget.held_bytes(), 20 * MIB);
        let mut next = Box::pin(budget.room_for_body(MIB, 1));
        assert!((&mut next).now_or_never().is_none());
        assert_eq!(budget.waiting(), 1);
        let small: Vec<_> = (0..64).filter_map(|_| body(&budget, 64 * KIB)).collect();
        assert_eq!(small.len(), 64, "4 MiB are for small bodies alone");
        assert!(body(&budget, 1).is_none());
        large.pop();
        assert!(next.now_or_never().is_some());
        drop((large, small));
        assert_eq!((budget.held_bytes(), budget.waiting()), (0, 0));
    }

    #[test]
    fn small_bodies_use_the_room_that_large_ones_leave() {
        let budget = BodyBudget::of_mib(32).unwrap();
        let small: Vec<_> = (0..400).filter_map(|_| body(&budget, 64 * KIB)).collect();
        assert_eq!(small.len(), (4 + 20) * 16);
        assert!(budget.room_for_page(8 * MIB).now_or_never().is_some());
    }

    #[test]
    fn who_stops_waiting_takes_no_room() {
        let budget = BodyBudget::of_mib(32).unwrap();
        let all = body(&budget, 20 * MIB).unwrap();
        let mut waiting = Box::pin(budget.room_for_body(MIB, 1));
        assert!((&mut waiting).now_or_never().is_none());
        drop(waiting);
        drop(all);
        assert_eq!((budget.held_bytes(), budget.waiting()), (0, 0));
    }

    #[test]
    fn what_is_larger_than_its_share_gets_the_whole_share() {
        let budget = BodyBudget::of_mib(32).unwrap();
        let room = budget.room_for_body(20 * MIB, 4).now_or_never().unwrap();
        assert_eq!(budget.held_bytes(), 20 * MIB);
        assert!(body(&budget, MIB).is_none());
        drop(room);
        assert!(body(&budget, MIB).is_some());
    }

    #[test]
    fn room_that_is_not_needed_is_given_back() {
        let budget = BodyBudget::default();
        let mut room = body(&budget, MIB).unwrap();
        room.shrink_to(10 * KIB + 1);
        assert_eq!(budget.held_bytes(), 11 * KIB);
        room.shrink_to(MIB);
        assert_eq!(budget.held_bytes(), 11 * KIB);
        room.shrink_to(0);
        assert_eq!(budget.held_bytes(), 0);
    }
}
