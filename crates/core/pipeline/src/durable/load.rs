//! Loads a checkpoint into an empty graph: vertices first, then the edges of each label, some
//! million at a time.

use crate::commit::entries::fewest_to_scatter;
use crate::dictionary::Restoring;
use crate::durable::restored::Batches;
use crate::error::{Error, read_failed};
use crate::records::{check_encoded, check_parallel};
use crate::store::Store;
use hedgerow_log::StoreError;
use hedgerow_log::checkpoint::{Checkpoint, CheckpointChunk};
use hedgerow_model::scatter::{ScatteredEntries, ScatteredParts};
use hedgerow_model::token::HeldLocks;
use hedgerow_model::{
    AdjacencyEffects, Column, CommitTimestamp, Direction, EdgeChange, EdgeValue, EffectRecords, Effects,
    GraphView, KeyRef, LabelId, Record, Topology, VertexChange, VertexEffect, VertexId, with_width,
};
use hedgerow_sequencer::VertexCounts;
use hedgerow_sync::map_chunks;
use rayon::ThreadPool;
use rayon::prelude::*;
use smallvec::{SmallVec, smallvec};
use std::convert::Infallible;
use std::path::Path;

/// Groups of chunks in place of one, if no two have entries of the same owner but at their ends.
const GROUPS_OF_OWNERS: usize = 4;

impl Store {
    /// Loads the checkpoint at `path` in batches. All locks are held, and the graph is not shared.
    pub(super) fn load(
        &self,
        held: &HeldLocks<'_>,
        checkpoint: &Checkpoint,
        path: &Path,
        batches: Batches,
    ) -> Result<(), Error> {
        let at_once = batches.loaded;
        let loading = self.loading(held, checkpoint, path)?;
        let described = checkpoint.description();
        if loading.at == CommitTimestamp::ZERO && described.counts.vertex_bound > 0 {
            return Err(loading.damaged(0, "vertices before the first commit"));
        }
        for chunks in groups(checkpoint.vertex_chunks(), at_once) {
            loading.vertices(chunks)?;
        }
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

    fn loading<'l>(
        &'l self,
        held: &'l HeldLocks<'l>,
        checkpoint: &'l Checkpoint,
        path: &'l Path,
    ) -> Result<Loading<'l>, Error> {
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

/// A checkpoint that is being loaded.
struct Loading<'l> {
    store: &'l Store,
    held: &'l HeldLocks<'l>,
    checkpoint: &'l Checkpoint,
    path: &'l Path,
    at: CommitTimestamp,
}

