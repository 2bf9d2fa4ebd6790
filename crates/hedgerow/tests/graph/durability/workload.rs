//! A workload on a graph in a store, the state after each of its commits, and the promises about
//! them.

use super::own_files;
use crate::oracle::{ENGINES, Oracle, counts_later, domain, operation, options, stage};
use hedgerow::{
    CheckpointOptions, CommitTimestamp, Durability, EngineKind, Error, Graph, GraphOptions, Key, KeyKind,
    LabelId, Topology, WriteGraph,
};
use hedgerow_model::{EdgeValue, Operation};
use hedgerow_testing::simulated::SimulatedFiles;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::sync::Arc;

const TOPOLOGIES: [Topology; 3] = [Topology::Directed, Topology::DirectedWithReverse, Topology::Undirected];
const KEY_KINDS: [KeyKind; 3] = [KeyKind::Number, KeyKind::String, KeyKind::Dense];

/// The promises to the application, each with the number of file operations before it, and the
/// possible states.
#[derive(Clone, Debug)]
pub struct Promises {
    /// The number of file operations before the store was promised to exist.
    pub created: Option<u64>,
    /// Commits that are promised to survive: numbers of file operations, each with the last such
    /// commit.
    durable: Vec<(u64, CommitTimestamp)>,
    /// The state after each timestamp. States after the acknowledged ones were only requested.
    pub states: Vec<Arc<Oracle>>,
    pub options: GraphOptions,
    /// The engines that open the store.
    pub engines: &'static [EngineKind],
}

impl Promises {
    /// Returns the last commit that was acknowledged as durable before an operation.
    pub fn before(&self, operation: u64) -> CommitTimestamp {
        let made = self.durable.iter().filter(|(at, _)| *at < operation).map(|(_, promised)| *promised);
        made.max().unwrap_or_default()
    }

    /// Promises the store, and commits up to `durable`, from the first operation on. Removes the
    /// states after `last`.
    pub fn renew(&mut self, durable: CommitTimestamp, last: CommitTimestamp) {
        (self.created, self.durable) = (Some(0), vec![(0, durable)]);
        self.states.truncate(last.0 as usize + 1);
    }

    pub fn promise(&mut self, operation: u64, durable: CommitTimestamp) {
        self.durable.push((operation, durable));
    }

    /// Returns the newest requested state.
    pub fn newest(&self) -> Oracle {
        (**self.states.last().unwrap()).clone()
    }

    /// Adds the state after a requested commit.
    pub fn ask(&mut self, state: Oracle) {
        self.states.push(Arc::new(state));
    }
}

/// A graph under a workload.
pub struct Worker<'f> {
    files: &'f SimulatedFiles,
    pub promises: Promises,
    random: StdRng,
    durability: Durability,
    keys: Vec<Key>,
    graph: Option<Graph>,
    /// The engine that the graph is open on.
    engine: EngineKind,
    /// The numbers of checkpoints and of openings.
    pub checkpoints: usize,
    pub openings: usize,
    /// True if an operation failed and no call reported it.
    pub untold: bool,
}

impl<'f> Worker<'f> {
    pub fn new(files: &'f SimulatedFiles, seed: u64) -> Self {
        Self::on(&ENGINES, files, seed)
    }

    /// Works on one of these engines, and now and then switches to another of them.
    pub fn on(engines: &'static [EngineKind], files: &'f SimulatedFiles, seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let durability = match random.random_range(0..4) {
            0 => Durability::None,
            1 => Durability::Buffered,
            _ => Durability::Sync,
        };
        let (topology, kind) = (TOPOLOGIES[random.random_range(0..3)], KEY_KINDS[random.random_range(0..3)]);
        let engine = engines[random.random_range(0..engines.len())];
        let options = options(topology, kind)
            .engine(engine)
            .durability(durability)
            .segment_bytes(1200)
            .buffer_bytes(200)
            .unsynced_bytes(500)
            .threads(1)
            .simulated();
        let states = vec![Arc::new(Oracle::new(topology))];
        let promises = Promises { created: None, durable: Vec::new(), states, options, engines };
        let (keys, graph) = (domain(kind, 11), None);
        Worker {
            files,
            promises,
            random,
            durability,
            keys,
            graph,
            engine,
            checkpoints: 0,
            openings: 0,
            untold: false,
        }
    }

    /// Creates a store and takes `steps` steps. Stops at the first failure.
    pub fn run(&mut self, steps: usize) -> Result<(), Error> {
        let options = self.promises.options.clone();
        self.graph = Some(options.create_on(Arc::new(self.files.clone()))?);
        self.promises.created = Some(self.files.operations());
        self.go_on(steps)
    }

    /// Takes `steps` more steps.
    pub fn go_on(&mut self, steps: usize) -> Result<(), Error> {
        (0..steps).try_for_each(|_| self.step())
    }

    /// Takes steps like [`Worker::run`], and closes the graph at the end.
    pub fn run_and_close(&mut self, steps: usize) -> Result<(), Error> {
        self.run(steps)?;
        self.close()
    }

    pub fn close(&mut self) -> Result<(), Error> {
        self.graph().close()?;
        self.promise_all();
        self.graph = None;
        Ok(())
    }

