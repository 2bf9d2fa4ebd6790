//! Writes Matrix Market files.

use super::field::{is_whole, push_weight, unwritable};
use super::{Output, Whole};
use crate::FormatError;
use crate::text::most_rows;
use hedgerow_model::{Direction, VertexId};
use std::io::Write;

/// Writes the adjacency matrix; returns the number of entries. The matrix of an undirected graph is
/// symmetric: only entries on or below the diagonal are listed.
///
/// Refuses a matrix with more rows than readers accept for its number of entries.
pub(super) fn write(graph: &Whole, undirected: bool, output: &mut Output) -> Result<u64, FormatError> {
    let weights = graph.weights(Direction::Out);
    let is_listed = |row: VertexId, column: VertexId| !undirected || column <= row;
    let listed = |(row, columns, _): (VertexId, &[VertexId], _)| {
        columns.iter().filter(|column| is_listed(row, **column)).count() as u64
    };
    let entries: u64 = graph.out().map(listed).sum();
    if u64::from(graph.vertices()) > most_rows(entries) {
        let reason = "every row is a vertex, and readers take 1,048,576 rows and 64 more for each entry; number the vertices without gaps, or write another format";
        return Err(unwritable(graph.path(), &format!("{} rows", graph.vertices()), reason));
    }
    let values = match weights {
        None => "pattern",
        Some(weights) if weights.iter().copied().all(is_whole) => "integer",
        Some(_) => "real",
    };
    let symmetry = if undirected { "symmetric" } else { "general" };
    let (size, text) = (graph.vertices(), "writing to memory does not fail");
    writeln!(output.buffer(), "%%MatrixMarket matrix coordinate {values} {symmetry}").expect(text);
    writeln!(output.buffer(), "{size} {size} {entries}").expect(text);
    for (row, columns, places) in graph.out() {
        for (column, place) in columns.iter().zip(places) {
            if !is_listed(row, *column) {
                continue;
            }
            let buffer = output.buffer();
            buffer.extend_from_slice(itoa::Buffer::new().format(u64::from(graph.number(row)) + 1).as_bytes());
            buffer.push(b' ');
            buffer.extend_from_slice(
                itoa::Buffer::new().format(u64::from(graph.number(*column)) + 1).as_bytes(),
            );
            if let Some(weights) = weights {
                buffer.push(b' ');
                push_weight(weights[place], buffer);
            }
            buffer.push(b'\n');
            output.written()?;
        }
    }
    Ok(entries)
}
