//! Hedgerow: `lsm` on its files, and `tel` in a mapped file.

use super::store::{Kind, Setup, Store};
use super::weighed::Weighed;
use crate::compare::graph::Edge;
use crate::compare::out_of_core::algorithms::{Analytics, Reader, reached, weight};
use anyhow::Result;
use hedgerow::kernels::{
    Adjacency, Bfs, Cursor, Execution, GraphView, Kernel, KernelError, MemoryBudget, PageRank, Sssp, Wcc,
    Weight,
};
use hedgerow::{
    CheckpointOptions, Direction, Durability, EngineKind, Graph, GraphOptions, KeyKind, LabelId, Topology,
    VertexId, WriteGraph,
};
use std::ops::ControlFlow;

pub(super) const LSM: Kind = Kind {
    name: "lsm",
    setup: "undirected, dense ids, all vertices put before the first edge; single-edge commits by put_each and delete_each, 1,000 and \
            50 a call; durability Buffered, segments of the log of 16 MiB; half of the budget for changes, half for blocks; settled by a checkpoint and reclaim",
    batch: 1000,
    is_loaded_in_order: false,
    has_analytics: true,
    open: |setup| open(setup, EngineKind::Lsm),
};

pub(super) const TEL: Kind = Kind {
    name: "tel",
    setup: "as lsm, in a mapped file (scratch), which a store makes again when it is opened; settled by a checkpoint, reclaim",
    batch: 1000,
    is_loaded_in_order: false,
    has_analytics: true,
    open: |setup| open(setup, EngineKind::Tel),
};

/// Vertices per transaction.
const VERTICES: usize = 1 << 14;

/// Bytes of a segment of the log: small compared with the budget, since segments made ahead of use
/// are written twice.
const SEGMENT: u64 = 16 << 20;

const PAGERANK_ITERATIONS: u32 = 10;

fn open(setup: Setup<'_>, engine: EngineKind) -> Result<Box<dyn Store>> {
    let options = GraphOptions::new().engine(engine).topology(Topology::Undirected).keys(KeyKind::Dense);
    let options = options.durability(Durability::Buffered).segment_bytes(SEGMENT).threads(1);
    let options = match engine {
        EngineKind::Lsm => options.memory_budget(setup.budget as usize),
        _ => options.scratch(setup.folder),
    };
    if setup.folder.join("MANIFEST").exists() {
        return Ok(Box::new(options.open(setup.folder)?));
    }
    let graph = options.create(setup.folder)?;
    for first in (0..setup.vertices).step_by(VERTICES) {
        let transaction = graph.begin()?;
        let vertices = first..setup.vertices.min(first + VERTICES as u32);
        vertices.into_iter().try_for_each(|vertex| transaction.add_vertex(VertexId::new(vertex)))?;
        transaction.commit()?;
    }
    Ok(Box::new(graph))
}

impl Store for Graph {
    fn write(&self, puts: &[Edge], deletions: &[Edge]) -> Result<()> {
        self.put_each(LabelId::DEFAULT, puts)?;
        if !deletions.is_empty() {
            self.delete_each(LabelId::DEFAULT, deletions)?;
        }
        Ok(())
    }

    fn load_in_order(&self, edges: &[Edge]) -> Result<()> {
        let once: Vec<Edge> = edges.iter().filter(|edge| edge.0 < edge.1).copied().collect();
        self.ingest(LabelId::DEFAULT, &once)?;
        Ok(())
    }

    fn settle(&self) -> Result<()> {
        self.checkpoint(&CheckpointOptions::new())?;
        while self.reclaim()?.more {}
        Ok(())
    }

    fn read(&self, work: &mut dyn FnMut(&mut dyn Reader) -> Result<()>) -> Result<()> {
        self.snapshot()?.run(Read(work))?
    }
}

/// Passes a reader over a cursor to a closure.
struct Read<'w>(&'w mut dyn FnMut(&mut dyn Reader) -> Result<()>);

impl Kernel for Read<'_> {
    type Output = Result<()>;

    fn run<V: GraphView>(self, view: &V) -> Result<Result<()>, KernelError> {
        let adjacency = view.adjacency::<()>(LabelId::DEFAULT, Direction::Out)?;
        Ok((self.0)(&mut Rows { view, cursor: adjacency.cursor() }))
    }
}

struct Rows<'v, V, C> {
    view: &'v V,
    cursor: C,
}

impl<V: GraphView, C: Cursor> Reader for Rows<'_, V, C> {
    fn neighbors(&mut self, vertex: VertexId, visit: &mut dyn FnMut(&[VertexId])) -> Result<()> {
        let visited = self.cursor.neighbors(vertex, |neighbors, _| {
            visit(neighbors);
            ControlFlow::<()>::Continue(())
        });
        Ok(visited.map(drop)?)
    }

    fn scan(&mut self, visit: &mut dyn FnMut(VertexId, &[VertexId]) -> Result<()>) -> Result<()> {
        let scanned = self.cursor.scan(0..u32::MAX, |vertex, neighbors, _| match visit(vertex, neighbors) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        });
        match scanned? {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(error) => Err(error),
        }
    }

    fn analyze(&mut self, analytics: Analytics) -> Result<Option<(u64, u64)>> {
        let view = self.view;
        // By default, kernels allocate at most half of the memory that the limit leaves.
        let execution = Execution::default().within(MemoryBudget::bytes(u64::MAX));
        Ok(Some(match analytics {
            Analytics::Bfs(source) => reached(&Bfs { execution, ..Bfs::new(source) }.run(view)?.depths),
            Analytics::Components => (Wcc { execution, ..Wcc::default() }.run(view)?.count, 0),
            Analytics::ShortestPaths(source) => {
                let paths =
                    Sssp::<u32> { execution, ..Sssp::new(source) }.run(&Weighed::new(view, weight))?;
                let lengths = paths.distances.iter().filter(|distance| **distance != u32::UNREACHED);
                (paths.reached, lengths.sum())
            }
            Analytics::PageRank => {
                let iterations = PAGERANK_ITERATIONS;
                PageRank { iterations, execution, ..PageRank::default() }.run(view)?;
                (0, 0)
            }
        }))
    }
}
