//! Timestamp, counts and input position of the graph, tracked without the engine: at the newest
//! timestamp, and at the timestamps that snapshots may open next.

use hedgerow_model::{CommitTimestamp, Counts};
use hedgerow_sync::Arc;
use std::collections::VecDeque;

/// The state of the graph at a timestamp, as far as the sequencer tracks it.
#[derive(Clone, Debug, Default)]
pub struct Head {
    /// The timestamp.
    pub at: CommitTimestamp,
    /// The size of the graph.
    pub counts: Counts,
    /// The wall-clock time of the commit, in microseconds since 1970-01-01 UTC; never before the
    /// time of an earlier commit. 0 in memory without history.
    pub wall_clock: u64,
    /// The position of the last importer, in its own format.
    pub input: Option<Arc<[u8]>>,
}

/// Heads at the ends of log batches, ascending: the last end that is known to be durable, and the
/// later ends. Does not contain the newest stamp.
#[derive(Debug, Default)]
pub(crate) struct FormerHeads(VecDeque<Head>);

impl FormerHeads {
    /// Adds the head at the end of a batch, which is newer than all others.
    pub(crate) fn push(&mut self, head: Head) {
        debug_assert!(self.0.back().is_none_or(|newest| newest.at < head.at));
        self.0.push_back(head);
    }

    /// Forgets the heads that no snapshot can open any more, given that everything up to `durable`
    /// is durable. Returns their number. Amortized O(1).
    pub(crate) fn forget_before(&mut self, durable: CommitTimestamp, newest: CommitTimestamp) -> usize {
        let kept = if durable >= newest {
            self.0.len()
        } else {
            self.0.partition_point(|head| head.at <= durable).saturating_sub(1)
        };
        self.0.drain(..kept).count()
    }

    /// The oldest head that was not forgotten.
    pub(crate) fn oldest(&self) -> Option<&Head> {
        self.0.front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_durable_end_is_kept_and_those_before_it_are_not() {
        let mut heads = FormerHeads::default();
        let head = |at| Head { at: CommitTimestamp(at), ..Head::default() };
        [3, 5, 9].into_iter().for_each(|at| heads.push(head(at)));
        let oldest = |heads: &FormerHeads| heads.oldest().map(|head| head.at.0);
        assert_eq!(
            (heads.forget_before(CommitTimestamp(3), CommitTimestamp(12)), oldest(&heads)),
            (0, Some(3))
        );
        assert_eq!(
            (heads.forget_before(CommitTimestamp(9), CommitTimestamp(12)), oldest(&heads)),
            (2, Some(9))
        );
        assert_eq!(
            (heads.forget_before(CommitTimestamp(12), CommitTimestamp(12)), oldest(&heads)),
            (1, None)
        );
    }
}
