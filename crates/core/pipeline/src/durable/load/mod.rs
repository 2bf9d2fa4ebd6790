//! Loads a checkpoint into an empty graph: vertices first, then the edges of each label, some
//! million at a time.

mod edges;

use crate::dictionary::Restoring;
use crate::durable::restored::Batches;
use crate::error::Error;
use crate::records::{check_encoded, check_parallel};
use crate::store::Store;
use hedgerow_log::StoreError;
use hedgerow_log::checkpoint::{Checkpoint, CheckpointChunk};
use hedgerow_model::token::HeldLocks;
use hedgerow_model::{
    AdjacencyEffects, CommitTimestamp, Direction, EdgeChange, EdgeChanges, EdgeValue, EffectRecords, Effects,
    GraphView, KeyRef, LabelId, Record, VertexChange, VertexEffect, VertexId, with_width,
};
use hedgerow_sequencer::VertexCounts;
use hedgerow_sync::map_chunks;
use rayon::prelude::*;
use smallvec::SmallVec;
use std::mem::take;
use std::path::Path;

/// Groups of chunks in place of one, if no two have entries of the same owner but at their ends.
const GROUPS_OF_OWNERS: usize = 4;

impl Store {
    /// Loads the checkpoint at `path` in batches. All locks are held, and the graph is not shared.
    pub(super) fn load(
        &self,
        held: &mut HeldLocks<'_>,
        checkpoint: &Checkpoint,
        path: &Path,
        batches: Batches,
    ) -> Result<(), Error> {
        let at_once = batches.loaded;
        let mut loading = self.loading(held, checkpoint, path)?;
        let described = checkpoint.description();
        if loading.at == CommitTimestamp::ZERO && described.counts.vertex_bound > 0 {
            return Err(loading.damaged(0, "vertices before the first commit"));
        }
        let mut vertices = Vec::new();
        for chunks in groups(checkpoint.vertex_chunks(), edges::at_once(batches)) {
            loading.vertices(chunks, &mut vertices)?;
        }
        drop(vertices);
        if described.counts.vertices == 0 && described.counts.vertex_bound > 0 {
            loading.deleted_vertices()?;
        }
        // Groups may be small if each has other owners: if no entries of other ends, in no order,
        // come with them.
        let has_others = described.topology.stored(Direction::In).is_some();
        let records_at_once = if has_others { at_once } else { at_once.div_ceil(GROUPS_OF_OWNERS) };
        for (label, schema) in described.labels() {
            let chunks = checkpoint.edge_chunks(label);
            match schema.edges.record() {
                Some(schema) if self.catalog.are_parallel(label) => {
                    let check = |record: &[u8]| match check_parallel(schema, record)? {
                        0 => Err("there are no parallel edges in it".to_owned()),
                        _ => Ok(()),
                    };
                    groups(chunks, records_at_once)
                        .try_for_each(|chunks| loading.record_edges(label, check, chunks))?;
                }
                Some(schema) => {
                    let check = |record: &[u8]| check_encoded(schema, record);
                    groups(chunks, records_at_once)
                        .try_for_each(|chunks| loading.record_edges(label, check, chunks))?;
                }
                None => {
                    with_width!(schema.edges.column(), W => loading.edges::<W>(label, chunks, batches))?;
                }
            }
        }
        Ok(())
    }

    fn loading<'l, 'h>(
        &'l self,
        held: &'l mut HeldLocks<'h>,
        checkpoint: &'l Checkpoint,
        path: &'l Path,
    ) -> Result<Loading<'l, 'h>, Error> {
        let described = checkpoint.description();
        let is_ours = described.topology == self.topology
            && described.keys == self.dictionary.kind()
            && self.catalog.to_catalog().extends(&described.catalog);
        if !is_ours {
            let what =
                "it is the checkpoint of a graph of another topology, with other keys, labels or properties";
            return Err(StoreError::Foreign { path: path.to_owned(), what }.into());
        }
        self.dictionary.reserve(keys_to_expect(checkpoint));
        Ok(Loading { store: self, held, checkpoint, path, at: described.timestamp })
    }
}

/// The number of vertices, limited to the room in their chunks at a bit per id: a crafted file
/// makes the dictionary reserve memory only in proportion to its size.
fn keys_to_expect(checkpoint: &Checkpoint) -> usize {
    let bytes: u64 = checkpoint.vertex_chunks().iter().map(|chunk| u64::from(chunk.length)).sum();
    checkpoint.description().counts.vertices.min(8 * bytes) as usize
}

