//! Merging changes into a subtree: makes a new version that shares the unchanged parts.

use super::build::{build, cut};
use super::keys::{byte, common_bytes, last_below, prefix};
use super::leaf::Leaf;
use super::parts::{Keys, Part, Parts};
use super::subtree::{Child, Layout, Node};
use crate::rows::Rows;
use hedgerow_model::{ChangeSlice, ColumnType};
use hedgerow_rapid::subgraphs::Tally;
use std::ops::Range;

/// A merge in progress: the rows of new leaves, and the count of changes.
pub(super) struct Merge<'t> {
    rows: Rows,
    /// The rows of the leaf being merged, before the changes.
    old: Rows,
    tally: &'t mut Tally,
}

impl<'t> Merge<'t> {
    pub(super) fn new(column: ColumnType, tally: &'t mut Tally) -> Self {
        Merge { rows: Rows::with_capacity(column, 0), old: Rows::with_capacity(column, 0), tally }
    }

    /// Builds a subtree of the neighbors that `changes` insert.
    pub(super) fn new_child<L: Leaf>(&mut self, changes: ChangeSlice<'_>) -> Option<Child<L>> {
        let stretch = self.insert(changes);
        (!stretch.is_empty()).then(|| build(&self.rows, stretch))
    }

    /// Returns a subtree after `changes`, which ascend by neighbor; `None` if it becomes empty.
    ///
    /// Copies the path from the root to each changed leaf and shares everything else (section 6.4).
    pub(super) fn child<L: Leaf>(&mut self, old: &Child<L>, changes: ChangeSlice<'_>) -> Option<Child<L>> {
        match old {
            Child::Leaf(leaf) => {
                let before = self.tally.changed();
                let stretch = self.merge(leaf, changes);
                if self.tally.changed() == before {
                    return Some(old.clone());
                }
                (!stretch.is_empty()).then(|| build(&self.rows, stretch))
            }
            Child::Node(node) => self.node(node, changes),
        }
    }

    /// Returns a node after `changes`, some of which may lie outside the ids that its prefix
    /// allows.
    fn node<L: Leaf>(&mut self, old: &Node<L>, changes: ChangeSlice<'_>) -> Option<Child<L>> {
        let header = old.header();
        let first = prefix(header.example, header.depth);
        let last = last_below(header.example, header.depth);
        let (before, rest) = changes.split_at_neighbor(|neighbor| neighbor.get() < first);
        let (inside, after) = rest.split_at_neighbor(|neighbor| neighbor.get() <= last);
        let inner = self.inner_node(old, inside);
        let (before, after) = (self.insert(before), self.insert(after));
        if before.is_empty() && after.is_empty() {
            return inner;
        }
        match inner {
            Some(Child::Leaf(leaf)) => {
                let start = self.rows.len();
                self.rows.extend_from_within(before);
                leaf.append_to(&mut self.rows);
                self.rows.extend_from_within(after);
                Some(build(&self.rows, start..self.rows.len()))
            }
            Some(Child::Node(node)) => Some(join(&self.rows, before, node, after)),
            None => {
                let start = self.rows.len();
                self.rows.extend_from_within(before);
                self.rows.extend_from_within(after);
                Some(build(&self.rows, start..self.rows.len()))
            }
        }
    }

    /// Returns a node after `changes`, all of which lie below it.
    fn inner_node<L: Leaf>(&mut self, old: &Node<L>, changes: ChangeSlice<'_>) -> Option<Child<L>> {
        let header = old.header();
        let before = self.tally.changed();
        let parts = self.parts(old, header.depth, changes);
        if self.tally.changed() == before {
            return Some(Child::Node(old.clone()));
        }
        match parts.as_slice() {
            [] => None,
            [Part::Kept(child, _)] => Some(child.clone()),
            [Part::Rows(stretch)] => Some(build(&self.rows, stretch.clone())),
            _ => Some(parts.into_node(&self.rows, old)),
        }
    }

