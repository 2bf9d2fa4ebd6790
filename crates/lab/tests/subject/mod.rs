//! The scenario around adjacency lists.

use crate::scenario::{self, catalogue};
use hedgerow_lab::adjacency_list::{AdjacencyList, AdjacencyListOptions};
use hedgerow_model::Topology;
use hedgerow_sync::Arc;

pub type Graph = scenario::Graph<AdjacencyList>;

impl Graph {
    pub fn new(units: u32) -> Arc<Self> {
        let options =
            AdjacencyListOptions { topology: Topology::Directed, catalogue: catalogue(), memory_limit: None };
        let engine = AdjacencyList::new(options).expect("one value per edge");
        Graph::around(engine, units, 1)
    }
}
