//! Trees against a map, and their structure.

mod intersect;
mod random;
mod shapes;

use super::keys::{byte, last_below, prefix};
use super::leaf::Leaf;
use super::subtree::{Child, Node};
use super::*;
use hedgerow_model::{Direction, EdgeChanges, Topology};
use std::collections::BTreeMap;

/// The expected content of a tree.
type Model = BTreeMap<u32, u64>;

const COLUMN: ColumnType = ColumnType::U64;

fn rows_of(model: &Model) -> Rows {
    let mut rows = Rows::with_capacity(COLUMN, model.len());
    model.iter().for_each(|(id, value)| rows.push(VertexId::new(*id), EdgeValue(*value)));
    rows
}

/// Returns the tree of a model, built at once.
fn tree_of<L: Leaf>(model: &Model) -> Option<RadixTree<L>> {
    (!model.is_empty()).then(|| RadixTree::new(&rows_of(model), 0..model.len()))
}

/// Returns the tree of ids with the value 0, built at once.
fn tree_of_ids<L: Leaf>(ids: impl IntoIterator<Item = u32>) -> RadixTree<L> {
    tree_of(&ids.into_iter().map(|id| (id, 0)).collect()).unwrap()
}

fn tally() -> Tally {
    Tally::new(Topology::Directed, Direction::Out)
}

/// Returns the tree after changes, which are also made in the model; checks the tally.
fn change<L: Leaf>(
    tree: Option<&RadixTree<L>>,
    model: &mut Model,
    changes: &BTreeMap<u32, Option<u64>>,
) -> Option<RadixTree<L>> {
    let change = |(id, value): (&u32, &Option<u64>)| {
        EdgeChange::new(VertexId::new(0), VertexId::new(*id), value.map(EdgeValue))
    };
    let list: EdgeChanges = changes.iter().map(change).collect();
    let (mut tally, before) = (tally(), model.clone());
    let next = RadixTree::merged(tree, COLUMN, list.as_slice(), &mut tally);
    for (id, value) in changes {
        match value {
            Some(value) => model.insert(*id, *value),
            None => model.remove(id),
        };
    }
    let added = model.keys().filter(|id| !before.contains_key(id)).count() as u64;
    let removed = before.keys().filter(|id| !model.contains_key(id)).count() as u64;
    let changed = changes.keys().filter(|id| before.get(id) != model.get(id)).count() as u64;
    assert_eq!((tally.edges().0, tally.edges().1, tally.changed()), (added, removed, changed));
    next
}

/// Inserts one id.
fn insert<L: Leaf>(tree: &RadixTree<L>, id: u32) -> RadixTree<L> {
    change(Some(tree), &mut contents(tree), &[(id, Some(0))].into()).unwrap()
}

/// Removes some ids at once.
fn remove<L: Leaf>(tree: &RadixTree<L>, ids: impl IntoIterator<Item = u32>) -> Option<RadixTree<L>> {
    change(Some(tree), &mut contents(tree), &ids.into_iter().map(|id| (id, None)).collect())
}

/// Returns the content of a tree, read run by run.
fn contents<L: Leaf>(tree: &RadixTree<L>) -> Model {
    let mut entries = Vec::new();
    let flow = tree.runs::<u64, ()>(|ids, values| {
        assert_eq!(ids.len(), values.len());
        assert!(!ids.is_empty());
        entries.extend(ids.iter().map(|id| id.get()).zip(values.iter().copied()));
        ControlFlow::Continue(())
    });
    assert!(flow.is_continue());
    assert!(entries.is_sorted_by(|one, next| one.0 < next.0), "runs ascend");
    entries.into_iter().collect()
}

/// Checks all reads of a tree, and its structure.
fn check<L: Leaf>(tree: Option<&RadixTree<L>>, model: &Model, others: &[u32]) {
    let Some(tree) = tree else {
        assert!(model.is_empty());
        return;
    };
    assert_eq!(&contents(tree), model);
    assert_eq!(tree.len(), model.len());
    let mut rows = Rows::with_capacity(COLUMN, 0);
    tree.append_to(&mut rows);
    assert_eq!(rows.neighbors, rows_of(model).neighbors);
    for id in model.keys().chain(others) {
        assert_eq!(tree.find(VertexId::new(*id)).map(|value| value.0), model.get(id).copied(), "{id:#x}");
    }
    assert_eq!(check_subtree(&tree.root), (tree.len(), tree.heap_bytes()));
}