/// Groups consecutive chunks into about `at_once` entries each.
fn groups(chunks: &[CheckpointChunk], at_once: usize) -> impl Iterator<Item = &[CheckpointChunk]> {
    let mut rest = chunks;
    std::iter::from_fn(move || {
        let mut entries = 0;
        let fits = |chunk: &&CheckpointChunk| {
            let is_room = entries < at_once;
            entries += chunk.entries as usize;
            is_room
        };
        let (group, others) = rest.split_at(rest.iter().take_while(fits).count());
        rest = others;
        (!group.is_empty()).then_some(group)
    })
}

/// The number of entries in chunks.
fn entry_count(chunks: &[CheckpointChunk]) -> usize {
    chunks.iter().map(|chunk| chunk.entries as usize).sum()
}

/// An empty slot.
const NO_VERTEX: VertexEffect = VertexEffect { vertex: VertexId::new(0), change: VertexChange::Delete };

/// A checkpoint that is being loaded.
struct Loading<'l, 'h> {
    store: &'l Store,
    held: &'l mut HeldLocks<'h>,
    checkpoint: &'l Checkpoint,
    path: &'l Path,
    at: CommitTimestamp,
}

impl Loading<'_, '_> {
    fn damaged(&self, offset: u64, what: impl Into<String>) -> Error {
        StoreError::Damaged { path: self.path.to_owned(), offset, what: what.into() }.into()
    }

    /// Reads chunks, on the worker threads if there are any.
    fn read<T: Send>(
        &self,
        chunks: &[CheckpointChunk],
        read: impl Fn(&CheckpointChunk) -> Result<Vec<T>, Error> + Send + Sync,
    ) -> Result<Vec<T>, Error> {
        let mut parts: Vec<Vec<T>> = match self.store.pool_for(usize::MAX) {
            Some(pool) => pool.install(|| chunks.par_iter().map(read).collect::<Result<_, _>>())?,
            None => chunks.iter().map(read).collect::<Result<_, _>>()?,
        };
        let mut all = Vec::with_capacity(parts.iter().map(Vec::len).sum());
        parts.iter_mut().for_each(|part| all.append(&mut std::mem::take(part)));
        Ok(all)
    }

    /// Restores the vertex bound of a graph whose vertices were all deleted: their ids are free,
    /// but were assigned once.
    fn deleted_vertices(&mut self) -> Result<(), Error> {
        let bound = self.checkpoint.description().counts.vertex_bound;
        self.put(&Effects::default(), VertexCounts { bound, ..VertexCounts::default() })
    }

    /// Reads the vertices of chunks into `vertices`, which they replace. Restores their keys.
    fn read_vertices(
        &self,
        chunks: &[CheckpointChunk],
        vertices: &mut Vec<VertexEffect>,
    ) -> Result<(), Error> {
        vertices.resize(entry_count(chunks), NO_VERTEX);
        let mut rest = &mut **vertices;
        let take = |count: usize| {
            let (slots, others) = take(&mut rest).split_at_mut(count);
            rest = others;
            slots
        };
        self.each_chunk(chunks, take, |chunk, slots: &mut [_]| {
            let (mut keys, mut wrong) = (self.store.dictionary.restoring(), None);
            let mut slots = slots.iter_mut();
            self.checkpoint.read_vertices(chunk, |vertex, key, record| {
                if wrong.is_none() {
                    wrong = self.check_vertex(&mut keys, vertex, key, &record).err();
                }
                if let Some(slot) = slots.next() {
                    *slot = VertexEffect { vertex, change: VertexChange::Put(record) };
                }
            })?;
            // The keys not yet in the index precede a wrong record.
            let wrong = keys.finish().err().map(|error| error.to_string()).or(wrong);
            wrong.map_or(Ok(()), |what| Err(self.damaged(chunk.offset, what)))
        })
    }

