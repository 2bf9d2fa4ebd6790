//! The scenario around this crate's engine.

use crate::scenario::{self, catalogue};
use hedgerow_model::Topology;
use hedgerow_rapid::{PARTITION_SIZE, Rapid, RapidOptions};
use hedgerow_sync::Arc;

pub type Graph = scenario::Graph<Rapid>;

impl Graph {
    pub fn new(units: u32) -> Arc<Self> {
        let options =
            RapidOptions { topology: Topology::Directed, catalogue: catalogue(), memory_limit: None };
        let engine = Rapid::new(options).expect("one value per edge");
        Graph::around(engine, units, PARTITION_SIZE as u32)
    }
}
