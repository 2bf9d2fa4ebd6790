//! Every kind of partition against a map: random changes, and old versions read again later.

use super::*;
use crate::clustered::Clustered;
use crate::radix::{Art, CompressedArt};
use crate::vertex_index::{VectorOrTree, VertexIndex};
use hedgerow_in_memory::reclamation::account::measure;
use hedgerow_model::{Direction, EdgeChange, EdgeChanges, Topology};
use hedgerow_rapid::subgraphs::partition::PARTITION_SIZE;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Maps a slot and a neighbor to the value.
type Model = BTreeMap<(u32, u32), u64>;

/// The puts and removals of a batch.
type Batch = BTreeMap<(u32, u32), Option<u64>>;

const COLUMN: ColumnType = ColumnType::U64;

/// The first vertex of the partition.
const FIRST: u32 = 128;

fn tally() -> Tally {
    Tally::new(Topology::Directed, Direction::Out)
}

fn change<P: Partition>(old: Option<&P>, model: &mut Model, batch: &Batch) -> Option<P> {
    let change = |((slot, id), value): (&(u32, u32), &Option<u64>)| {
        EdgeChange::new(VertexId::new(FIRST + slot), VertexId::new(*id), value.map(EdgeValue))
    };
    let list: EdgeChanges = batch.iter().map(change).collect();
    let (mut tally, before) = (tally(), model.clone());
    let new = P::merged(old, COLUMN, list.as_slice(), &mut tally);
    for (key, value) in batch {
        match value {
            Some(value) => model.insert(*key, *value),
            None => model.remove(key),
        };
    }
    let changed = batch.keys().filter(|key| before.get(key) != model.get(key)).count() as u64;
    assert_eq!(tally.changed(), changed);
    assert_eq!(new.is_some(), changed > 0);
    let added = model.keys().filter(|key| !before.contains_key(key)).count() as u64;
    let removed = before.keys().filter(|key| !model.contains_key(key)).count() as u64;
    assert_eq!(tally.edges(), (added, removed));
    new
}

fn check<P: Partition>(partition: &P, model: &Model) {
    assert_eq!(partition.entries(), model.len());
    let mut occupied = 0;
    for slot in 0..PARTITION_SIZE {
        let key = slot as u32;
        let expected: Vec<(u32, u64)> =
            model.range((key, 0)..=(key, u32::MAX)).map(|((_, id), value)| (*id, *value)).collect();
        assert_eq!(partition.degree(slot), expected.len());
        let mut found = Vec::new();
        let flow = partition.runs::<u64, ()>(slot, |ids, values| {
            assert!(!ids.is_empty());
            found.extend(ids.iter().map(|id| id.get()).zip(values.iter().copied()));
            ControlFlow::Continue(())
        });
        assert!(flow.is_continue());
        assert_eq!(found, expected, "slot {slot}");
        if let Some((ids, values)) = partition.run::<u64>(slot) {
            assert!(ids.iter().map(|id| id.get()).zip(values.iter().copied()).eq(expected.iter().copied()));
        }
        for id in expected.iter().flat_map(|(id, _)| [*id, id ^ 1]).chain([0, 5, u32::MAX - 1]) {
            let id = id.min(u32::MAX - 1);
            let found = partition.find(slot, VertexId::new(id)).map(|value| value.0);
            assert_eq!(found, model.get(&(key, id)).copied(), "slot {slot}, {id}");
        }
        occupied |= u64::from(!expected.is_empty()) << slot;
    }
    assert_eq!(partition.occupied(), occupied);
}

/// Returns the reference-counted bytes of a partition.
fn counted_bytes<P: Partition>(partition: &P) -> isize {
    (partition.heap_bytes() - partition.own_heap_bytes()) as isize
}

/// Runs batches, keeps some versions, and reads all of these again at the end.
fn run<P: Partition>(batches: &[(Batch, bool)]) {
    let ((), left) = measure(|| keep_and_read::<P>(batches));
    assert_eq!(left, 0, "everything allocated is freed");
}

