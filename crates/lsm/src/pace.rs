//! How fast commits may come, so that they slow down before they would have to wait.
//!
//! A MemGraph should fill no sooner than the flush beside it takes; and, while level 0 is crowded, no
//! sooner than compactions take for what one flush makes. A commit that is early waits until then.

use hedgerow_sync::Mutex;
use hedgerow_sync::atomic::{AtomicBool, AtomicU64, Ordering};
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
    is_flushing: AtomicBool,
    is_compacting: AtomicBool,
    costs: Mutex<Costs>,
    /// Nanoseconds of flushes per MiB of MemGraphs.
    flush_nanos: AtomicU64,
    /// Nanoseconds of compactions per MiB of MemGraphs.
    compaction_nanos: AtomicU64,
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
pub(crate) struct Running<'p>(&'p AtomicBool);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

impl Pace {
    pub(crate) fn new() -> Self {
        Pace {
            filling_since: Mutex::new(Instant::now()),
            is_flushing: AtomicBool::new(false),
            is_compacting: AtomicBool::new(false),
            costs: Mutex::default(),
            flush_nanos: AtomicU64::new(0),
            compaction_nanos: AtomicU64::new(0),
        }
    }

    /// Notes that a MemGraph begins to take commits.
    pub(crate) fn begin_filling(&self) {
        *self.filling_since.lock() = Instant::now();
    }

    /// Notes that a flush runs, until the result is dropped.
    pub(crate) fn begin_flush(&self) -> Running<'_> {
        self.is_flushing.store(true, Ordering::Relaxed);
        Running(&self.is_flushing)
    }

    /// Notes that a compaction runs, until the result is dropped.
    pub(crate) fn begin_compaction(&self) -> Running<'_> {
        self.is_compacting.store(true, Ordering::Relaxed);
        Running(&self.is_compacting)
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

    /// How long a commit should wait while the active MemGraph has this many bytes. O(1).
    #[inline]
    pub(crate) fn pause(&self, active_bytes: usize, is_crowded: bool) -> Option<Duration> {
        let is_flushing = self.is_flushing.load(Ordering::Relaxed);
        let is_behind = is_crowded && self.is_compacting.load(Ordering::Relaxed);
        if is_flushing || is_behind { self.pause_beside(active_bytes, is_flushing, is_behind) } else { None }
    }

    #[cold]
    fn pause_beside(&self, active_bytes: usize, is_flushing: bool, is_behind: bool) -> Option<Duration> {
        let of = |runs: bool, nanos: &AtomicU64| if runs { nanos.load(Ordering::Relaxed) } else { 0 };
        let slower = of(is_flushing, &self.flush_nanos).max(of(is_behind, &self.compaction_nanos));
        let mebibytes = active_bytes as f64 / f64::from(1 << 20);
        let due = Duration::from_nanos((slower as f64 * mebibytes) as u64);
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
        let pace = Pace::new();
        pace.flushed(4 * MIB, Duration::from_secs(40));
        pace.compacted(Duration::from_secs(400));
        assert_eq!(pace.pause(4 * MIB, true), None, "nothing runs");
        let flush = pace.begin_flush();
        assert_eq!(pace.pause(0, false), None, "the MemGraph is empty");
        assert_eq!(pace.pause(MIB, false), Some(LONGEST));
        drop(flush);
        let _compaction = pace.begin_compaction();
        assert_eq!(pace.pause(MIB, false), None, "level 0 has room");
        assert_eq!(pace.pause(MIB / 4, true), Some(LONGEST));
        // Fast flushes outweigh the slow one after a while.
        (0..100).for_each(|_| pace.flushed(100 * MIB, Duration::ZERO));
        pace.begin_filling();
        assert_eq!(pace.pause(MIB, true), None);
    }
}
