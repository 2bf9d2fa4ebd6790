//! Locks of units: a table of stripes, locked in ascending order.
//!
//! A commit that takes many stripes (a bulk write, or the deletion of a vertex with many neighbors)
//! would wait at each stripe for a stream of commits that take one or two; the more threads per
//! core, the longer. So it takes its stripes in a [turn](Gate): commits that hold no lock yet wait
//! until it holds them all.
//!
//! A commit that neither reads changes of other commits nor depends on the order of its own and
//! their changes needs no unit locks: it [appends](LockGuard::append). Appending commits run
//! concurrently with each other, but never with a commit that locks units, to which they look like
//! a commit that holds all locks.

use crate::appenders::{Appenders, OngoingAppend};
use crate::gate::Gate;
use crate::sequencer::Sequencer;
use hedgerow_model::LockUnit;
use hedgerow_model::token::HeldLocks;
use hedgerow_sync::RawLock;
use smallvec::SmallVec;
use std::borrow::Borrow;

/// Locks of any number of units. Units on the same stripe share its lock.
pub struct LockTable {
    stripes: Box<[RawLock]>,
    gate: Gate,
    /// `None` if no commit appends.
    appenders: Option<Appenders>,
}

/// A commit that takes at least this number of stripes takes them in a turn.
const MANY: usize = if cfg!(hedgerow_shuttle) { 3 } else { 64 };

/// The stripes that a guard holds, ascending.
pub type Stripes = SmallVec<[u32; 4]>;

impl LockTable {
    /// Creates a table of `stripes` locks. `stripes` must be a power of two.
    pub fn new(stripes: usize) -> Self {
        assert!(stripes.is_power_of_two() && u32::try_from(stripes).is_ok());
        let stripes = (0..stripes).map(|_| RawLock::default()).collect();
        LockTable { stripes, gate: Gate::default(), appenders: None }
    }

    /// Like [`LockTable::new`], but commits may also [append](LockGuard::append). Takes one padded
    /// counter per core, which every locking commit reads.
    pub fn with_appenders(stripes: usize) -> Self {
        LockTable { appenders: Some(Appenders::new()), ..LockTable::new(stripes) }
    }

    #[inline]
    fn mask(&self) -> u32 {
        // At most 2^32 - 1, as the constructor checked.
        (self.stripes.len() - 1) as u32
    }

    /// The stripe of a unit.
    #[inline]
    pub fn stripe(&self, unit: LockUnit) -> u32 {
        unit.0 & self.mask()
    }

    /// The stripe of a unit, as a list for a guard.
    #[inline]
    pub fn one(&self, unit: LockUnit) -> Stripes {
        Stripes::from_buf_and_len([self.stripe(unit), 0, 0, 0], 1)
    }

    /// The stripes of two units, ascending, without duplicates.
    #[inline]
    pub fn two(&self, one: LockUnit, other: LockUnit) -> Stripes {
        let (one, other) = (self.stripe(one), self.stripe(other));
        Stripes::from_buf_and_len([one.min(other), one.max(other), 0, 0], 1 + usize::from(one != other))
    }

    /// The stripes of `units`, ascending, without duplicates. O(n log n), or O(n + stripes) if the
    /// size hint is above 1/16 of the table.
    pub fn stripes(&self, units: impl Iterator<Item = LockUnit>) -> Stripes {
        if units.size_hint().0 > self.stripes.len() / 16 {
            let mut wanted = vec![false; self.stripes.len()];
            units.for_each(|unit| wanted[self.stripe(unit) as usize] = true);
            return (0..=self.mask()).filter(|stripe| wanted[*stripe as usize]).collect();
        }
        let mut stripes: Stripes = units.map(|unit| self.stripe(unit)).collect();
        stripes.sort_unstable();
        stripes.dedup();
        stripes
    }

