//! Pacing of commits, which slow down before they would have to wait.
//!
//! Filling a MemGraph should take at least as long as the concurrent flush. While level 0 is
//! crowded, it should take at least as long as compactions of the output of one flush, and long
//! enough that level 0 is not full before the running compaction has ended. A commit that is early
//! waits for a part of that time: each piece of the MemGraph has one pause, so that many small
//! commits together wait no longer than a large one.

use hedgerow_sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use hedgerow_sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Minimum pause; a shorter one is left to a later commit, since the next ones need it, too.
const SHORTEST: Duration = Duration::from_millis(1);

/// Maximum pause of a commit.
const LONGEST: Duration = Duration::from_millis(40);

/// Estimated total time of work that takes longer than usual, as a multiple of its time so far.
const LONGER: f64 = 1.25;

/// Maximum bytes of a piece of a MemGraph; a small MemGraph has [`PIECES`] pieces.
const PIECE: usize = 64 << 10;
const PIECES: usize = 64;

/// Number of flushes after which earlier ones count for half.
const REMEMBERED: u32 = 8;

/// Time that deferred work takes per byte that commits add to MemGraphs.
#[derive(Debug)]
pub(crate) struct Pace {
    /// Start of the active MemGraph.
    filling_since: Mutex<Instant>,
    /// Bytes of the active MemGraph up to which commits need not pause again.
    paused_until: AtomicUsize,
    /// Number of flushes that run.
    flushes: Arc<AtomicUsize>,
    /// Number of compactions that run, or wait for a running one.
    compactions: Arc<AtomicUsize>,
    /// Start of the first of the current compactions.
    compacting_since: Mutex<Instant>,
    costs: Mutex<Costs>,
    /// Nanoseconds of flushes per MiB of MemGraphs.
    flush_nanos: AtomicU64,
    /// Nanoseconds of compactions per MiB of MemGraphs.
    compaction_nanos: AtomicU64,
    /// Nanoseconds of a long compaction.
    one_compaction_nanos: AtomicU64,
}

/// Fill level of the active MemGraph.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filling {
    pub(crate) bytes: usize,
    /// Bytes at which the MemGraph is flushed.
    pub(crate) most: usize,
    /// Number of further flushes that level 0 has room for once it is crowded.
    pub(crate) flushes_left: usize,
}

/// Costs of the last flushes, and of the concurrent compactions.
#[derive(Debug, Default)]
struct Costs {
    flushes: u32,
    mebibytes: f64,
    flushing: Duration,
    compacting: Duration,
}

