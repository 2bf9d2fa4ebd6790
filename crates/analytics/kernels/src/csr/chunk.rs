//! Edges whose entries are scattered on another thread while more edges come.

use hedgerow_model::scatter::ScatteredEntries;
use hedgerow_model::{Column, Direction, Topology, VertexId};
use hedgerow_sync::{Arc, Mutex, MutexGuard};
use rayon::ThreadPool;

/// A chunk of edges, or their entries. Shared with a task of a pool until it has scattered them.
#[derive(Debug)]
pub(super) struct Chunk<W>(Arc<Mutex<State<W>>>);

#[derive(Debug)]
struct State<W> {
    /// The edges and their values, until they are scattered; then the memory of the edges.
    edges: Edges,
    values: Vec<W>,
    entries: Option<Entries<W>>,
}

pub(super) type Edges = Vec<(VertexId, VertexId)>;

/// The entries of out-neighbors and, if the graph has them, of in-neighbors.
pub(super) type Entries<W> = [ScatteredEntries<W>; 2];

impl<W: Column> Chunk<W> {
    /// The entries of some edges.
    pub fn of(entries: Entries<W>) -> Self {
        let state = State { edges: Vec::new(), values: Vec::new(), entries: Some(entries) };
        Chunk(Arc::new(Mutex::new(state)))
    }

    /// Edges with their values, which a thread of the pool, if there is one, will scatter.
    pub fn new(topology: Topology, edges: Edges, values: Vec<W>, pool: Option<&ThreadPool>) -> Self {
        let chunk = Chunk(Arc::new(Mutex::new(State { edges, values, entries: None })));
        match pool {
            Some(pool) => {
                let shared = Chunk(Arc::clone(&chunk.0));
                pool.spawn(move || drop(shared.scattered(topology)));
            }
            None => drop(chunk.scattered(topology)),
        }
        chunk
    }

    /// Returns the entries, which are scattered here unless a thread of the pool has begun.
    pub fn into_entries(self, topology: Topology) -> Entries<W> {
        let mut state = self.scattered(topology);
        state.edges = Vec::new();
        state.entries.take().unwrap_or_default()
    }

    /// Takes the memory of the edges. If they have not been scattered, returns `None`, or with
    /// `at_once` scatters them here or waits for the thread that does.
    pub fn take_memory(&self, topology: Topology, at_once: bool) -> Option<Edges> {
        let mut state = if at_once { self.scattered(topology) } else { self.0.try_lock()? };
        state.entries.is_some().then(|| std::mem::take(&mut state.edges))
    }

    /// Scatters the edges if that has not been done, or waits until it is.
    fn scattered(&self, topology: Topology) -> MutexGuard<'_, State<W>> {
        let mut state = self.0.lock();
        if state.entries.is_none() {
            let State { edges, values, entries } = &mut *state;
            let edge =
                |((source, destination), value): (&(VertexId, VertexId), &W)| (*source, *destination, *value);
            *entries = Some(entries_of(|| edges.iter().zip(&*values).map(edge), topology));
            edges.clear();
            *values = Vec::new();
        }
        state
    }
}

/// The entries of edges.
pub(super) fn entries_of<W: Column, I: Iterator<Item = (VertexId, VertexId, W)>>(
    edges: impl Fn() -> I,
    topology: Topology,
) -> Entries<W> {
    let has_reverse = topology.stored(Direction::In) == Some(Direction::In);
    let reverse = has_reverse.then(|| ScatteredEntries::of(&edges, (topology, Direction::In)));
    [ScatteredEntries::of(&edges, (topology, Direction::Out)), reverse.unwrap_or_default()]
}

#[cfg(test)]
mod tests {
    use super::super::{BuildOptions, Csr, CsrBuilder};
    use hedgerow_model::{
        Adjacency as _, Cursor as _, Direction, GraphView as _, LabelId, Topology, VertexId,
    };
    use rayon::ThreadPoolBuilder;

    #[test]
    fn edges_count_in_the_order_of_their_chunks_whichever_thread_scatters_them() {
        let pool = ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let id = VertexId::new;
        for topology in [Topology::Undirected, Topology::DirectedWithReverse] {
            let graph = |pool| -> Csr {
                let mut builder = CsrBuilder::new(topology).on(pool);
                let mut edges = Vec::new();
                for chunk in 0..200 {
                    assert!(edges.is_empty());
                    edges.extend((0..50).map(|edge| (id(edge * 7 % 40), id((edge + chunk) % 40))));
                    let values = edges.iter().map(|_| f64::from(chunk)).collect();
                    edges = builder.add(edges, values);
                    assert!(pool.is_some() || edges.capacity() >= 50, "the memory comes back");
                }
                builder.finish(40, 40, BuildOptions::default()).unwrap()
            };
            let rows = |graph: &Csr, direction| {
                let adjacency = graph.adjacency::<f64>(LabelId::DEFAULT, direction).unwrap();
                let mut cursor = adjacency.cursor();
                let row = |vertex| {
                    let (neighbors, values) = cursor.gather(id(vertex)).unwrap();
                    (neighbors.to_vec(), values.to_vec())
                };
                (0..40).map(row).collect::<Vec<_>>()
            };
            let (alone, together) = (graph(None), graph(Some(&pool)));
            for direction in [Direction::Out, Direction::In] {
                assert_eq!(rows(&alone, direction), rows(&together, direction));
            }
        }
    }
}
