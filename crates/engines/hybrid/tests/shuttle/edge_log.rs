//! Writers, archiving and readers of a log, run under many schedules.

use hedgerow_hybrid::edge_log::{
    Archive, Archiver, ChangeList, Cut, EdgeLog, Ends, NewRun, RunChange, RunCommits,
};
use hedgerow_model::token::LiveTimestamps;
use hedgerow_model::{CommitTimestamp, EdgeChange, VertexId};
use hedgerow_sync::{Arc, Mutex};
use hedgerow_testing::models;
use shuttle::thread;
use std::collections::BTreeSet;

/// Words of a buffer: room for three commits of one edge each.
const BUFFER_WORDS: usize = 9;

/// Commit n puts edge (0, n). The adjacency has all edges, with the versions that added them.
#[derive(Default)]
struct Graph {
    sequencer: Mutex<Sequencer>,
    log: Option<EdgeLog>,
    added: Mutex<Vec<(u32, u32)>>,
}

#[derive(Default)]
struct Sequencer {
    last: u64,
    in_flight: BTreeSet<u64>,
    registered: Vec<u64>,
}

impl Archive for Graph {
    fn ends(&self, _: u16) -> Ends {
        Ends { out: 0, back: None }
    }

    fn vertex_bound(&self) -> u32 {
        1
    }

    fn add(&self, round: u32, _: u32, changes: &ChangeList) {
        let mut added = self.added.lock();
        for row in changes.rows(0..u32::MAX) {
            added.extend(row.iter().map(|change| (round, change.neighbor().get())));
        }
    }
}

impl Graph {
    fn new() -> Arc<Self> {
        let log = Some(EdgeLog::new(BUFFER_WORDS, CommitTimestamp::ZERO));
        Arc::new(Graph { log, ..Graph::default() })
    }

    fn log(&self) -> &EdgeLog {
        self.log.as_ref().unwrap()
    }

    fn commit(&self) {
        let mut sequencer = self.sequencer.lock();
        sequencer.last += 1;
        let at = sequencer.last;
        sequencer.in_flight.insert(at);
        drop(sequencer);
        let edge = [EdgeChange::position_of(VertexId::new(0), VertexId::new(at as u32))];
        let runs = [NewRun { table: 0, change: RunChange::Put, commits: RunCommits::One, edges: &edge }];
        self.log().reserve(CommitTimestamp(at), &runs).write(&runs);
        self.sequencer.lock().in_flight.remove(&at);
    }

    /// Reads the newest timestamp.
    fn read(&self, times: usize) {
        self.at_newest(|at| (0..times).for_each(|_| self.read_at(at)));
    }

    /// Registers the newest applied timestamp while `work` runs.
    fn at_newest(&self, work: impl FnOnce(u64)) {
        let mut sequencer = self.sequencer.lock();
        let applied = sequencer.in_flight.first().map_or(sequencer.last, |first| first - 1);
        sequencer.registered.push(applied);
        drop(sequencer);
        work(applied);
        let mut sequencer = self.sequencer.lock();
        let place = sequencer.registered.iter().position(|at| *at == applied).unwrap();
        sequencer.registered.swap_remove(place);
    }

    fn read_at(&self, at: u64) {
        let tail = self.log().tail_at(CommitTimestamp(at));
        let round = tail.archived().round;
        let added = self.added.lock();
        let archived = added.iter().filter(|(born, _)| *born <= round).map(|(_, neighbor)| *neighbor);
        let mut seen: Vec<u32> = archived.collect();
        drop(added);
        for run in tail.runs(CommitTimestamp(at)) {
            seen.extend(run.entries().map(|entry| entry.neighbor().get()));
        }
        seen.sort_unstable();
        assert_eq!(seen, (1..=at as u32).collect::<Vec<_>>());
    }

    /// Archives the state at the newest applied timestamp, registered meanwhile.
    fn archive(&self, archiver: &mut Archiver) {
        self.at_newest(|at| {
            archiver.archive(self.log(), self, Cut::At(CommitTimestamp(at)), None);
        });
        let sequencer = self.sequencer.lock();
        let next = sequencer.in_flight.first().map_or(sequencer.last, |first| first - 1);
        let mut registered: Vec<_> = sequencer.registered.iter().map(|at| CommitTimestamp(*at)).collect();
        drop(sequencer);
        registered.sort_unstable();
        // SAFETY: has all registered timestamps; a later one is at least `next`.
        self.log().forget(&unsafe { LiveTimestamps::as_of(registered, CommitTimestamp(next)) });
    }
}

/// Commits fill several buffers, which are archived, while snapshots open before and after.
#[test]
fn readers_see_every_commit_once_beside_writers_and_archiving() {
    models::check(
        || {
            let graph = Graph::new();
            let spawn = |work: fn(&Graph)| {
                let graph = Arc::clone(&graph);
                thread::spawn(move || work(&graph))
            };
            let threads = [
                spawn(|graph| (0..4).for_each(|_| graph.commit())),
                spawn(|graph| (0..4).for_each(|_| graph.commit())),
                spawn(|graph| {
                    let mut archiver = Archiver::default();
                    (0..3).for_each(|_| graph.archive(&mut archiver));
                }),
                spawn(|graph| (0..2).for_each(|_| graph.read(2))),
                spawn(|graph| graph.read(3)),
            ];
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            graph.archive(&mut Archiver::default());
            graph.read_at(8);
        },
        2000,
    );
}
