//! Writes whole graphs as text: lines of neighbors, and the pair of LDBC Graphalytics.

use super::field::{check_first, push_key, push_weight};
use super::{Direction, Numbered, Output, VertexListWriter};
use crate::{FormatError, VertexKey};
use hedgerow_model::VertexId;

/// Writes a line for every vertex with its neighbors, split into several where it would exceed
/// `longest` bytes; returns the number of neighbors.
pub(super) fn write_adjacency<K: VertexKey>(
    graph: &Numbered<'_, K>,
    undirected: bool,
    longest: usize,
    output: &mut Output,
) -> Result<u64, FormatError> {
    let direction = if undirected { Direction::Both } else { Direction::Out };
    let rows = graph.rows(None, direction);
    let (mut source, mut field) = (Vec::new(), Vec::new());
    for (vertex, neighbors, _) in rows.iter() {
        let key = graph.key(vertex);
        check_first(key.as_key(), graph.path())?;
        source.clear();
        push_key(key.as_key(), &mut source);
        output.buffer().extend_from_slice(&source);
        let mut length = source.len();
        for neighbor in neighbors {
            field.clear();
            field.push(b' ');
            push_key(graph.key(*neighbor).as_key(), &mut field);
            if length + field.len() > longest {
                output.buffer().push(b'\n');
                output.buffer().extend_from_slice(&source);
                length = source.len();
            }
            length += field.len();
            output.buffer().extend_from_slice(&field);
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
    graph: &Numbered<'_, K>,
    undirected: bool,
    vertices: &mut VertexListWriter,
    edges: &mut Output,
) -> Result<u64, FormatError> {
    for vertex in (0..graph.vertices()).map(VertexId::new) {
        vertices.write(graph.key(vertex).as_key())?;
    }
    let direction = if undirected { Direction::Both } else { Direction::Out };
    let rows = graph.rows(graph.weights()?, direction);
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

#[cfg(test)]
mod tests {
    use super::super::whole::Whole;
    use super::*;
    use crate::{Batch, Edge, GraphFormat, GraphReader, ReadOptions};
    use std::path::Path;

    #[test]
    fn a_line_of_neighbors_is_cut_before_it_is_too_long() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("graph.adj");
        let mut whole = Whole::<u64>::new(Path::new("graph.adj"), None);
        let edges: Vec<Edge<u64>> = (100..105).map(|to| Edge::new(7, to)).collect();
        let mut batch = Batch { edges, vertices: Vec::new() };
        whole.add(&batch, false).unwrap();
        let mut output = Output::create(&path).unwrap();
        assert_eq!(write_adjacency(&whole.numbered(None), false, 9, &mut output).unwrap(), 5);
        output.finish().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("7 100 101\n7 102 103\n7 104\n100\n"), "{text}");
        let options = ReadOptions { format: Some(GraphFormat::Adjacency), ..ReadOptions::default() };
        let edges = std::mem::take(&mut batch.edges);
        assert!(GraphReader::open_with(&path, options).unwrap().read_batch(&mut batch).unwrap());
        assert_eq!(batch.edges, edges);
    }
}
