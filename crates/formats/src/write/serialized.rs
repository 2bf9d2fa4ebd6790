//! The serialized graphs of the GAP benchmark suite, whose bytes `serialized.rs` describes.

use super::{Direction, Numbered, Output, Rows};
use crate::serialized::MAX_VERTICES;
use crate::{FormatError, VertexKey};

/// Writes the graph; returns the number of neighbors, in an undirected graph in both directions.
pub(super) fn write<K: VertexKey>(
    graph: &Numbered<'_, K>,
    undirected: bool,
    is_weighted: bool,
    output: &mut Output,
) -> Result<u64, FormatError> {
    if u64::from(graph.vertices()) > MAX_VERTICES {
        let reason = "this format can number 2,147,483,646";
        return Err(refused(graph, &format!("{} vertices", graph.vertices()), reason));
    }
    let weights = if is_weighted { Some(whole_weights(graph)?) } else { None };
    let rows = |direction| graph.rows(weights, direction);
    let out = rows(if undirected { Direction::Both } else { Direction::Out });
    let neighbors = out.neighbors().len() as u64;
    output.buffer().push(u8::from(!undirected));
    output.buffer().extend_from_slice(&neighbors.to_le_bytes());
    output.buffer().extend_from_slice(&u64::from(graph.vertices()).to_le_bytes());
    write_rows(&out, output)?;
    drop(out);
    if !undirected {
        write_rows(&rows(Direction::In), output)?;
    }
    Ok(neighbors)
}

fn write_rows(rows: &Rows, output: &mut Output) -> Result<(), FormatError> {
    for offset in std::iter::once(&0).chain(rows.ends()) {
        output.buffer().extend_from_slice(&offset.to_le_bytes());
        output.written()?;
    }
    for (place, neighbor) in rows.neighbors().iter().enumerate() {
        output.buffer().extend_from_slice(&neighbor.get().to_le_bytes());
        if let Some(weights) = rows.weights() {
            output.buffer().extend_from_slice(&(weights[place] as i32).to_le_bytes());
        }
        output.written()?;
    }
    Ok(())
}

/// The weights, which must all be 32-bit whole numbers.
fn whole_weights<'g, K: VertexKey>(graph: &'g Numbered<'_, K>) -> Result<&'g [f64], FormatError> {
    let weights = match graph.weights()? {
        Some(weights) => weights,
        None if !graph.has_edges() => &[],
        None => return Err(refused(graph, "edges without weights", "write .sg, or a graph with weights")),
    };
    // Compares bits: a negative zero would come back as zero.
    let comes_back = |weight: f64| f64::from(weight as i32).to_bits() == weight.to_bits();
    match weights.iter().find(|weight| !comes_back(**weight)) {
        None => Ok(weights),
        Some(weight) => {
            let reason = "a weight in this format is a whole number of 32 bits with a sign";
            Err(refused(graph, &weight.to_string(), reason))
        }
    }
}

fn refused<K: VertexKey>(graph: &Numbered<'_, K>, value: &str, reason: &'static str) -> FormatError {
    FormatError::Unwritable { path: graph.path().into(), value: value.into(), reason, remedy: None }
}
