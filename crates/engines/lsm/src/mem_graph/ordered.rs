//! Long rows: skip lists, ascending by neighbor (LSMGraph, 4.1: the skip list).
//!
//! Unlike in the paper, a node has many entries: those whose neighbor is at least the node's and
//! below the next node's. So most steps of a search stay in the cache, and a scan reads memory in
//! order. All versions of one edge are in one node.
//!
//! A node is a word that describes its [`RowLeaf`], then a link for each of its levels. A link
//! names the neighbor of its target, so that a search loads only nodes that it passes. The head is
//! a node that begins at neighbor 0.
//!
//! One writer inserts while others read. When a leaf is full, the writer copies it to two leaves,
//! links a node with the upper one, and only then replaces the full leaf by the lower one. So a
//! reader loads the word of a leaf before the link to the next node. If it found the full leaf, it
//! ignores entries that belong to the next node; if it found the lower one, it also finds the node
//! of the upper one. Nodes are never unlinked, and replaced leaves stay as they are.

use super::arena::{ArenaOffset, WordArena};
use super::entry::{EntryLayout, MemEntry, append_seen};
use super::leaf::RowLeaf;
use crate::levels::SeenEdge;
use hedgerow_model::{CommitTimestamp, EdgeValue, VertexId};
use hedgerow_sync::atomic::{AtomicU64, Ordering};
use std::iter;

/// Number of links of the head: enough for the nodes that an arena holds.
const LEVELS: usize = 24;

/// A row as a skip list.
#[derive(Clone, Copy)]
pub(super) struct OrderedRow<'m> {
    /// Arena of the leaves.
    pub(super) arena: &'m WordArena,
    /// Arena of the nodes, close together: a search passes many nodes, and reads one leaf.
    pub(super) index: &'m WordArena,
    pub(super) layout: EntryLayout,
    pub(super) head: ArenaOffset,
    pub(super) nodes: u32,
}

/// Link to a node: its neighbor in the upper half, its offset in the lower one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NodeLink(u64);

/// The words of a node, and of everything behind it in its block.
#[derive(Clone, Copy)]
struct Node<'m>(&'m [AtomicU64]);

impl NodeLink {
    /// The end of a list. Its neighbor is above every vertex.
    const END: NodeLink = NodeLink(u64::MAX);

    #[inline]
    fn new(neighbor: u32, node: ArenaOffset) -> Self {
        NodeLink(u64::from(neighbor) << 32 | u64::from(node.0))
    }

    #[inline]
    fn neighbor(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

impl<'m> Node<'m> {
    #[inline]
    fn leaf(self) -> &'m AtomicU64 {
        &self.0[0]
    }

    #[inline]
    fn link(self, level: usize) -> &'m AtomicU64 {
        &self.0[1 + level]
    }

    #[inline]
    fn next(self, level: usize) -> NodeLink {
        NodeLink(self.link(level).load(Ordering::Acquire))
    }
}

impl<'m> OrderedRow<'m> {
    /// Creates an empty row, which no reader sees yet.
    pub(super) fn new(arena: &'m WordArena, index: &'m WordArena, layout: EntryLayout) -> Self {
        let head = index.allocate(1 + LEVELS);
        let node = Node(index.words(head));
        (0..LEVELS).for_each(|level| node.link(level).store(NodeLink::END.0, Ordering::Relaxed));
        RowLeaf::new(arena, layout, &[]).publish(node.leaf());
        OrderedRow { arena, index, layout, head, nodes: 1 }
    }

    /// Inserts an entry that is at least as new as all others of its neighbor. Overwrites the
    /// newest of these if no reader sees it. O(log entries) expected, amortized.
    pub(super) fn insert(self, entry: MemEntry, editable_from: CommitTimestamp) -> Self {
        let mut before = [Node(self.index.words(self.head)); LEVELS];
        self.search(entry.neighbor, |level, node| before[level] = node);
        let leaf = self.leaf(before[0]);
        if self.overwrite(leaf, &entry, editable_from) {
            return self;
        }
        if leaf.is_full() {
            return self.divide(&before, leaf, entry);
        }
        leaf.append(&entry).publish(before[0].leaf());
        self
    }

    /// Returns the link to the first node. O(1).
    pub(super) fn first(self) -> NodeLink {
        NodeLink::new(0, self.head)
    }

    /// Returns the entries of a node, newest first, and the link to the next node, if there is one.
    /// O(1), and O(entries of the node) to read them.
    #[inline]
    pub(super) fn read_node(
        self,
        link: NodeLink,
    ) -> (impl Iterator<Item = MemEntry> + use<'m>, Option<NodeLink>) {
        let node = self.node(link);
        // In this order: see the module.
        let leaf = self.leaf(node);
        let next = node.next(0);
        let entries = leaf.newest_first().filter(move |entry| entry.neighbor.get() < next.neighbor());
        (entries, (next != NodeLink::END).then_some(next))
    }

