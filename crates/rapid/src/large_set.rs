//! Large neighbour sets: sorted leaves that versions share.
//!
//! A change copies the leaf that it touches and, once per version, the directory that lists them, nothing else.
//! This stands in the place of RapidStore's compressed adaptive radix tree (section 6.2), whose
//! leaves it has, with a flat directory instead of the radix nodes.

use crate::extent::Extent;
use crate::leaf::{self, LEAF_CAPACITY, Leaf};
use hedgerow_model::{EdgeChange, EdgeValue, VertexId, search};
use hedgerow_subgraphs::account;
use hedgerow_sync::prefetch;
use std::ops::Range;

/// A neighbour set with more entries than this is made large. Small in unit tests, so that
/// random operations cross it.
pub(crate) const LARGE: usize = if cfg!(test) { 24 } else { 1024 };

/// A large set with fewer entries than this is made small again.
pub(crate) const SMALL_AGAIN: usize = LARGE / 2;

/// How much of a directory is fetched ahead of a search.
const PREFETCHED_BYTES: usize = 512;

/// A leaf with fewer entries than this is joined with the next.
const LEAF_MINIMUM: usize = LEAF_CAPACITY / 4;

/// The neighbours of one vertex.
pub(crate) struct LargeSet {
    /// The first neighbour of each leaf, or one below it and above the leaf before.
    firsts: Vec<VertexId>,
    leaves: Vec<Leaf>,
    length: usize,
    leaf_bytes: usize,
}

impl LargeSet {
    /// A set of a sorted stretch.
    pub(crate) fn new<H>(entries: &Extent<H>, stretch: Range<usize>) -> Self {
        LargeSet::of(leaf::pieces(entries, stretch))
    }

