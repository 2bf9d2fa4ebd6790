//! The new parts of a node: kept children, or rows for new leaves.

use super::build::cut;
use super::leaf::Leaf;
use super::subtree::{Child, Layout, Node};
use crate::rows::Rows;
use std::ops::{Range, RangeInclusive};

/// The keys of a child, from the first to the last.
pub(super) type Keys = RangeInclusive<u8>;

/// A child, or neighbors for one or more new leaves.
#[derive(Debug)]
pub(super) enum Part<L: Leaf> {
    Kept(Child<L>, Keys),
    Rows(Range<usize>),
}

/// The parts of a node, ascending.
#[derive(Debug)]
pub(super) struct Parts<L: Leaf>(Vec<Part<L>>);

impl<L: Leaf> Parts<L> {
    /// Siblings merge if together they have at most this many neighbors. Less than the capacity, so
    /// that the next insertion does not split them again.
    const MERGED: usize = L::CAPACITY * 3 / 4;

    pub(super) fn new() -> Self {
        Parts(Vec::new())
    }

    pub(super) fn as_slice(&self) -> &[Part<L>] {
        &self.0
    }

    /// Appends an unchanged child. A sparse changed leaf before it may draw it in.
    pub(super) fn keep(&mut self, rows: &mut Rows, child: &Child<L>, keys: Keys) {
        if let (Some(Part::Rows(before)), Child::Leaf(leaf)) = (self.0.last_mut(), child)
            && before.len() < L::SPARSE
            && before.len() + leaf.len() <= Self::MERGED
        {
            let start = rows.len();
            rows.extend_from_within(before.clone());
            leaf.append_to(rows);
            *before = start..rows.len();
            return;
        }
        self.0.push(Part::Kept(child.clone(), keys));
    }

    /// Appends the new version of a node.
    pub(super) fn replace(&mut self, rows: &mut Rows, child: Option<Child<L>>, keys: Keys) {
        match child {
            None => {}
            Some(Child::Leaf(leaf)) => {
                let start = rows.len();
                leaf.append_to(rows);
                let stretch = start..rows.len();
                self.change(rows, stretch);
            }
            Some(node) => self.0.push(Part::Kept(node, keys)),
        }
    }

    /// Appends the neighbors of a changed leaf. If they are few, they join the leaf before them.
    pub(super) fn change(&mut self, rows: &mut Rows, stretch: Range<usize>) {
        if stretch.is_empty() {
            return;
        }
        let before = match self.0.last() {
            Some(Part::Rows(before)) => before.len(),
            Some(Part::Kept(Child::Leaf(leaf), _)) => leaf.len(),
            _ => usize::MAX,
        };
        let is_sparse = stretch.len() < L::SPARSE;
        if !is_sparse || before.saturating_add(stretch.len()) > Self::MERGED {
            self.0.push(Part::Rows(stretch));
            return;
        }
        let start = rows.len();
        match self.0.pop() {
            Some(Part::Rows(before)) => rows.extend_from_within(before),
            Some(Part::Kept(Child::Leaf(leaf), _)) => leaf.append_to(rows),
            _ => {}
        }
        rows.extend_from_within(stretch);
        self.0.push(Part::Rows(start..rows.len()));
    }

    /// Builds the node of these parts, at least two, that replaces `old`.
    pub(super) fn into_node(self, rows: &Rows, old: &Node<L>) -> Child<L> {
        let header = old.header();
        let mut layout = Layout::with_capacity(64, self.0.len() + 1);
        for part in self.0 {
            match part {
                Part::Kept(child, keys) => layout.push(keys_within(old, keys), child),
                Part::Rows(stretch) => cut(rows, stretch, header.depth, &mut layout),
            }
        }
        layout.into_node(header.example, header.depth)
    }
}

/// Returns the keys of a node within a range.
fn keys_within<L: Leaf>(node: &Node<L>, keys: Keys) -> impl Iterator<Item = u8> {
    let mut from = usize::from(*keys.start());
    std::iter::from_fn(move || {
        let (key, _) = node.next_key(from)?;
        from = usize::from(key) + 1;
        keys.contains(&key).then_some(key)
    })
}