/// Notes the end of a flush or a compaction when it is dropped.
#[derive(Debug)]
pub(crate) struct Running(Arc<AtomicUsize>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Pace {
    pub(crate) fn new() -> Self {
        Pace {
            filling_since: Mutex::new(Instant::now()),
            paused_until: AtomicUsize::new(0),
            flushes: Arc::default(),
            compactions: Arc::default(),
            compacting_since: Mutex::new(Instant::now()),
            costs: Mutex::default(),
            flush_nanos: AtomicU64::new(0),
            compaction_nanos: AtomicU64::new(0),
            one_compaction_nanos: AtomicU64::new(0),
        }
    }

    /// Notes that a MemGraph starts to take commits.
    pub(crate) fn begin_filling(&self) {
        *self.filling_since.lock() = Instant::now();
        self.paused_until.store(0, Ordering::Relaxed);
    }

    /// Notes that a flush runs, until the result is dropped.
    pub(crate) fn begin_flush(&self) -> Running {
        self.flushes.fetch_add(1, Ordering::Relaxed);
        Running(Arc::clone(&self.flushes))
    }

    /// Notes that a compaction runs, until the result is dropped.
    pub(crate) fn begin_compaction(&self) -> Running {
        if self.compactions.fetch_add(1, Ordering::Relaxed) == 0 {
            *self.compacting_since.lock() = Instant::now();
        }
        Running(Arc::clone(&self.compactions))
    }

    /// Learns from a flush of MemGraphs of `bytes`.
    pub(crate) fn flushed(&self, bytes: usize, taken: Duration) {
        self.learn(|costs| {
            if costs.flushes == REMEMBERED {
                costs.flushes /= 2;
                costs.mebibytes /= 2.0;
                costs.flushing /= 2;
                costs.compacting /= 2;
            }
            costs.flushes += 1;
            costs.mebibytes += bytes as f64 / f64::from(1 << 20);
            costs.flushing += taken;
        });
    }

    /// Learns from a compaction.
    pub(crate) fn compacted(&self, taken: Duration) {
        let taken_nanos = taken.as_nanos() as u64;
        let before = self.one_compaction_nanos.load(Ordering::Relaxed);
        self.one_compaction_nanos.store(taken_nanos.max(before / 4 * 3), Ordering::Relaxed);
        self.learn(|costs| costs.compacting += taken);
    }

    fn learn(&self, learn: impl FnOnce(&mut Costs)) {
        let mut costs = self.costs.lock();
        learn(&mut costs);
        if costs.mebibytes > 0.0 {
            let per_mebibyte = |taken: Duration| (taken.as_nanos() as f64 / costs.mebibytes) as u64;
            self.flush_nanos.store(per_mebibyte(costs.flushing), Ordering::Relaxed);
            self.compaction_nanos.store(per_mebibyte(costs.compacting), Ordering::Relaxed);
        }
    }

    /// Returns the time that a commit should wait, given the fill level of the active MemGraph.
    /// O(1).
    #[inline]
    pub(crate) fn pause(&self, active: Filling, is_crowded: bool) -> Option<Duration> {
        let is_flushing = self.flushes.load(Ordering::Relaxed) > 0;
        let is_behind = is_crowded && self.compactions.load(Ordering::Relaxed) > 0;
        let paused_until = self.paused_until.load(Ordering::Relaxed);
        // A commit that paused in the previous MemGraph may have stored a much larger number.
        let is_new = active.bytes >= paused_until || paused_until - active.bytes > PIECE;
        match is_new && (is_flushing || is_behind) {
            true => self.pause_beside(active, is_flushing, is_behind),
            false => None,
        }
    }

    #[cold]
    fn pause_beside(&self, active: Filling, is_flushing: bool, is_behind: bool) -> Option<Duration> {
        let of =
            |runs: bool, nanos: &AtomicU64| if runs { nanos.load(Ordering::Relaxed) as f64 } else { 0.0 };
        let mebibytes = active.bytes as f64 / f64::from(1 << 20);
        let filled = active.bytes as f64 / active.most.max(1) as f64;
        // The MemGraph is as old as the flush.
        let age = self.filling_since.lock().elapsed();
        let for_long_flush = if is_flushing { LONGER * age.as_nanos() as f64 * filled } else { 0.0 };
        let for_flush = of(is_flushing, &self.flush_nanos) * mebibytes;
        let for_compactions = of(is_behind, &self.compaction_nanos) * mebibytes;
        let part = filled / active.flushes_left.max(1) as f64;
        let so_far = self.compacting_since.lock().elapsed().as_nanos() as f64;
        let one_compaction = self.one_compaction_nanos.load(Ordering::Relaxed) as f64;
        let for_one_compaction = if is_behind { one_compaction.max(LONGER * so_far) * part } else { 0.0 };
        let due = for_flush.max(for_long_flush).max(for_compactions).max(for_one_compaction);
        let early = Duration::from_nanos(due as u64).saturating_sub(age);
        (early >= SHORTEST).then(|| {
            let piece = PIECE.min(active.most / PIECES);
            self.paused_until.store(active.bytes + piece, Ordering::Relaxed);
            early.min(LONGEST)
        })
    }
}

#[cfg(all(test, not(hedgerow_shuttle)))]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    #[test]
    fn commits_wait_only_beside_work_that_would_take_longer() {
        let filled = |bytes| Filling { bytes, most: 4 * MIB, flushes_left: 4 };
        let pace = Pace::new();
        pace.flushed(4 * MIB, Duration::from_secs(40));
        pace.compacted(Duration::from_secs(400));
        assert_eq!(pace.pause(filled(4 * MIB), true), None, "nothing runs");
        let flush = pace.begin_flush();
        assert_eq!(pace.pause(filled(0), false), None, "the MemGraph is empty");
        assert_eq!(pace.pause(filled(MIB), false), Some(LONGEST));
        assert_eq!(pace.pause(filled(MIB + PIECE - 1), false), None, "the piece had its pause");
        assert_eq!(pace.pause(filled(MIB + PIECE), false), Some(LONGEST));
        drop(flush);
        pace.begin_filling();
        let _compaction = pace.begin_compaction();
        assert_eq!(pace.pause(filled(MIB / 4), false), None, "level 0 has room");
        assert_eq!(pace.pause(filled(MIB / 4), true), Some(LONGEST));
        // Fast flushes outweigh the slow one after a while.
        (0..100).for_each(|_| pace.flushed(100 * MIB, Duration::ZERO));
        pace.begin_filling();
        (0..100).for_each(|_| pace.compacted(Duration::ZERO));
        let with_room = Filling { flushes_left: usize::MAX, ..filled(MIB) };
        assert_eq!(pace.pause(with_room, true), None, "however long this compaction has taken");
        // Four MemGraphs should take as long as this compaction.
        pace.compacted(Duration::from_secs(40));
        (0..100).for_each(|_| pace.flushed(1 << 40, Duration::ZERO));
        assert_eq!(pace.pause(filled(4 * MIB), true), Some(LONGEST));
    }

    #[test]
    fn commits_wait_for_work_that_takes_longer_than_before() {
        let filled = |bytes| Filling { bytes, most: 4 * MIB, flushes_left: 1 };
        let pace = Pace::new();
        let flush = pace.begin_flush();
        let compaction = pace.begin_compaction();
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(pace.pause(filled(MIB), true), None, "the MemGraph fills no faster");
        assert!(pace.pause(filled(4 * MIB), false).is_some(), "it is full, and the flush not done");
        drop(flush);
        pace.begin_filling();
        assert!(pace.pause(filled(4 * MIB), true).is_some(), "the compaction began long before");
        drop(compaction);
        assert_eq!(pace.pause(filled(4 * MIB), true), None);
    }
}
