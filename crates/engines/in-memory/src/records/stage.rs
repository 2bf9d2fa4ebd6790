//! Turns effects, whose records are bytes, into changes of the handles that an engine stores.

use crate::records::memory::{self, LONGEST_EMBEDDED, embedded_size, is_embedded};
use crate::records::parallel::HeapParallel;
use crate::records::{Form, RecordChanges, RecordHeap, heap};
use hedgerow_encoding::differences_of_record;
use hedgerow_model::{
    Adjacency, AdjacencyEffects, Column, Cursor, Direction, EdgeChange, EdgeChanges, EdgeValue, Effects,
    GraphView, LabelId, Outcome, ReadError, RecordHandle,
};
use smallvec::{SmallVec, smallvec};
use std::ptr::NonNull;

/// Buffers that the changes of a commit borrow from [`RecordHeap::stage`]. Have inline room for a
/// commit of one edge with a short record.
#[derive(Debug, Default)]
pub struct StagedEffects {
    /// The changes of labels with records, in the order of the effects.
    adjacencies: SmallVec<[AdjacencyEffects; 2]>,
    /// Records for the engine to embed, in the layout of embedded records.
    originals: SmallVec<[u16; 64]>,
}

/// The adjacency changes for an engine: in labels with records, values are handles.
#[derive(Clone, Debug)]
pub struct StagedAdjacencies<'l> {
    effects: &'l [AdjacencyEffects],
    /// Replacements of some of `effects`, in the same order.
    staged: &'l [AdjacencyEffects],
}

impl<'l> Iterator for StagedAdjacencies<'l> {
    type Item = &'l AdjacencyEffects;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let own = self.effects.split_off_first()?;
        let is_same =
            |staged: &AdjacencyEffects| (staged.label, staged.direction) == (own.label, own.direction);
        match self.staged.first() {
            Some(staged) if is_same(staged) => self.staged.split_off_first(),
            _ => Some(own),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.effects.len(), Some(self.effects.len()))
    }
}

impl RecordHeap {
    /// Allocates the records that effects put, and looks up the records that they replace. Returns
    /// the adjacency changes for the engine to make, and the changes of records. Adds its counts of
    /// parallel edges to `outcome`.
    ///
    /// `newest` is the newest state, in which the owners of all changes are locked. In labels that
    /// the engine `embeds`, it copies records of at most [`LONGEST_EMBEDDED`] bytes.
    ///
    /// Does not touch labels without records. O(changes of labels with records · a search for
    /// each).
    ///
    /// # Errors
    /// The current records of the edges cannot be read, or a record of parallel edges is not a
    /// list.
    ///
    /// # Panics
    /// A label with records has no adjacency of handles.
    pub fn stage<'l, V: GraphView>(
        &self,
        effects: &'l Effects,
        staged: &'l mut StagedEffects,
        newest: &V,
        embeds: impl Fn(LabelId) -> bool,
        outcome: &mut Outcome,
    ) -> Result<(StagedAdjacencies<'l>, RecordChanges), ReadError> {
        let StagedEffects { adjacencies, originals } = staged;
        adjacencies.clear();
        let mut changes = RecordChanges::default();
        let with_records =
            || effects.adjacencies.iter().filter(|adjacency| self.has_records(adjacency.label));
        let original_bytes = match with_records().any(|adjacency| embeds(adjacency.label)) {
            true => effects.records.iter().map(|record| embedded_size(record.len())).sum(),
            false => 0,
        };
        originals.clear();
        originals.resize(original_bytes / size_of::<u16>(), 0);
        let mut free = &mut originals[..];
        // Stored values, by record number: a handle, or `None` if no edge is left; the outer `None`
        // means unknown.
        let mut kept: SmallVec<[Option<Option<EdgeValue>>; 2]> = smallvec![None; effects.records.len()];
        for AdjacencyEffects { label, direction, changes: entries } in with_records() {
            let Some(form) = self.form(*label) else { continue };
            let adjacency = newest.adjacency::<RecordHandle>(*label, Direction::Out);
            let adjacency = adjacency.expect("a label with records has an adjacency of handles");
            let mut edges = Staging {
                effects,
                label: *label,
                form,
                handles: adjacency.cursor(),
                free: embeds(*label).then_some(&mut free),
                changes: &mut changes,
                outcome,
            };
            let mut staged = EdgeChanges::with_capacity(entries.len());
            for entry in entries.iter() {
                let is_canonical =
                    self.topology.is_canonical_entry(*direction, entry.owner(), entry.neighbor());
                let number = entry.value.map(|value| value.0 as usize);
                let known = number.and_then(|number| kept.get(number).copied().flatten());
                let value = match known {
                    Some(known) => known,
                    None if is_canonical => edges.stage(&entry)?,
                    // The canonical entry of an edge precedes the other one.
                    None => None,
                };
                if let Some(kept) = number.and_then(|number| kept.get_mut(number)) {
                    *kept = Some(value);
                }
                staged.push(EdgeChange::at(entry.position(), value));
            }
            adjacencies.push(AdjacencyEffects { label: *label, direction: *direction, changes: staged });
        }
        Ok((StagedAdjacencies { effects: &effects.adjacencies, staged: adjacencies }, changes))
    }
}

/// Stages the changes of one label's edges.
struct Staging<'s, 'l, C> {
    effects: &'s Effects,
    label: LabelId,
    form: Form,
    /// The newest handles of the out-neighbors.
    handles: C,
    /// Buffer for the next record to embed, if the engine embeds this label's records.
    free: Option<&'s mut &'l mut [u16]>,
    changes: &'s mut RecordChanges,
    outcome: &'s mut Outcome,
}

impl<C: Cursor<Value = RecordHandle>> Staging<'_, '_, C> {
    /// Returns the value to store for a changed edge, given its canonical entry.
    fn stage(&mut self, entry: &EdgeChange) -> Result<Option<EdgeValue>, ReadError> {
        let found = self.handles.find(entry.owner(), entry.neighbor())?;
        let found = found.map(Column::to_bits);
        let record = entry.value.map(|number| self.effects.record(number));
        match (self.form, record.transpose()?) {
            (Form::One, record) => Ok(self.stage_one(found, record)),
            (Form::Parallel, record) => self.stage_parallel(found, record),
        }
    }

    fn stage_one(&mut self, found: Option<EdgeValue>, record: Option<&[u8]>) -> Option<EdgeValue> {
        if let Some(handle) = found {
            // SAFETY: the value of an edge whose owner is locked: the record stays until the
            // changes are applied.
            let bytes = unsafe { heap::bytes(handle) };
            // An embedded copy belongs to one entry only: copies at both ends are rewritten.
            if record == Some(bytes) && !is_embedded(handle) {
                return Some(handle);
            }
            self.changes.supersede(handle, bytes);
        }
        let record = record?;
        Some(match self.free.as_mut().filter(|_| record.len() <= LONGEST_EMBEDDED) {
            Some(free) => original(free, record),
            None => self.changes.add(record),
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
        let (value, net) = self.changes.change_parallel(found, &differences_of_record(record)?)?;
        self.outcome.count_parallel(self.label, net);
        Ok(value)
    }
}

/// Writes a record for the engine to embed to the start of the free buffer. Returns its handle,
/// valid until the engine has its copy.
fn original(free: &mut &mut [u16], record: &[u8]) -> EdgeValue {
    let place = free.split_off_mut(..embedded_size(record.len()) / size_of::<u16>());
    let place = NonNull::from(place.expect("there is room for every record once"));
    // SAFETY: exclusively borrowed memory of this size, at the even address of a `u16`.
    unsafe { memory::embed(place.cast(), record) }
}
