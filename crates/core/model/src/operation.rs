//! The operations of a transaction, by application keys.

use crate::{EdgeValue, Key, LabelId, RecordChange, RecordMode, Value};

/// One operation of a transaction.
///
/// Operations apply in the order in which they were staged. A commit resolves them to
/// [`Effects`](crate::Effects): it assigns ids and checks conditions.
#[derive(Clone, Debug, PartialEq)]
pub enum Operation {
    /// Creates a vertex. Does nothing if it exists.
    AddVertex {
        /// The vertex.
        key: Key,
    },
    /// Deletes a vertex and all its incident edges. Does nothing if it does not exist.
    DeleteVertex {
        /// The vertex.
        key: Key,
    },
    /// Sets some properties of a vertex, and creates it if it does not exist.
    SetProperties {
        /// The vertex.
        key: Key,
        /// Positions in the vertex schema, and the new values.
        properties: Vec<(usize, Value)>,
    },
    /// Inserts an edge or replaces its value; creates missing endpoints unless the graph is strict.
    PutEdge {
        /// The label.
        label: LabelId,
        /// The source of the edge.
        source: Key,
        /// The destination of the edge.
        destination: Key,
        /// The value, in the bits of the label's column.
        value: EdgeValue,
    },
    /// Deletes an edge, or all parallel edges between two vertices. Does nothing if there is none.
    DeleteEdge {
        /// The label.
        label: LabelId,
        /// The source of the edge.
        source: Key,
        /// The destination of the edge.
        destination: Key,
    },
    /// Puts, changes or deletes an edge with a record, with or without a condition. Without a
    /// condition, creates missing endpoints of an edge that may be put, unless the graph is strict.
    ChangeRecord {
        /// The label.
        label: LabelId,
        /// The source of the edge.
        source: Key,
        /// The destination of the edge.
        destination: Key,
        /// The key of a parallel edge; `None` if the label has no parallel edges.
        key: Option<u64>,
        /// The change.
        change: RecordChange,
    },
}

impl Operation {
    /// Returns true if the operation only deletes.
    #[must_use]
    pub fn deletes(&self) -> bool {
        match self {
            Operation::DeleteVertex { .. } | Operation::DeleteEdge { .. } => true,
            Operation::ChangeRecord { change, .. } => change.mode == RecordMode::Delete,
            Operation::AddVertex { .. } | Operation::SetProperties { .. } | Operation::PutEdge { .. } => {
                false
            }
        }
    }
}
