//! What is measured, and for how long.

use crate::stores::StoreFolder;
use crate::{BenchError, Engine, Workload};
use std::path::PathBuf;
use std::time::Duration;

/// What is measured, and for how long.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The engines; the static CSR is measured in every run, listed or not.
    pub engines: Vec<Engine>,
    /// The workloads; they run in the order of [`Workload::ALL`].
    pub workloads: Vec<Workload>,
    /// Thread counts; every workload that can use several is measured with each of them.
    pub threads: Vec<usize>,
    /// How often everything is measured.
    pub repetitions: usize,
    /// What shuffles and samples.
    pub seed: u64,
    /// How long one mix of readers and writers runs; each number of clients of LinkBench asks for a fortieth of it.
    pub mix: Duration,
    /// How much is measured.
    pub extent: Extent,
    /// Where stores are made, and removed after they were measured; `None`: where the system keeps temporary files.
    pub store: Option<PathBuf>,
}

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Everything once and briefly: to see that it works. The figures are noise.
    Quick,
    /// What ends within ten minutes for two engines on a graph of thirty million entries.
    Default,
    /// Every insertion of every repetition, all batch sizes, long mixes, the hub.
    Full,
}

impl Settings {
    /// The default run: all workloads but the hub and those on stores, on one thread, three repetitions, mixes of ten seconds.
    #[must_use]
    pub fn new() -> Self {
        Settings {
            engines: vec![Engine::CSR],
            workloads: Workload::defaults(),
            threads: vec![1],
            repetitions: 3,
            seed: 1,
            mix: Duration::from_secs(10),
            extent: Extent::Default,
            store: None,
        }
    }

    /// Everything in full: mixes of a minute.
    #[must_use]
    pub fn full() -> Self {
        let workloads = Workload::ALL.to_vec();
        Settings { workloads, mix: Duration::from_secs(60), extent: Extent::Full, ..Settings::new() }
    }

    /// Everything briefly.
    #[must_use]
    pub fn quick() -> Self {
        Settings { repetitions: 2, mix: Duration::from_millis(50), extent: Extent::Quick, ..Settings::new() }
    }

    /// Whether stores can be made where they are to be, if any will be.
    ///
    /// # Errors
    /// They cannot: why.
    pub fn check_store(&self) -> Result<(), BenchError> {
        self.store_folder().map(drop)
    }

    /// A folder for the stores, if any will be made.
    pub(crate) fn store_folder(&self) -> Result<Option<StoreFolder>, BenchError> {
        let is_used = self.store.is_some() || self.workloads.iter().any(|workload| workload.is_on_store());
        is_used.then(|| StoreFolder::new(self.store.as_deref())).transpose()
    }

    /// What a repetition of one-by-one insertion may take.
    pub(crate) fn insert_limit(&self) -> Option<Duration> {
        self.unless_full(Duration::from_secs(8))
    }

    /// What a repetition of insertion in batches may take per batch size.
    pub(crate) fn batch_limit(&self) -> Option<Duration> {
        self.unless_full(Duration::from_secs(4))
    }

    /// What a repetition of deletions and reinsertions may take.
    pub(crate) fn update_limit(&self) -> Option<Duration> {
        self.unless_full(Duration::from_secs(6))
    }

    fn unless_full(&self, limit: Duration) -> Option<Duration> {
        (self.extent != Extent::Full).then_some(limit)
    }

    /// What is shorter than this is repeated until it has taken so long, and the mean counts.
    pub(crate) fn least_time(&self) -> Duration {
        match self.extent {
            Extent::Quick => Duration::from_millis(1),
            Extent::Default | Extent::Full => Duration::from_millis(250),
        }
    }

    /// The sizes of batches.
    pub(crate) fn batch_sizes(&self) -> Vec<usize> {
        match self.extent {
            Extent::Quick | Extent::Default => vec![1, 1 << 10, Workload::CONTRACT_BATCH],
            Extent::Full => (0..=16).map(|power| 1 << power).collect(),
        }
    }

    /// How many edges are looked up.
    pub(crate) fn probes(&self) -> usize {
        match self.extent {
            Extent::Quick => 1 << 10,
            Extent::Default | Extent::Full => 1 << 20,
        }
    }

    /// How many snapshots are opened and closed.
    pub(crate) fn snapshots(&self) -> u32 {
        match self.extent {
            Extent::Quick => 100,
            Extent::Default | Extent::Full => 200_000,
        }
    }

    /// How long a repetition commits from so many clients, and how long the disk is synced by itself.
    pub(crate) fn sync_time(&self) -> Duration {
        match self.extent {
            Extent::Quick => Duration::from_millis(50),
            Extent::Default => Duration::from_secs(4),
            Extent::Full => Duration::from_secs(20),
        }
    }

    /// The sizes of batches that are ingested into a store: of smaller ones most would be the wait for the disk.
    pub(crate) fn durable_batch_sizes(&self) -> Vec<usize> {
        self.batch_sizes().into_iter().filter(|batch| *batch >= 1 << 10).collect()
    }

    /// How many bytes are written in order to see how fast the disk is.
    pub(crate) fn bandwidth_bytes(&self) -> usize {
        match self.extent {
            Extent::Quick => 1 << 20,
            Extent::Default => 256 << 20,
            Extent::Full => 1 << 30,
        }
    }

    /// How many commits of one edge are in the log that is replayed, at most.
    pub(crate) fn replayed_edges(&self) -> usize {
        match self.extent {
            Extent::Quick | Extent::Default => 1 << 22,
            Extent::Full => usize::MAX,
        }
    }

    /// How long a writer is watched before a checkpoint begins beside it.
    pub(crate) fn writer_window(&self) -> Duration {
        match self.extent {
            Extent::Quick => Duration::from_millis(20),
            Extent::Default => Duration::from_secs(2),
            Extent::Full => Duration::from_secs(10),
        }
    }

    /// How long clients of LinkBench ask: of a mix they take many parts.
    pub(crate) fn client_time(&self) -> Duration {
        self.mix / 40
    }

    /// How many links the graph of LinkBench has at most.
    pub(crate) fn most_links(&self) -> usize {
        match self.extent {
            Extent::Quick | Extent::Default => 1 << 22,
            Extent::Full => usize::MAX,
        }
    }

    /// The degree of the hub.
    pub(crate) fn hub_degree(&self) -> u32 {
        match self.extent {
            Extent::Quick => 1 << 14,
            Extent::Default | Extent::Full => 20_000_000,
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings::new()
    }
}