    /// Runs `work`, which reclaims, under the lock of `unit` if the lock is free. Returns true if
    /// it was free. `work` takes the newest state from `sequencer` on demand.
    pub fn try_with(
        &self,
        unit: LockUnit,
        sequencer: &Sequencer,
        work: &mut dyn FnMut(&HeldLocks<'_>),
    ) -> bool {
        let stripe = self.stripe(unit);
        if !self.stripes[stripe as usize].try_lock() {
            return false;
        }
        let mut guard =
            LockGuard { table: self, stripes: SmallVec::from_slice(&[stripe]), beside: ConcurrentWith::All };
        work(&guard.held(sequencer));
        true
    }

    /// Locks `stripes`, which ascend, waiting as needed.
    #[inline(always)]
    fn lock(&self, stripes: &[u32]) {
        debug_assert!(stripes.windows(2).all(|pair| pair[0] < pair[1]));
        if stripes.len() < MANY {
            self.gate.pass();
            self.lock_each(stripes);
        } else {
            self.lock_in_turn(stripes);
        }
    }

    #[inline]
    fn lock_each(&self, stripes: &[u32]) {
        stripes.iter().for_each(|stripe| self.stripes[*stripe as usize].lock());
    }

    /// Locks `stripes` in a turn.
    #[cold]
    fn lock_in_turn(&self, stripes: &[u32]) {
        self.gate.in_turn(|| self.lock_each(stripes));
    }

    /// The list of all stripes, ascending.
    pub fn all(&self) -> Stripes {
        (0..=self.mask()).collect()
    }
}

/// Held locks, released on drop; or the right to [append](LockGuard::append).
///
/// Every thread takes its stripes in ascending order, and takes no second guard of a table while it
/// holds one, so no two threads deadlock.
pub struct LockGuard<T: Borrow<LockTable>> {
    table: T,
    stripes: Stripes,
    beside: ConcurrentWith,
}

/// The commits with which a guard is held concurrently.
enum ConcurrentWith {
    /// Locking commits; no commit appends.
    Locking,
    /// Appending commits; no commit locks units.
    Appending(OngoingAppend),
    /// All commits.
    All,
}

impl<T: Borrow<LockTable>> LockGuard<T> {
    /// Locks `stripes`, which ascend, waiting as needed.
    #[inline(always)]
    pub fn lock(table: T, stripes: Stripes) -> Self {
        let locks = table.borrow();
        let beside = match &locks.appenders {
            Some(appenders) => {
                appenders.keep_out();
                ConcurrentWith::Locking
            }
            None => ConcurrentWith::All,
        };
        locks.lock(&stripes);
        LockGuard { table, stripes, beside }
    }

    /// Enters without a lock: until the guard is dropped, other commits append or wait. The thread
    /// must take no other guard of the table in the meantime: it would wait for this one. Returns
    /// `None` if a commit holds locks or waits for them, and for tables
    /// [without](LockTable::with_appenders) appending commits. O(1), without waiting.
    #[inline]
    pub fn append(table: T) -> Option<Self> {
        let entered = table.borrow().appenders.as_ref()?.enter()?;
        Some(LockGuard { table, stripes: Stripes::new(), beside: ConcurrentWith::Appending(entered) })
    }

    /// Returns true if this is the right to [append](LockGuard::append).
    pub fn appends(&self) -> bool {
        matches!(self.beside, ConcurrentWith::Appending(_))
    }

    /// Locks `stripes`, which ascend, against other appending commits and against reclamation. The
    /// guard must hold no stripe yet.
    pub fn lock_more(&mut self, stripes: Stripes) {
        assert!(self.stripes.is_empty(), "stripes are locked in one order");
        self.table.borrow().lock(&stripes);
        self.stripes = stripes;
    }

    /// The held stripes.
    pub fn stripes(&self) -> &[u32] {
        &self.stripes
    }

    /// Returns true if the lock of `unit` is held. O(log n).
    pub fn covers(&self, unit: LockUnit) -> bool {
        self.stripes.binary_search(&self.table.borrow().stripe(unit)).is_ok()
    }

    /// Releases the locks. Returns their list for reuse.
    pub fn release(mut self) -> Stripes {
        self.unlock()
    }

    /// Releases every held lock. Returns their list.
    fn unlock(&mut self) -> Stripes {
        let stripes = std::mem::take(&mut self.stripes);
        for stripe in stripes.iter().rev() {
            // SAFETY: the guard took this lock when it was made, no other code releases it, and the
            // guard's list is empty now.
            unsafe { self.table.borrow().stripes[*stripe as usize].unlock() }
        }
        let beside = std::mem::replace(&mut self.beside, ConcurrentWith::All);
        if let Some(appenders) = &self.table.borrow().appenders {
            match beside {
                ConcurrentWith::Locking => appenders.stop_keeping_out(),
                ConcurrentWith::Appending(entered) => appenders.leave(&entered),
                ConcurrentWith::All => {}
            }
        }
        stripes
    }

