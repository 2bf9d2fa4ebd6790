//! Limits, and what snapshots keep.

use super::support::oracle::Request;
use super::support::pipeline::Pipeline;
use crate::large_set::LARGE;
use crate::leaf::LEAF_CAPACITY;
use hedgerow_model::{CapacityError, Engine, Topology};

fn put(label: u16, source: u32, destinations: impl IntoIterator<Item = u32>, value: u32) -> Request {
    Request::PutEdges { label, source, destinations: destinations.into_iter().collect(), value }
}

#[test]
fn a_commit_beyond_the_limit_fails_and_changes_nothing() {
    let mut pipeline = Pipeline::new(Topology::Directed, None);
    pipeline.commit(&[put(1, 0, 0..10, 1)], 0).unwrap();
    let limit = pipeline.engine.memory().total_bytes() + 100;

    let mut pipeline = Pipeline::new(Topology::Directed, Some(limit));
    pipeline.commit(&[put(1, 0, 0..10, 1)], 0).unwrap();
    let before = pipeline.engine.memory();
    let error = pipeline.commit(&[put(1, 0, 0..1000, 1)], 0).unwrap_err();
    let CapacityError::Memory { needed, held, limit: stated } = error else { panic!("{error}") };
    assert_eq!((held, stated), (before.total_bytes(), limit));
    assert!(held + needed > limit);
    // A vertex far away needs a segment of the directory.
    assert!(pipeline.commit(&[Request::PutVertex { vertex: 1_000_000, property: None }], 0).is_err());
    assert_eq!(pipeline.engine.memory(), before);
    pipeline.check(&[0, 1, 10, 999]);
    // What changes nothing needs nothing.
    pipeline.commit(&[Request::DeleteEdges { label: 1, source: 0, destinations: vec![20] }], 0).unwrap();
}

#[test]
fn a_snapshot_is_charged_with_what_only_it_keeps() {
    let many = 0..4 * LARGE as u32;
    let mut pipeline = Pipeline::new(Topology::Directed, None);
    pipeline.commit(&[put(2, 0, many.clone(), 1)], 0).unwrap();
    pipeline.open();
    let at = pipeline.snapshots[0].token.at();
    pipeline.commit(&[put(2, 0, [7], 2)], 0).unwrap();
    let one_leaf = pipeline.engine.memory().retained_bytes;
    assert!(one_leaf > 0);
    assert_eq!(pipeline.retained(), [(at, one_leaf)]);
    // Replacing the newest version again and again leaves the snapshot with more and more of its own.
    for destination in many {
        pipeline.commit(&[put(2, 0, [destination], 3)], 0).unwrap();
        pipeline.assert_counters_are_exact();
    }
    let all = pipeline.engine.memory().retained_bytes;
    // By then all leaves but the first are its own: an id and a value of four bytes per entry.
    assert!(all - one_leaf >= (4 * LARGE - LEAF_CAPACITY) * 8);
    assert_eq!(pipeline.retained(), [(at, all)]);
    pipeline.close(0);
    assert_eq!(pipeline.reclaim(usize::MAX, 0).bytes, all);
    assert_eq!(pipeline.engine.memory().retained_bytes, 0);
}

#[test]
fn versions_between_two_snapshots_are_freed() {
    let mut pipeline = Pipeline::new(Topology::Directed, None);
    for value in 0..5 {
        pipeline.commit(&[put(2, 0, [1], value)], 0).unwrap();
        pipeline.open();
    }
    pipeline.commit(&[put(2, 0, [1], 9)], 0).unwrap();
    assert_eq!(pipeline.reclaim(usize::MAX, 0).versions, 0);
    (0..3).for_each(|_| pipeline.close(1));
    let reclaimed = pipeline.reclaim(usize::MAX, 0);
    assert_eq!((reclaimed.versions, reclaimed.more), (3, false));
    assert_eq!(pipeline.retained().len(), 2);
    pipeline.check(&[0, 1]);
}

#[test]
fn garbage_moves_to_the_next_timestamp_that_sees_it() {
    let mut pipeline = Pipeline::new(Topology::Directed, None);
    pipeline.commit(&[put(2, 0, [1], 1)], 0).unwrap();
    pipeline.open();
    let older = pipeline.snapshots[0].token.at();
    pipeline.commit(&[put(2, 64, [1], 1)], 0).unwrap();
    pipeline.open();
    pipeline.commit(&[put(2, 0, [1], 2)], 0).unwrap();
    pipeline.close(1);
    assert_eq!(pipeline.reclaim(usize::MAX, 0).versions, 0);
    let retained = pipeline.retained();
    assert!(matches!(retained[..], [(at, bytes)] if at == older && bytes > 0));
    pipeline.check(&[0, 1, 64]);
}

#[test]
fn locked_units_and_spent_budgets_leave_the_rest_for_later() {
    let mut pipeline = Pipeline::new(Topology::Directed, None);
    let both = |value| [put(2, 0, [1], value), put(2, 64, [1], value)];
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

/// What a reclamation knows may be older than what it finds: a commit came in between.
#[test]
fn versions_superseded_after_the_timestamps_were_collected_stay() {
    use hedgerow_model::Timestamp;
    use hedgerow_model::token::LiveTimestamps;

    let mut pipeline = Pipeline::new(Topology::Directed, None);
    pipeline.commit(&[put(2, 0, [1], 1)], 0).unwrap();
    // SAFETY: nothing is registered, and the next is registered at 1 or above.
    let early = unsafe { LiveTimestamps::as_of(Vec::new(), Timestamp(1)) };
    pipeline.open();
    pipeline.commit(&[put(2, 0, [1], 2)], 0).unwrap();
    struct All;
    impl hedgerow_model::UnitLocks for All {
        fn try_with(
            &self,
            _: hedgerow_model::LockUnit,
            work: &mut dyn FnMut(&hedgerow_model::token::HeldLocks<'_>),
        ) -> bool {
            // SAFETY: there is one thread.
            work(&unsafe { hedgerow_model::token::HeldLocks::all(hedgerow_model::Counts::default()) });
            true
        }
    }
    let reclaimed = pipeline.engine.reclaim(&early, &All, usize::MAX);
    assert_eq!(reclaimed.versions, 0);
    pipeline.check(&[0, 1]);
    pipeline.close(0);
    assert_eq!(pipeline.reclaim(usize::MAX, 0).versions, 1);
}