    /// Checks the graph after a failure: writes are refused, the visible state is one of the
    /// workload, and reads continue.
    pub fn check_after_failure(&mut self) {
        let Some(graph) = self.graph.take() else { return };
        if own_files::ENGINES.contains(&self.promises.engines[0]) {
            // Reads of these engines access the failing files.
            self.files.heal();
        }
        let snapshot = graph.snapshot().unwrap();
        let shown = Oracle::of_snapshot(&snapshot);
        let at = snapshot.timestamp().0 as usize;
        assert!(
            self.promises.states.get(at).is_some_and(|state| **state == shown),
            "it shows what never was"
        );
        // A failure that did not affect the log does not stop writes, and later commits count.
        let mut state = self.promises.newest();
        if self.promises.states.len() != at + 1 {
            return;
        }
        let operation = Operation::AddVertex { key: self.keys[3].clone() };
        state.apply(&operation);
        match graph.add_vertex(&self.keys[3]) {
            Ok(commit) if commit.changed == Some(true) => {
                self.promises.ask(state);
                if self.durability == Durability::Sync {
                    self.promise_all();
                }
            }
            Ok(_) => {}
            Err(_) => self.promises.ask(state),
        }
    }

    fn graph(&self) -> &Graph {
        self.graph.as_ref().unwrap()
    }

    fn last(&self) -> CommitTimestamp {
        CommitTimestamp(self.promises.states.len() as u64 - 1)
    }

    fn promise_all(&mut self) {
        let last = self.last();
        self.promises.promise(self.files.operations(), last);
    }

    fn step(&mut self) -> Result<(), Error> {
        match self.random.random_range(0..60) {
            0 => self.reopen(),
            1 | 2 => {
                let report = self.graph().checkpoint(&CheckpointOptions::new())?;
                self.checkpoints += usize::from(report.written);
                self.promises.promise(self.files.operations(), report.timestamp);
                Ok(())
            }
            3 => {
                self.graph().flush()?;
                self.promise_all();
                Ok(())
            }
            4..=6 => self.stream(),
            7..=9 => self.ingest(),
            _ => self.transaction(),
        }
    }

    fn draw(&mut self) -> Operation {
        let numbers =
            (self.random.random(), self.random.random(), self.random.random(), self.random.random());
        operation(&self.keys, numbers)
    }

    fn pairs(&mut self) -> Vec<(Key, Key)> {
        let count = self.random.random_range(1..12);
        let mut key = || self.keys[self.random.random_range(0..self.keys.len())].clone();
        (0..count).map(|_| (key(), key())).collect()
    }

    fn transaction(&mut self) -> Result<(), Error> {
        let mut state = self.promises.newest();
        let operations: Vec<Operation> = (0..self.random.random_range(1..4)).map(|_| self.draw()).collect();
        let transaction = self.graph().begin()?;
        for operation in &operations {
            stage(&transaction, operation)?;
            state.apply(operation);
        }
        let asked = if self.random.random_range(0..8) == 0 { Durability::Sync } else { Durability::None };
        let before = self.last();
        // A failed commit may or may not be in the log.
        self.promises.ask(state);
        let commit = transaction.commit_with(asked)?;
        if commit.changed != Some(false) {
            assert_eq!(commit.at, before.next());
        } else {
            let same = self.promises.states.pop();
            assert_eq!(same.as_ref(), self.promises.states.last());
        }
        if asked.max(self.durability) == Durability::Sync {
            self.promise_all();
        }
        Ok(())
    }

    fn ingest(&mut self) -> Result<(), Error> {
        let (pairs, before) = (self.pairs(), self.last());
        let mut state = self.promises.newest();
        let valued: Vec<(Key, Key, u32)> = (0..)
            .zip(&pairs)
            .map(|(value, (source, destination))| (source.clone(), destination.clone(), value))
            .collect();
        for (source, destination, value) in valued.clone() {
            let value = EdgeValue(u64::from(value));
            state.apply(&Operation::PutEdge { label: LabelId(2), source, destination, value });
        }
        self.promises.ask(state);
        let input = before.0.to_le_bytes();
        let commit = self.graph().ingest_from(LabelId(2), &valued, &input)?;
        assert_eq!(commit.at, before.next());
        if self.durability == Durability::Sync {
            self.promise_all();
        }
        Ok(())
    }

    fn stream(&mut self) -> Result<(), Error> {
        let pairs = self.pairs();
        let mut state = self.promises.newest();
        for (source, destination) in pairs.clone() {
            let before = state.clone();
            state.apply(&Operation::PutEdge { label: LabelId(0), source, destination, value: EdgeValue(0) });
            // An engine that counts later does not check if a put changes anything.
            if state != before || counts_later(self.engine) {
                self.promises.ask(state.clone());
            }
        }
        self.graph().put_each(LabelId::DEFAULT, &pairs)?;
        if self.durability == Durability::Sync {
            self.promise_all();
        }
        Ok(())
    }

    fn reopen(&mut self) -> Result<(), Error> {
        if self.random.random_range(0..2) == 0 {
            self.graph().close()?;
        }
        let failures = self.files.faults_met();
        self.graph = None;
        // Dropping a graph does not report that buffered commits could not be written; nothing was
        // promised about them.
        let untold = self.files.faults_met() > failures;
        self.untold |= untold;
        let engines = self.promises.engines;
        let engine = engines[self.random.random_range(0..engines.len())];
        let options = self.promises.options.clone().engine(engine);
        let graph = options.open_on(Arc::new(self.files.clone()))?;
        let found = graph.recovery().unwrap().last;
        assert!(found == self.last() || untold, "what was dropped without a close is there");
        self.promises.states.truncate(found.0 as usize + 1);
        (self.graph, self.engine) = (Some(graph), engine);
        self.openings += 1;
        self.promise_all();
        Ok(())
    }
}