impl Loading<'_> {
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
    fn deleted_vertices(&self) -> Result<(), Error> {
        let bound = self.checkpoint.description().counts.vertex_bound;
        self.put(&Effects::default(), VertexCounts { bound, ..VertexCounts::default() })
    }

    /// The vertices of chunks. Restores their keys.
    fn read_vertices(&self, chunks: &[CheckpointChunk]) -> Result<Vec<VertexEffect>, Error> {
        self.read(chunks, |chunk| {
            let mut vertices = Vec::with_capacity(chunk.entries as usize);
            let (mut keys, mut wrong) = (self.store.dictionary.restoring(), None);
            self.checkpoint.read_vertices(chunk, |vertex, key, record| {
                if wrong.is_none() {
                    wrong = self.check_vertex(&mut keys, vertex, key, &record).err();
                }
                vertices.push(VertexEffect { vertex, change: VertexChange::Put(record) });
            })?;
            // The keys not yet in the index precede a wrong record.
            let wrong = keys.finish().err().map(|error| error.to_string()).or(wrong);
            wrong.map_or(Ok(vertices), |what| Err(self.damaged(chunk.offset, what)))
        })
    }

    fn vertices(&self, chunks: &[CheckpointChunk]) -> Result<(), Error> {
        let vertices = self.read_vertices(chunks)?;
        let counts = VertexCounts {
            added: vertices.len() as u64,
            removed: 0,
            bound: self.checkpoint.description().counts.vertex_bound,
        };
        self.put(&Effects { vertices, ..Effects::default() }, counts)
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

    /// The edges of a label. Entries of other ends, which are in no order, are kept until all have
    /// come, so that each block of the engine is built once, unless the ids are sparse or memory is
    /// limited.
    fn edges<W: Column>(
        &self,
        label: LabelId,
        chunks: &[CheckpointChunk],
        batches: Batches,
    ) -> Result<(), Error> {
        let topology = self.store.topology;
        // All entries of an undirected graph are out-neighbors.
        let others = if topology.is_undirected() { Direction::Out } else { Direction::In };
        let has_others = topology.stored(Direction::In).is_some();
        let entries = chunks.iter().map(|chunk| chunk.entries as usize).sum::<usize>();
        let fewest = fewest_to_scatter(self.checkpoint.description().counts.vertex_bound as usize);
        if has_others && (entries < fewest || !batches.scatters) {
            return groups(chunks, batches.loaded).try_for_each(|chunks| {
                let adjacencies = self.with_other_ends(label, self.read_edges::<W>(chunks)?);
                self.put(&Effects { adjacencies, ..Effects::default() }, VertexCounts::default())
            });
        }
        let mut scattered = Vec::new();
        // Groups are small, because each has other owners.
        let at_once = batches.loaded.div_ceil(GROUPS_OF_OWNERS);
        let at_once = if has_others { at_once.max(fewest) } else { at_once };
        for chunks in groups(chunks, at_once) {
            let changes = self.read_edges::<W>(chunks)?;
            if has_others {
                scattered.extend(self.scatter::<W>(&changes, (topology, others), fewest));
            }
            if others == Direction::In {
                self.put_edges(label, Direction::Out, changes)?;
            }
        }
        let (mut parts, mut changes, mut done) = (ScatteredParts::new(scattered), Vec::new(), Ok(()));
        while let Some(part) = parts.take(1).pop() {
            part.into_rows().each_last(|owner, neighbor, value| {
                if done.is_err() {
                    return;
                }
                changes.push(EdgeChange { owner, neighbor, value: Some(value.to_bits()) });
                if changes.len() >= at_once {
                    let next = Vec::with_capacity(at_once);
                    done = self.put_edges(label, others, std::mem::replace(&mut changes, next));
                }
            });
            std::mem::replace(&mut done, Ok(()))?;
        }
        match changes.is_empty() {
            true => Ok(()),
            false => self.put_edges(label, others, changes),
        }
    }

    /// The edges of chunks as they are stored: from one end.
    fn read_edges<W: Column>(&self, chunks: &[CheckpointChunk]) -> Result<Vec<EdgeChange>, Error> {
        let latest = self.store.latest(self.held)?;
        self.read(chunks, |chunk| {
            let mut changes = Vec::with_capacity(chunk.entries as usize);
            let mut wrong: Option<Error> = None;
            self.checkpoint.read_edges::<W>(chunk, |owner, neighbors, values| {
                if wrong.is_none() {
                    let ends = std::iter::once(owner).chain(neighbors.iter().copied());
                    wrong = self.check_ends(&latest, chunk, ends).err();
                }
                // Without a column there are no values.
                let value = |position: usize| values.get(position).copied().unwrap_or_default().to_bits();
                changes.extend((0..).zip(neighbors).map(|(position, neighbor)| EdgeChange {
                    owner,
                    neighbor: *neighbor,
                    value: Some(value(position)),
                }));
            })?;
            wrong.map_or(Ok(changes), Err)
        })
    }

    /// The entries of edges in a stored direction, scattered by owner, by each thread at least
    /// `fewest`.
    fn scatter<W: Column>(
        &self,
        edges: &[EdgeChange],
        stored: (Topology, Direction),
        fewest: usize,
    ) -> Vec<ScatteredEntries<W>> {
        let pool = self.store.pool_for(edges.len());
        let threads = pool.map_or(1, ThreadPool::current_num_threads);
        let edge = |change: &EdgeChange| {
            (change.owner, change.neighbor, W::from_bits(change.value.unwrap_or_default()))
        };
        let scatter = |edges: &[EdgeChange]| {
            Ok::<_, Infallible>(ScatteredEntries::of(&|| edges.iter().map(edge), stored))
        };
        let chunks = edges.chunks(edges.len().div_ceil(threads).max(fewest).max(1)).collect();
        let Ok(scattered) = map_chunks(pool, chunks, scatter);
        scattered
    }

    /// Puts entries of a label, which ascend.
    fn put_edges(&self, label: LabelId, direction: Direction, changes: Vec<EdgeChange>) -> Result<(), Error> {
        let adjacencies = smallvec![AdjacencyEffects { label, direction, changes: changes.into() }];
        self.put(&Effects { adjacencies, ..Effects::default() }, VertexCounts::default())
    }

    /// The edges of a label with records; `check` returns the fault of a record.
    fn record_edges(
        &self,
        label: LabelId,
        check: impl Fn(&[u8]) -> Result<(), String> + Sync + Send,
        chunks: &[CheckpointChunk],
    ) -> Result<(), Error> {
        let latest = self.store.latest(self.held)?;
        let parts = self.read(chunks, |chunk| {
            let mut records = EffectRecords::default();
            let mut changes = Vec::with_capacity(chunk.entries as usize);
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
                changes.push(EdgeChange { owner, neighbor, value: Some(records.push(record)) });
            })?;
            wrong.map_or(Ok(vec![(changes, records)]), Err)
        })?;
        drop(latest);
        let mut parts = parts.into_iter();
        let (mut changes, mut records) = parts.next().unwrap_or_default();
        for (part, of_part) in parts {
            let before = records.append(&of_part);
            let moved = |value: EdgeValue| EdgeValue(value.0 + before);
            changes.extend(
                part.into_iter().map(|change| EdgeChange { value: change.value.map(moved), ..change }),
            );
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
            if !latest.contains_vertex(end).map_err(read_failed)? {
                let what = format!("an edge of vertex {end}, which does not exist");
                return Err(self.damaged(chunk.offset, what));
            }
        }
        Ok(())
    }

    /// Effects of edges as they are stored: with the entries of their other ends.
    fn with_other_ends(
        &self,
        label: LabelId,
        mut changes: Vec<EdgeChange>,
    ) -> SmallVec<[AdjacencyEffects; 2]> {
        let topology = self.store.topology;
        let second = |change: &EdgeChange| {
            let (_, owner, neighbor) = topology.second_entry(change.owner, change.neighbor)?;
            Some(EdgeChange { owner, neighbor, value: change.value })
        };
        let mut others: Vec<EdgeChange> = changes.iter().filter_map(second).collect();
        let sort = |changes: &mut Vec<EdgeChange>| match self.store.pool_for(changes.len()) {
            Some(pool) => pool.install(|| changes.par_sort_unstable_by_key(EdgeChange::position)),
            None => changes.sort_unstable_by_key(EdgeChange::position),
        };
        if topology.is_undirected() {
            changes.append(&mut others);
            sort(&mut changes);
        } else {
            sort(&mut others);
        }
        let both = [(Direction::Out, changes), (Direction::In, others)];
        let stored = both.into_iter().filter(|(_, changes)| !changes.is_empty());
        stored
            .map(|(direction, changes)| AdjacencyEffects { label, direction, changes: changes.into() })
            .collect()
    }

    fn put(&self, effects: &Effects, counts: VertexCounts) -> Result<(), Error> {
        self.store.restore_changes(self.held, self.at, effects, counts)
    }
}
