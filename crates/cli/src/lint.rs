//! Notes on lines that parse, but probably mean something else: the sizes of a graph read as an
//! edge, column names as keys, timestamps as weights.

use crate::console::Console;
use crate::options::{FormatArgs, STANDARD_INPUT};
use hedgerow::KeyRef;
use hedgerow_formats::{Batch, Edge, GraphFormat, VertexKey, is_name_of_key};
use std::path::Path;

/// Times from 1990 to 2100, in seconds since 1970.
const UNIX_TIMES: std::ops::Range<f64> = 631_152_000.0..4_102_444_800.0;

/// Looks for suspicious lines in a file that is read batch by batch.
#[derive(Debug)]
pub struct Lint {
    name: String,
    is_edge_list: bool,
    edges: u64,
    sizes: Option<Sizes>,
    name_of_column: Option<String>,
    /// The number of weights so far, if the command uses them and all could be Unix times.
    times: Option<u64>,
    has_begun: bool,
}

/// The counts in the first line, if it is a line of sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sizes {
    vertices: u64,
    edges: u64,
}

impl Lint {
    /// For the file at `path`; weights are checked only if the command uses them.
    pub fn new(path: &Path, format: &FormatArgs, uses_weights: bool) -> Self {
        let named = format.format.format().or_else(|| GraphFormat::of_name(path));
        let is_edge_list =
            named.is_none_or(|format| format.is_edge_list() || format == GraphFormat::Graphalytics);
        let name = if path == Path::new(STANDARD_INPUT) {
            "standard input".into()
        } else {
            path.display().to_string()
        };
        let (sizes, name_of_column, times) = (None, None, uses_weights.then_some(0));
        Lint { name, is_edge_list, edges: 0, sizes, name_of_column, times, has_begun: false }
    }

    /// Checks the next batch.
    pub fn see<K: VertexKey>(&mut self, batch: &Batch<K>) {
        if !self.is_edge_list {
            return;
        }
        let mut edges = &batch.edges[..];
        if !self.has_begun && !batch.is_empty() {
            self.has_begun = true;
            self.name_of_column = name_of_column(batch);
            if let ([first, rest @ ..], []) = (edges, &batch.vertices[..]) {
                self.sizes = Sizes::of(first);
                // The counts are about the lines after the first.
                edges = rest;
            }
        }
        if let Some(sizes) = self.sizes {
            self.edges += edges.len() as u64;
            let fit = self.edges <= sizes.edges && edges.iter().all(|edge| sizes.hold(edge));
            self.sizes = self.sizes.filter(|_| fit);
        }
        if let Some(times) = &mut self.times {
            let mut weights = batch.edges.iter().filter_map(|edge| edge.weight);
            let count = weights.clone().count() as u64;
            self.times = weights.all(is_time).then_some(*times + count);
        }
    }

    /// The name of the file, for people.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Prints the notes, once the whole file has been read.
    pub fn tell(&self, console: &Console) {
        self.notes().iter().for_each(|note| console.note(&format!("note: {}: {note}", self.name)));
    }

    fn notes(&self) -> Vec<String> {
        let sizes = self.sizes.filter(|sizes| sizes.edges == self.edges && self.edges > 0).map(|sizes| {
            let Sizes { vertices, edges } = sizes;
            format!(
                "the first line was read as an edge, but seems to count {vertices} vertices and {edges} edges, as many as follow: take it away, \
                 or let it begin with #"
            )
        });
        let name = self.name_of_column.as_ref().map(|name| {
            format!("the first line, {name:?}, was read as a key: if it names the column, take it away")
        });
        let times = self.times.filter(|count| *count > 0).map(|_| {
            "the weights seem to be Unix times: --columns timestamp reads the third column as such".to_owned()
        });
        [sizes, name, times].into_iter().flatten().collect()
    }
}

impl Sizes {
    /// Reads the first edge as `vertices edges`, or `rows columns entries`.
    fn of<K: VertexKey>(first: &Edge<K>) -> Option<Self> {
        let (KeyRef::Number(vertices), KeyRef::Number(second)) =
            (first.source.as_key(), first.destination.as_key())
        else {
            return None;
        };
        let edges = match (first.weight, first.timestamp) {
            // A second number within the bound may well be a vertex.
            (None, None) => Some(second).filter(|edges| *edges > vertices),
            (Some(weight), None) if vertices == second && weight.fract() == 0.0 && weight > 0.0 => {
                Some(weight as u64)
            }
            _ => None,
        };
        edges.map(|edges| Sizes { vertices, edges })
    }

