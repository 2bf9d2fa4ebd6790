//! Components of a stream of edges, without the graph (GraphOne, section 7.2).

use crate::Failure;
use crate::data_set::Entry;
use hedgerow::{Change, Changes};

/// Disjoint sets of vertices. Each vertex refers to another one of its set, up to the smallest.
pub(super) struct Components {
    parents: Vec<u32>,
}

impl Components {
    /// Every vertex by itself.
    pub(super) fn new(vertices: u32) -> Self {
        Components { parents: (0..vertices).collect() }
    }

    /// Joins the ends of all edges that were put.
    pub(super) fn add(&mut self, changes: &Changes) {
        for change in changes.iter() {
            if let Change::PutEdge(edge) = change {
                let (source, destination) = edge.ids();
                self.join(source.get(), destination.get());
            }
        }
    }

    fn join(&mut self, one: u32, other: u32) {
        let (one, other) = (self.smallest(one), self.smallest(other));
        self.parents[one.max(other) as usize] = one.min(other);
    }

    fn smallest(&mut self, mut vertex: u32) -> u32 {
        while self.parents[vertex as usize] != vertex {
            let parent = self.parents[vertex as usize];
            self.parents[vertex as usize] = self.parents[parent as usize];
            vertex = parent;
        }
        vertex
    }

    /// Fails if these are not the components of a graph of these edges.
    pub(super) fn check(&mut self, entries: &[Entry]) -> Result<(), Failure> {
        let vertices = self.parents.len() as u32;
        let mut expected = Components::new(vertices);
        entries.iter().for_each(|(source, destination)| expected.join(source.get(), destination.get()));
        match (0..vertices).find(|vertex| self.smallest(*vertex) != expected.smallest(*vertex)) {
            None => Ok(()),
            Some(vertex) => Err(Failure::WrongResult {
                what: format!("the smallest vertex in the component of {vertex}"),
                found: self.smallest(vertex).to_string(),
                expected: expected.smallest(vertex).to_string(),
            }),
        }
    }
}
