//! Logs compared with simple maps that have one version per commit.

use super::TestedTel;
use crate::block::{END_OF_TIME, VALID};
use crate::layout::{BlockLayout, CLASSES, Shape};
use hedgerow_model::{CommitTimestamp, Engine, Topology, VertexId};
use hedgerow_sync::atomic::Ordering;
use hedgerow_testing::cases::one_case_in;
use hedgerow_testing::oracle::Request;
use hedgerow_testing::pipeline::Pipeline;
use proptest::prelude::*;

pub(super) type Tested = Pipeline<TestedTel>;

/// A label for each width of values without records: none, 8, 4 bytes.
pub(super) const WIDTHS: [(u16, usize); 3] = [(0, 0), (1, 8), (2, 4)];

pub(super) fn put(label: u16, destinations: impl IntoIterator<Item = u32>, value: u32) -> Request {
    Request::PutEdges { label, source: 1, destinations: destinations.into_iter().collect(), value }
}

pub(super) fn delete(label: u16, destinations: impl IntoIterator<Item = u32>) -> Request {
    Request::DeleteEdges { label, source: 1, destinations: destinations.into_iter().collect() }
}

/// One entry more than each size has room for, in one commit and one by one.
#[test]
fn logs_grow_at_every_size() {
    for (label, width) in WIDTHS {
        let mut pipeline = Tested::new(Topology::Directed, None);
        let mut length = 0;
        for class in 0..7 {
            let full = BlockLayout::of(class, Shape::plain(width)).capacity as u32;
            if full <= length {
                continue;
            }
            pipeline.commit(&[put(label, length..full, 1)], 0).unwrap();
            pipeline.assert_counters_are_exact();
            pipeline.commit(&[put(label, [full], 1)], 0).unwrap();
            pipeline.assert_counters_are_exact();
            pipeline.open();
            length = full + 1;
        }
        pipeline.check(&[0, 1, 2, length - 1, length]);
    }
}

/// With a full filter, every lookup searches the log.
#[test]
fn a_full_filter_changes_nothing() {
    let mut pipeline = Tested::new(Topology::Directed, None);
    for round in 0..40 {
        pipeline.commit(&[put(2, (0..60).map(|id| id * 40 + round), round)], 0).unwrap();
        pipeline.commit(&[delete(2, (0..55).map(|id| id * 40 + round))], 0).unwrap();
    }
    pipeline.check(&[1, 5, 39, 40, 2399]);
    pipeline.assert_counters_are_exact();
}

/// Without any snapshot, deleted entries are removed once writers are asked to help.
#[test]
fn a_log_that_became_sparse_without_a_snapshot_is_rewritten() {
    let mut pipeline = Tested::new(Topology::Directed, None);
    pipeline.commit(&[put(0, 0..20_000, 0)], 0).unwrap();
    let before = pipeline.engine.memory().total_bytes();
    assert!(!pipeline.engine.is_maintenance_due());
    for first in (0..19_000).step_by(10) {
        pipeline.commit(&[delete(0, first..first + 10)], 0).unwrap();
    }
    assert!(pipeline.engine.is_maintenance_due());
    assert!(pipeline.reclaim(usize::MAX, 0).bytes > before / 2);
    assert!(!pipeline.engine.is_maintenance_due());
    pipeline.check(&[0, 1, 18_999, 19_000]);
    pipeline.assert_counters_are_exact();
    pipeline.commit(&[delete(0, 19_000..20_000)], 0).unwrap();
    pipeline.reclaim(usize::MAX, 0);
    assert_eq!(pipeline.engine.memory().live_bytes, 0);
}

/// Updating a full log costs a constant amount of copying per update.
#[test]
fn updates_of_a_full_log_do_not_copy_it_each_time() {
    let mut pipeline = Tested::new(Topology::Directed, None);
    let full = BlockLayout::of(6, Shape::plain(4)).capacity as u32;
    pipeline.commit(&[put(2, 0..full, 0)], 0).unwrap();
    let before = pipeline.engine.memory().live_bytes;
    for value in 1..2000 {
        pipeline.commit(&[put(2, [value % full], value)], 0).unwrap();
    }
    assert_eq!(pipeline.engine.memory().live_bytes.max(2 * before), 2 * before);
    pipeline.check(&[0, 1, 2, full - 1]);
}

