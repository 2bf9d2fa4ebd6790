//! How many parallel edges each vertex has: an engine counts its neighbours, and commits count their edges here.
//!
//! Of each vertex only the newest number is kept, with the commit that made it. That is the number at the commit's timestamp and at every
//! later one that is read; who reads an earlier one counts the edges.

use super::PairId;
use crate::slots::Slots;
use hedgerow_model::{Catalogue, Direction, LabelId, Timestamp, Topology, VertexId};
use hedgerow_sync::atomic::{AtomicU64, Ordering};

/// The newest numbers of parallel edges of all vertices of a graph.
pub(in crate::records) struct ParallelDegrees {
    topology: Topology,
    /// By label: of vertices, by stored direction; `None` if its edges cannot be parallel.
    labels: Box<[Option<DegreesOfLabel>]>,
}

struct DegreesOfLabel {
    out: Slots<Degree>,
    reverse: Slots<Degree>,
}

impl DegreesOfLabel {
    fn stored(&self, direction: Direction) -> &Slots<Degree> {
        match direction {
            Direction::Out => &self.out,
            Direction::In => &self.reverse,
        }
    }
}

/// The newest number of parallel edges of one vertex.
#[derive(Default)]
struct Degree {
    edges: AtomicU64,
    /// The commit that made it.
    since: AtomicU64,
}

impl Degree {
    /// Changes the number. Nobody else does at the same time: the lock of the vertex's unit is held.
    fn change(&self, at: Timestamp, net: i64) {
        let edges = self.edges.load(Ordering::Relaxed).wrapping_add_signed(net);
        self.since.store(at.0, Ordering::Relaxed);
        // Whoever sees the new number sees the commit, too, or a later one.
        self.edges.store(edges, Ordering::Release);
    }

    /// The number at a timestamp that is read, which all commits up to it were applied before; `None` if there is a later one.
    fn read(&self, at: Timestamp) -> Option<u64> {
        // It is that of the last commit up to `at`, or of a later one, which `since` names then.
        let edges = self.edges.load(Ordering::Acquire);
        (self.since.load(Ordering::Relaxed) <= at.0).then_some(edges)
    }
}

impl ParallelDegrees {
    pub(in crate::records) fn new(catalogue: &Catalogue, topology: Topology) -> Self {
        let degrees = || DegreesOfLabel { out: Slots::new(), reverse: Slots::new() };
        let labels = catalogue.labels().iter().map(|label| label.edges.key().map(|_| degrees()));
        ParallelDegrees { topology, labels: labels.collect() }
    }

    /// Counts `net` more edges between two vertices, whose locks the commit of that timestamp holds. O(1).
    pub(in crate::records) fn change(&self, at: Timestamp, (label, from, to): PairId, net: i64) {
        let Some(degrees) = self.of(label) else { return };
        for (direction, owner, _) in self.topology.entries(from, to) {
            degrees.stored(direction).get_or_allocate(owner.get()).change(at, net);
        }
    }

    /// Makes room for the numbers of two vertices.
    pub(in crate::records) fn reserve(&self, (label, from, to): PairId) {
        let Some(degrees) = self.of(label) else { return };
        for (direction, owner, _) in self.topology.entries(from, to) {
            degrees.stored(direction).get_or_allocate(owner.get());
        }
    }

    /// How many edges a vertex has at a timestamp that is read; `None` if that was changed later. O(1).
    pub(in crate::records) fn read(
        &self,
        label: LabelId,
        direction: Direction,
        vertex: VertexId,
        at: Timestamp,
    ) -> Option<u64> {
        let slots = self.of(label)?.stored(self.topology.stored(direction)?);
        // Where there is no number nobody has put an edge up to this timestamp.
        slots.get(vertex.get()).map_or(Some(0), |degree| degree.read(at))
    }

    fn of(&self, label: LabelId) -> Option<&DegreesOfLabel> {
        self.labels.get(label.index())?.as_ref()
    }

    /// Bytes of memory. O(labels).
    pub(in crate::records) fn bytes(&self) -> usize {
        let degrees = self.labels.iter().flatten();
        degrees.map(|degrees| degrees.out.bytes() + degrees.reverse.bytes()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow_model::{EdgeSchema, LabelSchema, ParallelSchema, RecordSchema};
    use hedgerow_sync::Arc;
    use std::thread;

    #[test]
    fn both_ends_are_counted_where_they_are_stored() {
        let payments = ParallelSchema { key: "number".into(), record: RecordSchema { fields: Vec::new() } };
        let plain = LabelSchema { name: "knows".into(), edges: EdgeSchema::Topology };
        let pays = LabelSchema { name: "pays".into(), edges: EdgeSchema::Parallel(payments) };
        let catalogue = Catalogue::new(vec![plain, pays], RecordSchema::default()).unwrap();
        let (one, other, label) = (VertexId::new(1), VertexId::new(5_000), LabelId(1));
        let counts = |topology| {
            let degrees = ParallelDegrees::new(&catalogue, topology);
            degrees.change(Timestamp(3), (label, one, other), 4);
            degrees.change(Timestamp(7), (label, one, one), 2);
            let read = |direction, vertex, at| degrees.read(label, direction, vertex, Timestamp(at));
            assert_eq!(degrees.read(LabelId(0), Direction::Out, one, Timestamp(9)), None, "not parallel");
            assert_eq!(read(Direction::Out, one, 6), None, "changed later");
            assert!(degrees.bytes() > 1 << 14);
            [(Direction::Out, one), (Direction::In, one), (Direction::Out, other), (Direction::In, other)]
                .map(|(direction, vertex)| read(direction, vertex, 7))
        };
        assert_eq!(counts(Topology::Directed), [Some(6), None, Some(0), None]);
        assert_eq!(counts(Topology::DirectedWithReverse), [Some(6), Some(2), Some(0), Some(4)]);
        assert_eq!(counts(Topology::Undirected), [Some(6), Some(6), Some(4), Some(4)]);
    }

    /// Commits on one thread and reads on another: a number is that of the timestamp, or unknown.
    #[test]
    fn a_number_is_never_that_of_a_later_commit() {
        let (degree, applied) = (Arc::new(Degree::default()), Arc::new(AtomicU64::new(0)));
        let commits = if cfg!(miri) { 200 } else { 100_000 };
        let writer = {
            let (degree, applied) = (Arc::clone(&degree), Arc::clone(&applied));
            thread::spawn(move || {
                for at in 1..=commits {
                    // Two pairs of vertices of one commit.
                    degree.change(Timestamp(at), 5);
                    degree.change(Timestamp(at), -2);
                    applied.store(at, Ordering::Release);
                }
            })
        };
        loop {
            let at = applied.load(Ordering::Acquire);
            for at in [at, at / 2] {
                let read = degree.read(Timestamp(at));
                assert!(read.is_none_or(|edges| edges == 3 * at), "{read:?} at {at}");
            }
            if at == commits {
                break;
            }
        }
        writer.join().unwrap();
        assert_eq!(degree.read(Timestamp(commits)), Some(3 * commits), "the newest is known");
        assert_eq!(degree.read(Timestamp(commits - 1)), None);
    }
}