    fn of(leaves: Vec<Leaf>) -> Self {
        let set = LargeSet {
            firsts: leaves.iter().map(|leaf| leaf.ids()[0]).collect(),
            length: leaves.iter().map(Leaf::len).sum(),
            leaf_bytes: leaves.iter().map(Leaf::bytes).sum(),
            leaves,
        };
        account::allocated(set.own_bytes());
        account::moved(set.own_bytes());
        set
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// The sorted leaves, ascending.
    #[inline]
    pub(crate) fn leaves(&self) -> &[Leaf] {
        &self.leaves
    }

    /// Copies all entries into an extent.
    pub(crate) fn copy_to<H>(&self, to: &mut Extent<H>, mut at: usize) {
        for leaf in &self.leaves {
            leaf.copy_to(to, at);
            at += leaf.len();
        }
    }

    /// Asks the processor for the directory.
    #[inline]
    pub(crate) fn prefetch(&self) {
        let bytes = self.firsts.len() * size_of::<VertexId>();
        prefetch(self.firsts.as_ptr(), bytes.min(PREFETCHED_BYTES));
        prefetch(self.leaves.as_ptr(), (2 * bytes).min(PREFETCHED_BYTES));
    }

    /// The leaf where `id` is or belongs. O(log leaves).
    #[inline]
    fn leaf_of(&self, id: VertexId) -> usize {
        let at_most = search::lower_bound(&self.firsts, id);
        let is_first = self.firsts.get(at_most) == Some(&id);
        if is_first { at_most } else { at_most.saturating_sub(1) }
    }

    /// The value of a neighbour. O(log length).
    #[inline]
    pub(crate) fn find(&self, id: VertexId) -> Option<EdgeValue> {
        let leaf = self.leaves.get(self.leaf_of(id))?;
        search::position(leaf.ids(), id).map(|position| leaf.value(position))
    }

    /// Makes one change; what others share is copied first. O(leaf), and O(leaves) where a leaf splits or ends.
    pub(crate) fn edit(&mut self, change: &EdgeChange) {
        let own_before = self.own_bytes();
        let place = self.leaf_of(change.neighbour);
        let (position, is_there) = self.leaves[place].locate(change.neighbour);
        self.leaf_bytes -= self.leaves[place].bytes();
        match change.value {
            Some(value) => {
                self.leaves[place].put(position, is_there, change.neighbour, value);
                self.length += usize::from(!is_there);
            }
            None if is_there => {
                self.leaves[place].remove(position);
                self.length -= 1;
            }
            None => {}
        }
        self.leaf_bytes += self.leaves[place].bytes();
        self.firsts[place] = self.firsts[place].min(change.neighbour);
        match self.leaves[place].len() {
            length if length > LEAF_CAPACITY => self.split(place),
            length if length < LEAF_MINIMUM && self.leaves.len() > 1 => self.join(place),
            _ => {}
        }
        self.count_directory(own_before);
    }

    fn split(&mut self, place: usize) {
        self.count_moved();
        let (lower, upper) = self.leaves[place].halves();
        self.leaf_bytes += lower.bytes() + upper.bytes() - self.leaves[place].bytes();
        self.firsts.insert(place + 1, upper.ids()[0]);
        self.leaves.insert(place + 1, upper);
        self.leaves[place] = lower;
    }

    /// Joins a leaf with the next one, or the last with the one before.
    fn join(&mut self, place: usize) {
        let place = place.min(self.leaves.len() - 2);
        if self.leaves[place].len() + self.leaves[place + 1].len() > LEAF_CAPACITY {
            return;
        }
        self.count_moved();
        let joined = self.leaves[place].joined(&self.leaves[place + 1]);
        self.leaf_bytes += joined.bytes();
        self.leaf_bytes -= self.leaves[place].bytes() + self.leaves[place + 1].bytes();
        self.firsts.remove(place + 1);
        self.leaves.remove(place + 1);
        self.leaves[place] = joined;
    }

    /// This set after `changes`, which ascend. Leaves that don't change are shared. `None` if nothing is left.
    pub(crate) fn merged(&self, mut changes: &[EdgeChange]) -> Option<Self> {
        let mut leaves = Vec::with_capacity(self.leaves.len() + changes.len() / LEAF_CAPACITY + 1);
        for (place, leaf) in self.leaves.iter().enumerate() {
            let end = self
                .firsts
                .get(place + 1)
                .map_or(changes.len(), |next| changes.partition_point(|change| change.neighbour < *next));
            let (here, rest) = changes.split_at(end);
            changes = rest;
            match here.is_empty() {
                true => leaves.push(leaf.clone()),
                false => leaves.extend(leaf.merged(here)),
            }
            join_last(&mut leaves);
        }
        (!leaves.is_empty()).then(|| LargeSet::of(leaves))
    }

    /// Bytes of everything, leaves included.
    pub(crate) fn bytes(&self) -> usize {
        self.own_bytes() + self.leaf_bytes
    }

    /// Those of the bytes that `newer` does not share. O(leaves).
    pub(crate) fn bytes_beside(&self, newer: &LargeSet) -> usize {
        let mut candidates = newer.leaves.iter().peekable();
        let mut shared = 0;
        for leaf in &self.leaves {
            let first = leaf.ids()[0];
            while candidates.next_if(|other| other.ids()[0] < first).is_some() {}
            if candidates.peek().is_some_and(|other| leaf.is(other)) {
                shared += leaf.bytes();
            }
        }
        self.bytes() - shared
    }

    /// At most by how many bytes a change makes this larger.
    pub(crate) fn growth(&self) -> usize {
        let directory = if self.leaves.len() == self.leaves.capacity() { self.own_bytes() } else { 0 };
        let leaf = self.leaves.first().map_or(0, |leaf| Leaf::full_bytes(leaf.column()));
        leaf + directory
    }

    /// At most how many bytes a set takes that has just become large.
    pub(crate) fn first_bytes(column: hedgerow_model::ColumnType) -> usize {
        let leaves = LARGE.div_ceil(LEAF_CAPACITY / 2);
        size_of::<Self>() + (leaves + 1) * (Leaf::full_bytes(column) + 16)
    }

    /// The bytes that no version shares: this and the directory. As if behind an [`Arc`](std::sync::Arc).
    fn own_bytes(&self) -> usize {
        let directory =
            self.firsts.capacity() * size_of::<VertexId>() + self.leaves.capacity() * size_of::<Leaf>();
        size_of::<Self>() + 2 * size_of::<usize>() + directory
    }

    /// A directory changes in the middle, and may move to a larger place.
    fn count_moved(&self) {
        account::moved(self.own_bytes());
    }

    fn count_directory(&self, before: usize) {
        account::allocated(self.own_bytes());
        account::freed(before);
    }
}

/// Joins the last two leaves if one of them is too small and both fit into one.
fn join_last(leaves: &mut Vec<Leaf>) {
    let [.., before, last] = &leaves[..] else { return };
    let is_small = before.len() < LEAF_MINIMUM || last.len() < LEAF_MINIMUM;
    if is_small && before.len() + last.len() <= LEAF_CAPACITY {
        let joined = before.joined(last);
        leaves.truncate(leaves.len() - 2);
        leaves.push(joined);
    }
}

impl Clone for LargeSet {
    fn clone(&self) -> Self {
        let set = LargeSet {
            firsts: self.firsts.clone(),
            leaves: self.leaves.clone(),
            length: self.length,
            leaf_bytes: self.leaf_bytes,
        };
        account::allocated(set.own_bytes());
        account::moved(set.own_bytes());
        set
    }
}

impl Drop for LargeSet {
    fn drop(&mut self) {
        account::freed(self.own_bytes());
    }
}
