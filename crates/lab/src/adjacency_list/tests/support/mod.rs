//! What the tests share with those of the other engines: a naive oracle, a commit pipeline of one
//! thread, and a check of a view.

#[path = "../../../../../rapid/tests/support/check.rs"]
pub mod check;
#[path = "../../../../../rapid/tests/support/oracle.rs"]
pub mod oracle;
#[path = "../../../../../rapid/tests/support/pipeline.rs"]
pub mod pipeline;

use crate::adjacency_list::{AdjacencyList, AdjacencyListOptions};
use hedgerow_model::Topology;
use pipeline::{Pipeline, catalogue};

impl Pipeline<AdjacencyList> {
    /// A pipeline around an empty store.
    pub fn new(topology: Topology, memory_limit: Option<usize>) -> Self {
        let options = AdjacencyListOptions { topology, catalogue: catalogue(), memory_limit };
        Pipeline::around(AdjacencyList::new(options).unwrap(), topology)
    }
}
