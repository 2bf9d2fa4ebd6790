//! How fast commits may come, so that they slow down before they would have to wait.
//!
//! A MemGraph should fill no sooner than the flush beside it takes. While level 0 is crowded, it should
//! fill no sooner than compactions take for what one flush makes, nor so soon that level 0 is full before
//! the compaction that runs has ended. A commit that is early waits until then.

use hedgerow_sync::Mutex;
use hedgerow_sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A shorter pause is left to a later commit: the next ones need it, too.
const SHORTEST: Duration = Duration::from_millis(1);

/// No commit waits for longer.
const LONGEST: Duration = Duration::from_millis(10);

/// Flushes after which what came before counts for half.
const REMEMBERED: u32 = 8;

/// How long deferred work takes per byte that commits add to MemGraphs.
#[derive(Debug)]
pub(crate) struct Pace {
    /// When the active MemGraph began.
    filling_since: Mutex<Instant>,
    /// Flushes that run.
    flushes: AtomicUsize,
    /// Compactions that run, or wait for one.
    compactions: AtomicUsize,
    costs: Mutex<Costs>,
    /// Nanoseconds of flushes per MiB of MemGraphs.
    flush_nanos: AtomicU64,
    /// Nanoseconds of compactions per MiB of MemGraphs.
    compaction_nanos: AtomicU64,
    /// Nanoseconds of a long compaction.
    one_compaction_nanos: AtomicU64,
}

/// How full the active MemGraph is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filling {
    pub(crate) bytes: usize,
    /// Bytes at which it is flushed.
    pub(crate) most: usize,
    /// How many more flushes level 0 has room for once it is crowded.
    pub(crate) flushes_left: usize,
}

/// Of the last flushes, and of the compactions beside them.
#[derive(Debug, Default)]
struct Costs {
    flushes: u32,
    mebibytes: f64,
    flushing: Duration,
    compacting: Duration,
}

/// Notes the end of a flush or a compaction when it is dropped.
pub(crate) struct Running<'p>(&'p AtomicUsize);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Pace {
    pub(crate) fn new() -> Self {
        Pace {
            filling_since: Mutex::new(Instant::now()),
            flushes: AtomicUsize::new(0),
            compactions: AtomicUsize::new(0),
            costs: Mutex::default(),
            flush_nanos: AtomicU64::new(0),
            compaction_nanos: AtomicU64::new(0),
            one_compaction_nanos: AtomicU64::new(0),
        }
    }

    /// Notes that a MemGraph begins to take commits.
    pub(crate) fn begin_filling(&self) {
        *self.filling_since.lock() = Instant::now();
    }

    /// Notes that a flush runs, until the result is dropped.
    pub(crate) fn begin_flush(&self) -> Running<'_> {
        self.flushes.fetch_add(1, Ordering::Relaxed);
        Running(&self.flushes)
    }

    /// Notes that a compaction runs, until the result is dropped.
    pub(crate) fn begin_compaction(&self) -> Running<'_> {
        self.compactions.fetch_add(1, Ordering::Relaxed);
        Running(&self.compactions)
    }

    /// Learns from a flush of MemGraphs of this many bytes.
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

    /// How long a commit should wait while the active MemGraph is this full. O(1).
    #[inline]
    pub(crate) fn pause(&self, active: Filling, is_crowded: bool) -> Option<Duration> {
        let is_flushing = self.flushes.load(Ordering::Relaxed) > 0;
        let is_behind = is_crowded && self.compactions.load(Ordering::Relaxed) > 0;
        if is_flushing || is_behind { self.pause_beside(active, is_flushing, is_behind) } else { None }
    }

    #[cold]
    fn pause_beside(&self, active: Filling, is_flushing: bool, is_behind: bool) -> Option<Duration> {
        let of =
            |runs: bool, nanos: &AtomicU64| if runs { nanos.load(Ordering::Relaxed) as f64 } else { 0.0 };
        let mebibytes = active.bytes as f64 / f64::from(1 << 20);
        let for_flush = of(is_flushing, &self.flush_nanos) * mebibytes;
        let for_compactions = of(is_behind, &self.compaction_nanos) * mebibytes;
        let part = active.bytes as f64 / active.most.max(1) as f64 / active.flushes_left.max(1) as f64;
        let for_one_compaction = of(is_behind, &self.one_compaction_nanos) * part;
        let due = Duration::from_nanos(for_flush.max(for_compactions).max(for_one_compaction) as u64);
        let early = due.saturating_sub(self.filling_since.lock().elapsed());
        (early >= SHORTEST).then_some(early.min(LONGEST))
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
        drop(flush);
        let _compaction = pace.begin_compaction();
        assert_eq!(pace.pause(filled(MIB), false), None, "level 0 has room");
        assert_eq!(pace.pause(filled(MIB / 4), true), Some(LONGEST));
        // Fast flushes outweigh the slow one after a while.
        (0..100).for_each(|_| pace.flushed(100 * MIB, Duration::ZERO));
        pace.begin_filling();
        (0..100).for_each(|_| pace.compacted(Duration::ZERO));
        assert_eq!(pace.pause(filled(MIB), true), None);
        // Four MemGraphs should take as long as this one.
        pace.compacted(Duration::from_secs(40));
        (0..100).for_each(|_| pace.flushed(1 << 40, Duration::ZERO));
        assert_eq!(pace.pause(filled(4 * MIB), true), Some(LONGEST));
    }
}
