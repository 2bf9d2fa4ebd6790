//! Named cases that every engine has to pass.

use crate::Tested;
use crate::check::read;
use crate::failing::{Fallible, TestedFailing, is_injected};
use crate::oracle::Request;
use crate::pipeline::{Pipeline, check_outcome, count, unit_locks};
use hedgerow_model::token::{HeldLocks, LiveTimestamps, Stamp};
use hedgerow_model::{
    Adjacency, Admission, Allowance, CommitTimestamp, Counts, Cursor, Direction, Effects, Engine, GraphView,
    LabelId, Outcome, Staged, Topology, VertexId,
};

/// Makes a test of each case, and one of random commits, for an engine that is
/// [`Tested`](crate::Tested).
#[macro_export]
macro_rules! contract_tests {
    ($tested:ty) => {
        $crate::contract_tests!(@cases contract, $tested:
            edges_are_deleted_and_put_again_under_snapshots
            partitions_are_emptied_and_filled_again_under_a_snapshot
            one_commit_inserts_changes_and_deletes_in_one_row
            one_vertex_at_the_end_of_the_id_space_costs_kilobytes
            ids_at_or_above_the_bound_have_no_neighbors
            empty_effects_are_a_commit
            a_pool_stages_the_same
            commits_that_are_held_back_are_granted_after_the_engine_did_its_work
            a_commit_that_fails_changes_nothing_and_succeeds_later
            maintenance_that_fails_changes_nothing
            maintenance_that_knows_old_timestamps_keeps_what_came_after_them
        );

        $crate::contract_tests!(@cases parallel, $tested:
            parallel_edges_are_changed_one_by_one
            every_snapshot_keeps_its_parallel_edges
        );

        $crate::contract_tests!(@cases labels, $tested:
            labels_that_were_added_are_like_those_from_the_beginning
            states_from_before_a_label_show_it_without_edges
            a_view_that_is_open_shows_the_labels_that_come
            parallel_edges_of_a_label_that_was_added_are_kept
            edges_of_a_new_label_are_committed_one_by_one
            a_change_of_a_new_label_that_is_dropped_leaves_nothing
            readers_go_on_while_labels_come
        );

        $crate::contract_tests!(@cases random, $tested:
            every_snapshot_stays_what_it_was
            every_snapshot_stays_what_it_was_while_labels_come
        );

        #[test]
        #[should_panic(expected = "without its lock")]
        fn effects_outside_of_the_locks_are_refused() {
            $crate::contract::stage_outside_of_the_locks::<$tested>();
        }

        #[test]
        #[should_panic(expected = "without its lock")]
        fn the_newest_state_outside_of_the_locks_is_refused() {
            $crate::contract::read_outside_of_the_locks::<$tested>();
        }
    };
    (@cases $module:ident, $tested:ty: $($case:ident)*) => {
        $(
            #[test]
            fn $case() {
                $crate::$module::$case::<$tested>();
            }
        )*
    };
}

/// Returns a request for edges of the label without values.
pub fn put(source: u32, destinations: impl IntoIterator<Item = u32>) -> Request {
    Request::PutEdges { label: 0, source, destinations: destinations.into_iter().collect(), value: 0 }
}

/// Returns a deletion of edges of the label without values.
pub fn delete(source: u32, destinations: impl IntoIterator<Item = u32>) -> Request {
    Request::DeleteEdges { label: 0, source, destinations: destinations.into_iter().collect() }
}

/// Returns a request for edges of the label with values of four bytes.
pub fn put_valued(source: u32, destinations: impl IntoIterator<Item = u32>, value: u32) -> Request {
    Request::PutEdges { label: 2, source, destinations: destinations.into_iter().collect(), value }
}

/// One edge in every order of puts, deletions and snapshots; snapshots close in a mixed order.
pub fn edges_are_deleted_and_put_again_under_snapshots<T: Tested>() {
    let mut pipeline = Pipeline::<T>::new(Topology::Undirected, None);
    for _ in 0..4 {
        pipeline.commit(&[put(1, [2, 3])], 0).unwrap();
        pipeline.open();
        pipeline.commit(&[delete(1, [2])], 0).unwrap();
        pipeline.open();
        pipeline.commit(&[put(1, [2])], 0).unwrap();
        pipeline.commit(&[delete(1, [2])], 0).unwrap();
    }
    pipeline.check(&[1, 2, 3]);
    while !pipeline.snapshots.is_empty() {
        pipeline.close(pipeline.snapshots.len() / 2);
        pipeline.reclaim(usize::MAX, 0);
        pipeline.check(&[1, 2, 3]);
        pipeline.assert_counters_are_exact();
    }
    pipeline.assert_nothing_is_retained();
}