    /// Returns the new parts of a node. A key without a child joins the leaf before it, or else the
    /// leaf after it.
    fn parts<L: Leaf>(&mut self, old: &Node<L>, depth: u8, mut changes: ChangeSlice<'_>) -> Parts<L> {
        let mut parts = Parts::new();
        let mut next = old.next_key(0);
        while let Some((first, child)) = next {
            let keys;
            (keys, next) = keys_of_child(old, first, child);
            let bound = match (child, next) {
                (Child::Leaf(_), Some((key, _))) => u16::from(key),
                (Child::Leaf(_), None) => 256,
                _ => {
                    let unclaimed = self.insert(take_below(&mut changes, depth, first.into()));
                    parts.change(&mut self.rows, unclaimed);
                    u16::from(first) + 1
                }
            };
            self.part(&mut parts, child, keys, take_below(&mut changes, depth, bound));
        }
        let unclaimed = self.insert(changes);
        parts.change(&mut self.rows, unclaimed);
        parts
    }

    /// Appends the new part of one child.
    fn part<L: Leaf>(
        &mut self,
        parts: &mut Parts<L>,
        child: &Child<L>,
        keys: Keys,
        changes: ChangeSlice<'_>,
    ) {
        let before = self.tally.changed();
        match child {
            _ if changes.is_empty() => {}
            Child::Leaf(leaf) => {
                let stretch = self.merge(leaf, changes);
                if self.tally.changed() > before {
                    return parts.change(&mut self.rows, stretch);
                }
            }
            Child::Node(node) => {
                let node = self.node(node, changes);
                if self.tally.changed() > before {
                    return parts.replace(&mut self.rows, node, keys);
                }
            }
        }
        parts.keep(&mut self.rows, child, keys);
    }

    /// Returns the rows of a leaf after changes.
    fn merge<L: Leaf>(&mut self, leaf: &L, changes: ChangeSlice<'_>) -> Range<usize> {
        self.old.truncate(0);
        leaf.append_to(&mut self.old);
        let start = self.rows.len();
        self.rows.extend_merged(&self.old, 0..self.old.len(), changes, self.tally);
        start..self.rows.len()
    }

    /// Returns the rows that changes insert into an empty part.
    fn insert(&mut self, changes: ChangeSlice<'_>) -> Range<usize> {
        let start = self.rows.len();
        self.old.truncate(0);
        self.rows.extend_merged(&self.old, 0..0, changes, self.tally);
        start..self.rows.len()
    }
}

/// Returns the keys of one child, from the first to the last, and the next key with its child.
fn keys_of_child<'n, L: Leaf>(
    node: &'n Node<L>,
    first: u8,
    child: &Child<L>,
) -> (Keys, Option<(u8, &'n Child<L>)>) {
    let mut last = first;
    loop {
        match node.next_key(usize::from(last) + 1) {
            Some((key, next)) if next.is_same(child) => last = key,
            behind => return (first..=last, behind),
        }
    }
}

/// Splits off the leading changes whose byte at `depth` is below `bound`.
fn take_below<'c>(changes: &mut ChangeSlice<'c>, depth: u8, bound: u16) -> ChangeSlice<'c> {
    let (taken, rest) = changes.split_at_neighbor(|neighbor| u16::from(byte(neighbor, depth)) < bound);
    *changes = rest;
    taken
}

/// Returns a node above `node` and the rows before and after the ids that its prefix allows; at
/// least one of the rows is not empty.
fn join<L: Leaf>(rows: &Rows, before: Range<usize>, node: Node<L>, after: Range<usize>) -> Child<L> {
    let header = *node.header();
    let first = if before.is_empty() { header.example } else { rows.neighbors[before.start] };
    let last = if after.is_empty() { header.example } else { rows.neighbors[after.end - 1] };
    let depth = common_bytes(first, last);
    let key = byte(header.example, depth);
    let split = |stretch: &Range<usize>, bound: u16| {
        let ids = &rows.neighbors[stretch.clone()];
        stretch.start + ids.partition_point(|id| u16::from(byte(*id, depth)) < bound)
    };
    let (low, high) = (split(&before, key.into()), split(&after, u16::from(key) + 1));
    let beside = (low..before.end, after.start..high);

    let mut layout = Layout::with_capacity(before.len() + after.len() + 1, 4);
    cut(rows, before.start..low, depth, &mut layout);
    let child = if beside.0.is_empty() && beside.1.is_empty() {
        Child::Node(node)
    } else {
        join(rows, beside.0, node, beside.1)
    };
    layout.push([key], child);
    cut(rows, high..after.end, depth, &mut layout);
    layout.into_node(first, depth)
}
