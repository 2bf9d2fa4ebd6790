//! The keys and children of a node to be built.

use super::indirect::MOST as MOST_INDIRECT;
use super::{Body, Children, Header, Node};
use crate::counted::Counted;
use crate::radix::child::Child;
use crate::radix::leaf::Leaf;
use hedgerow_model::VertexId;
use hedgerow_sync::Arc;

/// Ascending keys, and their children.
#[derive(Debug)]
pub(in crate::radix) struct Layout<L: Leaf> {
    keys: Vec<Entry>,
    children: Vec<Child<L>>,
}

/// A key, and the number of its child.
#[derive(Clone, Copy, Debug)]
pub(in crate::radix) struct Entry {
    pub(super) key: u8,
    pub(super) child: u8,
}

impl<L: Leaf> Layout<L> {
    pub(in crate::radix) fn with_capacity(keys: usize, children: usize) -> Self {
        Layout { keys: Vec::with_capacity(keys), children: Vec::with_capacity(children) }
    }

    /// Appends a child for `keys`, which are greater than all keys so far.
    pub(in crate::radix) fn push(&mut self, keys: impl IntoIterator<Item = u8>, child: Child<L>) {
        let number = self.children.len() as u8;
        self.keys.extend(keys.into_iter().map(|key| Entry { key, child: number }));
        self.children.push(child);
        debug_assert!(self.keys.is_sorted_by(|one, next| one.key < next.key), "keys ascend");
    }

    /// Builds the smallest node that fits, for ids whose bytes before `depth` equal those of
    /// `example`.
    pub(in crate::radix) fn into_node(self, example: VertexId, depth: u8) -> Child<L> {
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
