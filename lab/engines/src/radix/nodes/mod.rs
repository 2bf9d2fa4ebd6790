//! Inner nodes, which map a byte of an id to the child whose ids have that byte.
//!
//! There are four kinds, each as small as its keys and children allow (The Adaptive Radix Tree,
//! ICDE 2013, section III): [`Sorted`] with 4 or 16 keys, [`Indirect`], [`Direct`]. Several
//! consecutive keys may share one leaf (RapidStore, section 6.2), which is then counted, visited
//! and shared once.

mod direct;
mod indirect;
mod layout;
mod sorted;

pub(super) use layout::Layout;

use super::child::Child;
use super::keys::byte;
use super::leaf::Leaf;
use crate::counted::{Counted, HeapBytes};
use direct::Direct;
use hedgerow_model::VertexId;
use hedgerow_sync::Arc;
use indirect::Indirect;
use sorted::Sorted;

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

/// The mapping from keys to children of a kind of node.
trait Children<L: Leaf>: Sized {
    /// Creates a node of a layout that fits into this kind.
    fn new(layout: Layout<L>) -> Self;

    /// Returns the child of a key.
    fn get(&self, key: u8) -> Option<&Child<L>>;

    /// Returns a copy with another child in place of the child of `key`, for all its keys.
    fn replaced(&self, key: u8, child: &Child<L>) -> Self;

    /// Returns a copy with a child added for a key without one, if there is room. No two keys share
    /// a child.
    fn inserted(&self, key: u8, child: Child<L>) -> Option<Self>;

    /// Returns the first child at or after a place, and the place after it. Places start at 0.
    fn next(&self, place: usize) -> Option<(&Child<L>, usize)>;

    /// Returns the first key at or after `key`, which may be 256, and its child.
    fn next_key(&self, key: usize) -> Option<(u8, &Child<L>)>;
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