/// A vertex with edges of all labels has a list of labels, which comes and goes.
#[test]
fn labels_of_one_vertex_come_and_go() {
    let mut pipeline = Tested::new(Topology::Undirected, None);
    for round in 0..3 {
        for label in [1, 0, 2] {
            pipeline.commit(&[put(label, 0..30, round)], 0).unwrap();
            pipeline.check(&[0, 1, 29]);
            pipeline.assert_counters_are_exact();
        }
        pipeline.open();
        for label in [0, 2, 1] {
            pipeline.commit(&[delete(label, 0..30)], 0).unwrap();
            pipeline.check(&[0, 1, 29]);
        }
        pipeline.close(0);
        pipeline.reclaim(usize::MAX, 0);
        pipeline.assert_counters_are_exact();
    }
    assert_eq!(pipeline.engine.memory().live_bytes, 0);
}

#[test]
fn the_largest_size_has_room_for_all_neighbors() {
    let last = CLASSES as u8 - 1;
    assert!(BlockLayout::of(last, Shape::plain(8)).capacity >= u32::MAX as usize - 2);
}

#[derive(Clone, Debug)]
enum Step {
    Put { first: u32, count: u32, step: u32, value: u32 },
    Delete { first: u32, count: u32, step: u32 },
    Open,
    Close(usize),
    Reclaim(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let stretch = || (0..150_u32, prop_oneof![Just(1_u32), 1..60_u32], 1..4_u32);
    prop_oneof![
        5 => (stretch(), 0..3_u32).prop_map(|((first, count, step), value)| Step::Put { first, count, step, value }),
        3 => stretch().prop_map(|(first, count, step)| Step::Delete { first, count, step }),
        2 => Just(Step::Open),
        1 => (0..8_usize).prop_map(Step::Close),
        2 => prop_oneof![Just(usize::MAX), 0..500_usize].prop_map(Step::Reclaim),
    ]
}

proptest! {
    #![proptest_config(one_case_in(4))]

    /// One log in which runs of ids are put, changed, deleted and put again, and which is rewritten
    /// at every point, under snapshots.
    #[test]
    fn one_log_is_a_map_with_versions(
        label in 0..3_u16,
        margin in prop_oneof![Just(0_u64), Just(1000)],
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let mut pipeline = Tested::new(Topology::Directed, None);
        let ids = |first: u32, count: u32, step: u32| (0..count).map(move |number| first + number * step);
        for (number, step) in steps.into_iter().enumerate() {
            match step {
                Step::Put { first, count, step, value } => {
                    pipeline.commit(&[put(label, ids(first, count, step), value)], margin).unwrap();
                }
                Step::Delete { first, count, step } => {
                    pipeline.commit(&[delete(label, ids(first, count, step))], margin).unwrap();
                }
                Step::Open => pipeline.open(),
                Step::Close(choice) => pipeline.close(choice),
                Step::Reclaim(budget) => {
                    pipeline.reclaim(budget, 0);
                }
            }
            pipeline.assert_counters_are_exact();
            if number % 8 == 7 {
                pipeline.check(&[0, 1, 2, 50, 149]);
            }
        }
        pipeline.check(&[0, 1, 2, 50, 149]);
        pipeline.snapshots.clear();
        pipeline.reclaim(usize::MAX, 0);
        pipeline.check(&[0, 1, 2, 50, 149]);
        pipeline.assert_counters_are_exact();
        assert_eq!(pipeline.engine.memory().retained_bytes, 0);
    }
}

/// In the newest state the edges of a log are counted without reading them, whatever was deleted;
/// counts at earlier timestamps are right, too.
#[test]
fn the_newest_state_is_counted_in_constant_time() {
    for margin in [0, 1000] {
        let mut pipeline = Tested::new(Topology::Directed, None);
        let vertex = VertexId::new(1);
        for round in 0..30_u32 {
            pipeline.commit(&[put(0, round * 10..round * 10 + 20, 0)], margin).unwrap();
            pipeline.open();
            pipeline.commit(&[delete(0, (round * 5..round * 5 + 9).step_by(2))], margin).unwrap();
            if round % 7 == 6 {
                pipeline.close(1);
                pipeline.reclaim(usize::MAX, 0);
            }
            pipeline.open();
            let newest = pipeline.snapshots.pop().unwrap().token.at();
            let guard = pipeline.engine.retired.domain.pin();
            let log = pipeline.engine.log(pipeline.engine.table_at(0), vertex, &guard).expect("it has edges");
            let valid = log.invalidations().iter().filter(|end| end.load(Ordering::Relaxed) == VALID).count();
            assert_eq!(log.valid_if_unchanged_since(newest), Some(valid));
            assert_eq!(log.valid_if_unchanged_since(END_OF_TIME), Some(valid));
            assert_eq!(log.valid_if_unchanged_since(CommitTimestamp(newest.0 - 1)), None, "it changed then");
            drop(guard);
            pipeline.check(&[0, 1, 2, 149]);
        }
    }
}
