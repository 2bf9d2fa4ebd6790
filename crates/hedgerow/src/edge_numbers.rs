//! Numbers for parallel edges, drawn from the clock.

use hedgerow_sync::atomic::{AtomicU64, Ordering};
use std::ops::Range;
use std::time::{SystemTime, UNIX_EPOCH};

/// Numbers per microsecond. The largest time that fits is in the year 2112.
const PER_MICROSECOND: u64 = 1 << 12;

/// Returns a number larger than all that were drawn before in this process: the time, or the last
/// number plus 1 if that is larger.
pub(crate) fn draw() -> u64 {
    draw_some(1).start
}

/// Draws `count` numbers that follow each other.
pub(crate) fn draw_some(count: u64) -> Range<u64> {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let time = (since_epoch.as_micros() as u64).saturating_mul(PER_MICROSECOND);
    let first = |last: u64| time.max(last.wrapping_add(1));
    let last = |last: u64| Some(first(last).wrapping_add(count.saturating_sub(1)));
    // Relaxed: the number orders nothing else.
    let first = first(LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, last).unwrap_or_default());
    first..first.wrapping_add(count)
}

#[cfg(all(test, not(hedgerow_shuttle)))]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::thread;

    #[test]
    fn numbers_ascend_and_are_distinct() {
        let draw_many = || (0..10_000).map(|_| draw()).collect::<Vec<_>>();
        let drawn = thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(draw_many)).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect::<Vec<_>>()
        });
        assert!(drawn.iter().all(|numbers| numbers.is_sorted()));
        assert_eq!(drawn.iter().flatten().collect::<HashSet<_>>().len(), 40_000);
        let some = draw_some(1 << 20);
        assert!(some.end - some.start == 1 << 20 && draw() >= some.end);
    }
}