    /// Reads the entries of chunks, on the worker threads if there are any: `read` fills the slots
    /// that `take` returns for the number of a chunk's entries.
    fn each_chunk<S: Send>(
        &self,
        chunks: &[CheckpointChunk],
        mut take: impl FnMut(usize) -> S,
        read: impl Fn(&CheckpointChunk, S) -> Result<(), Error> + Sync,
    ) -> Result<(), Error> {
        let slots = chunks.iter().map(|chunk| (chunk, take(chunk.entries as usize)));
        let pool = self.store.pool_for(usize::MAX);
        map_chunks(pool, slots.collect(), |(chunk, slots)| read(chunk, slots)).map(drop)
    }

    /// Puts the vertices of chunks. Leaves the memory of `vertices` for the next ones.
    fn vertices(
        &mut self,
        chunks: &[CheckpointChunk],
        vertices: &mut Vec<VertexEffect>,
    ) -> Result<(), Error> {
        self.read_vertices(chunks, vertices)?;
        let counts = VertexCounts {
            added: vertices.len() as u64,
            removed: 0,
            bound: self.checkpoint.description().counts.vertex_bound,
        };
        let effects = Effects { vertices: take(vertices), ..Effects::default() };
        self.put(&effects, counts)?;
        *vertices = effects.vertices;
        Ok(())
    }

    /// Checks a vertex and restores its key.
    fn check_vertex(
        &self,
        keys: &mut Restoring<'_>,
        vertex: VertexId,
        key: KeyRef<'_>,
        record: &Record,
    ) -> Result<(), String> {
        self.store.check_record(record).map_err(|error| format!("the record of vertex {vertex}: {error}"))?;
        keys.add(key, vertex).map_err(|error| error.to_string())
    }

    /// The edges of a label with records; `check` returns the fault of a record.
    fn record_edges(
        &mut self,
        label: LabelId,
        check: impl Fn(&[u8]) -> Result<(), String> + Sync + Send,
        chunks: &[CheckpointChunk],
    ) -> Result<(), Error> {
        let latest = self.store.latest(self.held)?;
        let parts = self.read(chunks, |chunk| {
            let mut records = EffectRecords::default();
            let mut changes = EdgeChanges::with_capacity(chunk.entries as usize);
            let mut wrong = None;
            self.checkpoint.read_record_edges(chunk, |owner, neighbor, record| {
                if wrong.is_some() {
                    return;
                }
                let checked = self.check_ends(&latest, chunk, [owner, neighbor].into_iter());
                let checked = checked.and_then(|()| {
                    check(record).map_err(|error| {
                        let what = format!("the record of an edge of vertex {owner}: {error}");
                        self.damaged(chunk.offset, what)
                    })
                });
                wrong = checked.err();
                changes.push(EdgeChange::new(owner, neighbor, Some(records.push(record))));
            })?;
            wrong.map_or(Ok(vec![(changes, records)]), Err)
        })?;
        drop(latest);
        let mut parts = parts.into_iter();
        let (mut changes, mut records) = parts.next().unwrap_or_default();
        for (part, of_part) in parts {
            let before = records.append(&of_part);
            let moved = |value: EdgeValue| EdgeValue(value.0 + before);
            changes
                .extend(part.iter().map(|change| EdgeChange::at(change.position(), change.value.map(moved))));
        }
        let adjacencies = self.with_other_ends(label, changes);
        let effects = Effects { adjacencies, records, ..Effects::default() };
        self.put(&effects, VertexCounts::default())
    }

    /// Fails if an endpoint of an edge does not exist.
    fn check_ends(
        &self,
        latest: &impl GraphView,
        chunk: &CheckpointChunk,
        ends: impl Iterator<Item = VertexId>,
    ) -> Result<(), Error> {
        for end in ends {
            if !latest.contains_vertex(end)? {
                let what = format!("an edge of vertex {end}, which does not exist");
                return Err(self.damaged(chunk.offset, what));
            }
        }
        Ok(())
    }

    /// The effects of edges from their first ends, with the entries of their other ends.
    fn with_other_ends(&self, label: LabelId, changes: EdgeChanges) -> SmallVec<[AdjacencyEffects; 2]> {
        let pool = self.store.pool_for(changes.len());
        let firsts = AdjacencyEffects { label, direction: Direction::Out, changes };
        firsts.with_other_ends(self.store.topology, pool)
    }

    fn put(&mut self, effects: &Effects, counts: VertexCounts) -> Result<(), Error> {
        self.store.restore_changes(self.held, self.at, (effects.into(), effects.len()), counts)
    }
}
