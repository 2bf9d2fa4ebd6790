//! Converts the effects of a commit to entries.

use super::entry::{Content, Key, Table};
use super::graph::{ReferenceEngine, check_lock};
use super::recent::bytes_of;
use hedgerow_encoding::{changed_entries, encode_vertex};
use hedgerow_model::token::HeldLocks;
use hedgerow_model::{Allowance, Effects, Engine, EngineError, Staged, VertexChange, VertexId};

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
        let outcome = changed_entries(
            effects,
            self.options.topology,
            |label| self.catalog.label(label),
            |label, direction, entry| newest.content(Table::of(label, direction).key(entry)),
            |label, direction, entry, content| {
                check_lock(locks, VertexId::new(entry.owner), "changed");
                entries.push((Table::of(label, direction).key(entry), content.map(Into::into)));
            },
        )?;
        let growth: usize = entries.iter().map(|(_, content)| bytes_of(content)).sum();
        allowance.check(self.memory().total_bytes(), growth as isize)?;
        // Comparing with the existing state would require reading it.
        let is_change = !entries.is_empty();
        Ok(Staged::commit(ReferenceChanges(entries), outcome, is_change))
    }
}
