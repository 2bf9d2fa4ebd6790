//! Checkpoints while a stream is read: other processes read the graph from them, and without them
//! the log of an endless stream would fill the disk.

use crate::stored::checkpoint::When;
use hedgerow::kernels::CancelToken;
use hedgerow::{CheckpointOptions, Error, ErrorKind, Graph};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Bytes up to which the log grows in any case.
pub const LONG_LOG: u64 = 32 << 20;

/// The time between two looks at the log.
const LOOK: Duration = Duration::from_millis(500);

/// Calls `work`, and if `when` is `Auto`, writes a checkpoint beside it each time that the log has
/// grown by `long` bytes and by those of the last checkpoint. The first checkpoint that fails is
/// the last, and is reported at once.
pub fn beside<T>(
    when: When,
    graph: &Graph,
    long: u64,
    report: impl FnOnce(Error) + Send,
    work: impl FnOnce() -> T,
) -> T {
    let (over, is_over) = channel::<()>();
    let stop = CancelToken::new();
    let options = CheckpointOptions::new().cancelled_by(&stop);
    let write_all = move || {
        // Bytes that the last checkpoint left, for subscriptions and past states.
        let mut kept = 0;
        while is_over.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
            let Some(info) = graph.store_info() else { return };
            let enough = info.checkpoint.map_or(long, |checkpoint| checkpoint.length.max(long));
            if info.log_bytes.saturating_sub(kept) <= enough {
                continue;
            }
            match graph.checkpoint(&options) {
                Ok(_) => kept = graph.store_info().map_or(0, |info| info.log_bytes),
                Err(error) if error.kind() == ErrorKind::Cancelled => return,
                Err(error) => return report(error),
            }
        }
    };
    thread::scope(|scope| {
        if when == When::Auto {
            scope.spawn(write_all);
        }
        let result = work();
        stop.cancel();
        drop(over);
        result
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow::GraphOptions;
    use std::time::Instant;

    #[test]
    fn a_long_log_becomes_a_checkpoint_while_it_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let options = GraphOptions::new().label::<()>("follows").segment_bytes(1 << 14);
        let graph = options.create(folder.path()).unwrap();
        let follows = graph.label::<()>("follows").unwrap();
        let checkpoint = || graph.store_info().unwrap().checkpoint;
        let fails = |error: Error| panic!("{error}");
        for (when, seconds) in [(When::Never, 2), (When::Auto, 60)] {
            beside(when, &graph, 1 << 12, fails, || {
                let begun = Instant::now();
                while checkpoint().is_none() && begun.elapsed().as_secs() < seconds {
                    graph.ingest(follows, &[(1, 2), (2, 3)]).unwrap();
                }
            });
            assert_eq!(checkpoint().is_some(), when == When::Auto);
        }
    }
}
