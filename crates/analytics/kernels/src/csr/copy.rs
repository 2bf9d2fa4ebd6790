//! Copies of views, as they are or transposed.

use super::build::{Duplicates, build_bytes, rows_by_owner, rows_bytes};
use super::parallel::{has_parallel_edges, scan_each_edge};
use super::rows::{RowBlock, Rows};
use super::{BuildOptions, Csr, CsrError, Presence};
use hedgerow_model::scatter::{ScatteredEntries, sort_row};
use hedgerow_model::{
    Adjacency, Column, ColumnType, Cursor, Direction, GraphView, LabelId, Topology, VertexId,
};
use std::ops::{ControlFlow, Range};

impl Csr {
    /// Copies one label of a view, with the values of that label: `W = ()` is topology only.
    ///
    /// The view determines vertices, timestamp and topology; a reverse adjacency is copied if the
    /// view has one. The label of the copy is [`LabelId::DEFAULT`]. O(vertices + edges).
    ///
    /// Each of several parallel edges is a neighbor in the copy, and counts in its [number of
    /// edges](GraphView::edge_count): see [`scan_each_edge`].
    ///
    /// # Errors
    /// [`CsrError::View`] if the view has no such label or another type of values,
    /// [`CsrError::Read`] if it could not be read, [`CsrError::Memory`] if the copy does not fit,
    /// [`CsrError::Cancelled`].
    pub fn from_view<V: GraphView, W: Column>(
        view: &V,
        label: LabelId,
        options: BuildOptions<'_>,
    ) -> Result<Csr, CsrError> {
        let (vertex_bound, topology) = (view.vertex_bound(), view.topology());
        let adjacency = |direction: &Direction| view.adjacency::<W>(label, *direction);
        let adjacencies = topology.directions().iter().map(adjacency).collect::<Result<Vec<_>, _>>()?;
        // While a direction is being assembled, it exists twice.
        let copies = topology.directions().len() as u64 + 1;
        let is_parallel = W::TYPE == ColumnType::Unit && has_parallel_edges(view, label);
        let edges = match is_parallel {
            true => view.parallel_edge_count(label),
            false => view.edge_count(label),
        };
        let needed = copies * rows_bytes::<W>(vertex_bound, entry_count(view, edges.at_most()));
        options.memory.check(needed, vertex_bound, view.vertex_count())?;

        let rows = adjacencies.iter().zip(topology.directions()).map(|(adjacency, direction)| {
            copy_rows(adjacency, vertex_bound, options, |range| match is_parallel {
                true => copy_each_edge(view, label, *direction, range),
                false => copy_block(adjacency, range),
            })
        });
        let mut rows = rows.collect::<Result<Vec<_>, _>>()?.into_iter();
        let out = rows.next().expect("every topology stores the out-neighbors, first");
        let copy = Csr::with_rows::<V, W>(view, label, topology, out)?;
        let edge_count = edges.exact().unwrap_or_else(|| copy.out.edge_count(topology));
        Ok(Csr { reverse: rows.next(), edge_count, ..copy })
    }

    /// Transposes one label of a view, with its values of type `W`: the out-neighbors of the result
    /// are the in-neighbors of the view, repeated only if the view repeats neighbors.
    ///
    /// For kernels that need in-neighbors where a directed view keeps none. The view determines
    /// vertices and timestamp. An undirected view stays as it is. O(vertices + edges).
    ///
    /// # Errors
    /// See [`Csr::from_view`].
    pub fn transposed<V: GraphView, W: Column>(
        view: &V,
        label: LabelId,
        options: BuildOptions<'_>,
    ) -> Result<Csr, CsrError> {
        let (vertex_bound, edges) = (view.vertex_bound(), view.edge_count(label).at_most());
        let entries = entry_count(view, edges);
        let adjacency = view.adjacency::<W>(label, Direction::Out)?;
        options.memory.check(build_bytes::<W>(vertex_bound, entries), vertex_bound, view.vertex_count())?;

        let cuts = adjacency.cuts(options.parts())?;
        let turn = |range, turned: &mut ScatteredEntries<W>| {
            scan(&adjacency, range, |source, destinations, values| {
                let entries = destinations.iter().zip(values);
                entries.for_each(|(destination, value)| turned.push(*destination, source, *value));
            })
        };
        let rows = rows_by_owner(vertex_bound, cuts, Duplicates::Keep, options, turn)?;
        let topology = match view.topology() {
            Topology::Undirected => Topology::Undirected,
            Topology::Directed | Topology::DirectedWithReverse => Topology::Directed,
        };
        Csr::with_rows::<V, W>(view, label, topology, rows)
    }

