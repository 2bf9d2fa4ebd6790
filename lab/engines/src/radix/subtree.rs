//! A subtree: a leaf, or a node that maps a byte of an id to the child whose ids have that byte.

use super::children::{Children, Direct, Indirect, MOST_INDIRECT, Sorted};
use super::keys::byte;
use super::leaf::Leaf;
use crate::counted::{Counted, HeapBytes};
use hedgerow_model::{Column, EdgeValue, VertexId};
use hedgerow_sync::Arc;
use smallvec::{SmallVec, smallvec};
use std::ops::ControlFlow;

/// A nonempty subtree. Cheap to clone: versions share unchanged subtrees (RapidStore, section 6.4).
#[derive(Clone, Debug)]
pub(super) enum Child<L: Leaf> {
    Leaf(L),
    Node(Node<L>),
}

impl<L: Leaf> Child<L> {
    /// Returns the number of ids. O(1).
    #[inline]
    pub(super) fn len(&self) -> usize {
        match self {
            Child::Leaf(leaf) => leaf.len(),
            Child::Node(node) => node.header().entries,
        }
    }

    /// Returns the heap bytes. O(1).
    pub(super) fn heap_bytes(&self) -> usize {
        match self {
            Child::Leaf(leaf) => leaf.heap_bytes(),
            Child::Node(node) => node.header().bytes,
        }
    }

    /// Returns true if both are the same object in memory.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Child::Leaf(one), Child::Leaf(other)) => one.is_same(other),
            (Child::Node(one), Child::Node(other)) => one.is_same(other),
            _ => false,
        }
    }

    /// Returns the value of a neighbor. Bytes that the path skips are compared in the leaf.
    #[inline]
    pub(super) fn find(&self, neighbor: VertexId) -> Option<EdgeValue> {
        let mut child = self;
        loop {
            match child {
                Child::Leaf(leaf) => return leaf.find(neighbor),
                Child::Node(node) => child = node.child_of(neighbor)?,
            }
        }
    }

    /// Visits the neighbors, ascending, leaf by leaf.
    #[inline]
    pub(super) fn runs<W: Column, B>(
        &self,
        run: &mut impl FnMut(&[VertexId], &[W]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        match self {
            Child::Leaf(leaf) => leaf.runs(run),
            Child::Node(node) => node.children().try_for_each(|child| child.runs(run)),
        }
    }

    /// Returns the leaves, ascending.
    pub(super) fn leaves(&self) -> Leaves<'_, L> {
        Leaves { path: smallvec![(self, 0)] }
    }
}

/// The leaves of a subtree, ascending.
pub(super) struct Leaves<'t, L: Leaf> {
    /// The subtrees still to visit, each with the position of its next child.
    path: SmallVec<[(&'t Child<L>, usize); 5]>,
}

impl<'t, L: Leaf> Iterator for Leaves<'t, L> {
    type Item = &'t L;

    fn next(&mut self) -> Option<&'t L> {
        loop {
            let (child, place) = self.path.pop()?;
            match child {
                Child::Leaf(leaf) => return Some(leaf),
                Child::Node(node) => {
                    let Some((below, after)) = node.next(place) else { continue };
                    self.path.push((child, after));
                    self.path.push((below, 0));
                }
            }
        }
    }
}

/// The data of any node about the ids below it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    /// An id with the bytes before `depth` that all ids below the node share.
    pub(super) example: VertexId,
    /// The position of the byte that selects a child.
    pub(super) depth: u8,
    /// The number of ids.
    pub(super) entries: usize,
    /// Heap bytes, including the node itself.
    pub(super) bytes: usize,
}

/// A node: its kind and a pointer. Immutable; cheap to clone.
#[derive(Clone, Debug)]
pub(super) enum Node<L: Leaf> {
    Node4(Arc<Counted<Body<Sorted<L, 4>>>>),
    Node16(Arc<Counted<Body<Sorted<L, 16>>>>),
    Node48(Arc<Counted<Body<Indirect<L>>>>),
    Node256(Arc<Counted<Body<Direct<L>>>>),
}

/// The memory of a node.
#[derive(Debug)]
pub(super) struct Body<T> {
    header: Header,
    children: T,
}

impl<T> HeapBytes for Body<T> {
    fn heap_bytes(&self) -> usize {
        0
    }
}

impl<T> Body<T> {
    fn replaced<L: Leaf>(&self, id: VertexId, child: &Child<L>) -> Arc<Counted<Self>>
    where
        T: Children<L>,
    {
        let mut header = self.header;
        let key = byte(id, header.depth);
        if let Some(old) = self.children.get(key) {
            header.entries = header.entries - old.len() + child.len();
            header.bytes = header.bytes - old.heap_bytes() + child.heap_bytes();
        }
        Counted::new(Body { header, children: self.children.replaced(key, child) })
    }

    fn inserted<L: Leaf>(&self, id: VertexId, child: Child<L>) -> Option<Arc<Counted<Self>>>
    where
        T: Children<L>,
    {
        let mut header = self.header;
        header.entries += child.len();
        header.bytes += child.heap_bytes();
        let children = self.children.inserted(byte(id, header.depth), child)?;
        Some(Counted::new(Body { header, children }))
    }
}

