//! Passes over the edges of a label, as kernels that are compiled for each engine.

use super::layout::{Layout, Row};
use crate::error::{CliError, StoredError};
use hedgerow::kernels::{Adjacency, Cursor, GraphView, Kernel, KernelError};
use hedgerow::{Column, ColumnType, Direction, EdgeSchema, LabelId, ValueRef, VertexId};
use hedgerow_encoding::ParallelList;
use hedgerow_model::{EdgeValue, ParallelEdges, Raw32, Raw64, ReadError, RecordCursor};
use std::ops::{ControlFlow, Range};

/// The next step of a pass: another row, or the end, with the error that caused it.
pub type Flow = ControlFlow<Result<(), CliError>>;

/// The ranges of owners that a pass is divided into. Independent of the number of threads, so that
/// sums of fractions are, too.
const PARTS: usize = 256;

/// Cuts the vertices into ranges of about equal work, ascending.
pub struct Cuts {
    pub label: LabelId,
    pub direction: Direction,
}

impl Kernel for Cuts {
    type Output = Vec<Range<u32>>;

    fn run<V: GraphView>(self, view: &V) -> Result<Self::Output, KernelError> {
        let adjacency = view.adjacency::<()>(self.label, self.direction)?;
        Ok(adjacency.cuts(PARTS)?)
    }
}

/// Visits the edges of a range of owners, parallel edges one by one, ascending by owner. The visits
/// are virtual calls, so that a pass is compiled once for each engine, and not for each use.
pub struct Scan<'a> {
    pub layout: &'a Layout,
    /// [`Direction::In`]: the owners are the destinations.
    pub direction: Direction,
    /// False if only the ends are read.
    pub with_data: bool,
    pub range: Range<u32>,
    pub visit: &'a mut dyn FnMut(Row<'_>) -> Flow,
}

impl Kernel for Scan<'_> {
    type Output = Flow;

    /// O(edges).
    fn run<V: GraphView>(self, view: &V) -> Result<Flow, KernelError> {
        match &self.layout.edges {
            EdgeSchema::Parallel(_) => self.lists(view),
            EdgeSchema::Record(_) if self.with_data => self.records(view),
            EdgeSchema::Value(column) if self.with_data && column.width() == 4 => {
                self.values::<V, Raw32>(view, *column)
            }
            EdgeSchema::Value(column) if self.with_data && column.width() == 8 => {
                self.values::<V, Raw64>(view, *column)
            }
            _ => self.values::<V, ()>(view, ColumnType::Unit),
        }
    }
}

impl Scan<'_> {
    fn values<V: GraphView, W: Column>(self, view: &V, column: ColumnType) -> Result<Flow, KernelError> {
        let adjacency = view.adjacency::<W>(self.layout.label, self.direction)?;
        let Scan { direction, visit, .. } = self;
        let scanned = adjacency.cursor().scan(self.range, |owner, neighbors, values| {
            neighbors.iter().zip(values).try_for_each(|(neighbor, value)| {
                visit(row(direction, (owner, *neighbor), number(column, value.to_bits()), &[]))
            })
        });
        Ok(scanned?)
    }

    fn records<V: GraphView>(self, view: &V) -> Result<Flow, KernelError> {
        let Scan { layout, direction, range, visit, .. } = self;
        let mut records = view.edge_records(layout.label, direction)?;
        let scanned = records.scan(range, |owner, neighbor, record| {
            visit(row(direction, (owner, neighbor), ValueRef::Null, record))
        });
        Ok(scanned?)
    }

    fn lists<V: GraphView>(self, view: &V) -> Result<Flow, KernelError> {
        let Scan { layout, direction, range, visit, .. } = self;
        let mut records = view.edge_records(layout.label, direction)?;
        let scanned = records.scan(range, |owner, neighbor, list| {
            let list = match ParallelList::of_record(list) {
                Ok(list) => list,
                Err(error) => return ControlFlow::Break(Err(unreadable(error))),
            };
            list.edges(0..=u64::MAX).try_for_each(|edge| match edge {
                Ok((key, record)) => visit(row(direction, (owner, neighbor), ValueRef::U64(key), record)),
                Err(error) => ControlFlow::Break(Err(unreadable(error))),
            })
        });
        Ok(scanned?)
    }
}

#[inline]
fn row<'r>(
    direction: Direction,
    (owner, neighbor): (VertexId, VertexId),
    number: ValueRef<'static>,
    record: &'r [u8],
) -> Row<'r> {
    let (source, destination) = match direction {
        Direction::Out => (owner, neighbor),
        Direction::In => (neighbor, owner),
    };
    Row { source, destination, number, record }
}

/// The value of an edge.
#[inline]
fn number(column: ColumnType, bits: EdgeValue) -> ValueRef<'static> {
    match column {
        ColumnType::Unit | ColumnType::Record => ValueRef::Null,
        ColumnType::U32 => ValueRef::U64(u32::from_bits(bits).into()),
        ColumnType::U64 => ValueRef::U64(u64::from_bits(bits)),
        ColumnType::I64 => ValueRef::I64(i64::from_bits(bits)),
        ColumnType::F32 => ValueRef::F64(<f32 as Column>::from_bits(bits).into()),
        ColumnType::F64 => ValueRef::F64(<f64 as Column>::from_bits(bits)),
    }
}

#[cold]
fn unreadable(error: ReadError) -> CliError {
    StoredError::from(super::filter::read_failed(error)).into()
}
