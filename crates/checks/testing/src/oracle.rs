//! The graph as plain maps, and the effects of requests on it.

use crate::records::content;
use hedgerow_model::{
    AdjacencyEffects, Counts, Direction, EdgeChange, EdgeValue, EffectRecords, Effects, Key, LabelId,
    Outcome, Record, Topology, Value, VertexChange, VertexEffect, VertexId,
};
use std::collections::{BTreeMap, BTreeSet};

/// The number of labels: topology, `f64`, `u32` and records; see [`crate::pipeline::catalog`].
pub const LABELS: u16 = 4;

/// The label whose edges have records.
pub const RECORDS: u16 = 3;

/// A request by vertex number.
#[derive(Clone, Debug)]
pub enum Request {
    /// Puts edges from one vertex, with one value. Vertices are created with their edges.
    PutEdges {
        /// The number of the label.
        label: u16,
        /// The source.
        source: u32,
        /// The destinations.
        destinations: Vec<u32>,
        /// Their value, as the argument of [`Oracle::value`].
        value: u32,
    },
    /// Deletes edges from one vertex, existing or not.
    DeleteEdges {
        /// The number of the label.
        label: u16,
        /// The source.
        source: u32,
        /// The destinations.
        destinations: Vec<u32>,
    },
    /// Puts a vertex and its one property.
    PutVertex {
        /// The number of the vertex.
        vertex: u32,
        /// The property.
        property: Option<i64>,
    },
    /// Deletes a vertex and its edges.
    DeleteVertex {
        /// The number of the vertex.
        vertex: u32,
    },
}

/// The graph as plain maps.
#[derive(Clone, Debug)]
pub struct Oracle {
    /// Directed or undirected.
    pub topology: Topology,
    /// The records of existing vertices.
    pub vertices: BTreeMap<u32, Record>,
    /// Edges by their canonical ends, per label.
    pub edges: Vec<BTreeMap<(u32, u32), EdgeValue>>,
    /// The bound of all vertices that ever existed.
    pub bound: u32,
}

impl Oracle {
    /// Creates an empty graph.
    #[must_use]
    pub fn new(topology: Topology) -> Self {
        let edges = vec![BTreeMap::new(); usize::from(LABELS)];
        Oracle { topology, vertices: BTreeMap::new(), edges, bound: 0 }
    }

    /// Returns the counts that a view returns in O(1).
    #[must_use]
    pub fn counts(&self) -> Counts {
        let edges = self.edges.iter().map(|edges| edges.len() as u64).collect();
        Counts { vertex_bound: self.bound, vertices: self.vertices.len() as u64, edges, beside: None }
    }

    /// Returns the key of a vertex, a number or a text.
    #[must_use]
    pub fn key(vertex: u32) -> Key {
        match vertex % 3 {
            0 => Key::Text(format!("vertex {vertex}").into()),
            _ => Key::Number(u64::from(vertex) << 30),
        }
    }

    /// Returns the value as the column of a label stores it; for a label with records, the number
    /// of the record.
    #[must_use]
    pub fn value(label: u16, value: u32) -> EdgeValue {
        match label {
            0 => EdgeValue(0),
            1 => EdgeValue(f64::from(value).to_bits()),
            _ => EdgeValue(u64::from(value)),
        }
    }

    /// Returns the neighbors of every vertex that has some.
    #[must_use]
    pub fn adjacency(&self, label: u16, direction: Direction) -> BTreeMap<u32, BTreeMap<u32, EdgeValue>> {
        let mut adjacency = BTreeMap::<u32, BTreeMap<u32, EdgeValue>>::new();
        for (&(source, destination), value) in &self.edges[usize::from(label)] {
            if self.topology.is_undirected() || direction == Direction::Out {
                adjacency.entry(source).or_default().insert(destination, *value);
            }
            if self.topology.is_undirected() || direction == Direction::In {
                adjacency.entry(destination).or_default().insert(source, *value);
            }
        }
        adjacency
    }

    /// Applies requests; returns the effects of their commit.
    pub fn commit(&mut self, requests: &[Request]) -> Effects {
        let mut touched = Touched::default();
        for request in requests {
            self.carry_out(request, &mut touched);
        }
        self.effects(&touched)
    }