/// First and last vertices of a partition vanish and come back.
pub fn partitions_are_emptied_and_filled_again_under_a_snapshot<T: Tested>() {
    let mut pipeline = Pipeline::<T>::new(Topology::Undirected, None);
    pipeline.commit(&[put(0, [63, 64]), put(64, [64])], 0).unwrap();
    pipeline.open();
    let deleted = [0, 63, 64].map(|vertex| Request::DeleteVertex { vertex });
    pipeline.commit(&deleted, 0).unwrap();
    pipeline.open();
    pipeline.commit(&[put(63, [63, 0])], 0).unwrap();
    pipeline.check(&[0, 63, 64]);
}

/// The snapshots may see the old versions or not.
pub fn one_commit_inserts_changes_and_deletes_in_one_row<T: Tested>() {
    let mut pipeline = Pipeline::<T>::new(Topology::Directed, None);
    pipeline.commit(&[put_valued(0, (0..100).map(|id| id * 3), 1)], 0).unwrap();
    for margin in [0, 1000] {
        pipeline.open();
        let deleted =
            Request::DeleteEdges { label: 2, source: 0, destinations: (0..150).step_by(9).collect() };
        pipeline.commit(&[put_valued(0, (0..300).step_by(4), 2), deleted], margin).unwrap();
        pipeline.check(&[0, 3, 4, 9, 36, 299]);
        pipeline.assert_counters_are_exact();
    }
}

/// Pointers to vertices are allocated in pieces.
pub fn one_vertex_at_the_end_of_the_id_space_costs_kilobytes<T: Tested>() {
    let mut pipeline = Pipeline::<T>::new(Topology::Directed, None);
    let vertex = VertexId::MAX.get();
    pipeline.commit(&[Request::PutVertex { vertex, property: None }], 0).unwrap();
    assert!(pipeline.engine.memory().total_bytes() < 512 * 1024);
    pipeline.check(&[0, vertex]);
}

/// A view does not show vertices that were added after it.
pub fn ids_at_or_above_the_bound_have_no_neighbors<T: Tested>() {
    let mut pipeline = Pipeline::<T>::new(Topology::Directed, None);
    pipeline.commit(&[put(1, [2])], 0).unwrap();
    pipeline.open();
    pipeline.commit(&[put(3, [2])], 0).unwrap();
    let snapshot = &pipeline.snapshots[0];
    let view = pipeline.engine.view(&snapshot.state, &snapshot.token);
    let adjacency = view.adjacency::<()>(LabelId(0), Direction::Out).unwrap();
    assert_eq!(view.vertex_bound(), 3);
    assert_eq!(adjacency.cursor().degree(VertexId::new(3)).ok(), Some(0));
    assert!(!view.contains_vertex(VertexId::new(3)).ok().unwrap());
}

/// An empty commit.
pub fn empty_effects_are_a_commit<T: Tested>() {
    let mut pipeline = Pipeline::<T>::new(Topology::Directed, None);
    pipeline.commit(&[], 0).unwrap();
    let locks = pipeline.locks();
    let nothing = Effects::default();
    let mut room = Default::default();
    let staged =
        pipeline.engine.stage(&locks, (&nothing).into(), &mut room, Allowance::UNLIMITED, None).unwrap();
    assert_eq!((staged.outcome, staged.commits, staged.changing), (Outcome::default(), 1, 0));
}

/// Must panic: changes the store without its lock.
pub fn stage_outside_of_the_locks<T: Tested>() {
    let mut pipeline = Pipeline::<T>::new(Topology::Directed, None);
    let effects = pipeline.oracle.commit(&[put(100, [1])]);
    // SAFETY: no lock is held, and only that of one unit is claimed, which no other thread uses.
    let locks = unsafe { HeldLocks::stripes(&[u32::MAX], u32::MAX, Counts::default()) };
    let mut room = Default::default();
    drop(pipeline.engine.stage(&locks, (&effects).into(), &mut room, Allowance::UNLIMITED, None));
}

/// Must panic: reads the store without its lock.
pub fn read_outside_of_the_locks<T: Tested>() {
    let mut pipeline = Pipeline::<T>::new(Topology::Directed, None);
    pipeline.commit(&[put(100, [1])], 0).unwrap();
    // SAFETY: no other thread uses the store.
    let locks = unsafe { HeldLocks::stripes(&[u32::MAX], u32::MAX, pipeline.oracle.counts()) };
    let _ = read(pipeline.engine.latest(&locks)).contains_vertex(VertexId::new(100));
}

