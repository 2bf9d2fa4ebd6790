//! Hedgerow.

use super::store::{EdgeStore, Kind};
use crate::compare::graph::Edge;
use anyhow::Result;
use hedgerow::kernels::{Adjacency, Cursor, GraphView};
use hedgerow::kernels::{Kernel, KernelError};
use hedgerow::{
    CheckpointOptions, Direction, Durability, Graph, GraphOptions, KeyKind, LabelId, VertexId, WriteGraph,
};
use std::ops::ControlFlow;
use std::path::Path;

pub(super) const KIND: Kind = Kind {
    name: "hedgerow",
    setup: "directed, dense ids, all vertices put before the first edge; durability Sync or Buffered, all else as by default; settled \
            by a checkpoint",
    open,
};

fn open(folder: &Path, durability: Durability, vertices: u32) -> Result<Box<dyn EdgeStore>> {
    let options = GraphOptions::new().keys(KeyKind::Dense).durability(durability);
    if folder.join("MANIFEST").exists() {
        return Ok(Box::new(options.open(folder)?));
    }
    let graph = options.create(folder)?;
    let transaction = graph.begin()?;
    (0..vertices).try_for_each(|vertex| transaction.add_vertex(VertexId::new(vertex)))?;
    transaction.commit()?;
    Ok(Box::new(graph))
}

impl EdgeStore for Graph {
    fn put(&self, (source, destination): Edge) -> Result<()> {
        self.put_edge(LabelId::DEFAULT, source, destination)?;
        Ok(())
    }

    fn put_all(&self, edges: &[Edge]) -> Result<()> {
        self.ingest(LabelId::DEFAULT, edges)?;
        Ok(())
    }

    fn sum_neighbors(&self, sources: &[VertexId], most: usize) -> Result<u64> {
        Ok(self.snapshot()?.run(Sum { sources, most })?)
    }

    fn count(&self, edges: &[Edge]) -> Result<usize> {
        Ok(self.snapshot()?.run(Count(edges))?)
    }

    fn flush(&self) -> Result<()> {
        Ok(Graph::flush(self)?)
    }

    fn settle(&self) -> Result<()> {
        self.checkpoint(&CheckpointOptions::new())?;
        Ok(self.close()?)
    }
}

/// Sums the first neighbors of each of some vertices, up to a limit.
pub(crate) struct Sum<'s> {
    pub(crate) sources: &'s [VertexId],
    pub(crate) most: usize,
}

impl Kernel for Sum<'_> {
    type Output = u64;

    fn run<V: GraphView>(self, view: &V) -> Result<u64, KernelError> {
        let adjacency = view.adjacency::<()>(LabelId::DEFAULT, Direction::Out)?;
        let (mut sum, mut cursor) = (0, adjacency.cursor());
        for source in self.sources {
            let mut left = self.most;
            let visited = cursor.neighbors(*source, |neighbors, _| {
                let neighbors = &neighbors[..left.min(neighbors.len())];
                sum += neighbors.iter().map(|neighbor| u64::from(neighbor.get())).sum::<u64>();
                left -= neighbors.len();
                if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            visited.map(drop)?;
        }
        Ok(sum)
    }
}

struct Count<'e>(&'e [Edge]);

impl Kernel for Count<'_> {
    type Output = usize;

    fn run<V: GraphView>(self, view: &V) -> Result<usize, KernelError> {
        let adjacency = view.adjacency::<()>(LabelId::DEFAULT, Direction::Out)?;
        let (mut found, mut cursor) = (0, adjacency.cursor());
        for (source, destination) in self.0 {
            found += usize::from(cursor.find(*source, *destination)?.is_some());
        }
        Ok(found)
    }
}
