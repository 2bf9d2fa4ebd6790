//! The edges that the writers put into the graph.

use super::DemoArgs;
use crate::console::Console;
use crate::error::CliError;
use crate::input::{Input, Means, Portions, Weights, add_vertices};
use crate::interrupt::Interrupt;
use crate::progress;
use crate::threads::Threads;
use hedgerow::kernels::{KernelError, MemoryBudget};
use hedgerow::{AsKey, Error, Graph};
use hedgerow_formats::{Kronecker, SkippedLines, VertexKey};
use hedgerow_sync::atomic::{AtomicUsize, Ordering};

/// Edges that are generated at a time.
const CHUNK: u64 = 1 << 18;

/// Edges in order; each call of `take` returns the next ones.
#[derive(Debug)]
pub struct Stream<K> {
    /// The origin of the edges.
    pub name: String,
    /// Invalid lines of the file.
    pub skipped: SkippedLines,
    edges: Vec<(K, K)>,
    vertices: Vec<K>,
    next: AtomicUsize,
}

/// A generated stream.
pub fn generated(args: &DemoArgs, console: &Console, interrupt: &Interrupt) -> Result<Stream<u64>, CliError> {
    let kronecker = Kronecker::new(args.scale, args.edge_factor, args.seed)?;
    let bytes = kronecker.edges().saturating_mul(size_of::<(u64, u64)>() as u64);
    let vertices = kronecker.vertices();
    let checked = MemoryBudget::detect().check(bytes, vertices as u32, vertices);
    checked.map_err(|error| Error::from(KernelError::from(error)))?;
    let mut edges = Vec::with_capacity(kronecker.edges() as usize);
    let bar = progress::of_steps(console, "generating", kronecker.edges());
    while (edges.len() as u64) < kronecker.edges() {
        interrupt.check()?;
        let start = edges.len() as u64;
        kronecker.fill(start..kronecker.edges().min(start + CHUNK), &mut edges);
        bar.set_position(edges.len() as u64);
    }
    bar.finish_and_clear();
    let DemoArgs { scale, edge_factor, seed, .. } = args;
    let name = format!("Kronecker, scale {scale}, edge factor {edge_factor}, seed {seed}");
    Ok(Stream::new(name, SkippedLines::default(), edges, Vec::new()))
}

/// The edges of a file, in its order.
pub fn of_file<K: VertexKey>(
    input: &Input<'_>,
    console: &Console,
    interrupt: &Interrupt,
) -> Result<Stream<K>, CliError> {
    let (mut edges, mut vertices) = (Vec::new(), Vec::new());
    let threads = Threads::new(None)?;
    let means = Means { threads: &threads, console, interrupt };
    let skipped = input.for_each_batch::<K>(Weights::Ignored, Portions::Pieces, means, |batch| {
        edges.extend(batch.edges.drain(..).map(|edge| (edge.source, edge.destination)));
        vertices.append(&mut batch.vertices);
        Ok(())
    })?;
    Ok(Stream::new(input.graph.display().to_string(), skipped, edges, vertices))
}

impl<K> Stream<K> {
    fn new(name: String, skipped: SkippedLines, edges: Vec<(K, K)>, vertices: Vec<K>) -> Self {
        Stream { name, skipped, edges, vertices, next: AtomicUsize::new(0) }
    }

    /// Number of edges, repeated ones counted.
    pub fn len(&self) -> u64 {
        self.edges.len() as u64
    }

    /// The next `count` edges, or the rest; empty at the end.
    pub fn take(&self, count: usize) -> &[(K, K)] {
        // The counter must not overflow, whatever the caller passes.
        let count = count.min(self.edges.len());
        let start = self.next.fetch_add(count, Ordering::Relaxed).min(self.edges.len());
        &self.edges[start..self.edges.len().min(start + count)]
    }

    /// The source of the first edge.
    pub fn first_source(&self) -> Option<&K> {
        self.edges.first().map(|(source, _)| source)
    }
}

impl<K: AsKey> Stream<K> {
    /// Adds the vertices that the file names separately.
    pub fn add_vertices(&self, graph: &Graph) -> Result<(), CliError> {
        add_vertices(graph, &self.vertices)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_edge_is_handed_out_once() {
        let edges = (0..10u64).map(|number| (number, number + 1)).collect();
        let stream = Stream::new("test".into(), SkippedLines::default(), edges, Vec::new());
        assert_eq!(stream.take(4).len(), 4);
        assert_eq!(stream.take(4), [(4, 5), (5, 6), (6, 7), (7, 8)]);
        assert_eq!(stream.take(4), [(8, 9), (9, 10)]);
        assert!(stream.take(4).is_empty());
        assert!(stream.take(4).is_empty());
    }

    #[test]
    fn more_than_there_is_can_be_asked_for() {
        let stream = Stream::new("test".into(), SkippedLines::default(), vec![(1u64, 2u64)], Vec::new());
        assert_eq!(stream.take(usize::MAX), [(1, 2)]);
        for count in [usize::MAX, 1, usize::MAX, 64] {
            assert!(stream.take(count).is_empty());
        }
    }
}