/// Checks structural invariants. Returns the number of entries and bytes, counted.
fn check_subtree<L: Leaf>(child: &Child<L>) -> (usize, usize) {
    let node = match child {
        Child::Leaf(leaf) => {
            assert!((1..=L::CAPACITY).contains(&leaf.len()));
            return (leaf.len(), leaf.heap_bytes());
        }
        Child::Node(node) => node,
    };
    let header = node.header();
    let keys = keys_of(node);
    let children: Vec<_> = node.children().collect();
    assert!(children.len() >= 2, "a node has at least two children");
    let mut counted = (0, node_bytes(node));
    let mut led = 0;
    for child in &children {
        let (first, last) = bounds(child);
        assert_eq!(prefix(first, header.depth), prefix(header.example, header.depth));
        assert!(last.get() <= last_below(header.example, header.depth));
        let keys: Vec<u8> =
            keys.iter().filter(|(_, other)| other.is_same(child)).map(|(key, _)| *key).collect();
        match child {
            Child::Leaf(leaf) => {
                let mut ids = Rows::with_capacity(COLUMN, 0);
                leaf.append_to(&mut ids);
                let mut bytes: Vec<u8> = ids.neighbors.iter().map(|id| byte(*id, header.depth)).collect();
                bytes.dedup();
                // A leaf without memory of its own is never the same as another.
                assert!(keys == bytes || L::CAPACITY == 1 && keys.is_empty());
            }
            Child::Node(below) => {
                assert_eq!(keys, [byte(first, header.depth)]);
                assert!(below.header().depth > header.depth);
            }
        }
        led += keys.len();
        let (entries, bytes) = check_subtree(child);
        counted = (counted.0 + entries, counted.1 + bytes);
    }
    assert!(led == keys.len() || L::CAPACITY == 1);
    assert_eq!(counted, (header.entries, header.bytes));
    counted
}

fn keys_of<L: Leaf>(node: &Node<L>) -> Vec<(u8, &Child<L>)> {
    let mut keys: Vec<(u8, &Child<L>)> = Vec::new();
    while let Some(next) = node.next_key(keys.last().map_or(0, |(key, _)| usize::from(*key) + 1)) {
        keys.push(next);
    }
    keys
}

/// Returns the bytes of a node without its children, by its kind.
fn node_bytes<L: Leaf>(node: &Node<L>) -> usize {
    let counts = 2 * size_of::<usize>();
    counts
        + match node {
            Node::Node4(body) => size_of_val(&**body),
            Node::Node16(body) => size_of_val(&**body),
            Node::Node48(body) => size_of_val(&**body),
            Node::Node256(body) => size_of_val(&**body),
        }
}

fn bounds<L: Leaf>(child: &Child<L>) -> (VertexId, VertexId) {
    let mut leaves = child.leaves();
    let first = leaves.next().unwrap();
    (first.bounds().0, leaves.last().unwrap_or(first).bounds().1)
}

/// Returns the subtrees of a tree that have memory of their own, and the bytes of each.
fn allocations<L: Leaf>(child: &Child<L>) -> Vec<(Child<L>, usize)> {
    match child {
        Child::Leaf(leaf) => vec![(child.clone(), leaf.heap_bytes())],
        Child::Node(node) => {
            let below = node.children().flat_map(allocations);
            std::iter::once((child.clone(), node_bytes(node))).chain(below).collect()
        }
    }
}

/// Returns the bytes that two trees share, counted one by one.
fn count_shared<L: Leaf>(old: &RadixTree<L>, new: &RadixTree<L>) -> usize {
    let new = allocations(&new.root);
    let shared = |(child, _): &&(Child<L>, usize)| new.iter().any(|(other, _)| other.is_same(child));
    allocations(&old.root).iter().filter(shared).map(|(_, bytes)| bytes).sum()
}
