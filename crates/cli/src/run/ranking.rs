//! The vertices with the highest scores.

use crate::error::CliError;
use crate::float::Float;
use crate::keys::JsonKey;
use crate::state::GraphState;
use hedgerow::VertexId;

/// Vertices shown.
const TOP: usize = 10;

/// The vertices with the highest scores, descending; at equal scores the lowest id first.
pub fn highest(state: &GraphState, scores: &[f64]) -> Result<Vec<(JsonKey, f64)>, CliError> {
    let mut top: Vec<(f64, VertexId)> = Vec::with_capacity(TOP + 1);
    for (vertex, score) in (0..).map(VertexId::new).zip(scores.iter().copied()) {
        let full = top.len() == TOP;
        // The last check is for ids that no vertex has.
        if full && top[TOP - 1].0 >= score || state.key(vertex)?.is_none() {
            continue;
        }
        top.truncate(TOP - 1);
        let position = top.partition_point(|(other, _)| *other >= score);
        top.insert(position, (score, vertex));
    }
    let named = top.into_iter().filter_map(|(score, vertex)| {
        let key = state.key(vertex).transpose()?;
        Some(key.map(|key| (key.into(), score)))
    });
    Ok(named.collect::<Result<_, hedgerow::Error>>()?)
}

/// The vertices as lines under a heading; empty if there are none.
pub fn describe(heading: &str, top: &[(JsonKey, f64)]) -> String {
    if top.is_empty() {
        return String::new();
    }
    let lines = top.iter().map(|(key, score)| format!("  {:<20} {:.10}\n", key.to_string(), Float(*score)));
    format!("{heading}\n{}", lines.collect::<String>())
}