    /// Returns the proof for engines that the locks are held, of which there is one at a time. The
    /// proof takes the newest state from `sequencer` on demand.
    #[inline]
    pub fn held<'l>(&'l mut self, sequencer: &'l Sequencer) -> HeldLocks<'l> {
        let table = self.table.borrow();
        if self.stripes.len() == table.stripes.len() {
            // SAFETY: every stripe is held until the guard drops, which the result cannot outlive.
            return unsafe { HeldLocks::all(sequencer) };
        }
        // SAFETY: these stripes are held until the guard drops, and they ascend.
        unsafe { HeldLocks::stripes(&self.stripes, table.mask(), sequencer) }
    }
}

impl<T: Borrow<LockTable>> Drop for LockGuard<T> {
    fn drop(&mut self) {
        self.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow_sync::Mutex;

    #[test]
    fn stripes_ascend_without_duplicates() {
        let table = LockTable::new(64);
        for count in [0, 1, 3, 4, 5, 63, 1000] {
            let units = (0..count).map(|unit| LockUnit(unit * 7 % 130));
            let stripes = table.stripes(units.clone());
            let expected: std::collections::BTreeSet<u32> = units.map(|unit| unit.0 % 64).collect();
            assert_eq!(stripes.to_vec(), expected.into_iter().collect::<Vec<_>>());
        }
        for (one, other) in [(3, 9), (9, 3), (5, 5), (5, 69)] {
            let units = [LockUnit(one), LockUnit(other)];
            assert_eq!(table.two(units[0], units[1]), table.stripes(units.into_iter()));
            assert_eq!(table.one(units[0]), table.stripes(units[..1].iter().copied()));
        }
    }

    /// A commit that takes all locks waits for commits that hold a lock, but not for later commits.
    #[test]
    fn a_commit_with_many_locks_goes_before_later_commits() {
        let (table, order) = (LockTable::new(MANY), Mutex::new(Vec::new()));
        let take = |name, stripes| {
            let guard = LockGuard::lock(&table, stripes);
            order.lock().push(name);
            drop(guard);
        };
        let last = table.one(LockUnit(MANY as u32 - 1));
        let first_comer = LockGuard::lock(&table, last.clone());
        std::thread::scope(|scope| {
            scope.spawn(|| take("many", table.all()));
            while table.gate.turns() == 0 {
                std::thread::yield_now();
            }
            scope.spawn(|| take("one", last.clone()));
            while table.gate.waiting() == 0 {
                std::thread::yield_now();
            }
            drop(first_comer);
        });
        assert_eq!(*order.lock(), ["many", "one"]);
    }

    #[test]
    fn commits_append_beside_each_other_but_beside_no_commit_with_locks() {
        let table = LockTable::with_appenders(8);
        let stripes = |unit| table.one(LockUnit(unit));
        let locked = LockGuard::lock(&table, stripes(1));
        assert!(LockGuard::append(&table).is_none());
        drop(locked);
        let mut one = LockGuard::append(&table).unwrap();
        let mut other = LockGuard::append(&table).unwrap();
        one.lock_more(stripes(1));
        other.lock_more(stripes(2));
        assert!(one.appends() && one.covers(LockUnit(1)) && !one.covers(LockUnit(2)));
        let is_locked = Mutex::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let _guard = LockGuard::lock(&table, stripes(3));
                *is_locked.lock() = true;
            });
            while LockGuard::append(&table).is_some() {
                std::thread::yield_now();
            }
            drop(one);
            assert!(!*is_locked.lock());
            drop(other);
        });
        assert!(*is_locked.lock());
        assert_eq!(LockGuard::append(&table).unwrap().release(), Stripes::new());
        assert!(LockGuard::append(&table).is_some());
        let without = LockTable::new(8);
        assert!(LockGuard::append(&without).is_none());
    }

    #[test]
    fn a_guard_releases_what_it_took() {
        let table = LockTable::new(8);
        let guard = LockGuard::lock(&table, table.stripes([LockUnit(9), LockUnit(2)].into_iter()));
        assert!(guard.covers(LockUnit(1)) && guard.covers(LockUnit(10)) && !guard.covers(LockUnit(3)));
        let sequencer = Sequencer::default();
        assert!(!table.try_with(LockUnit(17), &sequencer, &mut |_| ()));
        drop(guard);
        assert!(table.try_with(LockUnit(17), &sequencer, &mut |held| assert!(held.covers(LockUnit(1)))));
        drop(LockGuard::lock(&table, table.all()));
    }
}
