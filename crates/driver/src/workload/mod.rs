//! The workloads.

mod archiving;
mod batch_insert;
mod buffered_insert;
mod checkpoint;
mod durable_ingest;
mod edge_log;
mod hops;
mod hub;
mod insert;
mod interleaved;
mod kernels;
pub mod link_bench;
mod memory;
mod mixed;
mod recovery;
mod scan;
mod search;
mod snapshot;
mod synced_commits;
mod update;

use crate::executor::Bench;
use crate::{BenchError, Failure};
use kernels::KernelName;

/// A workload. `docs/bench.md` describes each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// Bytes per edge after the load.
    Memory,
    /// Edges put one by one, each in a transaction of its own.
    Insert,
    /// Edges put in batches of several sizes.
    BatchInsert,
    /// Edges that exist and edges that do not, looked up at random.
    Search,
    /// Neighbors of random vertices, and their neighbors.
    Hops,
    /// All neighbors of all vertices, in the order of the vertices.
    ScanOrdered,
    /// All neighbors of all vertices, in random order.
    ScanRandom,
    /// Snapshots opened and closed.
    Snapshot,
    /// Ten iterations of PageRank.
    PageRank,
    /// Breadth-first searches.
    Bfs,
    /// Shortest paths by weights.
    Sssp,
    /// Weakly connected components.
    Wcc,
    /// The number of triangles.
    Triangles,
    /// Betweenness centrality from single sources.
    Betweenness,
    /// A fifth of the edges deleted and put again.
    Update,
    /// A writer with a concurrent reader: the rate of the writer.
    MixedWriter,
    /// A writer with a concurrent reader: the time of the reader.
    MixedReader,
    /// Edges put in parts, with a search after each.
    Interleaved,
    /// One vertex with many edges.
    Hub,
    /// Edges put into an edge log, archived from several thresholds on.
    Archiving,
    /// Kernels while the last edges are only in the edge log.
    Unarchived,
    /// The edge log, archiving and rows without a graph's commits.
    EdgeLog,
    /// Commits of one edge into a store, each synced, by several clients at a time.
    SyncedCommits,
    /// Commits of one edge into a store, without waiting for the disk.
    BufferedInsert,
    /// Edges put into a store in batches and as one bulk.
    DurableIngest,
    /// Stores opened: a checkpoint loaded, a log replayed.
    Recovery,
    /// Checkpoints with a concurrent writer.
    Checkpoint,
    /// Clients of a social graph: LinkBench with its own mix of requests.
    LinkBench,
    /// LinkBench with the mix of Facebook's caches: almost all requests are reads.
    LinkBenchTao,
}

impl Workload {
    /// All workloads, in the order in which they run: resident memory is measured while the process
    /// is fresh, and workloads that change the loaded graph come last.
    pub const ALL: &[Workload] = &[
        Workload::Memory,
        Workload::Insert,
        Workload::BatchInsert,
        Workload::Search,
        Workload::Hops,
        Workload::ScanOrdered,
        Workload::ScanRandom,
        Workload::Snapshot,
        Workload::PageRank,
        Workload::Bfs,
        Workload::Sssp,
        Workload::Wcc,
        Workload::Triangles,
        Workload::Betweenness,
        Workload::Update,
        Workload::MixedWriter,
        Workload::MixedReader,
        Workload::Interleaved,
        Workload::Hub,
        Workload::Archiving,
        Workload::Unarchived,
        Workload::EdgeLog,
        Workload::SyncedCommits,
        Workload::BufferedInsert,
        Workload::DurableIngest,
        Workload::Recovery,
        Workload::Checkpoint,
        Workload::LinkBench,
        Workload::LinkBenchTao,
    ];

    /// The batch size of the contract metric.
    pub(crate) const CONTRACT_BATCH: usize = 1 << 16;

    /// The default workloads.
    #[must_use]
    pub fn defaults() -> Vec<Workload> {
        let is_default = |workload: &Workload| {
            !matches!(workload, Workload::Interleaved | Workload::Hub)
                && !workload.needs_edge_log()
                && !workload.is_on_store()
        };
        Workload::ALL.iter().copied().filter(is_default).collect()
    }

    /// Returns true if the workload only measures engines with an edge log.
    pub(crate) fn needs_edge_log(self) -> bool {
        matches!(self, Workload::Archiving | Workload::Unarchived | Workload::EdgeLog)
    }

    /// Returns true if the workload creates stores.
    pub(crate) fn is_on_store(self) -> bool {
        use Workload::{BufferedInsert, Checkpoint, DurableIngest, Recovery, SyncedCommits};
        matches!(self, SyncedCommits | BufferedInsert | DurableIngest | Recovery | Checkpoint)
            || matches!(self, Workload::LinkBench | Workload::LinkBenchTao)
    }

    /// Returns true if the workload's contract metric has a speed-up of several threads.
    pub(crate) fn scales(self) -> bool {
        !matches!(self, Workload::Memory | Workload::Checkpoint)
    }

