//! The settings of a run.

use crate::load::CONTRACT_BATCH;
use crate::stores::StoreFolder;
use crate::{BenchError, Engine, Workload};
use std::path::PathBuf;
use std::time::Duration;

/// The engines, workloads and extent of a run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The engines; the static CSR is measured in every run, listed or not.
    pub engines: Vec<Engine>,
    /// The workloads, in the order in which they run: that of [`WORKLOADS`](crate::WORKLOADS) or of
    /// another list.
    pub workloads: Vec<&'static Workload>,
    /// Thread counts; every workload that can use several threads is measured with each count.
    pub threads: Vec<usize>,
    /// Repetitions of each measurement.
    pub repetitions: usize,
    /// The seed for shuffling and sampling.
    pub seed: u64,
    /// The extent of the run.
    pub extent: Extent,
    /// The directory of the stores, which are removed after they were measured. `None`: the
    /// system's directory for temporary files.
    pub store: Option<PathBuf>,
}

/// The extent of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Everything once and briefly, to check that it works. The figures are noise.
    Quick,
    /// A run that ends within ten minutes for two engines on a graph of thirty million entries.
    Default,
    /// Every insertion of every repetition, all batch sizes.
    Full,
}

impl Settings {
    /// Checks that stores can be created in their directory, if the run has any.
    ///
    /// # Errors
    /// The stores cannot be created.
    pub fn check_store(&self) -> Result<(), BenchError> {
        self.store_folder().map(drop)
    }

    /// The failure of a run without any figure.
    pub(crate) fn nothing_to_measure(&self) -> BenchError {
        BenchError::NothingToMeasure {
            workloads: self.workloads.iter().map(|workload| workload.name).collect(),
            engines: self.engines.iter().map(|engine| engine.name).collect(),
        }
    }

    /// A folder for the stores, if the run has any.
    pub(crate) fn store_folder(&self) -> Result<Option<StoreFolder>, BenchError> {
        let is_used = self.store.is_some() || self.workloads.iter().any(|workload| workload.is_on_store);
        is_used.then(|| StoreFolder::new(self.store.as_deref())).transpose()
    }

    /// Time limit of a repetition of one-by-one insertion.
    pub(crate) fn insert_limit(&self) -> Option<Duration> {
        self.unless_full(Duration::from_secs(8))
    }

    /// Time limit of a repetition of batch insertion, per batch size.
    pub(crate) fn batch_limit(&self) -> Option<Duration> {
        self.unless_full(Duration::from_secs(4))
    }

    /// Time limit of a repetition of deletions and reinsertions.
    pub(crate) fn update_limit(&self) -> Option<Duration> {
        self.unless_full(Duration::from_secs(6))
    }

    fn unless_full(&self, limit: Duration) -> Option<Duration> {
        (self.extent != Extent::Full).then_some(limit)
    }

    /// Minimum time of a measurement: shorter work is repeated, and its mean is recorded.
    #[must_use]
    pub fn least_time(&self) -> Duration {
        match self.extent {
            Extent::Quick => Duration::from_millis(1),
            Extent::Default | Extent::Full => Duration::from_millis(250),
        }
    }

    /// The sizes of batches.
    pub(crate) fn batch_sizes(&self) -> Vec<usize> {
        match self.extent {
            Extent::Quick | Extent::Default => vec![1, 1 << 10, CONTRACT_BATCH],
            Extent::Full => (0..=16).map(|power| 1 << power).collect(),
        }
    }

    /// Number of edges to look up.
    pub(crate) fn probes(&self) -> usize {
        match self.extent {
            Extent::Quick => 1 << 10,
            Extent::Default | Extent::Full => 1 << 20,
        }
    }

    /// Number of snapshots to open and close.
    pub(crate) fn snapshots(&self) -> u32 {
        match self.extent {
            Extent::Quick => 100,
            Extent::Default | Extent::Full => 200_000,
        }
    }

    /// Time that a repetition commits with each number of clients, and that the disk alone is
    /// synced.
    pub(crate) fn sync_time(&self) -> Duration {
        match self.extent {
            Extent::Quick => Duration::from_millis(50),
            Extent::Default => Duration::from_secs(4),
            Extent::Full => Duration::from_secs(20),
        }
    }

    /// The batch sizes for ingest into a store: smaller batches would mostly measure the wait for
    /// the disk.
    pub(crate) fn durable_batch_sizes(&self) -> Vec<usize> {
        self.batch_sizes().into_iter().filter(|batch| *batch >= 1 << 10).collect()
    }

    /// Bytes written in order to measure the bandwidth of the disk.
    pub(crate) fn bandwidth_bytes(&self) -> usize {
        match self.extent {
            Extent::Quick => 1 << 20,
            Extent::Default => 256 << 20,
            Extent::Full => 1 << 30,
        }
    }

    /// Maximum number of commits of one edge in the log that is replayed.
    pub(crate) fn replayed_edges(&self) -> usize {
        match self.extent {
            Extent::Quick | Extent::Default => 1 << 22,
            Extent::Full => usize::MAX,
        }
    }

    /// Maximum number of edges of a stream that a subscription pulls.
    pub(crate) fn streamed_edges(&self) -> usize {
        match self.extent {
            Extent::Quick => 1 << 12,
            Extent::Default => 1 << 22,
            Extent::Full => usize::MAX,
        }
    }

    /// Maximum number of edges that are put with pauses while a subscription pulls.
    pub(crate) fn paused_edges(&self) -> usize {
        match self.extent {
            Extent::Quick => 100,
            Extent::Default | Extent::Full => 10_000,
        }
    }

    /// Number of batches of changes that a computation follows, and of single changes.
    pub(crate) fn followed_changes(&self) -> (usize, usize) {
        match self.extent {
            Extent::Quick => (3, 100),
            Extent::Default => (50, 20_000),
            Extent::Full => (200, 200_000),
        }
    }

    /// Time that a writer is measured before a concurrent checkpoint begins.
    pub(crate) fn writer_window(&self) -> Duration {
        match self.extent {
            Extent::Quick => Duration::from_millis(20),
            Extent::Default => Duration::from_secs(2),
            Extent::Full => Duration::from_secs(10),
        }
    }
}
