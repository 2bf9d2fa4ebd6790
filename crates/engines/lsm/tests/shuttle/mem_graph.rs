//! Readers of a MemGraph concurrent with its writers. Under the model checker, a row has segments
//! of two and of four entries, and becomes ordered with its seventh entry, in leaves of four.

use hedgerow_lsm::{MemContent, MemGraph};
use hedgerow_model::{ColumnType, CommitTimestamp, EdgeValue, VertexId};
use hedgerow_sync::Arc;
use hedgerow_sync::atomic::{AtomicU64, Ordering};
use hedgerow_testing::models;
use shuttle::thread;
use std::collections::BTreeMap;

fn check(model: fn()) {
    models::check(model, 2000);
}

/// A MemGraph with the last commit at each owner that readers may see.
struct Published {
    mem_graph: MemGraph,
    last: [AtomicU64; 2],
}

impl Published {
    fn new() -> Arc<Self> {
        let mem_graph = MemGraph::new(&[ColumnType::U64], CommitTimestamp(0), 16, 1);
        Arc::new(Published { mem_graph, last: [0, 0].map(AtomicU64::new) })
    }

    /// Commits changes one by one. Versions from `editable_from` on may be overwritten.
    fn write(&self, owner: usize, timestamps: std::ops::RangeInclusive<u64>, editable_from: Option<u64>) {
        for at in timestamps {
            let (neighbor, value) = change_at(at);
            let editable_from = CommitTimestamp(editable_from.unwrap_or(at));
            let (owner_id, at) = (VertexId::new(owner as u32), CommitTimestamp(at));
            let content = value.map(MemContent::Value);
            self.mem_graph.push(0, owner_id, neighbor, at, editable_from, content);
            self.last[owner].store(at.0, Ordering::Release);
        }
    }

    /// Compares the edges that a snapshot sees with the committed ones.
    fn read(&self, owner: usize, at: u64) {
        let (owner, timestamp) = (VertexId::new(owner as u32), CommitTimestamp(at));
        let expected: BTreeMap<_, _> = (1..=at).map(change_at).collect();
        let mut edges = Vec::new();
        self.mem_graph.read_row(0, owner, timestamp, &mut edges);
        assert_eq!(edges, expected.iter().map(|(id, value)| (*id, *value)).collect::<Vec<_>>());
        for neighbor in (0..7).map(VertexId::new) {
            let found = self.mem_graph.find(0, owner, neighbor, timestamp);
            assert_eq!(found, expected.get(&neighbor).copied());
        }
    }

    fn read_last(&self, owner: usize) {
        self.read(owner, self.last[owner].load(Ordering::Acquire));
    }
}

/// The change at a timestamp: one of seven edges is put, or deleted.
fn change_at(at: u64) -> (VertexId, Option<EdgeValue>) {
    (VertexId::new((at * 5 % 7) as u32), (at % 4 > 0).then_some(EdgeValue(at)))
}

/// A row gets its second segment and becomes ordered.
#[test]
fn a_row_is_read_while_it_grows() {
    check(|| {
        let published = Published::new();
        published.write(0, 1..=1, None);
        let writer = {
            let published = Arc::clone(&published);
            thread::spawn(move || published.write(0, 2..=9, None))
        };
        for _ in 0..3 {
            published.read_last(0);
        }
        writer.join().unwrap();
        published.read_last(0);
    });
}

/// Leaves of an ordered row are divided.
#[test]
fn a_row_is_read_while_its_leaves_are_divided() {
    check(|| {
        let published = Published::new();
        published.write(0, 1..=8, None);
        let writer = {
            let published = Arc::clone(&published);
            thread::spawn(move || published.write(0, 9..=18, None))
        };
        for _ in 0..3 {
            published.read_last(0);
        }
        writer.join().unwrap();
        published.read_last(0);
    });
}

/// A snapshot is read while later versions are overwritten in a skip list.
#[test]
fn a_snapshot_is_read_while_later_versions_are_overwritten() {
    check(|| {
        let published = Published::new();
        published.write(0, 1..=8, None);
        let writer = {
            let published = Arc::clone(&published);
            thread::spawn(move || published.write(0, 9..=24, Some(9)))
        };
        for _ in 0..2 {
            published.read(0, 8);
        }
        writer.join().unwrap();
        published.read(0, 8);
        published.read(0, 24);
    });
}

/// Two owners get their rows at once, and take blocks from one arena.
#[test]
fn two_owners_are_written_at_once() {
    check(|| {
        let published = Published::new();
        let writers = [0, 1].map(|owner| {
            let published = Arc::clone(&published);
            thread::spawn(move || published.write(owner, 1..=5, None))
        });
        (0..2).for_each(|owner| published.read_last(owner));
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        (0..2).for_each(|owner| published.read(owner, 5));
    });
}

/// An adjacency is added, gets a row and is read, concurrently with a writer of another one.
#[test]
fn an_adjacency_is_added_beside_a_writer_and_a_reader() {
    const ADDED: u32 = 1;
    check(|| {
        let published = Published::new();
        let writer = {
            let published = Arc::clone(&published);
            thread::spawn(move || published.write(0, 1..=3, None))
        };
        let adding = {
            let published = Arc::clone(&published);
            thread::spawn(move || {
                published.mem_graph.add_adjacency(ColumnType::U64);
                let (owner, at) = (VertexId::new(1), CommitTimestamp(1));
                let content = Some(MemContent::Value(EdgeValue(7)));
                published.mem_graph.push(ADDED, owner, owner, at, at, content);
                published.last[1].store(at.0, Ordering::Release);
            })
        };
        for _ in 0..2 {
            published.read_last(0);
            let (owner, at) = (VertexId::new(1), published.last[1].load(Ordering::Acquire));
            let found = published.mem_graph.find(ADDED, owner, owner, CommitTimestamp(at));
            assert_eq!(found, (at > 0).then_some(Some(EdgeValue(7))));
            assert!(published.mem_graph.owners(ADDED, 0..3).all(|found| found == owner));
        }
        writer.join().unwrap();
        adding.join().unwrap();
        assert!(published.mem_graph.owners(ADDED, 0..3).eq([VertexId::new(1)]));
    });
}
