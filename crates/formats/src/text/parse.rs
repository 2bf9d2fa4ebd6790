//! Parses lines that are neither blank nor comments.

use super::fields::{Field, Fields, parse_timestamp, parse_weight, parse_whole_number};
use super::matrix::{Matrix, Symmetry, Values};
use crate::error::{Fault, Problem};
use crate::{Batch, Columns, Edge, VertexKey};

/// Parses `source destination [weight] [timestamp]`.
#[inline]
pub(crate) fn edge<K: VertexKey>(line: &[u8], columns: Columns) -> Result<Edge<K>, Fault> {
    let mut fields = Fields::new(line);
    let source = fields.key()?.ok_or(fields.fault_at_end(Problem::MissingDestination))?;
    let destination = fields.key()?.ok_or(fields.fault_at_end(Problem::MissingDestination))?;
    let mut edge = Edge::new(source, destination);
    if let Some(third) = fields.next() {
        let fourth = fields.next();
        if let Some(fifth) = fields.next() {
            return Err(fifth.fault(Problem::TooManyColumns));
        }
        let (weight, timestamp) = match columns {
            Columns::Auto => (Some(third), fourth),
            Columns::Timestamp => (fourth, Some(third)),
            Columns::Topology => (None, None),
        };
        edge.weight = weight.map(|field| field.parse_with(parse_weight)).transpose()?;
        edge.timestamp = timestamp.map(|field| field.parse_with(parse_timestamp)).transpose()?;
    }
    Ok(edge)
}

/// Parses a line with only a vertex.
#[inline]
pub(crate) fn vertex<K: VertexKey>(line: &[u8]) -> Result<K, Fault> {
    let mut fields = Fields::new(line);
    let vertex = fields.key()?.ok_or(fields.fault_at_end(Problem::EmptyField))?;
    match fields.next() {
        None => Ok(vertex),
        Some(second) => Err(second.fault(Problem::NotOneVertex)),
    }
}

/// Parses `vertex neighbor neighbor …`; a bad line leaves the batch unchanged.
#[inline]
pub(crate) fn adjacency<K: VertexKey>(line: &[u8], batch: &mut Batch<K>) -> Result<(), Fault> {
    let mut fields = Fields::new(line);
    let source: K = fields.key()?.ok_or(fields.fault_at_end(Problem::EmptyField))?;
    let edges = batch.edges.len();
    loop {
        match fields.key() {
            Ok(Some(neighbor)) => batch.edges.push(Edge::new(source.clone(), neighbor)),
            Ok(None) => break,
            Err(fault) => {
                batch.edges.truncate(edges);
                return Err(fault);
            }
        }
    }
    if batch.edges.len() == edges {
        batch.vertices.push(source);
    }
    Ok(())
}

/// Parses `row column [value]`: an edge, and in a symmetric matrix also its mirror image across the
/// diagonal. A bad line leaves `edges` unchanged.
#[inline]
pub(crate) fn entry<K: VertexKey>(
    line: &[u8],
    matrix: &Matrix,
    edges: &mut Vec<Edge<K>>,
) -> Result<(), Fault> {
    let mut fields = Fields::new(line);
    let row = index(&mut fields, matrix)?;
    let column = index(&mut fields, matrix)?;
    let weight = match matrix.values {
        Values::None => None,
        Values::Whole => Some(value(&mut fields)?.parse_with(parse_whole_number)?),
        Values::Real => Some(value(&mut fields)?.parse_with(parse_weight)?),
    };
    if let Some(more) = fields.next() {
        return Err(more.fault(matrix.columns_problem()));
    }
    let edge = |source, destination, weight| Edge {
        weight,
        ..Edge::new(K::of_number(source), K::of_number(destination))
    };
    if row == column && matrix.symmetry == Symmetry::Skew {
        return Err(Fault { problem: Problem::OnSkewDiagonal, start: 0, end: line.len() });
    }
    edges.push(edge(row, column, weight));
    if row != column {
        match matrix.symmetry {
            Symmetry::None => {}
            Symmetry::Symmetric => edges.push(edge(column, row, weight)),
            Symmetry::Skew => edges.push(edge(column, row, weight.map(|weight| -weight))),
        }
    }
    Ok(())
}

/// Parses a row or a column of a matrix.
#[inline]
fn index(fields: &mut Fields<'_>, matrix: &Matrix) -> Result<u64, Fault> {
    let start = fields.offset();
    let index = fields.key()?.ok_or(fields.fault_at_end(matrix.columns_problem()))?;
    if (1..=matrix.size).contains(&index) {
        return Ok(index);
    }
    let length = fields.line()[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    Err(Fault { problem: Problem::OutsideMatrix { size: matrix.size }, start, end: start + length })
}

/// The value of an entry, which must be present.
#[inline]
fn value<'a>(fields: &mut Fields<'a>) -> Result<Field<'a>, Fault> {
    fields.next().ok_or(fields.fault_at_end(Problem::MissingValue))
}

/// Checks a whole adjacency line; returns its vertex and the start of its neighbors, if it has any.
pub(crate) fn check_adjacency<K: VertexKey>(line: &[u8]) -> Result<(K, Option<usize>), Fault> {
    let mut fields = Fields::new(line);
    let source = fields.key()?.ok_or(fields.fault_at_end(Problem::EmptyField))?;
    let position = fields.offset();
    let has_neighbors = fields.key::<K>()?.is_some();
    while fields.key::<K>()?.is_some() {}
    Ok((source, has_neighbors.then_some(position)))
}

/// Parses at most `room` neighbors of a checked line from `position` on; returns the position after
/// them, or `None` at the end of the line.
pub(crate) fn neighbors_from<K: VertexKey>(
    line: &[u8],
    position: usize,
    source: &K,
    room: usize,
    edges: &mut Vec<Edge<K>>,
) -> Option<usize> {
    let mut fields = Fields::resume(line, position);
    for _ in 0..room {
        let neighbor = fields.key().expect("the line has been checked");
        edges.push(Edge::new(source.clone(), neighbor?));
    }
    Some(fields.offset())
}
