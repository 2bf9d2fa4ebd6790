//! What a store is made from.

use hedgerow_model::{Catalogue, EdgeSchema, Topology};

/// What a [`Subgraphs`](crate::Subgraphs), or another engine in memory, is made from.
#[derive(Clone, Debug, Default)]
pub struct SubgraphOptions {
    /// Whether edges have a direction, and whether the reverse is stored too.
    pub topology: Topology,
    /// The labels and what lies on their edges.
    pub catalogue: Catalogue,
    /// The most bytes that the store may hold, versions kept for snapshots included; `None` is without limit.
    pub memory_limit: Option<usize>,
}

/// A store cannot be made as asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubgraphError {
    /// A label declares records on its edges.
    #[error(
        "label {label:?} declares records on its edges, which the in-memory engines do not support yet: \
         declare one value of fixed width, or none"
    )]
    EdgeRecords {
        /// The name of the label.
        label: String,
    },
}

impl SubgraphOptions {
    /// Whether an engine in memory can keep what the catalogue asks for.
    ///
    /// # Errors
    /// A label declares records on its edges.
    pub fn check(&self) -> Result<(), SubgraphError> {
        let with_records = |edges: &EdgeSchema| matches!(edges, EdgeSchema::Record(_));
        match self.catalogue.labels().iter().find(|label| with_records(&label.edges)) {
            Some(label) => Err(SubgraphError::EdgeRecords { label: label.name.clone() }),
            None => Ok(()),
        }
    }
}
