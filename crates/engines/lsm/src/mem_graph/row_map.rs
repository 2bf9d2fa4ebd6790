//! Maps an owner to its row (LSMGraph, 4.1: the map from vertices to their first edges).
//!
//! A hash map of a fixed number of buckets whose chains only grow, so that readers take no locks;
//! and a bit per vertex, which gives the owners in order.

use super::arena::{ArenaOffset, WordArena};
use super::row::RowState;
use hedgerow_in_memory::vertices::VertexSet;
use hedgerow_model::VertexId;
use hedgerow_sync::atomic::{AtomicU32, AtomicU64, Ordering};
use hedgerow_sync::{GrowingList, OnceLock, prefetch};
use std::ops::Range;

/// Words of a node of a chain: its key, the [link](Link) to the next one, the state of its row.
const NODE_WORDS: usize = 3;

/// Number of consecutive owners whose buckets lie in one cache line.
const GROUP: u64 = 16;

/// The rows of all adjacencies.
pub(super) struct RowMap {
    /// Links to the newest node of each chain; a power of two of them.
    buckets: Box<[AtomicU32]>,
    /// The owners of each adjacency. Takes no memory before the first one.
    owners: GrowingList<OnceLock<VertexSet>>,
}

/// The offset of a node in the arena plus one; 0 at the end of a chain.
type Link = u32;

/// The stored state of one row.
#[derive(Clone, Copy)]
pub(super) struct RowSlot<'m>(&'m AtomicU64);

impl RowMap {
    /// Creates an empty map with about this many buckets.
    pub(super) fn new(adjacencies: usize, buckets: usize) -> Self {
        RowMap {
            buckets: (0..buckets.next_power_of_two()).map(|_| AtomicU32::new(0)).collect(),
            owners: GrowingList::new((0..adjacencies).map(|_| OnceLock::new()).collect()),
        }
    }

    /// Adds an adjacency, with the next number. Calls must not be concurrent.
    pub(super) fn add_adjacency(&self) {
        self.owners.push(OnceLock::new());
    }

    /// Returns the slot of a row, if there is one. `nodes` is the arena of all calls. O(1) expected
    /// while there are not many more rows than buckets.
    #[inline]
    pub(super) fn get<'m>(
        &self,
        adjacency: u32,
        owner: VertexId,
        nodes: &'m WordArena,
    ) -> Option<RowSlot<'m>> {
        let key = key_of(adjacency, owner);
        // Pairs with `Release` where a node is linked: a reader that finds a node finds its key and
        // all nodes behind it.
        let mut link = self.bucket(key).load(Ordering::Acquire);
        while let Some(offset) = link.checked_sub(1) {
            let [own_key, next, state, ..] = nodes.words(ArenaOffset(offset)) else {
                unreachable!("a node has its words")
            };
            if own_key.load(Ordering::Relaxed) == key {
                return Some(RowSlot(state));
            }
            link = next.load(Ordering::Relaxed) as Link;
        }
        None
    }

    /// Returns the slot of a row, and creates it if there is none. The caller holds the lock of the
    /// owner, so that no other thread creates it. O(1) expected.
    #[inline]
    pub(super) fn get_or_create<'m>(
        &self,
        adjacency: u32,
        owner: VertexId,
        nodes: &'m WordArena,
    ) -> RowSlot<'m> {
        self.get(adjacency, owner, nodes).unwrap_or_else(|| self.create(adjacency, owner, nodes))
    }

    fn create<'m>(&self, adjacency: u32, owner: VertexId, nodes: &'m WordArena) -> RowSlot<'m> {
        let owners = self.owners.get(adjacency as usize).expect("rows are of adjacencies that the map has");
        owners.get_or_init(VertexSet::default).insert(owner);
        let key = key_of(adjacency, owner);
        let node = nodes.allocate(NODE_WORDS);
        let [own_key, next, state, ..] = nodes.words(node) else { unreachable!("a node has its words") };
        own_key.store(key, Ordering::Relaxed);
        let link = |newest: Link| {
            next.store(newest.into(), Ordering::Relaxed);
            // An allocation of three words does not begin at the last offset.
            Some(node.0 + 1)
        };
        // `Acquire`, so that a reader of this node also finds those that other threads linked
        // before.
        let linked = self.bucket(key).fetch_update(Ordering::AcqRel, Ordering::Acquire, link);
        debug_assert!(linked.is_ok(), "a node is always linked");
        RowSlot(state)
    }

    /// Prefetches the bucket of a row.
    #[inline]
    pub(super) fn prefetch_bucket(&self, adjacency: u32, owner: VertexId) {
        prefetch(self.bucket(key_of(adjacency, owner)), size_of::<Link>());
    }

    /// Prefetches the newest node of a row's bucket.
    #[inline]
    pub(super) fn prefetch_node(&self, adjacency: u32, owner: VertexId, nodes: &WordArena) {
        let link = self.bucket(key_of(adjacency, owner)).load(Ordering::Acquire);
        if let Some(offset) = link.checked_sub(1) {
            prefetch(nodes.words(ArenaOffset(offset)).as_ptr(), NODE_WORDS * size_of::<u64>());
        }
    }

    /// Returns the owners of a range that have a row, or are about to get one, ascending.
    /// O(owners / 64 + rows), without the owners of pages of bits that were never used.
    pub(super) fn owners(&self, adjacency: u32, owners: Range<u32>) -> impl Iterator<Item = VertexId> {
        let set = self.owners.get(adjacency as usize).and_then(OnceLock::get);
        set.into_iter().flat_map(move |set| set.members(owners.clone()))
    }

    /// Returns the heap bytes, without those of the arena. O(adjacencies).
    pub(super) fn bytes(&self) -> usize {
        let sets = self.owners.iter().filter_map(|set| set.get()).map(VertexSet::bytes);
        size_of_val(&*self.buckets) + self.owners.bytes() + sets.sum::<usize>()
    }

    /// Returns the number of buckets.
    pub(super) fn buckets(&self) -> usize {
        self.buckets.len()
    }

    #[inline]
    fn bucket(&self, key: u64) -> &AtomicU32 {
        // Consecutive owners, as a commit has them, have consecutive buckets. Multiplying by an odd
        // number close to 2^64 over the golden ratio spreads the groups over the upper bits.
        let group = (key / GROUP).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        &self.buckets[(group * GROUP + key % GROUP) as usize & (self.buckets.len() - 1)]
    }
}

#[inline]
fn key_of(adjacency: u32, owner: VertexId) -> u64 {
    u64::from(adjacency) << 32 | u64::from(owner.get())
}

impl RowSlot<'_> {
    /// Loads the row as its last writer published it, with everything that it points to.
    #[inline]
    pub(super) fn load(self) -> RowState {
        RowState(self.0.load(Ordering::Acquire))
    }

    /// Loads the row for the holder of the owner's lock: the lock orders it after the previous
    /// writer.
    #[inline]
    pub(super) fn load_as_writer(self) -> RowState {
        RowState(self.0.load(Ordering::Relaxed))
    }

    /// Publishes the row in this state to readers.
    #[inline]
    pub(super) fn publish(self, state: RowState) {
        self.0.store(state.0, Ordering::Release);
    }
}
