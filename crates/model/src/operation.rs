//! What a transaction asks for, in terms of application keys.

use crate::{EdgeValue, Key, LabelId, RecordChange, RecordMode, Value};

/// One request of a transaction.
///
/// Operations apply in the order in which they were staged. A commit decides them into
/// [`Effects`](crate::Effects): ids assigned, conditions checked.
#[derive(Clone, Debug, PartialEq)]
pub enum Operation {
    /// Makes a vertex exist. Nothing changes if it does.
    AddVertex {
        /// The vertex.
        key: Key,
    },
    /// Deletes a vertex and all its incident edges. Nothing changes if there is none.
    DeleteVertex {
        /// The vertex.
        key: Key,
    },
    /// Sets some properties of a vertex, which is created if it does not exist.
    SetProperties {
        /// The vertex.
        key: Key,
        /// Positions in the vertex schema, and the new values.
        properties: Vec<(usize, Value)>,
    },
    /// Inserts an edge or replaces its value; missing endpoints are created unless the graph is strict.
    PutEdge {
        /// The label.
        label: LabelId,
        /// Where the edge starts.
        source: Key,
        /// Where the edge ends.
        destination: Key,
        /// The value, in the bits of the label's column.
        value: EdgeValue,
    },
    /// Deletes an edge, or all that are parallel. Nothing changes if there is none.
    DeleteEdge {
        /// The label.
        label: LabelId,
        /// Where the edge starts.
        source: Key,
        /// Where the edge ends.
        destination: Key,
    },
    /// Puts, changes or deletes an edge that has a record, under a condition or without; missing endpoints of an edge that
    /// may be put without a condition are created unless the graph is strict.
    ChangeRecord {
        /// The label.
        label: LabelId,
        /// Where the edge starts.
        source: Key,
        /// Where the edge ends.
        destination: Key,
        /// Which of parallel edges it is; `None` where the label has none.
        key: Option<u64>,
        /// What happens to it.
        change: RecordChange,
    },
}

impl Operation {
    /// Whether it deletes, if it changes anything.
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
