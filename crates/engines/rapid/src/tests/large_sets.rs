//! Large sets compared with a sorted map: a batch of changes has the same result as single changes.

use crate::directory::LeafEntry;
use crate::extent::ScratchExtent;
use crate::large_set::LargeSet;
use crate::leaf::LEAF_CAPACITY;
use hedgerow_in_memory::reclamation::account;
use hedgerow_model::{ColumnType, EdgeChange, EdgeChanges, EdgeValue, VertexId};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Exclusive bound on ids: a few dozen leaves of the size used in unit tests.
const BOUND: u32 = 200;

type Model = BTreeMap<u32, u64>;

/// Changes of one owner, at most one per neighbor.
fn changes() -> impl Strategy<Value = BTreeMap<u32, Option<u64>>> {
    let value = || prop::option::weighted(0.6, 0..1000_u64);
    // Scattered ids, and runs that split one leaf into many or empty several.
    let scattered = prop::collection::btree_map(0..BOUND, value(), 1..20);
    let stretch = (0..BOUND, 1..6 * LEAF_CAPACITY as u32, 1..3_u32, value());
    let stretch = stretch.prop_map(|(first, length, step, value)| {
        (0..length).map(|number| (first + number * step, value)).collect()
    });
    prop_oneof![scattered, stretch]
}

fn column() -> impl Strategy<Value = ColumnType> {
    prop::sample::select(&[ColumnType::Unit, ColumnType::F32, ColumnType::I64][..])
}

fn in_order(changes: &BTreeMap<u32, Option<u64>>) -> EdgeChanges {
    let change = |(id, value): (&u32, &Option<u64>)| {
        EdgeChange::new(VertexId::default(), VertexId::new(*id), value.map(EdgeValue))
    };
    changes.iter().map(change).collect()
}

fn set_of(column: ColumnType, ids: &BTreeSet<u32>) -> LargeSet {
    let mut entries = ScratchExtent::new(column, ids.len());
    for (position, id) in ids.iter().enumerate() {
        entries.put(position, VertexId::new(*id), EdgeValue(u64::from(*id)));
    }
    LargeSet::new(&entries, 0..ids.len())
}

/// Checks that the set has the entries of the model in well-formed leaves, and that its counts are
/// right.
fn check(column: ColumnType, set: &LargeSet, model: &Model) {
    let kept = |value: u64| EdgeValue(if column == ColumnType::Unit { 0 } else { value });
    let leaves = set.leaves();
    let ids: Vec<u32> = leaves.iter().flat_map(LeafEntry::ids).map(|id| id.get()).collect();
    assert_eq!(ids, model.keys().copied().collect::<Vec<_>>());
    for id in 0..BOUND {
        assert_eq!(set.value_of(column, VertexId::new(id)), model.get(&id).copied().map(kept), "{id}");
    }
    assert_eq!(set.len(), model.len());
    assert!(leaves.iter().all(|leaf| leaf.len() <= LEAF_CAPACITY && leaf.ids() == leaf.leaf().ids()));
    assert!(leaves.len() == 1 || leaves.iter().all(|leaf| leaf.first() == leaf.ids()[0]));
    let bytes: usize = leaves.iter().map(|leaf| leaf.leaf().bytes()).sum();
    assert!(
        set.bytes() > bytes && set.bytes() - bytes < 64 + 16 * (2 * leaves.len() + 32),
        "a directory of its size"
    );
}

fn apply(model: &mut Model, changes: &BTreeMap<u32, Option<u64>>) {
    for (id, value) in changes {
        match value {
            Some(value) => drop(model.insert(*id, *value)),
            None => drop(model.remove(id)),
        }
    }
}

proptest! {
    #![proptest_config(if cfg!(miri) { ProptestConfig::with_cases(1) } else { ProptestConfig::default() })]

    #[test]
    fn many_changes_equal_single_changes(
        column in column(),
        first in prop::collection::btree_set(0..BOUND, 1..100),
        batches in prop::collection::vec((changes(), any::<bool>()), 1..12),
    ) {
        let ((), net) = account::measure(|| {
            let (mut at_once, mut one_by_one) = (set_of(column, &first), set_of(column, &first));
            let mut model: Model = first.iter().map(|id| (*id, u64::from(*id))).collect();
            let mut snapshots = Vec::new();
            for (changes, keep) in &batches {
                if *keep {
                    snapshots.push((at_once.clone(), one_by_one.clone(), model.clone()));
                }
                let (bytes, growth) = (at_once.bytes(), at_once.growth());
                let ordered = in_order(changes);
                at_once.edit_all(ordered.as_slice());
                assert!(at_once.bytes() <= bytes + growth * ordered.len());
                ordered.iter().for_each(|change| one_by_one.edit_all((&change).into()));
                apply(&mut model, changes);
                check(column, &at_once, &model);
                check(column, &one_by_one, &model);
            }
            for (at_once, one_by_one, model) in &snapshots {
                check(column, at_once, model);
                check(column, one_by_one, model);
            }
        });
        prop_assert_eq!(net, 0);
    }

    /// Consecutive versions differ only in the leaves that changed and the directory.
    #[test]
    fn versions_share_the_leaves_that_do_not_change(
        first in prop::collection::btree_set(0..BOUND, 60..100),
        changes in changes(),
    ) {
        let old = set_of(ColumnType::U32, &first);
        let mut new = old.clone();
        prop_assert_eq!(old.bytes_beside(&new), 0);
        let ((), net) = account::measure(|| new.edit_all(in_order(&changes).as_slice()));
        prop_assert_eq!(old.bytes_beside(&new) as isize, net - (new.bytes() as isize - old.bytes() as isize));
        let touched = |leaf: &[VertexId]| {
            let (from, to) = (leaf[0].get(), leaf[leaf.len() - 1].get());
            changes.range(from..=to).next().is_some()
        };
        let is_shared = |one: &LeafEntry| {
            new.leaves().iter().any(|other| other.leaf().is(one.leaf()))
        };
        prop_assert!(old.leaves().iter().all(|leaf| !touched(leaf.ids()) || !is_shared(leaf)));
        if changes.len() == 1 {
            let copied = old.leaves().iter().filter(|leaf| !is_shared(leaf)).count();
            prop_assert!(copied <= 2, "one leaf, and the one that it is joined with: {copied}");
        }
    }
}
