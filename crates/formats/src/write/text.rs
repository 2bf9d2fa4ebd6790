//! Writes whole graphs as text: lines of neighbors, and the pair of LDBC Graphalytics.

use super::field::{check_first, push_key, push_weight};
use super::{Output, VertexListWriter, Whole};
use crate::FormatError;
use hedgerow_model::Direction;

/// Writes a line for every vertex with its neighbors, split into several where it would exceed
/// `longest` bytes; returns the number of neighbors.
pub(super) fn write_adjacency(
    graph: &Whole,
    longest: usize,
    output: &mut Output,
) -> Result<u64, FormatError> {
    let (mut source, mut field) = (Vec::new(), Vec::new());
    for (vertex, neighbors, _) in graph.out() {
        let key = graph.key(vertex);
        check_first(key, graph.path())?;
        source.clear();
        push_key(key, &mut source);
        output.buffer().extend_from_slice(&source);
        let mut length = source.len();
        for neighbor in neighbors {
            field.clear();
            field.push(b' ');
            push_key(graph.key(*neighbor), &mut field);
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
    Ok(graph.rows(Direction::Out).1.len() as u64)
}

/// Writes a file of vertices, and one of edges; returns the number of edges. An undirected edge is
/// listed once, the smaller key first.
pub(super) fn write_pair(
    graph: &Whole,
    undirected: bool,
    vertices: &mut VertexListWriter,
    edges: &mut Output,
) -> Result<u64, FormatError> {
    let weights = graph.weights(Direction::Out);
    graph.out().try_for_each(|(vertex, ..)| vertices.write(graph.key(vertex)))?;
    let mut count = 0;
    for (vertex, neighbors, places) in graph.out() {
        let key = graph.key(vertex);
        for (neighbor, place) in neighbors.iter().zip(places) {
            if undirected && *neighbor < vertex {
                continue;
            }
            let buffer = edges.buffer();
            push_key(key, buffer);
            buffer.push(b' ');
            push_key(graph.key(*neighbor), buffer);
            if let Some(weights) = weights {
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
    use super::super::WholeBuilder;
    use super::*;
    use crate::{Batch, Edge, GraphFormat, GraphReader, ReadOptions};

    #[test]
    fn a_line_of_neighbors_is_cut_before_it_is_too_long() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("graph.adj");
        let mut whole = WholeBuilder::<u64>::new(&path, GraphFormat::Adjacency, false, false);
        let edges: Vec<Edge<u64>> = (100..105).map(|to| Edge::new(7, to)).collect();
        let mut batch = Batch { edges, vertices: Vec::new() };
        whole.add(&batch, false).unwrap();
        let mut output = Output::create(&path).unwrap();
        assert_eq!(write_adjacency(&whole.finish().unwrap(), 9, &mut output).unwrap(), 5);
        output.finish().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("7 100 101\n7 102 103\n7 104\n100\n"), "{text}");
        let options = ReadOptions { format: Some(GraphFormat::Adjacency), ..ReadOptions::default() };
        let edges = std::mem::take(&mut batch.edges);
        assert!(GraphReader::open_with(&path, options).unwrap().read_batch(&mut batch).unwrap());
        assert_eq!(batch.edges, edges);
    }
}