    /// Its name on the command line and in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Workload::Insert => "insert",
            Workload::BatchInsert => "batch-insert",
            Workload::Memory => "memory",
            Workload::Search => "search",
            Workload::Hops => "hops",
            Workload::ScanOrdered => "scan-ordered",
            Workload::ScanRandom => "scan-random",
            Workload::Snapshot => "snapshot",
            Workload::PageRank => "pagerank",
            Workload::Bfs => "bfs",
            Workload::Sssp => "sssp",
            Workload::Wcc => "wcc",
            Workload::Triangles => "triangles",
            Workload::Betweenness => "betweenness",
            Workload::Update => "update",
            Workload::MixedWriter => "mixed-writer",
            Workload::MixedReader => "mixed-reader",
            Workload::Interleaved => "interleaved",
            Workload::Hub => "hub",
            Workload::Archiving => "archiving",
            Workload::Unarchived => "unarchived",
            Workload::EdgeLog => "edge-log",
            Workload::SyncedCommits => "synced-commits",
            Workload::BufferedInsert => "buffered-insert",
            Workload::DurableIngest => "durable-ingest",
            Workload::Recovery => "recovery",
            Workload::Checkpoint => "checkpoint",
            Workload::LinkBench => "linkbench",
            Workload::LinkBenchTao => "linkbench-tao",
        }
    }

    /// The metric that represents the workload.
    #[must_use]
    pub fn contract_metric(self) -> &'static str {
        match self {
            Workload::Insert
            | Workload::Search
            | Workload::Hops
            | Workload::ScanOrdered
            | Workload::ScanRandom
            | Workload::Update
            | Workload::MixedWriter
            | Workload::Interleaved
            | Workload::SyncedCommits
            | Workload::BufferedInsert
            | Workload::Recovery
            | Workload::LinkBench
            | Workload::LinkBenchTao => "throughput",
            Workload::BatchInsert => "throughput-65536",
            Workload::Archiving => "throughput-thread-65536",
            Workload::Unarchived => "time-65536",
            Workload::EdgeLog => "throughput-archive-65536",
            Workload::Memory => "bytes-per-edge",
            Workload::Snapshot
            | Workload::PageRank
            | Workload::Bfs
            | Workload::Sssp
            | Workload::Wcc
            | Workload::Triangles
            | Workload::Betweenness
            | Workload::MixedReader => "time",
            Workload::Hub => "insert-latency-max",
            Workload::DurableIngest => "throughput-bulk",
            Workload::Checkpoint => "writer-throughput",
        }
    }

    /// Returns true if larger values of the contract metric are better.
    #[must_use]
    pub fn more_is_better(self) -> bool {
        self.contract_metric().starts_with("throughput")
    }

    /// The workload called `name`.
    ///
    /// # Errors
    /// There is no such workload; the error lists all.
    pub fn named(name: &str) -> Result<Workload, BenchError> {
        let workload = Workload::ALL.iter().find(|workload| workload.name() == name);
        workload.copied().ok_or_else(|| BenchError::UnknownWorkload(name.to_owned()))
    }

    pub(crate) fn measure(self, bench: &mut Bench<'_>) -> Result<(), Failure> {
        match self {
            Workload::Insert => insert::measure(bench),
            Workload::BatchInsert => batch_insert::measure(bench),
            Workload::Memory => memory::measure(bench),
            Workload::Search => search::measure(bench),
            Workload::Hops => hops::measure(bench),
            Workload::ScanOrdered => scan::measure_ordered(bench),
            Workload::ScanRandom => scan::measure_random(bench),
            Workload::Snapshot => snapshot::measure(bench),
            Workload::PageRank => {
                kernels::measure(bench, &[KernelName::PageRank, KernelName::PageRankSingle])
            }
            Workload::Bfs => kernels::measure(bench, &[KernelName::Bfs, KernelName::BfsTopDown]),
            Workload::Sssp => kernels::measure_weighted(bench, &[KernelName::Sssp]),
            Workload::Wcc => kernels::measure(bench, &[KernelName::Wcc, KernelName::WccPlain]),
            Workload::Triangles => kernels::measure_triangles(bench),
            Workload::Betweenness => kernels::measure(bench, &[KernelName::Betweenness]),
            Workload::Update => update::measure(bench),
            Workload::MixedWriter | Workload::MixedReader => mixed::measure(bench, self),
            Workload::Interleaved => interleaved::measure(bench),
            Workload::Hub => hub::measure(bench),
            Workload::Archiving => archiving::measure_writers(bench),
            Workload::Unarchived => archiving::measure_readers(bench),
            Workload::EdgeLog => edge_log::measure(bench),
            Workload::SyncedCommits => synced_commits::measure(bench),
            Workload::BufferedInsert => buffered_insert::measure(bench),
            Workload::DurableIngest => durable_ingest::measure(bench),
            Workload::Recovery => recovery::measure(bench),
            Workload::Checkpoint => checkpoint::measure(bench),
            Workload::LinkBench | Workload::LinkBenchTao => link_bench::measure(bench, self),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_map_back_to_workloads() {
        for workload in Workload::ALL {
            assert_eq!(Workload::named(workload.name()).unwrap(), *workload);
        }
        let error = Workload::named("delete").unwrap_err().to_string();
        assert!(error.contains("delete") && error.contains("scan-ordered, scan-random"), "{error}");
    }
}
