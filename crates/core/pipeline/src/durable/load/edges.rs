//! The edges of a label without records, from both ends where both are stored.
//!
//! A checkpoint has each edge from one end, in order. So that each block of the engine is built
//! once, the entries of the other ends are first scattered by owner, and then put in order: in an
//! undirected graph with those of the first ends, which are read again meanwhile.

use super::{GROUPS_OF_OWNERS, Loading, entry_count, groups};
use crate::commit::entries::fewest_to_scatter;
use crate::durable::restored::Batches;
use crate::error::Error;
use hedgerow_log::checkpoint::CheckpointChunk;
use hedgerow_model::scatter::{OWNERS_OF_PART, PartRows, ScatteredEntries, ScatteredPart, ScatteredParts};
use hedgerow_model::{
    AdjacencyEffects, ChangeSlots, Column, Direction, EdgeChange, EdgeChanges, Effects, GraphView, LabelId,
    VertexId,
};
use hedgerow_sequencer::VertexCounts;
use hedgerow_sync::map_chunks;
use rayon::ThreadPool;
use smallvec::smallvec;
use std::convert::Infallible;
use std::mem::take;
use std::ops::Range;

/// Owners whose entries are put together: a multiple of those that an engine stores together.
const OWNERS_TOGETHER: u32 = 64;

/// An edge from its first end, with its value.
type Edge<W> = (VertexId, VertexId, W);

/// The entries of both ends, in the order of their owners, and how far they were taken.
struct InOrder<'c, W> {
    others: ScatteredParts<W>,
    /// The rows of the part in which the last window ended.
    kept: Option<PartRows<W>>,
    /// The chunks of first ends.
    chunks: &'c [CheckpointChunk],
    /// The owner of the next window.
    begin: u32,
    bound: u32,
}

/// Consecutive owners, of one part, and the entries of other ends of this part.
struct Window<W> {
    owners: Range<u32>,
    others: Others<W>,
}

enum Others<W> {
    None,
    Scattered(ScatteredPart<W>),
    Placed(PartRows<W>),
}

/// Consecutive owners, of one part, and the rows of other ends of this part.
type PlacedWindow<W> = (Range<u32>, Option<PartRows<W>>);

impl Loading<'_, '_> {
    /// The edges of a label. Entries of other ends are scattered unless the ids are sparse or
    /// memory is limited.
    pub(super) fn edges<W: Column>(
        &mut self,
        label: LabelId,
        chunks: &[CheckpointChunk],
        batches: Batches,
    ) -> Result<(), Error> {
        let topology = self.store.topology;
        if topology.stored(Direction::In).is_none() {
            return self.put_first_ends::<W>(label, chunks, batches, true);
        }
        let entries = entry_count(chunks);
        let fewest = fewest_to_scatter(self.checkpoint.description().counts.vertex_bound as usize);
        if entries < fewest || !batches.scatters {
            return groups(chunks, batches.loaded).try_for_each(|chunks| {
                let mut changes = EdgeChanges::new();
                self.read_changes::<W>(chunks, true, &mut changes)?;
                let adjacencies = self.with_other_ends(label, changes);
                self.put(&Effects { adjacencies, ..Effects::default() }, VertexCounts::default())
            });
        }
        let others = ScatteredParts::new(self.other_ends::<W>(chunks, fewest.max(at_once(batches)))?);
        if topology.is_undirected() {
            return self.put_in_order(label, Direction::Out, (others, chunks), batches);
        }
        self.put_first_ends::<W>(label, chunks, batches, false)?;
        self.put_in_order(label, Direction::In, (others, &[]), batches)
    }

    /// Puts the edges from their first ends only.
    fn put_first_ends<W: Column>(
        &mut self,
        label: LabelId,
        chunks: &[CheckpointChunk],
        batches: Batches,
        is_to_check: bool,
    ) -> Result<(), Error> {
        let mut changes = EdgeChanges::new();
        groups(chunks, at_once(batches)).try_for_each(|chunks| {
            self.read_changes::<W>(chunks, is_to_check, &mut changes)?;
            self.put_edges(label, Direction::Out, &mut changes)
        })
    }

    /// The entries of the other ends, scattered by owner, about `at_once` at a time.
    fn other_ends<W: Column>(
        &self,
        chunks: &[CheckpointChunk],
        at_once: usize,
    ) -> Result<Vec<ScatteredEntries<W>>, Error> {
        let topology = self.store.topology;
        // The only entry of a loop in an undirected graph is that of the first end.
        let has_entry = |(one, other, _): &Edge<W>| !topology.is_undirected() || one != other;
        map_chunks(self.store.pool_for(usize::MAX), groups(chunks, at_once).collect(), |chunks| {
            let edges = self.read_edges::<W>(chunks, true)?;
            let others = || edges.iter().copied().filter(has_entry);
            Ok(ScatteredEntries::of(&others, (topology, Direction::In)))
        })
    }

