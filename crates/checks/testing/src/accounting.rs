//! Named cases for engines that account for every byte that they hold, and free garbage at once.

use crate::Tested;
use crate::contract::{delete, put, put_valued};
use crate::failing::{Fallible, TestedFailing, is_injected};
use crate::oracle::Request;
use crate::pipeline::{Pipeline, unit_locks};
use hedgerow_model::token::LiveTimestamps;
use hedgerow_model::{CapacityError, CommitTimestamp, Counts, Engine, EngineError, Topology};

/// Makes a test of each case for an engine that is [`Tested`](crate::Tested) and can recount its
/// memory.
#[macro_export]
macro_rules! accounting_tests {
    ($tested:ty) => {
        $crate::contract_tests!(@cases accounting, $tested:
            changes_of_nothing_take_nothing
            a_commit_beyond_the_limit_fails_and_changes_nothing
            versions_between_two_snapshots_are_freed
            garbage_moves_to_the_next_timestamp_that_sees_it
            locked_units_and_spent_budgets_leave_the_rest_for_later
            versions_superseded_after_the_timestamps_were_collected_stay
            maintenance_that_fails_is_made_up_for
        );
    };
}

/// Checks that the engine can recount its memory, which these cases need.
fn claims_to_account<T: Tested>() {
    const { assert!(T::RECOUNT.is_some()) };
}

/// Puts existing edges, and deletes missing ones, including far away.
pub fn changes_of_nothing_take_nothing<T: Tested>() {
    claims_to_account::<T>();
    let many = 0..2100;
    let mut pipeline = Pipeline::<T>::new(Topology::DirectedWithReverse, None);
    pipeline.commit(&[put(1, many.clone()), put(70, [3])], 0).unwrap();
    pipeline.open();
    let before = pipeline.engine.memory();
    let nothing = [delete(70, [4, 5]), delete(1, [5000]), delete(500_000, [6]), put(1, many)];
    pipeline.commit(&nothing, 0).unwrap();
    assert_eq!(pipeline.engine.memory(), before);
    pipeline.check(&[0, 1, 3, 4, 70, 500]);
}

/// A refused commit leaves no trace; one that shrinks the newest state is admitted.
pub fn a_commit_beyond_the_limit_fails_and_changes_nothing<T: Tested>() {
    claims_to_account::<T>();
    let mut pipeline = Pipeline::<T>::new(Topology::Directed, None);
    pipeline.commit(&[put_valued(0, 0..10, 1)], 0).unwrap();
    let limit = pipeline.engine.memory().total_bytes() + 100;

    let mut pipeline = Pipeline::<T>::new(Topology::Directed, Some(limit));
    pipeline.commit(&[put_valued(0, 0..10, 1)], 0).unwrap();
    let before = pipeline.engine.memory();
    let error = pipeline.commit(&[put_valued(0, 0..1000, 1)], 0).unwrap_err();
    let EngineError::Capacity(CapacityError::Memory { needed, held, limit: stated }) = error else {
        panic!("{error}")
    };
    assert_eq!((held, stated), (before.total_bytes(), limit));
    assert!(held + needed > limit);
    // A distant vertex needs pieces of the index.
    assert!(pipeline.commit(&[Request::PutVertex { vertex: 1_000_000, property: None }], 0).is_err());
    assert_eq!(pipeline.engine.memory(), before);
    pipeline.check(&[0, 1, 10, 999]);
    // A commit that changes nothing needs nothing, and a graph at its limit can be shrunk.
    pipeline.commit(&[Request::DeleteEdges { label: 2, source: 0, destinations: vec![20] }], 0).unwrap();
    pipeline.open();
    pipeline.commit(&[Request::DeleteVertex { vertex: 0 }], 0).unwrap();
    pipeline.check(&[0, 1, 10, 999]);
}

/// Versions between two snapshots are freed; the snapshots keep their own versions.
pub fn versions_between_two_snapshots_are_freed<T: Tested>() {
    claims_to_account::<T>();
    let mut pipeline = Pipeline::<T>::new(Topology::Directed, None);
    for value in 0..5 {
        pipeline.commit(&[put_valued(0, [1], value)], 0).unwrap();
        pipeline.open();
    }
    pipeline.commit(&[put_valued(0, [1], 9)], 0).unwrap();
    assert_eq!(pipeline.reclaim(usize::MAX, 0).versions, 0);
    (0..3).for_each(|_| pipeline.close(1));
    let reclaimed = pipeline.reclaim(usize::MAX, 0);
    assert_eq!((reclaimed.versions, reclaimed.more), (3, false));
    assert_eq!(pipeline.retained().len(), 2);
    pipeline.check(&[0, 1]);
}

