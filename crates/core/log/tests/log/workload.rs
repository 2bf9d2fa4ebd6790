//! A workload whose commits determine their own content, and the promises made about it.

use hedgerow_log::{
    Body, CheckpointEntry, CommitRef, Durability, Log, LogOptions, LogRecord, LoggedCommit, StoreError,
    StoreFiles, StoreOptions, StreamEntry,
};
use hedgerow_model::{Catalog, CommitTimestamp, Effects, KeyKind, Topology};
use hedgerow_testing::simulated::SimulatedFiles;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::sync::Arc;

/// The name of the only stream.
pub const STREAM: &str = "one";

pub const STORE: [u8; 16] = *b"the test's store";

pub fn store_options() -> StoreOptions {
    StoreOptions {
        engine: "rapid".to_owned(),
        keys: KeyKind::Number,
        topology: Topology::Undirected,
        strict: false,
        catalog: Catalog::default(),
    }
}

/// Segments so small that every boundary is crossed.
pub fn log_options(durability: Durability) -> LogOptions {
    LogOptions { durability, segment_bytes: 1500, buffer_bytes: 200, unsynced_bytes: 700 }
}

/// The content of a commit, which depends only on its timestamp. Some commits are larger than a
/// segment.
pub fn content(at: CommitTimestamp) -> Vec<u8> {
    let length = match at.0 % 23 {
        0 => 1800,
        11 => 600,
        small => small * 3,
    };
    (0..length).map(|byte| (byte * 31 + at.0 * 17 + 1) as u8).collect()
}

pub fn body(at: CommitTimestamp) -> Body {
    let (mut body, effects, content) = (Body::default(), Effects::default(), content(at));
    let commit = CommitRef { input: Some(&content), ..CommitRef::of(&effects) };
    body.encode(&commit, Topology::Undirected);
    body
}

/// Returns true if a record is as it was committed.
pub fn is_right(record: &LogRecord<'_>) -> bool {
    let commit = LoggedCommit::decode(record.body, Topology::Undirected);
    commit.is_ok_and(|commit| commit.input.as_deref() == Some(&content(record.at)[..]))
        && record.wall_clock == wall_clock(record.at)
}

pub fn wall_clock(at: CommitTimestamp) -> u64 {
    1_700_000_000_000_000 + at.0 / 3 * 1000
}

/// The promises made, each with the number of operations on the files by then.
#[derive(Clone, Debug, Default)]
pub struct Promises {
    /// The number of operations after which the store exists.
    pub created: Option<u64>,
    /// Commits up to these timestamps survive.
    pub durable: Vec<(u64, CommitTimestamp)>,
    /// Checkpoints of these timestamps are in the manifest.
    pub checkpoints: Vec<(u64, CommitTimestamp)>,
    /// Positions of the stream, each with the number of operations before and after it was set.
    pub streams: Vec<([u64; 2], Option<CommitTimestamp>)>,
    /// Timestamps after which the log was needed when it was pruned.
    pub needed: Vec<(u64, CommitTimestamp)>,
    /// The last commit that was attempted.
    pub asked: CommitTimestamp,
    /// The options of the log.
    pub options: LogOptions,
    /// True if an operation failed without an error to a caller: a log dropped without a close
    /// writes its buffer if it can.
    pub untold: bool,
}

impl Promises {
    /// The newest promise of a kind that was made before an operation.
    pub fn before(promises: &[(u64, CommitTimestamp)], operation: u64) -> CommitTimestamp {
        let made = promises.iter().filter(|(at, _)| *at < operation).map(|(_, promised)| *promised);
        made.max().unwrap_or_default()
    }

    /// Returns true if the stream may be at this position after a crash before an operation.
    pub fn may_be_at(&self, position: Option<CommitTimestamp>, operation: u64) -> bool {
        let begun: Vec<_> = self.streams.iter().filter(|([begun, _], _)| *begun < operation).collect();
        let set = begun.iter().rposition(|([_, set], _)| *set < operation);
        set.is_none() && position.is_none()
            || begun[set.unwrap_or(0)..].iter().any(|(_, other)| *other == position)
    }
}

/// A workload on one store.
pub struct Worker<'f> {
    pub files: &'f SimulatedFiles,
    pub promises: Promises,
    /// Number of times that small segments were joined.
    pub joined: u64,
    random: StdRng,
    sessions: Sessions,
    log: Option<Log>,
}

/// The frequency with which the log of a workload is reopened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sessions {
    Long,
    /// Frequent enough that small segments are joined.
    Short,
}