    /// Puts the entries of other ends, and those of the first ends in `chunks`, in the order of
    /// their owners and neighbors. Chunks are those of an undirected graph, in which the neighbors
    /// of a vertex at first ends are not less than it, and at other ends less; or there are none.
    fn put_in_order<W: Column>(
        &mut self,
        label: LabelId,
        direction: Direction,
        (others, chunks): (ScatteredParts<W>, &[CheckpointChunk]),
        batches: Batches,
    ) -> Result<(), Error> {
        let bound = self.checkpoint.description().counts.vertex_bound;
        let pool = self.store.pool_for(usize::MAX);
        let mut order = InOrder { others, kept: None, chunks, begin: 0, bound };
        let (mut edges, mut changes) = (Vec::<Edge<W>>::new(), EdgeChanges::new());
        while order.begin < bound {
            let (windows, chunks) = order.next_windows(at_once(batches), edges.len());
            let Ok(mut windows) = map_chunks(pool, windows, |window| Ok::<_, Infallible>(window.placed()));
            let more = map_chunks(pool, chunks.chunks(1).collect(), |chunk| self.read_edges(chunk, false))?;
            more.into_iter().for_each(|more| edges.extend(more));
            let left = put_windows(&mut windows, &edges, &mut changes, pool);
            order.kept = windows.pop().and_then(|(_, rows)| rows);
            self.put_edges(label, direction, &mut changes)?;
            edges.drain(..edges.len() - left);
        }
        Ok(())
    }

    /// Reads the edges of chunks into `changes`, which they replace.
    fn read_changes<W: Column>(
        &self,
        chunks: &[CheckpointChunk],
        is_to_check: bool,
        changes: &mut EdgeChanges,
    ) -> Result<(), Error> {
        let latest = self.latest_to_check(is_to_check)?;
        let mut slots = changes.slots(entry_count(chunks), size_of::<W>() > 0);
        self.each_chunk(
            chunks,
            |count| slots.take(count),
            |chunk, mut slots| {
                self.each_edge::<W>(chunk, latest.as_ref(), |edge| slots.write(change_of(edge)))
            },
        )
    }

    /// Reads the edges of chunks.
    fn read_edges<W: Column>(
        &self,
        chunks: &[CheckpointChunk],
        is_to_check: bool,
    ) -> Result<Vec<Edge<W>>, Error> {
        let latest = self.latest_to_check(is_to_check)?;
        let mut edges = Vec::with_capacity(entry_count(chunks));
        for chunk in chunks {
            self.each_edge(chunk, latest.as_ref(), |edge| edges.push(edge))?;
        }
        Ok(edges)
    }

    /// The view in which vertices are looked up; `None` if there is no need to, or vertices have
    /// all ids below the bound.
    fn latest_to_check(&self, is_to_check: bool) -> Result<Option<impl GraphView>, Error> {
        let counts = &self.checkpoint.description().counts;
        let has_gaps = counts.vertices < u64::from(counts.vertex_bound);
        (is_to_check && has_gaps).then(|| self.store.latest(self.held)).transpose()
    }

    /// Visits the edges of a chunk, whose ends must exist in a view.
    fn each_edge<W: Column>(
        &self,
        chunk: &CheckpointChunk,
        latest: Option<&impl GraphView>,
        mut visit: impl FnMut(Edge<W>),
    ) -> Result<(), Error> {
        let mut wrong: Option<Error> = None;
        self.checkpoint.read_edges::<W>(chunk, |owner, neighbors, values| {
            if let (Some(latest), None) = (latest, &wrong) {
                let ends = std::iter::once(owner).chain(neighbors.iter().copied());
                wrong = self.check_ends(latest, chunk, ends).err();
            }
            // Without a column there are no values.
            let value = |position: usize| values.get(position).copied().unwrap_or_default();
            let edges = neighbors.iter().enumerate();
            edges.for_each(|(position, neighbor)| visit((owner, *neighbor, value(position))));
        })?;
        wrong.map_or(Ok(()), Err)
    }

    /// Puts entries of a label, which ascend. Leaves the memory of `changes` for the next ones.
    fn put_edges(
        &mut self,
        label: LabelId,
        direction: Direction,
        changes: &mut EdgeChanges,
    ) -> Result<(), Error> {
        if changes.is_empty() {
            return Ok(());
        }
        let adjacencies = smallvec![AdjacencyEffects { label, direction, changes: take(changes) }];
        let mut effects = Effects { adjacencies, ..Effects::default() };
        self.put(&effects, VertexCounts::default())?;
        *changes = effects.adjacencies.pop().map(|effects| effects.changes).unwrap_or_default();
        Ok(())
    }
}

