//! The serialized graphs of the GAP benchmark suite, whose bytes `serialized.rs` describes.

use super::{Output, Whole};
use crate::FormatError;
use hedgerow_model::Direction;

/// Writes the graph; returns the number of neighbors, in an undirected graph in both directions.
pub(super) fn write(graph: &Whole, undirected: bool, output: &mut Output) -> Result<u64, FormatError> {
    let neighbors = graph.rows(Direction::Out).1.len() as u64;
    output.buffer().push(u8::from(!undirected));
    output.buffer().extend_from_slice(&neighbors.to_le_bytes());
    output.buffer().extend_from_slice(&u64::from(graph.vertices()).to_le_bytes());
    write_rows(graph, Direction::Out, output)?;
    if !undirected {
        write_rows(graph, Direction::In, output)?;
    }
    Ok(neighbors)
}

fn write_rows(graph: &Whole, direction: Direction, output: &mut Output) -> Result<(), FormatError> {
    let (offsets, neighbors) = graph.rows(direction);
    for offset in offsets {
        output.buffer().extend_from_slice(&offset.to_le_bytes());
        output.written()?;
    }
    let weights = graph.weights(direction);
    for (place, neighbor) in neighbors.iter().enumerate() {
        output.buffer().extend_from_slice(&neighbor.get().to_le_bytes());
        if let Some(weights) = weights {
            output.buffer().extend_from_slice(&(weights[place] as i32).to_le_bytes());
        }
        output.written()?;
    }
    Ok(())
}
