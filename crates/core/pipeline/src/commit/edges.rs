//! Commits of one edge each, between vertices that exist: the most frequent commit, alone or with
//! the next ones of a stream.
//!
//! A single commit waits for memory several times, each time for an address that the previous
//! access returned. The writer of a stream knows its next edges, so a few commits at a time take
//! their locks together, if they need any, have the engine prefetch all memory that they will
//! touch, and take their stamps in one step. Otherwise each is an ordinary commit with its own
//! timestamp. With one operation there is nothing to sort, override or create, so acquiring and
//! resolving it takes no memory and few instructions.

use crate::commit::apply::{AppliedCommit, Stamping};
use crate::commit::resolve::Resolved;
use crate::commit::stream::Commits;
use crate::commit::{BYTES_OF_CHANGE, Commit};
use crate::error::Error;
use crate::store::{OnEngine, Store};
use hedgerow_log::{Body, Durability};
use hedgerow_model::token::{HeldLocks, Stamps};
use hedgerow_model::{
    Allowance, Changes, Count, EdgeValue, Engine, KeyRef, LabelId, Operation, Outcome, Staged, StoredEdge,
    Topology,
};
use hedgerow_sequencer::{CountChanges, LockGuard, LockTable, PendingReclaim, Stripes, WriterKind};

/// An edge to put, or to delete without a value, by the keys of its endpoints.
#[derive(Clone, Copy, Debug)]
pub struct EdgeWrite<'k> {
    /// The label.
    pub label: LabelId,
    /// The source of the edge.
    pub source: KeyRef<'k>,
    /// The destination of the edge.
    pub destination: KeyRef<'k>,
    /// The value of the edge; `None` deletes it.
    pub value: Option<EdgeValue>,
}

impl EdgeWrite<'_> {
    /// The equivalent operation of a transaction.
    #[must_use]
    pub fn to_operation(self) -> Operation {
        let EdgeWrite { label, source, destination, value } = self;
        let (source, destination) = (source.to_key(), destination.to_key());
        match value {
            Some(value) => Operation::PutEdge { label, source, destination, value },
            None => Operation::DeleteEdge { label, source, destination },
        }
    }
}

/// The next edges of a stream whose commits are made together.
#[derive(Default)]
pub(super) struct Slice<R> {
    edges: Vec<StoredEdge>,
    stripes: Stripes,
    /// The engine's room.
    room: R,
}

/// Maximum number of commits of a slice that take locks: enough to overlap the waits for memory.
/// They also hold each other's locks.
const MOST_LOCKING: usize = if cfg!(hedgerow_shuttle) { 2 } else { 16 };

/// Maximum number of commits of a slice that append.
const MOST_APPENDING: usize = if cfg!(hedgerow_shuttle) { 2 } else { 32 };