    fn carry_out(&mut self, request: &Request, touched: &mut Touched) {
        match request {
            Request::PutEdges { label, source, destinations, value } => {
                for destination in destinations {
                    self.put_edge((*label, *source, *destination), Oracle::value(*label, *value), touched);
                }
            }
            Request::DeleteEdges { label, source, destinations } => {
                for destination in destinations {
                    self.delete_edge((*label, *source, *destination), touched);
                }
            }
            Request::PutVertex { vertex, property } => {
                let record =
                    property.map_or(Record::EMPTY, |property| Record::new(vec![Value::I64(property)]));
                self.put_vertex(*vertex, Some(record), touched);
            }
            Request::DeleteVertex { vertex } => self.delete_vertex(*vertex, touched),
        }
    }

    fn put_edge(&mut self, edge: (u16, u32, u32), value: EdgeValue, touched: &mut Touched) {
        let (label, source, destination) = self.canonical(edge);
        self.put_vertex(source, None, touched);
        self.put_vertex(destination, None, touched);
        self.edges[usize::from(label)].insert((source, destination), value);
        touched.edges.insert((label, source, destination));
    }

    fn delete_edge(&mut self, edge: (u16, u32, u32), touched: &mut Touched) {
        let (label, source, destination) = self.canonical(edge);
        self.edges[usize::from(label)].remove(&(source, destination));
        touched.edges.insert((label, source, destination));
    }

    fn put_vertex(&mut self, vertex: u32, record: Option<Record>, touched: &mut Touched) {
        self.bound = self.bound.max(vertex + 1);
        match record {
            Some(record) => drop(self.vertices.insert(vertex, record)),
            None => drop(self.vertices.entry(vertex).or_default()),
        }
        touched.vertices.insert(vertex);
    }

    fn delete_vertex(&mut self, vertex: u32, touched: &mut Touched) {
        for label in 0..LABELS {
            let ends = self.edges[usize::from(label)].keys().copied();
            let incident: Vec<_> = ends.filter(|ends| ends.0 == vertex || ends.1 == vertex).collect();
            for (source, destination) in incident {
                self.delete_edge((label, source, destination), touched);
            }
        }
        self.vertices.remove(&vertex);
        touched.vertices.insert(vertex);
    }

    fn canonical(&self, (label, source, destination): (u16, u32, u32)) -> (u16, u32, u32) {
        let swap = self.topology.is_undirected() && destination < source;
        if swap { (label, destination, source) } else { (label, source, destination) }
    }

    fn effects(&self, touched: &Touched) -> Effects {
        let vertex_effect = |vertex: &u32| {
            let record = self.vertices.get(vertex).cloned();
            let change = record.map_or(VertexChange::Delete, VertexChange::Put);
            VertexEffect { vertex: VertexId::new(*vertex), change }
        };
        let put = touched.vertices.iter().filter(|vertex| self.vertices.contains_key(vertex));
        let keys = put.map(|vertex| Oracle::key(*vertex)).collect();
        let mut records = EffectRecords::default();
        let mut tables =
            BTreeMap::<(LabelId, Direction), BTreeMap<(VertexId, VertexId), Option<EdgeValue>>>::new();
        for &(label, source, destination) in &touched.edges {
            let mut value = self.edges[usize::from(label)].get(&(source, destination)).copied();
            if label == RECORDS {
                value = value.map(|number| records.push(&content(number.0 as u32)));
            }
            let entries = self.topology.entries(VertexId::new(source), VertexId::new(destination));
            for (direction, owner, neighbor) in entries {
                tables.entry((LabelId(label), direction)).or_default().insert((owner, neighbor), value);
            }
        }
        let change = |((owner, neighbor), value)| EdgeChange::new(owner, neighbor, value);
        let adjacencies = tables.into_iter().map(|((label, direction), changes)| AdjacencyEffects {
            label,
            direction,
            changes: changes.into_iter().map(change).collect(),
        });
        Effects {
            vertices: touched.vertices.iter().map(vertex_effect).collect(),
            keys,
            adjacencies: adjacencies.collect(),
            records,
        }
    }

    /// Returns the outcome of the commit from `before` to this state.
    #[must_use]
    pub fn outcome_since(&self, before: &Oracle) -> Outcome {
        let mut outcome = Outcome::default();
        for (label, (new, old)) in (0..).zip(self.edges.iter().zip(&before.edges)) {
            let added = new.keys().filter(|edge| !old.contains_key(edge)).count() as u64;
            let removed = old.keys().filter(|edge| !new.contains_key(edge)).count() as u64;
            if added + removed > 0 {
                outcome.count(LabelId(label), added, removed);
            }
        }
        outcome
    }
}

/// Objects that a commit names, changed or not.
#[derive(Default)]
struct Touched {
    vertices: BTreeSet<u32>,
    edges: BTreeSet<(u16, u32, u32)>,
}
