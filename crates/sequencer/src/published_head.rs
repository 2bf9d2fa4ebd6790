//! The newest stamp and how large the graph is there, for whoever takes no lock.

use crate::commit::CountChanges;
use crate::heads::Head;
use hedgerow_model::{Counts, CountsBeside, LabelId, Timestamp};
use hedgerow_sync::Arc;
use hedgerow_sync::atomic::{AtomicU32, AtomicU64, Ordering};
use smallvec::SmallVec;

/// In the place of a stamp, while the next one is taken.
const HIDDEN: u64 = u64::MAX;

/// A copy of what is known at the newest stamp, written by whoever has the sequencer's mutex, read without it.
///
/// Whoever reads it compares the stamp before and after, and has what belongs together if it is the same: stamps never return. Hiding and the
/// comparison are sequentially consistent, so that of two threads, of which one hides and then looks elsewhere, and the other writes there
/// and then compares, one at least learns of the other.
#[derive(Debug, Default)]
pub(crate) struct PublishedHead {
    at: AtomicU64,
    vertices: AtomicU64,
    vertex_bound: AtomicU32,
    labels: SmallVec<[LabelCounts; 2]>,
}

#[derive(Debug, Default)]
struct LabelCounts {
    edges: AtomicU64,
    parallel: AtomicU64,
    uncertain: AtomicU64,
}

impl PublishedHead {
    /// Of an empty graph with so many labels.
    pub(crate) fn new(labels: usize) -> Self {
        let labels = (0..labels).map(|_| LabelCounts::default()).collect();
        PublishedHead { labels, ..PublishedHead::default() }
    }

    /// Hides it until it is shown again. The caller has the mutex.
    #[inline]
    pub(crate) fn hide(&self) {
        self.at.store(HIDDEN, Ordering::SeqCst);
    }

    /// Shows what is known at the newest stamp, where a commit changed this since it was hidden. The caller has the mutex. O(labels that changed).
    #[inline]
    pub(crate) fn show_changes(&self, head: &Head, changes: CountChanges<'_>) {
        // Whoever sees one of these also sees that it was hidden before.
        for outcome in changes.edges {
            let label = outcome.label.index();
            self.labels[label].edges.store(head.counts.edges[label], Ordering::Release);
        }
        if head.counts.beside.is_some() {
            changes.labels().for_each(|label| self.show_label(head, label));
        }
        self.show_vertices(head);
    }

    /// The same, where the edges of these labels changed.
    pub(crate) fn show(&self, head: &Head, changed: impl Iterator<Item = LabelId>) {
        changed.for_each(|label| self.show_label(head, label));
        self.show_vertices(head);
    }

    #[inline]
    fn show_vertices(&self, head: &Head) {
        self.vertices.store(head.counts.vertices, Ordering::Release);
        self.vertex_bound.store(head.counts.vertex_bound, Ordering::Release);
        self.at.store(head.at.0, Ordering::Release);
    }

    #[cold]
    fn show_label(&self, head: &Head, label: LabelId) {
        let counts = &self.labels[label.index()];
        counts.edges.store(head.counts.edges_of(label).at_most(), Ordering::Release);
        let CountsBeside { parallel, uncertain } = head.counts.beside_of(label);
        counts.parallel.store(parallel, Ordering::Release);
        counts.uncertain.store(uncertain, Ordering::Release);
    }

    /// The newest stamp, and how large the graph is there if [`PublishedHead::is_still`] says so afterwards; `None` while the next one is
    /// taken. O(labels).
    #[inline]
    pub(crate) fn read(&self) -> Option<(Timestamp, Counts)> {
        let at = self.at.load(Ordering::Acquire);
        let edges = self.labels.iter().map(|label| label.edges.load(Ordering::Acquire)).collect();
        let beside = |label: &LabelCounts| CountsBeside {
            parallel: label.parallel.load(Ordering::Acquire),
            uncertain: label.uncertain.load(Ordering::Acquire),
        };
        let has_beside = self.labels.iter().any(|label| beside(label) != CountsBeside::default());
        let counts = Counts {
            vertex_bound: self.vertex_bound.load(Ordering::Acquire),
            vertices: self.vertices.load(Ordering::Acquire),
            edges,
            beside: has_beside.then(|| Arc::new(self.labels.iter().map(beside).collect())),
        };
        (at != HIDDEN).then_some((Timestamp(at), counts))
    }

    /// Whether nobody has begun to take a stamp behind `at`.
    #[inline]
    pub(crate) fn is_still(&self, at: Timestamp) -> bool {
        self.at.load(Ordering::SeqCst) == at.0
    }
}

#[cfg(all(test, not(hedgerow_shuttle)))]
mod tests {
    use super::*;
    use smallvec::smallvec;

    fn labels() -> impl Iterator<Item = LabelId> {
        (0..3).map(LabelId)
    }

    fn beside(parallel: u64, uncertain: u64) -> CountsBeside {
        CountsBeside { parallel, uncertain }
    }

    fn head(at: u64) -> Head {
        let counts = Counts {
            vertex_bound: at as u32,
            vertices: at,
            edges: smallvec![at, 2 * at, 3 * at],
            beside: (at > 1).then(|| Arc::new(vec![beside(0, 0), beside(at, 0), beside(0, at)])),
        };
        Head { at: Timestamp(at), counts, ..Head::default() }
    }

    #[test]
    fn what_is_shown_is_read_and_what_is_hidden_is_not() {
        let announced = PublishedHead::new(3);
        for at in 1..4 {
            announced.hide();
            assert!(announced.read().is_none() && !announced.is_still(Timestamp(at - 1)));
            announced.show(&head(at), labels());
            let (newest, counts) = announced.read().unwrap();
            assert!(newest == Timestamp(at) && announced.is_still(newest));
            let expected = head(at).counts;
            assert_eq!(
                (counts.vertices, counts.vertex_bound, &counts.edges),
                (expected.vertices, expected.vertex_bound, &expected.edges)
            );
            assert_eq!(counts.beside, expected.beside);
        }
    }

    #[test]
    fn what_is_read_belongs_together() {
        const LAST: u64 = if cfg!(miri) { 200 } else { 100_000 };
        let announced = PublishedHead::new(3);
        std::thread::scope(|scope| {
            let reader = || {
                let mut newest = 0;
                while newest < LAST {
                    let Some((at, counts)) = announced.read() else { continue };
                    if announced.is_still(at) {
                        assert!(at.0 >= newest);
                        newest = at.0;
                        assert_eq!(counts.vertices, newest);
                        assert_eq!(counts.edges[..], [newest, 2 * newest, 3 * newest]);
                    }
                }
            };
            let readers = [scope.spawn(reader), scope.spawn(reader)];
            for at in 1..=LAST {
                announced.hide();
                announced.show(&head(at), labels());
            }
            readers.into_iter().for_each(|reader| reader.join().unwrap());
        });
    }
}
