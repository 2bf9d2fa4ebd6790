//! What is known of the graph at a timestamp without a look at the engine: at the newest one, and at those that may be
//! published next.

use hedgerow_model::{Counts, Timestamp};
use hedgerow_sync::Arc;
use std::collections::VecDeque;

/// What is known of the graph at a timestamp.
#[derive(Clone, Debug, Default)]
pub struct Head {
    /// The timestamp.
    pub at: Timestamp,
    /// How large the graph is.
    pub counts: Counts,
    /// The time that the commit carries, in microseconds since 1970-01-01 UTC: never before that of an earlier one. 0 in memory.
    pub wall_clock: u64,
    /// How far the last importer got, in bytes of its own.
    pub input: Option<Arc<[u8]>>,
}

/// The ends of batches of the log of which it is not known yet that they are durable, ascending, and the last one of which it is.
///
/// The newest stamp is not among them.
#[derive(Debug, Default)]
pub(crate) struct FormerHeads(VecDeque<Head>);

impl FormerHeads {
    /// Adds the end of a batch, which is above all others.
    pub(crate) fn push(&mut self, head: Head) {
        debug_assert!(self.0.back().is_none_or(|newest| newest.at < head.at));
        self.0.push_back(head);
    }

    /// Forgets those that nobody can ask for any more, now that everything up to `durable` is durable. Says how many; amortised O(1).
    pub(crate) fn forget_before(&mut self, durable: Timestamp, newest: Timestamp) -> usize {
        let kept = if durable >= newest {
            self.0.len()
        } else {
            self.0.partition_point(|head| head.at <= durable).saturating_sub(1)
        };
        self.0.drain(..kept).count()
    }

    /// The oldest that was not forgotten.
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
        let head = |at| Head { at: Timestamp(at), ..Head::default() };
        [3, 5, 9].into_iter().for_each(|at| heads.push(head(at)));
        let oldest = |heads: &FormerHeads| heads.oldest().map(|head| head.at.0);
        assert_eq!((heads.forget_before(Timestamp(3), Timestamp(12)), oldest(&heads)), (0, Some(3)));
        assert_eq!((heads.forget_before(Timestamp(9), Timestamp(12)), oldest(&heads)), (2, Some(9)));
        assert_eq!((heads.forget_before(Timestamp(12), Timestamp(12)), oldest(&heads)), (1, None));
    }
}
