//! Converts the effects of a commit to entries.

use super::entry::{Content, Key, Table};
use super::graph::{ReferenceEngine, check_lock};
use super::recent::bytes_of;
use hedgerow_encoding::{changed_entries, encode_vertex};
use hedgerow_model::token::HeldLocks;
use hedgerow_model::{Allowance, Effects, Engine, EngineError, Outcome, Staged, VertexChange, VertexId};

/// The entries of a commit. They get its timestamp when they are applied.
#[derive(Debug)]
pub struct ReferenceChanges(pub(super) Vec<(Key, Content)>);

impl ReferenceEngine {
    pub(super) fn stage_effects(
        &self,
        locks: &HeldLocks<'_>,
        effects: &Effects,
        allowance: Allowance,
    ) -> Result<Staged<ReferenceChanges>, EngineError> {
        let mut entries = Vec::with_capacity(effects.len());
        for (effect, key) in effects.vertices_and_keys() {
            check_lock(locks, effect.vertex, "changed");
            let content = match &effect.change {
                VertexChange::Put(record) => Some(encode_vertex(key, record).into()),
                VertexChange::Delete => None,
            };
            entries.push((Key::vertex(effect.vertex), content));
        }
        let newest = self.latest(locks)?;
        let mut outcome = changed_entries(
            effects,
            self.options.topology,
            |label| self.catalog.label(label),
            |label, direction, entry| newest.content(Table::of(label, direction).key(entry)),
            |label, direction, entry, content| {
                check_lock(locks, VertexId::new(entry.owner), "changed");
                entries.push((Table::of(label, direction).key(entry), content.map(Into::into)));
            },
        )?;
        if self.is_in_memory() {
            outcome.deferred.clear();
            let mut changes = Vec::with_capacity(entries.len());
            for (key, content) in entries {
                let before = newest.content(key)?;
                self.count(key, &before, &content, &mut outcome);
                if before != content {
                    changes.push((key, content));
                }
            }
            entries = changes;
        }
        let growth: usize = entries.iter().map(|(_, content)| bytes_of(content)).sum();
        allowance.check(self.memory().total_bytes(), growth as isize)?;
        // In files, comparing with the existing state would require reading it.
        let is_change = !entries.is_empty();
        Ok(Staged::commit(ReferenceChanges(entries), outcome, is_change))
    }

    /// Counts the edge of a canonical entry. Parallel edges are counted when they are merged.
    fn count(&self, key: Key, before: &Content, after: &Content, outcome: &mut Outcome) {
        let Key { table, entry } = key;
        let Some((label, direction)) = table.adjacency() else { return };
        let (owner, neighbor) = (VertexId::new(entry.owner), VertexId::new(entry.neighbor));
        let is_canonical = self.options.topology.is_canonical_entry(direction, owner, neighbor);
        if is_canonical && !self.catalog.are_parallel(label) && before.is_some() != after.is_some() {
            outcome.count(label, u64::from(after.is_some()), u64::from(before.is_some()));
        }
    }
}
