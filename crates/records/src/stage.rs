//! From effects, whose records are bytes, to changes of the handles that an engine keeps.

use crate::memory::is_embedded;
use crate::parallel::{Difference, HeapParallel};
use crate::{Form, RecordChanges, RecordHeap, heap};
use hedgerow_encoding::{EdgeList, list_of_record};
use hedgerow_model::{
    AdjacencyEffects, Column, Cursor, EdgeChange, EdgeValue, Effects, LabelId, Outcome, ReadError,
    RecordHandle,
};

/// Effects in the form of an engine that keeps handles. Made anew by each [`RecordHeap::stage`].
#[derive(Debug, Default)]
pub struct StagedEffects(Vec<AdjacencyEffects>);

impl RecordHeap {
    /// Makes the records that effects put, and finds those that they replace: the changes of adjacencies that the engine has to make, whose values are handles,
    /// and what becomes of the records. What it counts of parallel edges is added to `outcome`.
    ///
    /// `handles` reads the newest handles of the out-neighbors of a label, of which the owners of all changes are locked; `embeds` says whether the engine makes
    /// a copy of a record of so many bytes.
    ///
    /// Without records in the effects nothing is copied. O(changes of labels with records · a search for each).
    ///
    /// # Errors
    /// What the edges have could not be read, or the record of parallel edges is no list.
    pub fn stage<'l, C: Cursor<Value = RecordHandle, Error: Into<ReadError>>>(
        &self,
        effects: &'l Effects,
        staged: &'l mut StagedEffects,
        handles: impl Fn(LabelId) -> C,
        embeds: impl Fn(LabelId, usize) -> bool,
        outcome: &mut Outcome,
    ) -> Result<(&'l [AdjacencyEffects], RecordChanges), ReadError> {
        let mut changes = RecordChanges::default();
        if !effects.adjacencies.iter().any(|adjacency| self.has_records(adjacency.label)) {
            return Ok((&effects.adjacencies, changes));
        }
        // By the number of a record what the engine keeps of it: a handle, or nothing if no edge is left; and not known yet.
        let mut kept: Vec<Option<Option<EdgeValue>>> = vec![None; effects.records.len()];
        let StagedEffects(adjacencies) = staged;
        adjacencies.clear();
        for adjacency in &effects.adjacencies {
            let mut adjacency = adjacency.clone();
            if let Some(form) = self.form(adjacency.label) {
                let AdjacencyEffects { label, direction, changes: entries } = &mut adjacency;
                let mut edges = Staging {
                    effects,
                    label: *label,
                    form,
                    handles: handles(*label),
                    changes: &mut changes,
                    outcome,
                };
                for entry in entries.iter_mut() {
                    let is_canonical =
                        self.topology.is_canonical_entry(*direction, entry.owner, entry.neighbour);
                    let number = entry.value.map(|value| value.0 as usize);
                    let known = number.and_then(|number| kept.get(number).copied().flatten());
                    entry.value = match known {
                        Some(known) => known,
                        None if is_canonical => edges.stage(entry, |len| embeds(*label, len))?,
                        // The canonical entry of an edge comes before the other one.
                        None => None,
                    };
                    if let Some(kept) = number.and_then(|number| kept.get_mut(number)) {
                        *kept = Some(entry.value);
                    }
                }
            }
            adjacencies.push(adjacency);
        }
        Ok((adjacencies, changes))
    }
}

/// The changes of one label's edges.
struct Staging<'s, C> {
    effects: &'s Effects,
    label: LabelId,
    form: Form,
    handles: C,
    changes: &'s mut RecordChanges,
    outcome: &'s mut Outcome,
}

impl<C: Cursor<Value = RecordHandle, Error: Into<ReadError>>> Staging<'_, C> {
    /// What the engine keeps of a changed edge from now on, by its canonical entry.
    fn stage(
        &mut self,
        entry: &EdgeChange,
        embeds: impl Fn(usize) -> bool,
    ) -> Result<Option<EdgeValue>, ReadError> {
        let found = self.handles.find(entry.owner, entry.neighbour).map_err(Into::into)?;
        let found = found.map(Column::to_bits);
        let record = entry.value.map(|number| {
            let record = self.effects.records.get(number);
            record.ok_or_else(|| ReadError::new("the effects of a commit", "a record is missing"))
        });
        match (self.form, record.transpose()?) {
            (Form::One, record) => Ok(self.stage_one(found, record, embeds)),
            (Form::Parallel, record) => self.stage_parallel(found, record),
        }
    }

    fn stage_one(
        &mut self,
        found: Option<EdgeValue>,
        record: Option<&[u8]>,
        embeds: impl Fn(usize) -> bool,
    ) -> Option<EdgeValue> {
        if let Some(handle) = found {
            // SAFETY: the value of an edge whose owner is locked: it is there until the changes are applied.
            let bytes = unsafe { heap::bytes(handle) };
            // A copy that an engine embeds is of one entry only: those of both ends are written anew.
            if record == Some(bytes) && !is_embedded(handle) {
                return Some(handle);
            }
            self.changes.supersede(handle, bytes);
        }
        record.map(|record| match embeds(record.len()) {
            true => self.changes.add_embedded(record),
            false => self.changes.add(record),
        })
    }

    fn stage_parallel(
        &mut self,
        found: Option<EdgeValue>,
        record: Option<&[u8]>,
    ) -> Result<Option<EdgeValue>, ReadError> {
        // SAFETY: as in `stage_one`; the heap has the pieces of all parallel edges.
        let found = found.map(|handle| unsafe { HeapParallel::behind(handle) });
        let Some(record) = record else {
            let removed = found.map_or(0, |found| self.changes.remove_parallel(found));
            self.outcome.count_parallel(self.label, -(removed as i64));
            return Ok(None);
        };
        let (value, net) = self.changes.change_parallel(found, &differences(record)?)?;
        self.outcome.count_parallel(self.label, net);
        Ok(value)
    }
}

/// The changes of parallel edges that a record of effects is.
fn differences(record: &[u8]) -> Result<Vec<Difference<'_>>, ReadError> {
    let failed = |error| ReadError::new("a list of parallel edges", error);
    EdgeList::new(list_of_record(record).map_err(failed)?).map(|edge| edge.map_err(failed)).collect()
}
