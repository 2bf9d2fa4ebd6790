//! The newest stamp and the size of the graph there, readable without a lock.

use crate::commit::CountChanges;
use crate::heads::Head;
use hedgerow_model::{CommitTimestamp, Counts, CountsBeside, LabelId};
use hedgerow_sync::atomic::{AtomicU32, AtomicU64, Ordering};
use hedgerow_sync::{Arc, GrowingList};
use smallvec::SmallVec;

/// Stored instead of the newest stamp while the next stamp is taken.
const HIDDEN: u64 = u64::MAX;

/// A copy of the newest head, written under the sequencer's mutex, read without it.
///
/// A reader compares the stamp before and after it reads the counts. If the stamp is the same, the
/// counts belong to it, because stamps never recur. Hiding and the comparison are sequentially
/// consistent. So if one thread hides the head and then reads another location, and a second thread
/// writes that location and then compares, at least one of them sees the other's write.
#[derive(Debug, Default)]
pub(crate) struct PublishedHead {
    at: AtomicU64,
    vertices: AtomicU64,
    vertex_bound: AtomicU32,
    /// Counts by the label's position in the catalog. Labels beyond the end have no edges.
    labels: GrowingList<LabelCounts, SmallVec<[LabelCounts; 2]>>,
}

#[derive(Debug, Default)]
struct LabelCounts {
    edges: AtomicU64,
    parallel: AtomicU64,
    uncertain: AtomicU64,
}

impl PublishedHead {
    /// Creates the head of an empty graph with `labels` labels.
    pub(crate) fn new(labels: usize) -> Self {
        let labels = (0..labels).map(|_| LabelCounts::default()).collect();
        PublishedHead { labels: GrowingList::new(labels), ..PublishedHead::default() }
    }

    /// Hides the head until it is shown again. The caller holds the mutex.
    #[inline]
    pub(crate) fn hide(&self) {
        self.at.store(HIDDEN, Ordering::SeqCst);
    }

    /// Shows the newest head after a commit made `changes`. The caller holds the mutex. O(labels
    /// changed).
    #[inline]
    pub(crate) fn show_changes(&self, head: &Head, changes: CountChanges<'_>) {
        // A reader that sees one of these stores also sees that the head was hidden before.
        for outcome in changes.edges {
            let label = outcome.label.index();
            self.counts_of(label).edges.store(head.counts.edges[label], Ordering::Release);
        }
        if head.counts.beside.is_some() {
            changes.labels().for_each(|label| self.show_label(head, label));
        }
        self.show_vertices(head);
    }

    /// Shows the newest head after the edges of the labels in `changed` changed. The caller holds
    /// the mutex.
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
        let counts = self.counts_of(label.index());
        counts.edges.store(head.counts.edges_of(label).at_most(), Ordering::Release);
        let CountsBeside { parallel, uncertain } = head.counts.beside_of(label);
        counts.parallel.store(parallel, Ordering::Release);
        counts.uncertain.store(uncertain, Ordering::Release);
    }

    /// The counts of a label. The caller holds the mutex.
    #[inline]
    fn counts_of(&self, label: usize) -> &LabelCounts {
        self.labels.get(label).unwrap_or_else(|| self.append_through(label))
    }

    /// Appends the counts of labels that were added since the graph was opened. A reader that
    /// misses them notices when it compares stamps: the head is hidden now.
    #[cold]
    fn append_through(&self, label: usize) -> &LabelCounts {
        while self.labels.len() <= label {
            self.labels.push(LabelCounts::default());
        }
        self.labels.get(label).expect("it was appended")
    }

    /// Returns the newest stamp and the size of the graph there, which are consistent if
    /// [`PublishedHead::is_still`] returns true afterwards. Returns `None` while the next stamp is
    /// taken. O(labels).
    #[inline]
    pub(crate) fn read(&self) -> Option<(CommitTimestamp, Counts)> {
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
        (at != HIDDEN).then_some((CommitTimestamp(at), counts))
    }

    /// Returns true if no thread has begun to take a stamp after `at`.
    #[inline]
    pub(crate) fn is_still(&self, at: CommitTimestamp) -> bool {
        self.at.load(Ordering::SeqCst) == at.0
    }
}

#[cfg(all(test, not(hedgerow_shuttle)))]
mod tests {
    use super::*;
    use hedgerow_model::EdgeOutcome;
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
        Head { at: CommitTimestamp(at), counts, ..Head::default() }
    }

    #[test]
    fn a_hidden_head_cannot_be_read() {
        let published_head = PublishedHead::new(3);
        for at in 1..4 {
            published_head.hide();
            assert!(published_head.read().is_none() && !published_head.is_still(CommitTimestamp(at - 1)));
            published_head.show(&head(at), labels());
            let (newest, counts) = published_head.read().unwrap();
            assert!(newest == CommitTimestamp(at) && published_head.is_still(newest));
            let expected = head(at).counts;
            assert_eq!(
                (counts.vertices, counts.vertex_bound, &counts.edges),
                (expected.vertices, expected.vertex_bound, &expected.edges)
            );
            assert_eq!(counts.beside, expected.beside);
        }
    }

    #[test]
    fn the_counts_of_a_label_that_was_added_are_read() {
        let published_head = PublishedHead::new(1);
        published_head.show(&head(1), labels().take(1));
        assert_eq!(published_head.read().unwrap().1.edges[..], [1]);
        let edges = [EdgeOutcome { label: LabelId(2), added: 6, removed: 0 }];
        published_head.hide();
        published_head.show_changes(&head(2), CountChanges { edges: &edges, ..CountChanges::default() });
        let (at, counts) = published_head.read().unwrap();
        assert_eq!((at, &counts.edges[..]), (CommitTimestamp(2), &[1, 0, 6][..]));
    }

    #[test]
    fn reads_are_consistent() {
        const LAST: u64 = if cfg!(miri) { 200 } else { 100_000 };
        let published_head = PublishedHead::new(3);
        std::thread::scope(|scope| {
            let reader = || {
                let mut newest = 0;
                while newest < LAST {
                    let Some((at, counts)) = published_head.read() else { continue };
                    if published_head.is_still(at) {
                        assert!(at.0 >= newest);
                        newest = at.0;
                        assert_eq!(counts.vertices, newest);
                        assert_eq!(counts.edges[..], [newest, 2 * newest, 3 * newest]);
                    }
                }
            };
            let readers = [scope.spawn(reader), scope.spawn(reader)];
            for at in 1..=LAST {
                published_head.hide();
                published_head.show(&head(at), labels());
            }
            readers.into_iter().for_each(|reader| reader.join().unwrap());
        });
    }
}