/// A batch staged by a pool has the same effect as one staged without.
pub fn a_pool_stages_the_same<T: Tested>() {
    let mut pipeline = Pipeline::<T>::new(Topology::Undirected, None);
    let batch: Vec<Request> =
        (0..500).map(|source| put(source, (0..20).map(|i| (source * 7 + i * 31) % 900))).collect();
    pipeline.commit(&batch[..100], 0).unwrap();
    let before = pipeline.oracle.clone();
    let effects = pipeline.oracle.commit(&batch);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let (mut locks, mut room) = (pipeline.locks(), Default::default());
    let changes = (&effects).into();
    let staged = pipeline.engine.stage(&locks, changes, &mut room, Allowance::UNLIMITED, Some(&pool));
    let Staged { changes, outcome, .. } = staged.unwrap();
    check_outcome(&outcome, &pipeline.oracle.outcome_since(&before));
    // SAFETY: the second stamp; nothing is registered.
    let stamp = unsafe { Stamp::new(CommitTimestamp(2), CommitTimestamp::ZERO) };
    pipeline.engine.apply(&mut locks, stamp.into(), changes);
    count(&mut pipeline.counts, &outcome);
    pipeline.check(&[0, 1, 63, 64, 65, 500, 899]);
}

/// If commits are held back, maintenance, and a flush if the engine owns files, lets them continue;
/// some commit is always admitted.
pub fn commits_that_are_held_back_are_granted_after_the_engine_did_its_work<T: Tested>() {
    let mut pipeline = Pipeline::<T>::new(Topology::Directed, None);
    for number in 0..20 {
        pipeline.commit(&[put_valued(number, 0..200, number)], 0).unwrap();
        if pipeline.admit(4000) != Admission::Granted {
            pipeline.flush().unwrap();
            pipeline.reclaim_all();
            assert_eq!(pipeline.admit(4000), Admission::Granted);
            assert_eq!(pipeline.admit(usize::MAX), Admission::Granted, "nothing else would help");
        }
    }
    pipeline.check(&[0, 1, 19, 199, 200]);
}

/// Each call in a commit fails once, at each commit: nothing changes, and then the same commit
/// succeeds.
pub fn a_commit_that_fails_changes_nothing_and_succeeds_later<T: Tested>() {
    let commits = [
        vec![put_valued(0, 0..50, 1), put(70, [0, 70])],
        vec![put_valued(0, (0..80).step_by(3), 2)],
        vec![delete(70, [0]), Request::DeleteVertex { vertex: 3 }],
        vec![put_valued(3, [0, 64], 3)],
    ];
    let vertices = [0, 1, 3, 49, 64, 70];
    let calls = [Fallible::Latest, Fallible::Stage];
    let failures = calls.into_iter().flat_map(|call| (1..=commits.len()).map(move |number| (call, number)));
    for (call, failing) in failures {
        let mut pipeline = Pipeline::<TestedFailing<T>>::new(Topology::Undirected, None);
        pipeline.engine.fail(call, failing);
        for (number, requests) in (1..).zip(&commits) {
            pipeline.open();
            if number == failing {
                let before = pipeline.held();
                let error = pipeline.commit(requests, 0).unwrap_err();
                assert!(is_injected(&error), "{error}");
                pipeline.assert_holds_as_much_as(before);
                pipeline.assert_counters_are_exact();
                pipeline.check(&vertices);
            }
            pipeline.commit(requests, 0).unwrap();
        }
        pipeline.check(&vertices);
        pipeline.snapshots.clear();
        pipeline.reclaim_all();
        pipeline.assert_nothing_is_retained();
        pipeline.assert_counters_are_exact();
    }
}

/// After a failed step every view shows the same state as before, and the next step does the work.
pub fn maintenance_that_fails_changes_nothing<T: Tested>() {
    let mut pipeline = Pipeline::<TestedFailing<T>>::new(Topology::Directed, None);
    for value in 0..6 {
        pipeline.commit(&[put_valued(0, [1], value), put(value, [1])], 0).unwrap();
        pipeline.open();
        pipeline.engine.fail(Fallible::Maintain, 1);
        let error = pipeline.try_reclaim(usize::MAX, 0).unwrap_err();
        assert!(is_injected(&error), "{error}");
        pipeline.check(&[0, 1, 5]);
        pipeline.close(1);
        pipeline.reclaim_all();
        pipeline.check(&[0, 1, 5]);
    }
}

/// Maintenance may use live timestamps collected before the commits and snapshots that it meets.
pub fn maintenance_that_knows_old_timestamps_keeps_what_came_after_them<T: Tested>() {
    let mut pipeline = Pipeline::<T>::new(Topology::Directed, None);
    pipeline.commit(&[put_valued(0, [1], 0), put(1, [2])], 0).unwrap();
    // SAFETY: nothing is registered, and the next is registered at 1 or above.
    let early = unsafe { LiveTimestamps::as_of(Vec::new(), CommitTimestamp(1)) };
    for value in 1..8 {
        pipeline.open();
        pipeline.commit(&[put_valued(0, [1], value), delete(1, [2]), put(1, [value])], 0).unwrap();
        pipeline.flush().unwrap();
        pipeline.engine.maintain(&early, &unit_locks(0, Counts::default()), usize::MAX).unwrap();
        pipeline.check(&[0, 1, 2]);
    }
}
