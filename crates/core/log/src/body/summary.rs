//! The number of changes of one commit, for listings of commits.

use super::LoggedCommit;
use hedgerow_model::{LabelId, VertexChange};

/// The number of changes of one commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CommitSummary {
    /// The labels of changed edges, ascending.
    pub edges: Vec<EdgeSummary>,
    /// Vertices added; `None` if keys are dense ids and vertices were put, because the log does not
    /// tell then which of them existed.
    pub vertices_added: Option<u64>,
    /// Vertices whose properties changed; if `vertices_added` is `None`, all vertices put.
    pub vertices_changed: u64,
    /// Vertices deleted.
    pub vertices_deleted: u64,
    /// True if the commit notes the position of an importer in its input.
    pub notes_input: bool,
}

/// The number of changed edges of a label in one commit. Parallel edges between two vertices count
/// once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct EdgeSummary {
    /// The label.
    pub label: LabelId,
    /// Edges put: new, or with other data.
    pub put: u64,
    /// Edges deleted.
    pub deleted: u64,
}

impl CommitSummary {
    /// Summarizes a commit decoded by [`LoggedCommit::decode_canonical`], with sorted edges.
    /// O(changes).
    pub(crate) fn of(commit: &LoggedCommit, are_keys_dense: bool) -> Self {
        let vertices = &commit.effects.vertices;
        let deleted = vertices.iter().filter(|effect| matches!(effect.change, VertexChange::Delete)).count();
        let put = vertices.len() - deleted;
        let added = if are_keys_dense { 0 } else { commit.keys.len() };
        let edges = commit.effects.adjacencies.iter().map(|edges| {
            let deleted = edges.changes.iter().filter(|change| change.value.is_none()).count();
            let put = (edges.changes.len() - deleted) as u64;
            EdgeSummary { label: edges.label, put, deleted: deleted as u64 }
        });
        CommitSummary {
            edges: edges.collect(),
            vertices_added: (!are_keys_dense || put == 0).then_some(added as u64),
            vertices_changed: put.saturating_sub(added) as u64,
            vertices_deleted: deleted as u64,
            notes_input: commit.input.is_some(),
        }
    }
}
