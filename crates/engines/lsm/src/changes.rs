//! Turns the effects of a commit into versions for the MemGraph.

use crate::adjacency::{ITSELF, VERTICES, number_of};
use crate::graph::{LsmEngine, check_lock};
use crate::view::LsmView;
use hedgerow_encoding::{changed_entries, encode_vertex};
use hedgerow_model::token::HeldLocks;
use hedgerow_model::{ColumnType, EdgeValue, Effects, EngineError, LabelId, Outcome, VertexChange, VertexId};
use std::ops::Range;

/// The versions that a commit makes. They get its timestamp when they are applied.
#[derive(Debug, Default)]
pub struct LsmChanges {
    pub(crate) versions: Vec<NewVersion>,
    /// The records of the versions, one after the other.
    pub(crate) records: Vec<u8>,
}

/// A version of an edge without its timestamp.
#[derive(Debug)]
pub(crate) struct NewVersion {
    pub(crate) adjacency: u32,
    pub(crate) owner: VertexId,
    pub(crate) neighbor: VertexId,
    pub(crate) content: NewContent,
}

/// The new content of an edge.
#[derive(Debug)]
pub(crate) enum NewContent {
    Deleted,
    Value(EdgeValue),
    /// The record, a range of [`LsmChanges::records`].
    Record(Range<usize>),
}

impl LsmChanges {
    /// Returns the versions for the effects, and the change of the counts.
    ///
    /// # Errors
    /// The effects are damaged, or a list of parallel edges could not be read.
    pub(crate) fn of(
        effects: &Effects,
        locks: &HeldLocks<'_>,
        newest: &LsmView<'_>,
    ) -> Result<(Self, Outcome), EngineError> {
        let LsmEngine { topology, catalog, .. } = newest.engine;
        let mut changes = LsmChanges::default();
        changes.versions.reserve(effects.len());
        for (effect, key) in effects.vertices_and_keys() {
            check_lock(locks, effect.vertex, "changed");
            let content = match &effect.change {
                VertexChange::Put(record) => changes.record(&encode_vertex(key, record)),
                VertexChange::Delete => NewContent::Deleted,
            };
            let (owner, neighbor) = (effect.vertex, ITSELF);
            changes.versions.push(NewVersion { adjacency: VERTICES, owner, neighbor, content });
        }
        let has_records =
            |label| catalog.label(label).is_some_and(|label| label.edges.column() == ColumnType::Record);
        let outcome = changed_entries(
            effects,
            *topology,
            |label| catalog.label(label),
            |label, stored, entry| newest.content(label, stored, entry),
            |label: LabelId, stored, entry, content| {
                let (owner, neighbor) = (VertexId::new(entry.owner), VertexId::new(entry.neighbor));
                check_lock(locks, owner, "changed");
                let content = match content {
                    None => NewContent::Deleted,
                    Some(record) if has_records(label) => changes.record(record),
                    Some(value) => NewContent::Value(value_of(value)),
                };
                let adjacency = number_of(label, stored);
                changes.versions.push(NewVersion { adjacency, owner, neighbor, content });
            },
        )?;
        Ok((changes, outcome))
    }

    fn record(&mut self, record: &[u8]) -> NewContent {
        let begin = self.records.len();
        self.records.extend_from_slice(record);
        NewContent::Record(begin..self.records.len())
    }

    /// Returns the approximate bytes that the versions take in memory.
    pub(crate) fn bytes(&self) -> usize {
        self.versions.len() * 24 + self.records.len()
    }
}

/// Returns the value in at most eight little-endian bytes.
fn value_of(bytes: &[u8]) -> EdgeValue {
    EdgeValue(bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte)))
}
