//! The part of the graph that belongs to one client, as maps.

use crate::load::client::{client_key, count};
use crate::load::plan::{Change, VERTICES};
use crate::load::{LEDGER, NUMBERED, PLAIN};
use hedgerow::{Direction, Key, LabelId, ReadGraph, Snapshot, Topology};
use std::collections::{BTreeMap, BTreeSet};

/// An edge by its label and its ends.
type Edge = (LabelId, u64, u64);

/// The part of the graph that belongs to one client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Each vertex and its property; zero is null.
    vertices: BTreeMap<u64, u64>,
    /// Each edge and its number; zero if it has none. An undirected edge starts at the smaller end.
    edges: BTreeMap<Edge, u64>,
}

impl Part {
    /// Number of vertices.
    pub fn vertex_count(&self) -> u64 {
        self.vertices.len() as u64
    }

    /// Number of edges.
    pub fn edge_count(&self) -> u64 {
        self.edges.len() as u64
    }

    /// Applies the commit with this number.
    pub fn commit(&mut self, topology: Topology, number: u64, changes: &[Change]) {
        let edge = |label, source, destination| edge(topology, label, source, destination);
        for change in changes {
            match *change {
                Change::Put(source, destination) => {
                    self.put(edge(NUMBERED, source, destination), number);
                }
                Change::Delete(source, destination) => {
                    self.edges.remove(&edge(NUMBERED, source, destination));
                }
                Change::Toggle(source, destination) => {
                    let edge = edge(PLAIN, source, destination);
                    if self.edges.remove(&edge).is_none() {
                        self.put(edge, 0);
                    }
                }
                Change::DeleteVertex(vertex) => {
                    self.vertices.remove(&vertex);
                    self.edges
                        .retain(|&(_, source, destination), _| source != vertex && destination != vertex);
                }
                Change::Count(vertex) => {
                    self.vertices.insert(vertex, number);
                }
                Change::Chain => {
                    self.vertices.entry(0).or_default();
                }
            }
        }
    }

    fn put(&mut self, edge: Edge, number: u64) {
        let (_, source, destination) = edge;
        self.vertices.entry(source).or_default();
        self.vertices.entry(destination).or_default();
        self.edges.insert(edge, number);
    }

    /// Reads a client's part of the graph from a snapshot.
    ///
    /// # Errors
    /// A description of a foreign object: an edge to another client's vertices, or an edge that is
    /// visible in one direction only.
    pub fn found(snapshot: &Snapshot, client: u64) -> Result<Self, String> {
        let topology = snapshot.topology();
        let mut part = Part::default();
        let mut reverse = BTreeSet::new();
        for vertex in 0..VERTICES {
            let key = client_key(client, vertex);
            if let Some(record) = snapshot.properties(key).map_err(|error| error.to_string())? {
                part.vertices.insert(vertex, record.values().first().map_or(0, count));
            }
            for label in [NUMBERED, PLAIN] {
                for (other, value) in neighbors(snapshot, label, Direction::Out, client, key)? {
                    part.edges.insert(edge(topology, label, vertex, other), value);
                }
                if topology == Topology::DirectedWithReverse {
                    let sources = neighbors(snapshot, label, Direction::In, client, key)?;
                    reverse
                        .extend(sources.into_iter().map(|(source, value)| ((label, source, vertex), value)));
                }
            }
        }
        let forward = part.edges.iter().map(|(edge, value)| (*edge, *value));
        if topology == Topology::DirectedWithReverse && !forward.eq(reverse) {
            return Err(format!("edges of client {client} differ from one direction to the other"));
        }
        Ok(part)
    }
}

fn edge(topology: Topology, label: LabelId, source: u64, destination: u64) -> Edge {
    if topology.is_undirected() && destination < source {
        (label, destination, source)
    } else {
        (label, source, destination)
    }
}

/// Returns a client's neighbors among its own vertices, and the number of each edge; zero if the
/// edge has no number.
fn neighbors(
    snapshot: &Snapshot,
    label: LabelId,
    direction: Direction,
    client: u64,
    key: u64,
) -> Result<Vec<(u64, u64)>, String> {
    let numbered = if label == NUMBERED {
        snapshot.edges::<u64>((label, direction), key).map_err(|error| error.to_string())?
    } else {
        let plain = snapshot.neighbors((label, direction), key).map_err(|error| error.to_string())?;
        plain.into_iter().map(|other| (other, 0)).collect()
    };
    let first = client_key(client, 0);
    let own = |(other, value): (Key, u64)| match other {
        Key::Number(LEDGER) => None,
        Key::Number(other) if (first..first + VERTICES).contains(&other) => Some(Ok((other - first, value))),
        other => Some(Err(format!("client {client} has an edge between {key} and {other}"))),
    };
    numbered.into_iter().filter_map(own).collect()
}
