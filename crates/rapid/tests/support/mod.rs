//! What the tests share: a naive oracle, a commit pipeline of one thread, and a check of a view.

pub mod check;
pub mod oracle;
pub mod pipeline;

use hedgerow_model::Topology;
use hedgerow_rapid::{Rapid, RapidOptions};
use pipeline::{Pipeline, catalogue};

impl Pipeline<Rapid> {
    /// A pipeline around an empty store.
    pub fn new(topology: Topology, memory_limit: Option<usize>) -> Self {
        let options = RapidOptions { topology, catalogue: catalogue(), memory_limit };
        Pipeline::around(Rapid::new(options).unwrap(), topology)
    }
}