/// Evaluates an expression with the body of a node of any kind.
macro_rules! with_body {
    ($node:expr, $body:ident => $run:expr) => {
        match $node {
            Node::Node4($body) => $run,
            Node::Node16($body) => $run,
            Node::Node48($body) => $run,
            Node::Node256($body) => $run,
        }
    };
}

impl<L: Leaf> Node<L> {
    #[inline]
    pub(super) fn header(&self) -> &Header {
        with_body!(self, body => &body.header)
    }

    /// Returns true if both are the same object in memory.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        std::ptr::eq(self.header(), other.header())
    }

    /// Returns the child whose ids have the same byte as `id`.
    #[inline]
    pub(super) fn child_of(&self, id: VertexId) -> Option<&Child<L>> {
        with_body!(self, body => body.children.get(byte(id, body.header.depth)))
    }

    /// Returns a copy with another child in place of the child of `id`.
    pub(super) fn replaced(&self, id: VertexId, child: &Child<L>) -> Self {
        match self {
            Node::Node4(body) => Node::Node4(body.replaced(id, child)),
            Node::Node16(body) => Node::Node16(body.replaced(id, child)),
            Node::Node48(body) => Node::Node48(body.replaced(id, child)),
            Node::Node256(body) => Node::Node256(body.replaced(id, child)),
        }
    }

    /// Returns a copy with a child added for `id`, which has none, if this kind has room. No two
    /// keys share a child.
    pub(super) fn inserted(&self, id: VertexId, child: Child<L>) -> Option<Self> {
        Some(match self {
            Node::Node4(body) => Node::Node4(body.inserted(id, child)?),
            Node::Node16(body) => Node::Node16(body.inserted(id, child)?),
            Node::Node48(body) => Node::Node48(body.inserted(id, child)?),
            Node::Node256(body) => Node::Node256(body.inserted(id, child)?),
        })
    }

    /// Returns the first child at or after a place, and the place after it. Places start at 0.
    #[inline]
    pub(super) fn next(&self, place: usize) -> Option<(&Child<L>, usize)> {
        with_body!(self, body => body.children.next(place))
    }

    /// Returns the first key at or after `key`, which may be 256, and its child.
    pub(super) fn next_key(&self, key: usize) -> Option<(u8, &Child<L>)> {
        with_body!(self, body => body.children.next_key(key))
    }

    /// Returns the children, ascending, each once.
    #[inline]
    pub(super) fn children(&self) -> impl Iterator<Item = &Child<L>> {
        let mut place = 0;
        std::iter::from_fn(move || {
            let (child, after) = self.next(place)?;
            place = after;
            Some(child)
        })
    }
}

/// The keys of a node to be built, ascending, and their children.
#[derive(Debug)]
pub(super) struct Layout<L: Leaf> {
    keys: Vec<Entry>,
    children: Vec<Child<L>>,
}

/// A key, and the number of its child.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) key: u8,
    pub(super) child: u8,
}

impl<L: Leaf> Layout<L> {
    pub(super) fn with_capacity(keys: usize, children: usize) -> Self {
        Layout { keys: Vec::with_capacity(keys), children: Vec::with_capacity(children) }
    }

    /// Appends a child for `keys`, which are greater than all keys so far.
    pub(super) fn push(&mut self, keys: impl IntoIterator<Item = u8>, child: Child<L>) {
        let number = self.children.len() as u8;
        self.keys.extend(keys.into_iter().map(|key| Entry { key, child: number }));
        self.children.push(child);
        debug_assert!(self.keys.is_sorted_by(|one, next| one.key < next.key), "keys ascend");
    }

    /// Builds the smallest node that fits, for ids whose bytes before `depth` equal those of
    /// `example`.
    pub(super) fn into_node(self, example: VertexId, depth: u8) -> Child<L> {
        debug_assert!(self.children.len() > 1, "a node with one child is that child");
        Child::Node(match (self.keys.len(), self.children.len()) {
            (..=4, _) => Node::Node4(self.into_body(example, depth)),
            (..=16, _) => Node::Node16(self.into_body(example, depth)),
            (_, ..=MOST_INDIRECT) => Node::Node48(self.into_body(example, depth)),
            _ => Node::Node256(self.into_body(example, depth)),
        })
    }

    fn into_body<T: Children<L>>(self, example: VertexId, depth: u8) -> Arc<Counted<Body<T>>> {
        let entries = self.children.iter().map(Child::len).sum();
        let bytes = self.children.iter().map(Child::heap_bytes).sum::<usize>();
        let header = Header { example, depth, entries, bytes: bytes + Counted::<Body<T>>::BYTES };
        Counted::new(Body { header, children: T::new(self) })
    }

    pub(super) fn keys(&self) -> &[Entry] {
        &self.keys
    }

    pub(super) fn children(&self) -> &[Child<L>] {
        &self.children
    }

    pub(super) fn into_children(self) -> impl Iterator<Item = Child<L>> {
        self.children.into_iter()
    }

    /// Returns each key with its child.
    pub(super) fn into_pairs(self) -> impl Iterator<Item = (u8, Child<L>)> {
        let mut keys = self.keys.into_iter().peekable();
        let mut children = self.children.into_iter().peekable();
        std::iter::from_fn(move || {
            let entry = keys.next()?;
            let is_shared = keys.peek().is_some_and(|next| next.child == entry.child);
            let child = if is_shared { children.peek().cloned() } else { children.next() };
            Some((entry.key, child?))
        })
    }
}
