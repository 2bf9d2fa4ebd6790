//! Copies of views with weights, from the values or the records of edges.

use super::build::rows_bytes;
use super::copy::entry_count;
use super::parallel::scan_record_rows;
use super::rows::{RowBlock, Rows};
use super::{BuildOptions, Csr, CsrError};
use crate::WeightError;
use hedgerow_encoding::wire::DecodeError;
use hedgerow_encoding::{EdgeWeight, ParallelList};
use hedgerow_model::scatter::sort_row;
use hedgerow_model::{
    Adjacency, Column, ColumnType, Cursor, Direction, GraphView, LabelId, ParallelEdges, ReadError, VertexId,
    with_width,
};
use std::ops::{ControlFlow, Range};

/// The weight of the parallel edges between two vertices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParallelWeight {
    /// The least weight of one of them.
    Least,
    /// The sum of their weights.
    Sum,
}

impl Csr {
    /// Copies one label of a view, with weights as `f64` values. Parallel edges are one neighbor.
    ///
    /// Weights that are no `f64` are rounded. The view determines vertices, timestamp and topology;
    /// a reverse adjacency is copied if the view has one. O(vertices + bytes of the records); 12
    /// bytes per edge in each direction, and twice that of one direction while it is made.
    ///
    /// # Errors
    /// [`CsrError::Weight`] if an edge has no weight, or one that is negative or NaN; otherwise as
    /// [`Csr::from_view`].
    pub fn weighted<V: GraphView>(
        view: &V,
        label: LabelId,
        weight: EdgeWeight,
        parallel: ParallelWeight,
        options: BuildOptions<'_>,
    ) -> Result<Csr, CsrError> {
        let (vertex_bound, directions) = (view.vertex_bound(), view.topology().directions());
        let entries = entry_count(view, view.edge_count(label).at_most());
        let needed = (directions.len() as u64 + 1) * rows_bytes::<f64>(vertex_bound, entries);
        options.memory.check(needed, vertex_bound, view.vertex_count())?;
        let rows = |direction: &Direction| {
            let cuts = view.adjacency::<()>(label, *direction)?.cuts(options.parts())?;
            let blocks = options.map_chunks(cuts, |range| match weight {
                EdgeWeight::Value(column) => {
                    with_width!(column, W => weigh_values::<V, W>(view, label, *direction, weight, range))
                }
                EdgeWeight::Property(_) => weigh_records(view, label, *direction, (weight, parallel), range),
            })?;
            Ok(Rows::concatenate(vertex_bound, ColumnType::F64, blocks))
        };
        let mut rows = directions.iter().map(rows).collect::<Result<Vec<_>, CsrError>>()?.into_iter();
        let out = rows.next().expect("every topology stores the out-neighbors, first");
        let copy = Csr::with_rows::<V, f64>(view, label, view.topology(), out)?;
        Ok(Csr { reverse: rows.next(), ..copy })
    }
}

/// Checks the weight of an edge.
fn checked(vertex: VertexId, neighbor: VertexId, weight: Option<f64>) -> Result<f64, CsrError> {
    match weight {
        Some(weight) if weight >= 0.0 => Ok(weight),
        _ => Err(CsrError::Weight(WeightError { source: vertex, destination: neighbor, weight })),
    }
}

fn weigh_values<V: GraphView, W: Column>(
    view: &V,
    label: LabelId,
    direction: Direction,
    weight: EdgeWeight,
    range: Range<u32>,
) -> Result<RowBlock, CsrError> {
    let adjacency = view.adjacency::<W>(label, direction)?;
    let mut block = RowBlock::new(range.clone(), ColumnType::F64, 0);
    let (mut cursor, mut row) = (adjacency.cursor(), Vec::new());
    for owner in range.map(VertexId::new) {
        row.clear();
        let walked = cursor.neighbors(owner, |neighbors, values| {
            for (neighbor, value) in neighbors.iter().zip(values) {
                match checked(owner, *neighbor, Some(weight.of_value(value.to_bits()))) {
                    Ok(weight) => row.push((*neighbor, weight)),
                    Err(error) => return ControlFlow::Break(error),
                }
            }
            ControlFlow::Continue(())
        });
        walked?.break_value().map_or(Ok(()), Err)?;
        push_row(&mut block, owner, &mut row);
    }
    Ok(block)
}

fn weigh_records<V: GraphView>(
    view: &V,
    label: LabelId,
    direction: Direction,
    (weight, parallel): (EdgeWeight, ParallelWeight),
    range: Range<u32>,
) -> Result<RowBlock, CsrError> {
    // The edges of other labels are not counted as parallel ones.
    let are_parallel = view.parallel_edge_count(label).at_most() > 0;
    let mut block = RowBlock::new(range.clone(), ColumnType::F64, 0);
    let each = |row: &mut Vec<_>, owner, neighbor, record: &[u8]| {
        let weight_of = |record| checked(owner, neighbor, weight.of_record(record).map_err(unreadable)?);
        if !are_parallel {
            row.push((neighbor, weight_of(record)?));
            return Ok(());
        }
        let mut total: Option<f64> = None;
        for edge in ParallelList::of_record(record)?.edges(0..=u64::MAX) {
            let weight = weight_of(edge?.1)?;
            total = Some(match (total, parallel) {
                (None, _) => weight,
                (Some(least), ParallelWeight::Least) => least.min(weight),
                (Some(sum), ParallelWeight::Sum) => sum + weight,
            });
        }
        row.extend(total.map(|total| (neighbor, total)));
        Ok(())
    };
    scan_record_rows(view.edge_records(label, direction)?, range, each, |owner, row| {
        push_row(&mut block, owner, row);
    })?;
    Ok(block)
}

fn push_row(block: &mut RowBlock, owner: VertexId, row: &mut [(VertexId, f64)]) {
    sort_row(row);
    row.iter().for_each(|(neighbor, weight)| block.push(owner, *neighbor, *weight));
}

fn unreadable(error: DecodeError) -> CsrError {
    ReadError::new("the record of an edge", error).into()
}
