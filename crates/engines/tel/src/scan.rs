//! Searching columns.

use crate::block::EntryLog;
use hedgerow_model::{CommitTimestamp, VertexId};
use hedgerow_sync::atomic::{AtomicU64, Ordering};
use std::ops::{ControlFlow, Range};

/// Number of ids compared at a time.
const TOGETHER: usize = 32;

/// Returns the last position of an id. Compares several cache lines at a time from the end.
/// O(ids after it).
#[inline]
pub(crate) fn last_position(ids: &[VertexId], id: VertexId) -> Option<usize> {
    let mut rest = ids;
    while let Some((before, together)) = rest.split_last_chunk::<TOGETHER>() {
        if together.iter().fold(false, |found, other| found | (*other == id)) {
            break;
        }
        rest = before;
    }
    rest.iter().rposition(|other| *other == id)
}

/// Visits the maximal runs of a prefix that are valid at a timestamp. O(prefix).
#[inline]
pub(crate) fn valid_stretches<B>(
    invalidations: &[AtomicU64],
    at: CommitTimestamp,
    mut visit: impl FnMut(Range<usize>) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let is_valid = |invalidation: &AtomicU64| at.0 < invalidation.load(Ordering::Relaxed);
    let mut from = 0;
    while let Some(skipped) = invalidations[from..].iter().position(is_valid) {
        let start = from + skipped;
        let rest = &invalidations[start..];
        let length = rest.iter().position(|invalidation| !is_valid(invalidation)).unwrap_or(rest.len());
        from = start + length;
        visit(start..from)?;
    }
    ControlFlow::Continue(())
}

/// Visits the positions in a prefix that are valid at a timestamp, last first.
/// O(visited positions and the invalid ones between them).
pub(crate) fn valid_from_the_end<B>(
    invalidations: &[AtomicU64],
    at: CommitTimestamp,
    visit: impl FnMut(usize) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let is_valid = |position: &usize| at.0 < invalidations[*position].load(Ordering::Relaxed);
    (0..invalidations.len()).rev().filter(is_valid).try_for_each(visit)
}

/// Returns the number of entries valid at a timestamp. O(1) if nothing changed after it or if all
/// entries created by then are valid, otherwise O(entries created by then).
#[inline]
pub(crate) fn count_valid(log: EntryLog<'_>, at: CommitTimestamp) -> usize {
    if let Some(valid) = log.valid_if_unchanged_since(at) {
        return valid;
    }
    let created = log.created_by(at);
    if log.is_whole(at) {
        return created;
    }
    let invalidations = &log.invalidations()[..created];
    invalidations.iter().map(|end| usize::from(at.0 < end.load(Ordering::Relaxed))).sum()
}

#[cfg(all(test, not(hedgerow_shuttle)))]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_several_is_found_wherever_it_is() {
        for length in [0, 1, 31, 32, 33, 64, 100] {
            let ids: Vec<VertexId> = (0..length).map(|id| VertexId::new(id % 50)).collect();
            for id in 0..60 {
                let expected = ids.iter().rposition(|other| other.get() == id);
                assert_eq!(last_position(&ids, VertexId::new(id)), expected);
            }
        }
    }

    #[test]
    fn runs_are_maximal() {
        let ends = [9, 0, 9, 9, 3, 3, 9].map(AtomicU64::new);
        let stretches = |at, length: usize| {
            let mut stretches = Vec::new();
            let flow = valid_stretches(&ends[..length], CommitTimestamp(at), |stretch| {
                stretches.push(stretch);
                ControlFlow::<()>::Continue(())
            });
            assert!(flow.is_continue());
            stretches
        };
        assert_eq!(stretches(5, 7), [0..1, 2..4, 6..7]);
        assert_eq!(stretches(2, 7), [0..1, 2..7]);
        assert_eq!(stretches(9, 7), []);
        assert_eq!(stretches(5, 0), []);
        let from_the_end = |at, length: usize| {
            let mut positions = Vec::new();
            let flow = valid_from_the_end(&ends[..length], CommitTimestamp(at), |position| {
                positions.push(position);
                if positions.len() == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            (positions, flow.is_break())
        };
        assert_eq!(from_the_end(5, 7), (vec![6, 3, 2], true));
        assert_eq!(from_the_end(5, 2), (vec![0], false));
    }
}
