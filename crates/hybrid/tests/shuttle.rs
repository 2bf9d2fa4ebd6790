//! Models of the engine, and of readers of an adjacency concurrent with archiving, run under many
//! schedules.
#![cfg(hedgerow_shuttle)]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use hedgerow_edge_log::{
    Archive, Archiver, ChangeList, Cut, EdgeLog, Ends, LogTail, NewRun, RunChange, RunCommits,
};
use hedgerow_hybrid::{BlockSizes, RetainedVersion, RowTable};
use hedgerow_model::token::LiveTimestamps;
use hedgerow_model::{ColumnType, CommitTimestamp, EdgeChange, VertexId};
use hedgerow_sync::{Arc, Mutex};
use hedgerow_testing::models;
use shuttle::thread;
use std::collections::BTreeSet;
use std::ops::{ControlFlow, RangeInclusive};

hedgerow_testing::model_tests!(support::TestedHybrid);

const OWNER: VertexId = VertexId::new(0);

/// Neighbors that are put and deleted together, enough for a row to be rewritten.
const NEIGHBORS: std::ops::Range<u32> = 0..20;

/// An adjacency behind a log. An odd commit puts an edge to a number of its own, and to half of the
/// other neighbors; an even one deletes all of the latter.
struct Graph {
    log: EdgeLog,
    table: RowTable,
    retained: Mutex<Vec<u32>>,
}

impl Archive for Graph {
    fn ends(&self, _: u16) -> Ends {
        Ends { out: 0, back: None }
    }

    fn vertex_bound(&self) -> u32 {
        1
    }

    fn add(&self, round: u32, _: u32, changes: &ChangeList) {
        let retained = self.retained.lock().clone();
        self.table.add(round, &retained, changes);
    }
}

fn neighbors(at: u64) -> impl Iterator<Item = u32> {
    NEIGHBORS
        .filter(move |neighbor| at % 2 == 0 || neighbor % 2 == 0)
        .chain((at % 2 == 1).then_some(100 + at as u32))
}

fn expected(at: u64) -> BTreeSet<u32> {
    let mut row = BTreeSet::new();
    for at in 1..=at {
        for neighbor in neighbors(at) {
            match at % 2 {
                0 => row.remove(&neighbor),
                _ => row.insert(neighbor),
            };
        }
    }
    row
}

impl Graph {
    fn new(sizes: BlockSizes) -> Arc<Self> {
        let log = EdgeLog::new(8, CommitTimestamp::ZERO);
        let table = RowTable::new(ColumnType::Unit, sizes);
        Arc::new(Graph { log, table, retained: Mutex::new(vec![0]) })
    }

    /// Commits and archives alternately.
    fn write(&self, commits: RangeInclusive<u64>) {
        let mut archiver = Archiver::default();
        for at in commits {
            let edges: Vec<u64> =
                neighbors(at).map(|id| EdgeChange::position_of(OWNER, VertexId::new(id))).collect();
            let change = if at % 2 == 0 { RunChange::Delete } else { RunChange::Put };
            let runs = [NewRun { table: 0, change, commits: RunCommits::One, edges: &edges }];
            self.log.reserve(CommitTimestamp(at), &runs).write(&runs);
            archiver.archive(&self.log, self, Cut::At(self.log.latest()), None);
            // SAFETY: a reader holds the tail that it reads.
            let live = unsafe { LiveTimestamps::as_of(Vec::new(), CommitTimestamp(u64::MAX)) };
            let retained: Vec<u32> = self.log.forget(&live).iter().map(|archived| archived.round).collect();
            self.table.free_former(&retained);
            *self.retained.lock() = retained;
        }
    }

    fn read(&self, times: usize) {
        self.read_at(&self.log.newest(), times);
    }

    fn read_at(&self, tail: &LogTail, times: usize) {
        let expected = expected(tail.archived().through.0);
        // SAFETY: the table is fed by this log.
        let version = unsafe { RetainedVersion::new(tail) };
        for _ in 0..times {
            let Some(row) = self.table.row(OWNER, version) else {
                assert!(expected.is_empty());
                continue;
            };
            let mut read = BTreeSet::new();
            let flow = row.neighbors::<(), ()>(&mut Vec::new(), |run, _| {
                read.extend(run.iter().map(|neighbor| neighbor.get()));
                ControlFlow::Continue(())
            });
            assert!(flow.is_continue() && row.degree() == expected.len());
            assert_eq!(read, expected);
        }
    }
}

/// Rows are appended to, rewritten and freed while readers hold versions of them.
#[test]
fn readers_keep_their_version_beside_archiving() {
    models::check(
        || {
            let graph = Graph::new(BlockSizes::Lines);
            let spawn = |work: fn(&Graph)| {
                let graph = Arc::clone(&graph);
                thread::spawn(move || work(&graph))
            };
            let threads = [
                spawn(|graph| graph.write(1..=6)),
                spawn(|graph| (0..2).for_each(|_| graph.read(2))),
                spawn(|graph| graph.read(3)),
            ];
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            graph.read(1);
        },
        1000,
    );
}

/// A reader of an old version finds its chain through newer ones, which no retained version has
/// once the row is rewritten again.
#[test]
fn a_reader_passes_through_newer_chains_while_they_are_freed() {
    models::check(
        || {
            let graph = Graph::new(BlockSizes::Growing);
            graph.write(1..=1);
            let tail = graph.log.newest();
            let writer = {
                let graph = Arc::clone(&graph);
                thread::spawn(move || graph.write(2..=4))
            };
            let reader = {
                let graph = Arc::clone(&graph);
                thread::spawn(move || graph.read_at(&tail, 2))
            };
            [writer, reader].into_iter().for_each(|thread| thread.join().unwrap());
        },
        2000,
    );
}