    /// Appends the edges that a snapshot at `at` sees, ascending by neighbor. O(entries), with a
    /// sort of each leaf.
    pub(super) fn read_at(self, at: CommitTimestamp, edges: &mut Vec<SeenEdge>) {
        let mut link = Some(self.first());
        while let Some(node) = link {
            let (entries, next) = self.read_node(node);
            append_seen(entries, at, edges);
            link = next;
        }
    }

    /// Returns the value of an edge that a snapshot at `at` sees, or its deletion.
    /// O(log entries + versions of the edge) expected.
    pub(super) fn find_at(self, neighbor: VertexId, at: CommitTimestamp) -> Option<Option<EdgeValue>> {
        let mut node = self.search(neighbor, |_, _| {});
        loop {
            // In this order: see the module.
            let leaf = self.leaf(node);
            let next = node.next(0);
            if next.neighbor() > neighbor.get() {
                return leaf.find_at(neighbor, at);
            }
            node = self.node(next);
        }
    }

    /// Returns the last node that may have a neighbor. Runs `visit` on the last node of each level,
    /// from the highest down.
    #[inline]
    fn search(self, neighbor: VertexId, mut visit: impl FnMut(usize, Node<'m>)) -> Node<'m> {
        let mut node = Node(self.index.words(self.head));
        for level in (0..levels(self.nodes)).rev() {
            loop {
                let next = node.next(level);
                if next.neighbor() > neighbor.get() {
                    break;
                }
                node = self.node(next);
            }
            visit(level, node);
        }
        node
    }

    /// Replaces the newest version of an edge, unless readers may see it. Returns true if it did.
    ///
    /// No reader sees the replaced or the new version: present readers have timestamps below both,
    /// and ignore the entry whichever first word they load. A later reader that sees the new
    /// version got its timestamp after the commit was published, hence after these stores.
    fn overwrite(self, leaf: RowLeaf<'_>, entry: &MemEntry, editable_from: CommitTimestamp) -> bool {
        let Some(words) = leaf.newest_of(entry.neighbor) else { return false };
        let newest = self.layout.timestamp(words);
        debug_assert!(newest <= entry.version.at, "versions of an edge must ascend");
        // A row that is becoming ordered may have several versions of one timestamp, but has no
        // reader.
        let is_editable = newest >= editable_from.min(entry.version.at);
        if is_editable {
            self.layout.write(words, entry);
        }
        is_editable
    }

    /// Replaces a full leaf by two that share its entries and a new one, or by a larger leaf if all
    /// are versions of one edge. O(entries of the leaf).
    #[cold]
    fn divide(self, before: &[Node<'m>; LEVELS], leaf: RowLeaf<'m>, entry: MemEntry) -> Self {
        let mut entries: Vec<_> = iter::once(entry).chain(leaf.newest_first()).collect();
        entries.reverse();
        // Stable: versions of an edge stay in order.
        entries.sort_by_key(|entry| entry.neighbor);
        let (lower, upper) = entries.split_at(boundary(&entries));
        if let [first, ..] = upper {
            let upper = RowLeaf::new(self.arena, self.layout, upper);
            self.link(&before[..self.height()], first.neighbor, upper);
        }
        RowLeaf::new(self.arena, self.layout, lower).publish(before[0].leaf());
        OrderedRow { nodes: self.nodes + u32::from(!upper.is_empty()), ..self }
    }

    /// Adds a node after the nodes `before`, one for each of its levels, from the lowest up.
    fn link(self, before: &[Node<'_>], neighbor: VertexId, leaf: RowLeaf<'_>) {
        let offset = self.index.allocate(1 + before.len());
        let node = Node(self.index.words(offset));
        leaf.publish(node.leaf());
        for (level, before) in before.iter().enumerate() {
            node.link(level).store(before.next(level).0, Ordering::Relaxed);
            before.link(level).store(NodeLink::new(neighbor.get(), offset).0, Ordering::Release);
        }
    }

    /// Returns the number of levels of the next node: each further one with probability 1/2.
    fn height(self) -> usize {
        let seed = u64::from(self.head.0) << 32 | u64::from(self.nodes);
        let random = (seed ^ seed >> 31).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let random = (random ^ random >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (1 + random.leading_zeros() as usize).min(levels(self.nodes))
    }

    #[inline]
    fn node(self, link: NodeLink) -> Node<'m> {
        Node(self.index.words(ArenaOffset(link.0 as u32)))
    }

    #[inline]
    fn leaf(self, node: Node<'m>) -> RowLeaf<'m> {
        RowLeaf::load(self.arena, self.layout, node.leaf())
    }
}

/// Returns the number of levels that a search uses in a list of this many nodes: the highest level
/// has one or two nodes.
#[inline]
fn levels(nodes: u32) -> usize {
    (nodes.ilog2() as usize + 1).min(LEVELS)
}

/// Returns the position nearest to the middle where another neighbor begins, or the end if there is
/// none.
fn boundary(entries: &[MemEntry]) -> usize {
    let begins = |position: &usize| entries[position - 1].neighbor != entries[*position].neighbor;
    let middle = entries.len() / 2;
    let nearest = (1..entries.len()).filter(begins).min_by_key(|position| position.abs_diff(middle));
    nearest.unwrap_or(entries.len())
}
