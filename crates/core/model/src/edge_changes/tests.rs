//! Columns against a plain list.

use super::*;
use proptest::prelude::*;

/// Few positions, most of them with several changes, or more than are sorted by insertion.
fn changes() -> impl Strategy<Value = Vec<EdgeChange>> {
    prop_oneof![changes_below(4, 30), changes_below(99, 3 * MOST_TO_INSERT)]
}

fn changes_below(bound: u32, most: usize) -> impl Strategy<Value = Vec<EdgeChange>> {
    let change = (0..bound, 0..bound, prop::option::weighted(0.8, 0..2_u64));
    let change = change.prop_map(|(owner, neighbor, value)| {
        EdgeChange::new(VertexId::new(owner), VertexId::new(neighbor), value.map(EdgeValue))
    });
    prop_oneof![
        prop::collection::vec(change.clone(), 0..most),
        prop::collection::vec(change.prop_map(|change| EdgeChange { value: NO_VALUE, ..change }), 0..most),
    ]
}

fn sorted(mut changes: Vec<EdgeChange>) -> Vec<EdgeChange> {
    changes.sort_by_key(EdgeChange::position);
    changes
}

proptest! {
    #[test]
    fn columns_are_like_a_list_of_changes(first in changes(), second in changes(), cut in 0..30_usize) {
        let mut columns: EdgeChanges = first.iter().copied().collect();
        columns.append(second.iter().copied().collect::<EdgeChanges>().as_slice());
        let all = [first, second].concat();
        prop_assert_eq!(columns.iter().collect::<Vec<_>>(), all.clone());
        let cut = cut.min(all.len());
        let (before, after) = columns.as_slice().split_at(cut);
        prop_assert_eq!(before.iter().collect::<Vec<_>>(), &all[..cut]);
        prop_assert_eq!(after.iter().rev().collect::<Vec<_>>(), all[cut..].iter().rev().copied().collect::<Vec<_>>());
        prop_assert_eq!(after.count_puts(), all[cut..].iter().filter(|change| change.value.is_some()).count());
        prop_assert_eq!(after.get(0), all.get(cut).copied());

        let has_values = all.iter().any(|change| change.value != NO_VALUE);
        let mut written = EdgeChanges::new();
        let mut slots = written.slots(all.len(), has_values);
        let mut first_slots = slots.take(cut);
        all[cut..].iter().for_each(|change| slots.write(*change));
        all[..cut].iter().for_each(|change| first_slots.write(*change));
        prop_assert_eq!(&written, &columns);

        let mut puts = columns.clone();
        puts.retain(|change| change.value.is_some());
        prop_assert!(puts.as_slice().are_puts());
        prop_assert_eq!(puts.len(), columns.as_slice().count_puts());

        let mut last = columns.clone();
        last.sort_keeping_last();
        let stable = sorted(all);
        let last_of = |changes: &[EdgeChange]| changes[changes.len() - 1];
        let expected: Vec<_> =
            stable.chunk_by(|one, next| one.position == next.position).map(last_of).collect();
        prop_assert_eq!(last.iter().collect::<Vec<_>>(), expected.clone());
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        for pool in [None, Some(&pool)] {
            let mut reversed: EdgeChanges = expected.iter().rev().copied().collect();
            reversed.sort(pool);
            prop_assert_eq!(&reversed, &last);
        }
        let by_owner: Vec<Vec<_>> =
            last.as_slice().groups(|owner| owner).map(|group| group.iter().collect()).collect();
        let expected: Vec<_> =
            expected.chunk_by(|one, next| one.owner() == next.owner()).map(<[_]>::to_vec).collect();
        prop_assert_eq!(by_owner, expected);
    }
}

#[test]
fn puts_without_values_have_no_column_of_them() {
    let put = EdgeChange::new(VertexId::new(3), VertexId::new(1), NO_VALUE);
    let mut changes: EdgeChanges = [put; 9].into_iter().collect();
    changes.sort(None);
    assert!(changes.values.is_empty());
    changes.push(EdgeChange { value: None, ..put });
    assert_eq!((changes.values.len(), changes.as_slice().count_puts()), (10, 9));
}