    fn hold<K: VertexKey>(self, edge: &Edge<K>) -> bool {
        let holds = |key: KeyRef<'_>| matches!(key, KeyRef::Number(number) if number <= self.vertices);
        holds(edge.source.as_key()) && holds(edge.destination.as_key())
    }
}

/// The key of the first line of a file of vertices, if it is the usual name of its column.
fn name_of_column<K: VertexKey>(batch: &Batch<K>) -> Option<String> {
    match batch.vertices.first()?.as_key() {
        KeyRef::Text(key) if is_name_of_key(key) => Some(key.to_owned()),
        _ => None,
    }
}

/// Returns true if a weight is a whole number that could be a recent Unix time in seconds,
/// milliseconds or microseconds.
fn is_time(weight: f64) -> bool {
    weight.fract() == 0.0 && [1.0, 1e3, 1e6].iter().any(|unit| UNIX_TIMES.contains(&(weight / unit)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes<K: VertexKey>(batches: &[&[(K, K, Option<f64>)]]) -> Vec<String> {
        let (name, times) = ("x".to_owned(), Some(0));
        let (sizes, name_of_column) = (None, None);
        let mut lint =
            Lint { name, is_edge_list: true, edges: 0, sizes, name_of_column, times, has_begun: false };
        for edges in batches {
            let edge = |(source, destination, weight): &(K, K, Option<f64>)| Edge {
                weight: *weight,
                ..Edge::new(source.clone(), destination.clone())
            };
            lint.see(&Batch { edges: edges.iter().map(edge).collect(), vertices: Vec::new() });
        }
        lint.notes()
    }

    fn unweighted(edges: &[(u64, u64)]) -> Vec<(u64, u64, Option<f64>)> {
        edges.iter().map(|(source, destination)| (*source, *destination, None)).collect()
    }

    #[test]
    fn a_line_of_sizes_is_told_from_an_edge() {
        for (edges, is_suspicious) in [
            (&[(3, 4), (1, 2), (2, 3), (3, 1), (1, 1)][..], true),
            (&[(3, 4), (0, 1), (1, 2), (2, 0), (0, 0)], true),
            (&[(3, 4), (1, 2), (2, 3), (3, 1)], false),
            (&[(3, 4), (1, 2), (2, 3), (3, 1), (1, 1), (2, 2)], false),
            (&[(3, 4), (1, 2), (2, 3), (3, 4), (1, 1)], false),
            (&[(1, 2), (2, 1)], false),
            (&[(2, 1), (1, 2)], false),
            (&[(0, 0)], false),
        ] {
            let edges = unweighted(edges);
            assert_eq!(!notes(&[&edges]).is_empty(), is_suspicious, "{edges:?}");
            let (one, other) = edges.split_at(1);
            assert_eq!(!notes(&[one, &[], other]).is_empty(), is_suspicious, "{edges:?}");
        }
        let matrix = [(3, 3, Some(2.0)), (1, 2, Some(0.5)), (3, 3, Some(1.5))];
        assert_eq!(notes(&[&matrix]).len(), 1);
        assert_eq!(notes(&[&matrix[1..]]).len(), 0);
    }

    #[test]
    fn times_are_told_from_weights() {
        let weighted =
            |weights: &[f64]| weights.iter().map(|weight| (1u64, 2u64, Some(*weight))).collect::<Vec<_>>();
        for (weights, is_suspicious) in [
            (&[1_082_040_961.0, 1_700_000_000.0][..], true),
            (&[1_082_040_961_000.0], true),
            (&[1_700_000_000_000_000.0], true),
            (&[1_082_040_961.0, 3.0], false),
            (&[1_082_040_961.5], false),
            (&[0.5, 7.0], false),
        ] {
            assert_eq!(!notes(&[&weighted(weights)]).is_empty(), is_suspicious, "{weights:?}");
        }
    }
}
