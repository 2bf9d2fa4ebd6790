//! Graphs made of maps and lists, slow and obvious, and a view of them.

use hedgerow_model::{
    Adjacency, Column, ColumnType, CommitTimestamp, Count, Cursor, Direction, EdgeValue, GraphView, LabelId,
    Neighbors, NoRecords, ReadError, Record, Topology, VertexId, ViewError,
};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{ControlFlow, Range};

/// At most one edge per source and destination; the last value wins.
#[derive(Clone, Debug)]
pub struct Naive<W> {
    topology: Topology,
    edges: BTreeMap<(u32, u32), W>,
}

impl<W: Column> Naive<W> {
    pub fn new(topology: Topology, edges: impl IntoIterator<Item = (VertexId, VertexId, W)>) -> Self {
        let identified = edges.into_iter().map(|(source, destination, value)| {
            let (source, destination) = topology.canonical(source, destination);
            ((source.get(), destination.get()), value)
        });
        Naive { topology, edges: identified.collect() }
    }

    pub fn edge_count(&self) -> u64 {
        self.edges.len() as u64
    }

    /// The rows of `range` that are not empty.
    pub fn rows(&self, direction: Direction, range: Range<u32>) -> Vec<(u32, Vec<(u32, W)>)> {
        let stored = self.topology.stored(direction).expect("the test asks for a stored direction");
        let mut rows = BTreeMap::<u32, BTreeMap<u32, W>>::new();
        for ((source, destination), value) in &self.edges {
            let ends = (VertexId::new(*source), VertexId::new(*destination));
            for (of, owner, neighbor) in self.topology.entries(ends.0, ends.1) {
                if of == stored && range.contains(&owner.get()) {
                    rows.entry(owner.get()).or_default().insert(neighbor.get(), *value);
                }
            }
        }
        rows.into_iter().map(|(owner, row)| (owner, row.into_iter().collect())).collect()
    }

    pub fn row(&self, direction: Direction, owner: u32) -> Vec<(u32, W)> {
        self.rows(direction, owner..owner + 1).pop().map_or_else(Vec::new, |(_, row)| row)
    }
}

/// A view as unhelpful as the traits allow: rows descend, every neighbor is a run of its own, and
/// only the ends of edges are vertices.
pub struct ListView {
    bound: u32,
    timestamp: CommitTimestamp,
    topology: Topology,
    edge_count: u64,
    /// By stored direction and owner, descending within a row.
    entries: BTreeMap<(Direction, u32), Vec<(VertexId, u32)>>,
}

impl ListView {
    pub fn new(bound: u32, timestamp: CommitTimestamp, graph: &Naive<u32>) -> Self {
        let mut entries = BTreeMap::new();
        for direction in graph.topology.directions() {
            for (owner, row) in graph.rows(*direction, 0..u32::MAX) {
                let row = row.into_iter().rev().map(|(to, value)| (VertexId::new(to), value));
                entries.insert((*direction, owner), row.collect());
            }
        }
        ListView { bound, timestamp, topology: graph.topology, edge_count: graph.edge_count(), entries }
    }

    /// A directed view that keeps parallel edges.
    pub fn multi(bound: u32, edges: Vec<(VertexId, VertexId, u32)>) -> Self {
        let edge_count = edges.len() as u64;
        let mut entries = BTreeMap::<_, Vec<_>>::new();
        for (source, destination, value) in edges {
            entries.entry((Direction::Out, source.get())).or_default().push((destination, value));
        }
        ListView { bound, timestamp: CommitTimestamp(1), topology: Topology::Directed, edge_count, entries }
    }

    pub fn vertices(&self) -> Vec<VertexId> {
        let owners = self.entries.keys().map(|(_, owner)| VertexId::new(*owner));
        let ends = self.entries.values().flatten().map(|(to, _)| *to);
        owners.chain(ends).collect::<BTreeSet<_>>().into_iter().collect()
    }
}

impl GraphView for ListView {
    type Adjacency<'v, W: Column> = ListAdjacency<W>;
    type EdgeRecords<'v>
        = NoRecords
    where
        Self: 'v;