impl<'f> Worker<'f> {
    pub fn new(files: &'f SimulatedFiles, seed: u64, sessions: Sessions) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let durability = match random.random_range(0..4) {
            0 => Durability::None,
            1 => Durability::Buffered,
            _ => Durability::Sync,
        };
        let options = match sessions {
            Sessions::Long => log_options(durability),
            Sessions::Short => LogOptions { segment_bytes: 16 << 10, ..log_options(durability) },
        };
        let promises = Promises { options, ..Promises::default() };
        Worker { files, promises, joined: 0, random, sessions, log: None }
    }

    /// Creates a store and runs `steps` random steps. Stops at the first failure.
    pub fn run(&mut self, steps: usize) -> Result<(), StoreError> {
        let worked = self.create().and_then(|()| (0..steps).try_for_each(|_| self.step()));
        if worked.is_err() {
            self.check_refusals();
        }
        worked
    }

    /// Creates a store, runs `steps` random steps, and closes it.
    pub fn run_and_close(&mut self, steps: usize) -> Result<(), StoreError> {
        self.run(steps)?;
        self.close()
    }

    fn note(&self) -> u64 {
        self.files.operations()
    }

    fn create(&mut self) -> Result<(), StoreError> {
        let store = StoreFiles::create(Arc::new(self.files.clone()), store_options(), STORE)?;
        self.promises.created = Some(self.note());
        self.start(store)
    }

    fn start(&mut self, store: StoreFiles) -> Result<(), StoreError> {
        let oldest = store.manifest().oldest_readable;
        let recovered = store.replay(oldest, |record, _| {
            assert!(is_right(&record));
            Ok::<(), StoreError>(())
        })?;
        self.promises.asked = recovered.last;
        let segments = store.manifest().segments.len();
        let log = Log::start(store, &recovered, self.promises.options)?;
        self.joined += u64::from(log.manifest().segments.len() + 4 < segments);
        self.log = Some(log);
        // The recovered commits are durable from now on.
        self.promises.durable.push((self.note(), recovered.last));
        Ok(())
    }

    fn step(&mut self) -> Result<(), StoreError> {
        match self.random.random_range(0..40) {
            0 => self.reopen(),
            1..=20 if self.sessions == Sessions::Short => self.reopen(),
            1 | 2 => self.log().maintain(),
            3 => self.install_checkpoint(),
            4 | 5 => self.prune(),
            6 => self.set_stream(None),
            7 => self.set_stream(Some(self.log().durable())),
            8 => self.flush(),
            _ => self.commit(),
        }
    }

    /// Sets the position of the stream, with the state that belongs to it, or removes the stream.
    fn set_stream(&mut self, position: Option<CommitTimestamp>) -> Result<(), StoreError> {
        let begun = self.note();
        self.promises.streams.push(([begun, u64::MAX], position));
        match position {
            None => self.log().remove_stream(STREAM)?,
            Some(at) => {
                let stream = StreamEntry { state: content(at).into(), ..StreamEntry::new(STREAM, at) };
                self.log().set_stream(stream)?;
            }
        }
        let set = self.promises.streams.len() - 1;
        self.promises.streams[set].0[1] = self.note();
        Ok(())
    }

    fn log(&self) -> &Log {
        self.log.as_ref().unwrap()
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        let at = self.promises.asked.next();
        let asked = if self.random.random_range(0..8) == 0 { Durability::Sync } else { Durability::None };
        let appended = self.log().append(at, wall_clock(at), &mut body(at))?;
        self.promises.asked = at;
        self.log().settle(appended.at(), asked)?;
        if asked.max(self.promises.options.durability) == Durability::Sync {
            self.promises.durable.push((self.note(), at));
        }
        let durable = self.log().durable();
        self.promises.durable.push((self.note(), durable));
        Ok(())
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        self.log().flush()?;
        self.promises.durable.push((self.note(), self.promises.asked));
        Ok(())
    }

    fn install_checkpoint(&mut self) -> Result<(), StoreError> {
        let at = CommitTimestamp(self.random.random_range(0..=self.promises.asked.0));
        let newest =
            self.log().manifest().checkpoint.map_or(CommitTimestamp::ZERO, |checkpoint| checkpoint.at);
        if at > newest {
            self.log().install_checkpoint(CheckpointEntry { number: at.0, at, length: 0 })?;
            self.promises.checkpoints.push((self.note(), at));
        }
        Ok(())
    }

    fn prune(&mut self) -> Result<(), StoreError> {
        let needed = self.log().manifest().needed_from(CommitTimestamp::ZERO);
        // The request may take effect, acknowledged or not.
        self.promises.needed.push((self.note(), needed));
        self.log().prune(CommitTimestamp::ZERO).map(drop)
    }

    fn close(&mut self) -> Result<(), StoreError> {
        self.log().close()?;
        self.promises.durable.push((self.note(), self.promises.asked));
        self.log = None;
        Ok(())
    }

    fn reopen(&mut self) -> Result<(), StoreError> {
        match self.random.random_range(0..4) {
            0 | 1 => self.close()?,
            2 => self.files.kill_process(),
            _ => {}
        }
        let failures = self.files.faults_met();
        self.log = None;
        self.promises.untold |= self.files.faults_met() > failures;
        let store = StoreFiles::open(Arc::new(self.files.clone()))?;
        self.start(store)
    }

    /// Checks that a commit after a failed write or sync is either durable or not promised.
    fn check_refusals(&mut self) {
        let Some(log) = self.log.take() else { return };
        let durable = log.durable();
        let at = log.last().next();
        if let Ok(appended) = log.append(at, wall_clock(at), &mut body(at))
            && log.settle(appended.at(), Durability::Sync).is_ok()
        {
            self.promises.asked = at;
            self.promises.durable.push((self.note(), at));
        } else {
            let last = log.last();
            self.promises.asked = self.promises.asked.max(last);
            assert_eq!(log.durable(), durable, "something was promised after a failure");
        }
    }
}