fn keep_and_read<P: Partition>(batches: &[(Batch, bool)]) {
    let mut model = Model::new();
    let mut versions: Vec<(P, Model)> = Vec::new();
    for (batch, keeps) in batches {
        let old = versions.last().map(|(old, _)| old);
        let (new, allocated) = measure(|| change::<P>(old, &mut model, batch));
        let Some(new) = new else { continue };
        check(&new, &model);
        let shared = old.map_or(0, |old| old.shared_bytes(&new)) as isize;
        assert_eq!(counted_bytes(&new) - shared, allocated, "everything not shared is new");
        if *keeps || versions.len() != 1 {
            versions.push((new, model.clone()));
            continue;
        }
        // Bytes that the versions do not share have no other owner.
        let (old, _) = versions.remove(0);
        let beside = counted_bytes(&old) - shared;
        assert_eq!(measure(|| drop(old)).1, -beside);
        versions.push((new, model.clone()));
    }
    versions.iter().for_each(|(partition, model)| check(partition, model));
}

/// Generates sets of all sizes: many entries for few slots, few entries for many.
fn batches() -> impl Strategy<Value = Vec<(Batch, bool)>> {
    let id = || prop_oneof![0..60_u32, 0..60_u32, Just(u32::MAX - 1), (0..40_u32).prop_map(|id| id << 10)];
    let slot = || prop_oneof![0..4_u32, 0..64_u32, Just(63)];
    let value = || prop::option::weighted(0.6, 0..3_u64);
    let entry = || ((slot(), id()), value());
    let clear = (0..64_u32, id(), id()).prop_map(|(slot, one, other)| {
        let (first, last) = (one.min(other), one.max(other));
        (first..=last).step_by(1 + ((last - first) / 2000) as usize).map(|id| ((slot, id), None)).collect()
    });
    let batch = prop_oneof![
        4 => prop::collection::btree_map((slot(), id()), value(), 1..4),
        3 => prop::collection::vec(entry(), 1..80).prop_map(|entries| entries.into_iter().collect()),
        1 => (slot(), 1..60_u32).prop_map(|(slot, count)| (0..count).map(|id| ((slot, id), Some(1))).collect()),
        2 => clear,
    ];
    prop::collection::vec((batch, prop::bool::weighted(0.3)), 1..40)
}

proptest! {
    #[test]
    fn plain_trees_match_a_map(batches in batches()) {
        run::<VertexIndex<Art>>(&batches);
    }

    #[test]
    fn compressed_trees_match_a_map(batches in batches()) {
        run::<VertexIndex<CompressedArt>>(&batches);
    }

    #[test]
    fn vectors_and_trees_match_a_map(batches in batches()) {
        run::<VertexIndex<VectorOrTree>>(&batches);
    }

    #[test]
    fn clustered_sets_match_a_map(batches in batches()) {
        run::<Clustered>(&batches);
    }
}

fn grow_and_shrink<P: Partition>() {
    let (mut old, mut model) = (None, Model::new());
    let ids = || (0..(3 * LARGE) as u32).map(|id| id * 77 % 1009);
    for id in ids() {
        let batch = [10, 11, 40].map(|slot| ((slot, id), Some(u64::from(id + slot)))).into();
        old = change::<P>(old.as_ref(), &mut model, &batch);
        check(old.as_ref().unwrap(), &model);
    }
    for id in ids() {
        let batch = [10, 40].map(|slot| ((slot, id), None)).into();
        old = change(old.as_ref(), &mut model, &batch);
        check(old.as_ref().unwrap(), &model);
    }
    assert_eq!(old.unwrap().occupied(), 1 << 11);
}

#[test]
fn degrees_cross_every_threshold_up_and_down() {
    grow_and_shrink::<VertexIndex<Art>>();
    grow_and_shrink::<VertexIndex<CompressedArt>>();
    grow_and_shrink::<VertexIndex<VectorOrTree>>();
    grow_and_shrink::<Clustered>();
}

#[test]
fn a_partition_may_run_empty_and_be_filled_again() {
    fn run<P: Partition>() {
        let mut model = Model::new();
        let full =
            change::<P>(None, &mut model, &(0..64).map(|slot| ((slot, slot), Some(1))).collect()).unwrap();
        let empty =
            change(Some(&full), &mut model, &(0..64).map(|slot| ((slot, slot), None)).collect()).unwrap();
        assert_eq!((empty.entries(), empty.occupied(), empty.heap_bytes()), (0, 0, 0));
        let again = change(Some(&empty), &mut model, &[((63, u32::MAX - 1), Some(2))].into()).unwrap();
        check(&again, &model);
    }
    run::<VertexIndex<Art>>();
    run::<VertexIndex<CompressedArt>>();
    run::<VertexIndex<VectorOrTree>>();
    run::<Clustered>();
}
