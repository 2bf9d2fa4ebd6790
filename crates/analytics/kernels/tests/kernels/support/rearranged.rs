//! Views of a static graph with other layouts of neighbors.

use super::id;
use hedgerow_kernels::csr::{Csr, CsrAdjacency, CsrCursor};
use hedgerow_model::{
    Adjacency, Column, CommitTimestamp, Count, Cursor, Direction, GraphView, LabelId, Neighbors, NoRecords,
    ReadError, Record, Topology, VertexId, ViewError,
};
use std::marker::PhantomData;
use std::ops::{ControlFlow, Range};

/// A graph as unhelpful as the traits allow: neighbors come one by one, descending, degrees have to
/// be counted, cuts leave out vertices without neighbors, and the bound may be far above the
/// vertices.
pub type Unhelpful = Rearranged<Descending>;

/// A graph with every edge twice, whose sorted neighbors come in runs of three, so that two equal
/// ones may be in one run or in two.
pub type Doubled = Rearranged<Twice>;

/// The layout of neighbors.
pub trait Arrangement: Send + Sync + 'static {
    /// Copies of each neighbor.
    const COPIES: usize;
    /// Neighbors per run.
    const RUN: usize;
    /// True if neighbors ascend and degrees are known; otherwise neighbors descend, cuts leave out
    /// vertices without neighbors, and rows lie in blocks.
    const HELPS: bool;
}

pub struct Descending;

impl Arrangement for Descending {
    const COPIES: usize = 1;
    const RUN: usize = 1;
    const HELPS: bool = false;
}

pub struct Twice;

impl Arrangement for Twice {
    const COPIES: usize = 2;
    const RUN: usize = 3;
    const HELPS: bool = true;
}

/// A static graph in another arrangement.
pub struct Rearranged<R> {
    pub csr: Csr,
    pub bound: u32,
    /// Called whenever the neighbors of a vertex are read, with the number of distinct ones.
    pub on_read: Option<OnRead>,
    pub arrangement: PhantomData<R>,
}

pub type OnRead = Box<dyn Fn(usize) + Send + Sync>;

impl<R> Rearranged<R> {
    pub fn new(csr: Csr) -> Self {
        let bound = csr.vertex_bound();
        Rearranged { csr, bound, on_read: None, arrangement: PhantomData }
    }
}

impl<R: Arrangement> GraphView for Rearranged<R> {
    type Adjacency<'v, W: Column> = RearrangedAdjacency<'v, R, W>;
    type EdgeRecords<'v>
        = NoRecords
    where
        Self: 'v;

    fn timestamp(&self) -> CommitTimestamp {
        self.csr.timestamp()
    }

    fn topology(&self) -> Topology {
        self.csr.topology()
    }

    fn vertex_bound(&self) -> u32 {
        self.bound
    }

    fn vertex_count(&self) -> u64 {
        self.csr.vertex_count()
    }

    fn edge_count(&self, label: LabelId) -> Count {
        Count::exactly(R::COPIES as u64 * self.csr.edge_count(label).at_most())
    }

    fn contains_vertex(&self, vertex: VertexId) -> Result<bool, ReadError> {
        self.csr.contains_vertex(vertex)
    }

    fn scan_vertices<B>(
        &self,
        range: Range<u32>,
        visit: impl FnMut(VertexId) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        self.csr.scan_vertices(range, visit)
    }

    fn adjacency<W: Column>(
        &self,
        label: LabelId,
        direction: Direction,
    ) -> Result<RearrangedAdjacency<'_, R, W>, ViewError> {
        let csr = self.csr.adjacency(label, direction)?;
        Ok(RearrangedAdjacency { csr, on_read: self.on_read.as_ref(), arrangement: PhantomData })
    }

    fn vertex_record(&self, vertex: VertexId) -> Result<Option<Record>, ReadError> {
        self.csr.vertex_record(vertex)
    }

    fn parallel_edge_count(&self, _: LabelId) -> Count {
        Count::default()
    }

    fn edge_records(&self, label: LabelId, _: Direction) -> Result<NoRecords, ViewError> {
        Err(ViewError::NoRecords(label))
    }
}

pub struct RearrangedAdjacency<'v, R, W> {
    csr: CsrAdjacency<'v, W>,
    on_read: Option<&'v OnRead>,
    arrangement: PhantomData<R>,
}

impl<R: Arrangement, W: Column> Adjacency for RearrangedAdjacency<'_, R, W> {
    type Value = W;
    type Cursor<'a>
        = RearrangedCursor<'a, R, W>
    where
        Self: 'a;

    const SORTED: bool = R::HELPS;
    const DEGREE_IS_O1: bool = R::HELPS;

    fn cursor(&self) -> RearrangedCursor<'_, R, W> {
        RearrangedCursor {
            csr: self.csr.cursor(),
            on_read: self.on_read,
            gathered: (Vec::new(), Vec::new()),
            arrangement: PhantomData,
        }
    }

    fn reads_blocks(&self) -> bool {
        !R::HELPS
    }

    fn cuts(&self, parts: usize) -> Result<Vec<Range<u32>>, ReadError> {
        if R::HELPS {
            return self.csr.cuts(parts);
        }
        let with_neighbors = |vertex: &u32| self.csr.cursor().degree(id(*vertex)) != Ok(0);
        let trimmed = self.csr.cuts(parts)?.into_iter().filter_map(|cut| {
            let start = cut.clone().find(with_neighbors)?;
            let end = cut.rev().find(with_neighbors)?;
            Some(start..end + 1)
        });
        Ok(trimmed.collect())
    }
}

pub struct RearrangedCursor<'a, R, W> {
    csr: CsrCursor<'a, W>,
    on_read: Option<&'a OnRead>,
    gathered: (Vec<VertexId>, Vec<W>),
    arrangement: PhantomData<R>,
}

impl<R: Arrangement, W: Column> Cursor for RearrangedCursor<'_, R, W> {
    type Value = W;

    fn degree(&mut self, vertex: VertexId) -> Result<usize, ReadError> {
        Ok(R::COPIES * self.csr.degree(vertex)?)
    }

    fn find(&mut self, vertex: VertexId, neighbor: VertexId) -> Result<Option<W>, ReadError> {
        self.csr.find(vertex, neighbor)
    }

    fn neighbors<B>(
        &mut self,
        vertex: VertexId,
        mut run: impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        let (neighbors, values) = self.gather(vertex)?;
        let mut runs = neighbors.chunks(R::RUN).zip(values.chunks(R::RUN));
        Ok(runs.try_for_each(|(neighbors, values)| run(neighbors, values)))
    }

    fn scan<B>(
        &mut self,
        range: Range<u32>,
        mut run: impl FnMut(VertexId, &[VertexId], &[W]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        for owner in range.map(id) {
            if let ControlFlow::Break(value) = self.neighbors(owner, |ids, values| run(owner, ids, values))? {
                return Ok(ControlFlow::Break(value));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn gather(&mut self, vertex: VertexId) -> Result<Neighbors<'_, W>, ReadError> {
        let (neighbors, values) = self.csr.gather(vertex)?;
        self.on_read.iter().for_each(|on_read| on_read(neighbors.len()));
        let copies = |entry: usize| std::iter::repeat_n(entry, R::COPIES);
        let mut order: Vec<usize> = (0..neighbors.len()).flat_map(copies).collect();
        if !R::HELPS {
            order.reverse();
        }
        self.gathered.0 = order.iter().map(|entry| neighbors[*entry]).collect();
        self.gathered.1 = order.iter().map(|entry| values[*entry]).collect();
        Ok((&self.gathered.0, &self.gathered.1))
    }
}