impl<E: Engine> OnEngine<'_, E> {
    /// Commits one edge blindly.
    #[inline]
    pub fn commit_edge(self, write: EdgeWrite<'_>) -> Result<Commit, Error> {
        let commit = match self.try_commit_edge(&write)? {
            Some(commit) => commit,
            None => self.store.commit_unsettled(&[write.to_operation()], None)?,
        };
        self.store.settle(commit, Durability::None)
    }

    /// Commits one edge, if both endpoints exist; `None` if this needs the general commit.
    #[inline]
    fn try_commit_edge(self, write: &EdgeWrite<'_>) -> Result<Option<Commit>, Error> {
        let store = self.store;
        store.admit(BYTES_OF_CHANGE)?;
        let generation = store.dictionary.generation();
        let Some(edge) = self.look_up(write)? else { return Ok(None) };
        let mut guard = LockGuard::lock(&store.units, self.stripes_of_edge(&edge));
        let (mut room, mut done) = (E::Room::default(), Commits::default());
        let edges = std::slice::from_ref(&edge);
        let pending = self.commit_locked((&mut guard, generation), edges, &mut room, true, &mut done)?;
        let commit = (done.committed > 0).then(|| done.to_only(|| store.sequencer.newest().0));
        drop(guard);
        store.reclaim_after_commit(pending, 1);
        Ok(commit)
    }

    /// Commits the next edges of a stream that can be made together, and adds them to `done`; none
    /// if the next edge needs the general commit, because a vertex is missing.
    pub(super) fn commit_slice<'k>(
        self,
        writes: impl Iterator<Item = EdgeWrite<'k>> + Clone,
        slice: &mut Slice<E::Room>,
        done: &mut Commits,
    ) -> Result<(), Error> {
        let store = self.store;
        let Some(first) = writes.clone().next() else { return Ok(()) };
        let may_append = store.may_append(first.label);
        // With history, the state after each commit is kept, so stamps cannot be taken together.
        let most = match store.sequencer.keeps_history() {
            true => 1,
            false if may_append => MOST_APPENDING,
            false => MOST_LOCKING,
        };
        store.admit(most * BYTES_OF_CHANGE)?;
        let generation = store.dictionary.generation();
        self.gather(writes.take(most), may_append, slice)?;
        if slice.edges.is_empty() {
            return Ok(());
        }
        let appending = may_append.then(|| LockGuard::append(&store.units)).flatten();
        let mut guard =
            appending.unwrap_or_else(|| LockGuard::lock(&store.units, self.stripes_of_slice(slice)));
        let Slice { edges, room, .. } = slice;
        let is_exact = store.sequencer.keeps_history();
        let pending = self.commit_locked((&mut guard, generation), edges, room, is_exact, done)?;
        slice.stripes = guard.release();
        store.reclaim_after_commit(pending, most);
        Ok(())
    }

    /// Commits edges under their locks, one by one, as far as both ends exist: all that the engine
    /// stages together, or the first as effects. `generation` is that of the dictionary when the
    /// ends were looked up. With `is_exact`, looks up whether an edge that is deleted existed.
    #[inline(always)]
    fn commit_locked(
        self,
        (guard, generation): (&mut LockGuard<&LockTable>, u64),
        edges: &[StoredEdge],
        room: &mut E::Room,
        is_exact: bool,
        done: &mut Commits,
    ) -> Result<PendingReclaim, Error> {
        let OnEngine { store, engine } = self;
        let appends = guard.appends();
        let mut held = guard.held(&store.sequencer);
        let staged = engine.stage(&held, Changes::Each(edges), room, store.growth_in_place(), None)?;
        // Checked last: a key may have lost its id to another key, whose vertex was found instead.
        if store.dictionary.generation() != generation {
            return Ok(PendingReclaim::default());
        }
        let must_look = is_exact && edges[0].deletes() && !staged.outcome.deferred.is_empty();
        if staged.commits > 0 && !must_look {
            self.finish_staged(&mut held, edges, staged, appends, done)
        } else if !appends {
            drop(staged);
            self.finish_as_effects(&mut held, &edges[0], done)
        } else {
            Ok(PendingReclaim::default())
        }
    }

    /// Stamps and applies staged commits of one edge each.
    #[inline(always)]
    fn finish_staged<'l>(
        self,
        held: &mut HeldLocks<'_>,
        edges: &[StoredEdge],
        staged: Staged<E::Staged<'l>>,
        appends: bool,
        done: &mut Commits,
    ) -> Result<PendingReclaim, Error> {
        let OnEngine { store, engine } = self;
        let Staged { changes, commits, changing, outcome } = staged;
        let Outcome { edges: known, deferred, .. } = &outcome;
        let mut pending = PendingReclaim::default();
        let stamps = changing.count_ones() as usize;
        if stamps > 0 {
            let changed = || {
                let numbered = edges.iter().enumerate();
                numbered.filter(|(number, _)| changing >> number & 1 == 1).map(|(_, edge)| edge)
            };
            let counts = CountChanges { edges: known, deferred, ..CountChanges::default() };
            let stamping = Stamping { stamps, counts, writer: WriterKind::Blind, input: None, appends };
            let encode = |bodies: &mut [Body]| {
                changed().zip(bodies).for_each(|(edge, body)| body.encode_edge(edge, store.topology));
            };
            let apply = |stamps: Stamps| engine.apply(held, stamps, changes);
            let note = |stamps: Stamps, record_conflicts| {
                if record_conflicts {
                    for (edge, stamp) in changed().zip(stamps.iter()) {
                        let touched = store.touched_by_edge(edge.label, edge.ends());
                        store.record_conflicts(touched.into_iter(), 1, stamp);
                    }
                }
            };
            (done.at, pending) = store.stamp_and_apply(stamping, encode, apply, note)?;
        }
        // All edges have one label.
        let (added, removed) = known.first().map_or((0, 0), |known| (known.added, known.removed));
        let (puts, deletions) = deferred.first().map_or((0, 0), |later| (later.puts, later.deletions));
        done.edges_added += Count::between(added, added + puts);
        done.edges_removed += Count::between(removed, removed + deletions);
        let known = if deferred.is_empty() { stamps } else { 0 };
        done.changed += Count::between(known as u64, stamps as u64);
        done.committed += commits;
        Ok(pending)
    }

    /// Commits an edge that the engine stages as effects, if both ends exist. Its locks are held.
    #[inline(never)]
    fn finish_as_effects(
        self,
        held: &mut HeldLocks<'_>,
        edge: &StoredEdge,
        done: &mut Commits,
    ) -> Result<PendingReclaim, Error> {
        let OnEngine { store, engine } = self;
        let (source, destination) = edge.ends();
        if !engine.exists(source) || !engine.exists(destination) {
            return Ok(PendingReclaim::default());
        }
        match store.finish(held, &Resolved::edge(edge), None, WriterKind::Blind, None) {
            Ok(AppliedCommit { commit, pending, .. }) => {
                done.count(commit);
                Ok(pending)
            }
            // The general commit reclaims and tries again.
            Err(Error::Capacity(_)) => Ok(PendingReclaim::default()),
            Err(failed) => Err(failed),
        }
    }

    /// The edge with the ids of its ends; `None` if one has no id.
    ///
    /// # Errors
    /// A key of the wrong kind.
    #[inline]
    fn look_up(self, write: &EdgeWrite<'_>) -> Result<Option<StoredEdge>, Error> {
        let EdgeWrite { label, source, destination, value } = write;
        let Store { dictionary, topology, .. } = self.store;
        let ends = (dictionary.current(*source)?, dictionary.current(*destination)?);
        let (Some(source), Some(destination)) = ends else { return Ok(None) };
        Ok(Some(StoredEdge::new(*topology, *label, source, destination, *value)))
    }

    /// Collects the next edges that can be committed together and whose ends have ids, with their
    /// locks unless they append: no two need the same lock.
    ///
    /// # Errors
    /// The first edge has a key of the wrong kind.
    fn gather<'k>(
        self,
        writes: impl Iterator<Item = EdgeWrite<'k>> + Clone,
        may_append: bool,
        slice: &mut Slice<E::Room>,
    ) -> Result<(), Error> {
        let Slice { edges, stripes, .. } = slice;
        edges.clear();
        stripes.clear();
        if may_append {
            // Such slices rarely end early.
            let keys = writes.clone().flat_map(|write| [write.source, write.destination]);
            keys.for_each(|key| self.store.dictionary.prefetch(key));
        }
        for write in writes {
            let edge = match self.look_up(&write) {
                Ok(Some(edge)) => edge,
                Err(wrong) if edges.is_empty() => return Err(wrong),
                Ok(None) | Err(_) => break,
            };
            if !may_append {
                let own = self.stripes_of_edge(&edge);
                if own.iter().any(|stripe| stripes.contains(stripe)) {
                    break;
                }
                stripes.extend_from_slice(&own);
            }
            edges.push(edge);
        }
        Ok(())
    }

    /// The stripes to lock for an edge: the stripes of the endpoints that store it. If only one
    /// endpoint stores it, the other needs no lock, because the engine can tell without a lock
    /// whether it [exists](Engine::exists).
    // Locking both ends takes 1.14 to 1.17 times the instructions of a stream, 1.04 to 1.06 of a
    // call (callgrind, ± 0.001).
    #[inline]
    fn stripes_of_edge(self, edge: &StoredEdge) -> Stripes {
        let (source, destination) = edge.ends();
        let source = self.engine.lock_unit(source);
        match self.store.topology {
            Topology::Directed => self.store.units.one(source),
            _ => self.store.units.two(source, self.engine.lock_unit(destination)),
        }
    }

    /// Takes the lock stripes of a slice out of it, ascending, without duplicates.
    fn stripes_of_slice(self, slice: &mut Slice<E::Room>) -> Stripes {
        let mut stripes = std::mem::take(&mut slice.stripes);
        if stripes.is_empty() {
            stripes.extend(slice.edges.iter().flat_map(|edge| self.stripes_of_edge(edge)));
        }
        stripes.sort_unstable();
        stripes.dedup();
        stripes
    }
}

impl Store {
    /// Returns true if commits that put or delete edges of a label append. Memory must be
    /// unlimited, since appending does not check for room.
    #[inline]
    pub(crate) fn may_append(&self, label: LabelId) -> bool {
        self.appends && self.catalog.record_schema(label).is_none()
    }

    /// The allowance of changes in place: none that takes memory, if there is a limit, which the
    /// engine checks for effects only.
    #[inline]
    fn growth_in_place(&self) -> Allowance {
        if self.is_unlimited() { Allowance::UNLIMITED } else { Allowance::NO_GROWTH }
    }
}