    fn timestamp(&self) -> CommitTimestamp {
        self.timestamp
    }

    fn topology(&self) -> Topology {
        self.topology
    }

    fn vertex_bound(&self) -> u32 {
        self.bound
    }

    fn vertex_count(&self) -> u64 {
        self.vertices().len() as u64
    }

    fn edge_count(&self, _label: LabelId) -> Count {
        self.edge_count.into()
    }

    fn contains_vertex(&self, vertex: VertexId) -> Result<bool, ReadError> {
        Ok(self.vertices().contains(&vertex))
    }

    fn scan_vertices<B>(
        &self,
        range: Range<u32>,
        visit: impl FnMut(VertexId) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        let mut vertices = self.vertices().into_iter().filter(|vertex| range.contains(&vertex.get()));
        Ok(vertices.try_for_each(visit))
    }

    fn adjacency<W: Column>(
        &self,
        _label: LabelId,
        direction: Direction,
    ) -> Result<ListAdjacency<W>, ViewError> {
        assert!(matches!(W::TYPE, ColumnType::Unit | ColumnType::U32));
        let stored = self.topology.stored(direction).ok_or(ViewError::NoReverse)?;
        let rows = (0..self.bound).map(|owner| {
            let row = self.entries.get(&(stored, owner)).cloned().unwrap_or_default();
            row.into_iter().map(|(to, value)| (to, W::from_bits(EdgeValue(u64::from(value))))).unzip()
        });
        Ok(ListAdjacency { rows: rows.collect() })
    }

    fn vertex_record(&self, vertex: VertexId) -> Result<Option<Record>, ReadError> {
        Ok(self.contains_vertex(vertex)?.then_some(Record::EMPTY))
    }

    fn parallel_edge_count(&self, _: LabelId) -> Count {
        Count::default()
    }

    fn edge_records(&self, label: LabelId, _: Direction) -> Result<NoRecords, ViewError> {
        Err(ViewError::NoRecords(label))
    }
}

pub struct ListAdjacency<W> {
    rows: Vec<(Vec<VertexId>, Vec<W>)>,
}

impl<W: Column> Adjacency for ListAdjacency<W> {
    type Value = W;
    type Cursor<'a> = ListCursor<'a, W>;

    const SORTED: bool = false;
    const DEGREE_IS_O1: bool = false;

    fn cursor(&self) -> ListCursor<'_, W> {
        ListCursor(self)
    }

    fn cuts(&self, parts: usize) -> Result<Vec<Range<u32>>, ReadError> {
        let bound = self.rows.len() as u32;
        let width = bound.div_ceil(parts.max(1) as u32).max(1);
        Ok((0..bound).step_by(width as usize).map(|start| start..(start + width).min(bound)).collect())
    }
}

pub struct ListCursor<'a, W>(&'a ListAdjacency<W>);

impl<W: Column> Cursor for ListCursor<'_, W> {
    type Value = W;

    fn find(&mut self, vertex: VertexId, neighbor: VertexId) -> Result<Option<W>, ReadError> {
        let (neighbors, values) = self.gather(vertex)?;
        Ok(neighbors.iter().position(|other| *other == neighbor).map(|position| values[position]))
    }

    fn neighbors<B>(
        &mut self,
        vertex: VertexId,
        mut run: impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        let (neighbors, values) = self.gather(vertex)?;
        let mut runs = neighbors.chunks(1).zip(values.chunks(1));
        Ok(runs.try_for_each(|(neighbor, value)| run(neighbor, value)))
    }

    fn scan<B>(
        &mut self,
        range: Range<u32>,
        mut run: impl FnMut(VertexId, &[VertexId], &[W]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        for owner in range.map(VertexId::new) {
            if let ControlFlow::Break(value) = self.neighbors(owner, |ids, values| run(owner, ids, values))? {
                return Ok(ControlFlow::Break(value));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn gather(&mut self, vertex: VertexId) -> Result<Neighbors<'_, W>, ReadError> {
        Ok(self.0.rows.get(vertex.index()).map_or((&[], &[]), |(ids, values)| (ids, values)))
    }
}