    /// A graph with the vertices of `view` and these rows.
    pub(super) fn with_rows<V: GraphView, W: Column>(
        view: &V,
        label: LabelId,
        topology: Topology,
        out: Rows,
    ) -> Result<Csr, CsrError> {
        Ok(Csr {
            timestamp: view.timestamp(),
            topology,
            presence: Presence::of(view)?,
            vertex_count: view.vertex_count(),
            edge_count: view.edge_count(label).exact().unwrap_or_else(|| out.edge_count(topology)),
            column: W::TYPE,
            out,
            reverse: None,
        })
    }
}

/// The number of entries of one direction; for an undirected view an upper bound.
pub(super) fn entry_count(view: &impl GraphView, edges: u64) -> usize {
    let ends = if view.topology().is_undirected() { 2 } else { 1 };
    edges as usize * ends
}

fn copy_rows<A: Adjacency>(
    adjacency: &A,
    vertex_bound: u32,
    options: BuildOptions<'_>,
    copy: impl Fn(Range<u32>) -> Result<RowBlock, CsrError> + Sync,
) -> Result<Rows, CsrError> {
    let cuts = adjacency.cuts(options.parts())?;
    let blocks = options.map_chunks(cuts, copy)?;
    Ok(Rows::concatenate(vertex_bound, A::Value::TYPE, blocks))
}

fn copy_each_edge<V: GraphView>(
    view: &V,
    label: LabelId,
    direction: Direction,
    range: Range<u32>,
) -> Result<RowBlock, CsrError> {
    let mut block = RowBlock::new(range.clone(), ColumnType::Unit, 0);
    scan_each_edge(view, label, direction, range, |owner, neighbors| {
        block.extend::<()>(owner, neighbors, &[]);
    })?;
    Ok(block)
}

fn copy_block<A: Adjacency>(adjacency: &A, range: Range<u32>) -> Result<RowBlock, CsrError> {
    if !A::SORTED {
        return sort_block(adjacency, range);
    }
    let mut block = RowBlock::new(range.clone(), A::Value::TYPE, 0);
    scan(adjacency, range, |owner, neighbors, values| block.extend(owner, neighbors, values))?;
    Ok(block)
}

fn sort_block<A: Adjacency>(adjacency: &A, range: Range<u32>) -> Result<RowBlock, CsrError> {
    let mut block = RowBlock::new(range.clone(), A::Value::TYPE, 0);
    let mut cursor = adjacency.cursor();
    let mut row = Vec::new();
    for owner in range.map(VertexId::new) {
        let (neighbors, values) = cursor.gather(owner)?;
        row.clear();
        row.extend(neighbors.iter().copied().zip(values.iter().copied()));
        sort_row(&mut row);
        row.iter().for_each(|(neighbor, value)| block.push(owner, *neighbor, *value));
    }
    Ok(block)
}

pub(super) fn scan<A: Adjacency>(
    adjacency: &A,
    range: Range<u32>,
    mut run: impl FnMut(VertexId, &[VertexId], &[A::Value]),
) -> Result<(), CsrError> {
    let scanned = adjacency.cursor().scan(range, |owner, neighbors, values| {
        run(owner, neighbors, values);
        ControlFlow::<()>::Continue(())
    });
    Ok(scanned.map(|_| ())?)
}
