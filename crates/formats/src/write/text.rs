//! Writes whole graphs as text: lines of neighbors, and the pair of LDBC Graphalytics.

use super::field::{check_first, push_key, push_weight};
use super::{Direction, Numbered, Output, Rows, VertexListWriter};
use crate::{FormatError, VertexKey};

/// Writes a line for every vertex with its neighbors; returns the number of neighbors.
pub(super) fn write_adjacency<K: VertexKey>(
    graph: &Numbered<K>,
    undirected: bool,
    output: &mut Output,
) -> Result<u64, FormatError> {
    let direction = if undirected { Direction::Both } else { Direction::Out };
    let rows = Rows::new(graph.vertices(), graph.edges(), None, direction);
    for (vertex, neighbors, _) in rows.iter() {
        let key = graph.key(vertex);
        check_first(key.as_key(), graph.path())?;
        push_key(key.as_key(), output.buffer());
        for neighbor in neighbors {
            output.buffer().push(b' ');
            push_key(graph.key(*neighbor).as_key(), output.buffer());
            output.written()?;
        }
        output.buffer().push(b'\n');
        output.written()?;
    }
    Ok(rows.neighbors().len() as u64)
}

/// Writes a file of vertices, and one of edges; returns the number of edges. An undirected edge is
/// listed once, the smaller key first.
pub(super) fn write_pair<K: VertexKey>(
    graph: &Numbered<K>,
    undirected: bool,
    vertices: &mut VertexListWriter,
    edges: &mut Output,
) -> Result<u64, FormatError> {
    for vertex in 0..graph.vertices() {
        vertices.write(graph.key(vertex).as_key())?;
    }
    let direction = if undirected { Direction::Both } else { Direction::Out };
    let rows = Rows::new(graph.vertices(), graph.edges(), graph.weights()?, direction);
    let mut count = 0;
    for (vertex, neighbors, places) in rows.iter() {
        let key = graph.key(vertex);
        for (neighbor, place) in neighbors.iter().zip(places) {
            if undirected && *neighbor < vertex {
                continue;
            }
            let buffer = edges.buffer();
            push_key(key.as_key(), buffer);
            buffer.push(b' ');
            push_key(graph.key(*neighbor).as_key(), buffer);
            if let Some(weights) = rows.weights() {
                buffer.push(b' ');
                push_weight(weights[place], buffer);
            }
            buffer.push(b'\n');
            count += 1;
            edges.written()?;
        }
    }
    Ok(count)
}