/// The number of entries that are put together if each group has other owners.
pub(super) fn at_once(batches: Batches) -> usize {
    batches.loaded.div_ceil(GROUPS_OF_OWNERS)
}

fn change_of<W: Column>((owner, neighbor, value): Edge<W>) -> EdgeChange {
    EdgeChange::new(owner, neighbor, Some(value.to_bits()))
}

impl<'c, W: Column> InOrder<'c, W> {
    /// The next windows, and the chunks from which their first ends are read, beyond the `firsts`
    /// that were. They have about `at_once` entries, with at most about as many first ends, unless
    /// a few owners have more.
    fn next_windows(&mut self, at_once: usize, mut firsts: usize) -> (Vec<Window<W>>, &'c [CheckpointChunk]) {
        let (mut windows, mut needed, mut others_of_all) = (Vec::new(), 0, 0);
        while self.begin < self.bound && (firsts + others_of_all < at_once || windows.is_empty()) {
            let part = self.begin / OWNERS_OF_PART as u32;
            let mut owners = self.begin..self.bound.min((part + 1).saturating_mul(OWNERS_OF_PART as u32));
            let others = match self.kept.take() {
                Some(rows) if rows.owners().start / OWNERS_OF_PART as u32 == part => Others::Placed(rows),
                _ if self.begin.is_multiple_of(OWNERS_OF_PART as u32) => {
                    self.others.take(1).pop().map_or(Others::None, Others::Scattered)
                }
                _ => Others::None,
            };
            others_of_all += others.len_of(owners.clone());
            for chunk in &self.chunks[needed..] {
                let first = (chunk.first >> 32) as u32;
                let cut = first - first % OWNERS_TOGETHER;
                if firsts >= at_once && cut > owners.start {
                    owners.end = owners.end.min(cut);
                }
                if first >= owners.end {
                    break;
                }
                firsts += chunk.entries as usize;
                needed += 1;
            }
            self.begin = owners.end;
            windows.push(Window { owners, others });
        }
        let (needed, later) = self.chunks.split_at(needed);
        self.chunks = later;
        (windows, needed)
    }
}

impl<W: Column> Others<W> {
    fn len_of(&self, owners: Range<u32>) -> usize {
        match self {
            Others::None => 0,
            Others::Scattered(part) => part.len(),
            Others::Placed(rows) => rows.len_of(owners),
        }
    }
}

impl<W: Column> Window<W> {
    fn placed(self) -> PlacedWindow<W> {
        let rows = match self.others {
            Others::None => None,
            Others::Scattered(part) => Some(part.into_rows()),
            Others::Placed(rows) => Some(rows),
        };
        (self.owners, rows)
    }
}

/// Replaces `changes` with the entries of windows that follow one another, with those of their
/// first ends, which begin `edges`. Returns the number of later edges.
fn put_windows<W: Column>(
    windows: &mut [PlacedWindow<W>],
    edges: &[Edge<W>],
    changes: &mut EdgeChanges,
    pool: Option<&ThreadPool>,
) -> usize {
    let mut later = edges;
    let with_firsts = windows.iter_mut().map(|(owners, rows)| {
        let (firsts, rest) = later.split_at(later.partition_point(|(owner, ..)| owner.get() < owners.end));
        later = rest;
        let len = rows.as_ref().map_or(0, |rows| rows.len_of(owners.clone())) + firsts.len();
        (owners.clone(), rows, firsts, len)
    });
    let with_firsts: Vec<_> = with_firsts.collect();
    let mut slots = changes.slots(with_firsts.iter().map(|(.., len)| len).sum(), size_of::<W>() > 0);
    let with_slots = with_firsts.into_iter().map(|(owners, rows, firsts, len)| {
        let slots = slots.take(len);
        (owners, rows, firsts, slots)
    });
    let Ok(_) = map_chunks(pool, with_slots.collect(), |(owners, rows, firsts, slots)| {
        put_window(owners, rows.as_mut(), firsts, slots);
        Ok::<_, Infallible>(())
    });
    later.len()
}

/// Puts the entries of owners, in order, into slots of their number.
fn put_window<W: Column>(
    owners: Range<u32>,
    others: Option<&mut PartRows<W>>,
    mut firsts: &[Edge<W>],
    mut slots: ChangeSlots<'_>,
) {
    let mut put = |edge: Edge<W>| slots.write(change_of(edge));
    if let Some(others) = others {
        others.each_of(owners, |owner, neighbor, value| {
            while let [first, rest @ ..] = firsts
                && first.0 < owner
            {
                put(*first);
                firsts = rest;
            }
            put((owner, neighbor, *value));
        });
    }
    firsts.iter().for_each(|first| put(*first));
}
