//! Limits, and what snapshots keep.

use super::VERSION_BYTES;
use super::support::oracle::Request;
use super::support::pipeline::Pipeline;
use hedgerow_model::token::{HeldLocks, LiveTimestamps};
use hedgerow_model::{CapacityError, Engine, LockUnit, Timestamp, Topology, UnitLocks};

fn put(source: u32, destinations: impl IntoIterator<Item = u32>, value: u32) -> Request {
    Request::PutEdges { label: 2, source, destinations: destinations.into_iter().collect(), value }
}

#[test]
fn a_commit_beyond_the_limit_fails_and_changes_nothing() {
    let mut pipeline = Pipeline::new(Topology::Directed, None);
    pipeline.commit(&[put(0, 0..10, 1)], 0).unwrap();
    let limit = pipeline.engine.memory().total_bytes() + 100;

    let mut pipeline = Pipeline::new(Topology::Directed, Some(limit));
    pipeline.commit(&[put(0, 0..10, 1)], 0).unwrap();
    let before = pipeline.engine.memory();
    let error = pipeline.commit(&[put(0, 0..1000, 1)], 0).unwrap_err();
    let CapacityError::Memory { needed, held, limit: stated } = error else { panic!("{error}") };
    assert_eq!((held, stated), (before.total_bytes(), limit));
    // An id, a version and a value of four bytes for each of 990 more entries.
    assert_eq!(needed, 990 * 24);
    // A vertex far away needs pieces of the index.
    assert!(pipeline.commit(&[Request::PutVertex { vertex: 1_000_000, property: None }], 0).is_err());
    assert_eq!(pipeline.engine.memory(), before);
    pipeline.check(&[0, 1, 10, 999]);
    // What changes nothing needs nothing, and what shrinks the newest state is let through.
    pipeline.commit(&[Request::DeleteEdges { label: 2, source: 0, destinations: vec![20] }], 0).unwrap();
    pipeline.open();
    pipeline.commit(&[Request::DeleteVertex { vertex: 0 }], 0).unwrap();
    pipeline.check(&[0, 1, 10, 999]);
}

#[test]
fn what_is_needed_is_what_is_taken() {
    let commits = [
        vec![put(0, 0..3, 1), Request::PutVertex { vertex: 9, property: Some(4) }],
        vec![put(0, 3..5, 1), put(2_000_000, [4, 5], 2)],
        vec![put(0, 0..9, 2), Request::PutVertex { vertex: 9, property: Some(5) }],
    ];
    for (count, last) in commits.iter().enumerate() {
        let mut pipeline = Pipeline::new(Topology::Directed, None);
        commits[..count].iter().for_each(|requests| pipeline.commit(requests, 0).unwrap());
        pipeline.commit(last, 0).unwrap();
        let enough = pipeline.engine.memory().total_bytes();
        for (limit, fits) in [(enough, true), (enough - 1, false)] {
            let mut pipeline = Pipeline::new(Topology::Directed, Some(limit));
            let mut before = Ok(());
            commits[..count].iter().for_each(|requests| before = before.and(pipeline.commit(requests, 0)));
            assert_eq!(before.and(pipeline.commit(last, 0)).is_ok(), fits, "commit {count}");
        }
    }
}

#[test]
fn a_snapshot_is_charged_with_what_only_it_keeps() {
    let mut pipeline = Pipeline::new(Topology::Directed, None);
    pipeline.commit(&[put(0, 0..100, 1)], 0).unwrap();
    pipeline.open();
    let at = pipeline.snapshots[0].token.at();
    for value in 2..5 {
        pipeline.commit(&[put(0, 10..20, value)], 0).unwrap();
        // Each edge keeps one version for the snapshot, however often it changes.
        assert_eq!(pipeline.retained(), [(at, 10 * VERSION_BYTES)]);
    }
    assert_eq!(pipeline.engine.memory().retained_bytes, 10 * VERSION_BYTES);
    pipeline.close(0);
    assert_eq!(pipeline.reclaim(usize::MAX, 0).bytes, 10 * VERSION_BYTES);
    assert_eq!(pipeline.engine.memory().retained_bytes, 0);
}

#[test]
fn a_record_that_only_a_snapshot_sees_is_retained() {
    let mut pipeline = Pipeline::new(Topology::Directed, None);
    pipeline.commit(&[Request::PutVertex { vertex: 1, property: Some(7) }], 0).unwrap();
    let record = pipeline.engine.memory().live_bytes;
    assert!(record > 0);
    pipeline.open();
    pipeline.commit(&[Request::DeleteVertex { vertex: 1 }], 0).unwrap();
    let used = pipeline.engine.memory();
    assert!(used.live_bytes == 0 && used.retained_bytes > record);
    pipeline.check(&[1]);
    pipeline.commit(&[Request::PutVertex { vertex: 1, property: Some(8) }], 0).unwrap();
    pipeline.check(&[1]);
    pipeline.close(0);
    assert_eq!(pipeline.reclaim(usize::MAX, 0).versions, 1);
    assert_eq!(pipeline.engine.memory().retained_bytes, 0);
    pipeline.check(&[1]);
}

#[test]
fn versions_between_two_snapshots_are_freed() {
    let mut pipeline = Pipeline::new(Topology::Directed, None);
    for value in 0..5 {
        pipeline.commit(&[put(0, [1], value)], 0).unwrap();
        pipeline.open();
    }
    pipeline.commit(&[put(0, [1], 9)], 0).unwrap();
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
    pipeline.commit(&[put(0, [1], 1)], 0).unwrap();
    pipeline.open();
    let older = pipeline.snapshots[0].token.at();
    pipeline.commit(&[put(64, [1], 1)], 0).unwrap();
    pipeline.open();
    pipeline.commit(&[put(0, [1], 2)], 0).unwrap();
    pipeline.close(1);
    assert_eq!(pipeline.reclaim(usize::MAX, 0).versions, 0);
    assert_eq!(pipeline.retained(), [(older, VERSION_BYTES)]);
    pipeline.check(&[0, 1, 64]);
}

#[test]
fn locked_units_and_spent_budgets_leave_the_rest_for_later() {
    let mut pipeline = Pipeline::new(Topology::Directed, None);
    let both = |value| [put(0, [1], value), put(3, [1], value)];
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
    let mut pipeline = Pipeline::new(Topology::Directed, None);
    pipeline.commit(&[put(0, [1], 1)], 0).unwrap();
    // SAFETY: nothing is registered, and the next is registered at 1 or above.
    let early = unsafe { LiveTimestamps::as_of(Vec::new(), Timestamp(1)) };
    pipeline.open();
    pipeline.commit(&[put(0, [1], 2)], 0).unwrap();
    assert_eq!(pipeline.engine.reclaim(&early, &All, usize::MAX).versions, 0);
    pipeline.check(&[0, 1]);
    pipeline.close(0);
    assert_eq!(pipeline.reclaim(usize::MAX, 0).versions, 1);
}

/// Every lock, on one thread.
struct All;

impl UnitLocks for All {
    fn try_with(&self, _: LockUnit, work: &mut dyn FnMut(&HeldLocks<'_>)) -> bool {
        // SAFETY: there is one thread.
        work(&unsafe { HeldLocks::all(hedgerow_model::Counts::default()) });
        true
    }
}