/// A version is retained for the newest timestamp that sees it, and later for the next older one.
pub fn garbage_moves_to_the_next_timestamp_that_sees_it<T: Tested>() {
    claims_to_account::<T>();
    let mut pipeline = Pipeline::<T>::new(Topology::Directed, None);
    pipeline.commit(&[put_valued(0, [1], 1)], 0).unwrap();
    pipeline.open();
    let older = pipeline.snapshots[0].token.at();
    pipeline.commit(&[put_valued(64, [1], 1)], 0).unwrap();
    pipeline.open();
    pipeline.commit(&[put_valued(0, [1], 2)], 0).unwrap();
    pipeline.close(1);
    assert_eq!(pipeline.reclaim(usize::MAX, 0).versions, 0);
    let retained = pipeline.retained();
    assert!(matches!(retained[..], [(at, bytes)] if at == older && bytes > 0), "{retained:?}");
    pipeline.check(&[0, 1, 64]);
}

/// Locked units and spent budgets defer work, and lose nothing.
pub fn locked_units_and_spent_budgets_leave_the_rest_for_later<T: Tested>() {
    claims_to_account::<T>();
    let mut pipeline = Pipeline::<T>::new(Topology::Directed, None);
    let both = |value| [put_valued(0, [1], value), put_valued(T::UNIT_SIZE, [1], value)];
    pipeline.commit(&both(1), 0).unwrap();
    pipeline.open();
    pipeline.commit(&both(2), 0).unwrap();
    pipeline.close(0);
    let reclaimed = pipeline.reclaim(0, 0);
    assert_eq!((reclaimed.versions, reclaimed.more), (0, true));
    let reclaimed = pipeline.reclaim(usize::MAX, 1);
    assert_eq!((reclaimed.versions, reclaimed.more), (1, true));
    let reclaimed = pipeline.reclaim(usize::MAX, 0);
    assert_eq!((reclaimed.versions, reclaimed.more), (1, false));
    assert_eq!(pipeline.engine.memory().retained_bytes, 0);
}

/// The live timestamps of a reclamation may be older than the versions it finds, if commits came in
/// between.
pub fn versions_superseded_after_the_timestamps_were_collected_stay<T: Tested>() {
    claims_to_account::<T>();
    let mut pipeline = Pipeline::<T>::new(Topology::Directed, None);
    pipeline.commit(&[put_valued(0, [1], 1)], 0).unwrap();
    // SAFETY: nothing is registered, and the next is registered at 1 or above.
    let early = unsafe { LiveTimestamps::as_of(Vec::new(), CommitTimestamp(1)) };
    pipeline.open();
    pipeline.commit(&[put_valued(0, [1], 2)], 0).unwrap();
    let early = pipeline.engine.maintain(&early, &unit_locks(0, Counts::default()), usize::MAX).unwrap();
    assert_eq!(early.reclaimed.versions, 0);
    pipeline.check(&[0, 1]);
    pipeline.close(0);
    assert_eq!(pipeline.reclaim(usize::MAX, 0).versions, 1);
}

/// The next step frees the garbage that a failed step left; commits and snapshots continue in
/// between.
pub fn maintenance_that_fails_is_made_up_for<T: Tested>() {
    claims_to_account::<T>();
    let mut pipeline = Pipeline::<TestedFailing<T>>::new(Topology::Directed, None);
    for value in 0..4 {
        pipeline.commit(&[put_valued(0, [1], value)], 0).unwrap();
        pipeline.open();
    }
    (0..2).for_each(|_| pipeline.close(0));
    let before = pipeline.engine.memory();
    pipeline.engine.fail(Fallible::Maintain, 1);
    let error = pipeline.try_reclaim(usize::MAX, 0).unwrap_err();
    assert!(is_injected(&error), "{error}");
    assert_eq!(pipeline.engine.memory(), before);
    pipeline.check(&[0, 1]);
    pipeline.commit(&[put_valued(0, [1], 4)], 0).unwrap();
    let reclaimed = pipeline.reclaim(usize::MAX, 0);
    assert_eq!((reclaimed.versions, reclaimed.more), (2, false));
    pipeline.check(&[0, 1]);
    pipeline.snapshots.clear();
    pipeline.reclaim(usize::MAX, 0);
    assert_eq!(pipeline.engine.memory().retained_bytes, 0);
    pipeline.assert_counters_are_exact();
}
