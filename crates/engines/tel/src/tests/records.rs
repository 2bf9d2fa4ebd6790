//! Records stored in blocks.

use super::blocks::{Tested, delete, put};
use super::logs::{assert_log_is_consistent, class, with_log};
use crate::block::{OwnedBlock, record_bytes};
use crate::layout::{BlockLayout, Fit, Need, Shape};
use crate::store::BlockStore;
use hedgerow_in_memory::records::memory::{LONGEST_EMBEDDED, embedded_size, is_embedded};
use hedgerow_model::{CommitTimestamp, EdgeValue, LabelId, Topology, VertexId};
use hedgerow_testing::cases::one_case_in;
use hedgerow_testing::records::{content, handle, original};
use proptest::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The label of [`hedgerow_testing::pipeline::catalog`] that has records.
const LABEL: u16 = 3;

/// The class of 64 KiB blocks; under Miri, a class of blocks with a filter.
const LAST: u8 = if cfg!(miri) { 4 } else { 10 };

/// The first number, starting at `first`, whose record has `length` bytes.
fn of_length(first: u32, length: usize) -> u32 {
    (first..).find(|number| content(*number).len() == length).expect("lengths recur")
}

/// Blocks of each size and shape, filled with records of one length until no more fit: because of
/// the entries, or because the records have reached the columns.
#[test]
fn a_block_is_full_when_its_records_meet_its_columns() {
    let store = BlockStore::default();
    let (mut full_of_entries, mut full_of_records) = (0, 0);
    for shape in Shape::with_records() {
        for class in 0..=LAST {
            for length in [4, 5, 30, LONGEST_EMBEDDED - 1, LONGEST_EMBEDDED, LONGEST_EMBEDDED + 1] {
                let number = of_length(1, length);
                let need = Need { entries: 1, record_bytes: embedded_size(length) };
                assert_eq!(need.record_bytes, record_bytes(handle(number)));
                let layout = BlockLayout::of(class, shape);
                let fit = Fit { class, shape };
                let Ok(mut block) = OwnedBlock::try_new(&store, fit, LabelId(LABEL)) else {
                    panic!("memory has no end")
                };
                let writer = block.writer();
                let mut count = 0;
                while writer.log().has_room(need) {
                    writer.write_ahead(VertexId::new(count), handle(number), || None);
                    writer.publish(CommitTimestamp(u64::from(count) + 1));
                    count += 1;
                }
                let (log, written) = (writer.log(), count as usize);
                assert_eq!(log.length(), written);
                match written == layout.capacity {
                    true => full_of_entries += 1,
                    false => full_of_records += 1,
                }
                let fits = |count: usize| {
                    layout.fits(Need { entries: count, record_bytes: need.record_bytes * count })
                };
                assert!(fits(written) && !fits(written + 1));
                for position in 0..written {
                    let value = log.value(position);
                    assert_eq!(is_embedded(value), length <= LONGEST_EMBEDDED);
                    // SAFETY: in a live block.
                    assert_eq!(unsafe { original(value) }, handle(number));
                    assert_eq!(log.ids()[position], VertexId::new(position as u32));
                    assert_eq!(log.creations()[position], CommitTimestamp(position as u64 + 1));
                    assert!(log.may_have(VertexId::new(position as u32)));
                }
                assert_eq!(
                    log.need_of_kept(),
                    Need { entries: written, record_bytes: need.record_bytes * written }
                );
                let one_more =
                    AssertUnwindSafe(|| writer.write_ahead(VertexId::new(0), handle(number), || None));
                assert!(catch_unwind(one_more).is_err(), "a record after the last");
            }
        }
    }
    assert!(full_of_entries > 50 && full_of_records > 50, "{full_of_entries}, {full_of_records}");
}

/// Upgrades by single entries through all sizes, with snapshots and records of all lengths.
#[test]
fn records_move_with_their_entries() {
    let mut pipeline = Tested::new(Topology::Directed, None);
    let mut next = 0;
    let mut upgrades = 0;
    let mut before = None;
    while before.is_none_or(|before| before < LAST) {
        let count = if next < 60 { 1 } else { 1 + next / 10 };
        for id in next..next + count {
            pipeline.commit(&[put(LABEL, [id], id * 7 + 1)], 0).unwrap();
        }
        next += count;
        if next % 3 == 0 {
            pipeline.commit(&[put(LABEL, [next / 2], next), delete(LABEL, [next / 3])], 0).unwrap();
        }
        let after = class(&pipeline, LABEL);
        if after != before {
            upgrades += 1;
            before = after;
            pipeline.open();
            pipeline.check(&[0, 1, next / 3, next / 2, next]);
            while pipeline.snapshots.len() > 2 {
                pipeline.close(0);
            }
        }
        assert_log_is_consistent(&pipeline, LABEL);
    }
    assert!(upgrades >= LAST - 2, "{upgrades} upgrades");
    pipeline.assert_counters_are_exact();
}

/// A pinned reader still reads the records of a block that was replaced.
#[test]
fn what_a_pinned_reader_found_stays_while_the_block_is_replaced() {
    let mut pipeline = Tested::new(Topology::Directed, None);
    pipeline.commit(&[put(LABEL, 0..20, 11)], 0).unwrap();
    let domain = &raw const pipeline.engine.retired.domain;
    // SAFETY: the engine stays in `pipeline`, and changes its domain by shared references only.
    let guard = unsafe { &*domain }.pin();
    let table = pipeline.engine.table_at(usize::from(LABEL));
    let found: Vec<_> = {
        let log = pipeline.engine.log(table, VertexId::new(1), &guard).unwrap();
        (0..log.length()).map(|position| log.value(position)).collect()
    };
    let (rounds, most) = if cfg!(miri) { (2, 40) } else { (10, 500) };
    for round in 0..rounds {
        pipeline.commit(&[put(LABEL, 0..most, 12 + round)], 0).unwrap();
        pipeline.commit(&[delete(LABEL, 0..most - 10)], 0).unwrap();
        pipeline.reclaim(usize::MAX, 0);
    }
    assert_eq!(found.len(), 20);
    for value in found {
        // SAFETY: pinned since before it was read.
        assert_eq!(unsafe { original(value) }, handle(11));
    }
    drop(guard);
}

/// Records that are garbage take no room in a copy, however their edges ended.
#[test]
fn dead_records_leave_with_their_entries() {
    let mut pipeline = Tested::new(Topology::Directed, None);
    let long = of_length(1, 200);
    pipeline.commit(&[put(LABEL, 0..100, long)], 0).unwrap();
    let full = class(&pipeline, LABEL);
    // Ended by invisible changes, by changes that a snapshot sees, and by a rewrite.
    let short = of_length(1, 4);
    pipeline.commit(&[put(LABEL, 0..40, short)], 0).unwrap();
    pipeline.open();
    pipeline.commit(&[put(LABEL, 40..100, short)], 0).unwrap();
    pipeline.close(0);
    while pipeline.reclaim(usize::MAX, 0).more {}
    let kept = with_log(&pipeline, LABEL, |log| log.need_of_kept()).unwrap();
    assert_eq!(kept, Need { entries: 100, record_bytes: 100 * embedded_size(4) });
    assert!(class(&pipeline, LABEL) < full, "the log shrinks");
    assert_log_is_consistent(&pipeline, LABEL);
    pipeline.check(&[0, 1, 39, 40, 99, 100]);
}

/// A long record may be freed before its entry: the record heap reclaims it independently. A log
/// that moves then does not access it.
#[test]
fn long_records_are_not_accessed_when_their_log_moves() {
    let store = BlockStore::default();
    let fit = Fit::with_records(Need { entries: 4, record_bytes: 100 });
    let mut record = vec![0; 1 + LONGEST_EMBEDDED].into_boxed_slice();
    record[0] = LONGEST_EMBEDDED + 1;
    let place = record.as_mut_ptr();
    let value = EdgeValue(place.expose_provenance() as u64);
    let mut block = OwnedBlock::new(&store, fit, LabelId(LABEL));
    block.writer().write_ahead(VertexId::new(1), value, || None);
    block.writer().publish(CommitTimestamp(1));
    block.writer().invalidate(0, CommitTimestamp(2));
    // The record is freed, and its memory now looks like a short record.
    // SAFETY: the first word of the record.
    unsafe { place.write(4) };
    let mut copy = OwnedBlock::new(&store, fit, LabelId(LABEL));
    copy.copy_from(block.writer().log(), |_| None, |_| ());
    for log in [block.writer().log(), copy.writer().log()] {
        assert_eq!((log.value(0), log.embedded(0)), (value, None));
    }
    block.writer().bury(0);
    assert_eq!(block.writer().log().need_of_kept(), Need::default());
    drop(record);
}

proptest! {
    #![proptest_config(one_case_in(4))]

    /// Puts, changes, deletions, abandoned commits and reclamation, under snapshots, in every
    /// topology.
    #[test]
    fn records_are_those_that_were_put(
        topology in prop::sample::select(&[Topology::Directed, Topology::DirectedWithReverse, Topology::Undirected]),
        steps in prop::collection::vec((0..60_u32, 1..12_u32, 0..2000_u32, 0..8_u8), 1..60),
    ) {
        let mut pipeline = Tested::new(topology, None);
        for (first, count, number, kind) in steps {
            let ids = first..first + count;
            match kind {
                0 => pipeline.commit(&[delete(LABEL, ids)], 0).unwrap(),
                1 => pipeline.abandon(&[put(LABEL, ids, number)]),
                2 => pipeline.open(),
                3 => pipeline.close(number as usize),
                4 => drop(pipeline.reclaim(if number % 2 == 0 { usize::MAX } else { 300 }, 0)),
                5 if [1, first].iter().all(|end| pipeline.oracle.vertices.contains_key(end)) => {
                    pipeline.commit_edge(LABEL, (1, first), (count > 3).then_some(number), 0);
                }
                _ => {
                    let each = ids.map(|id| put(LABEL, [id], number.wrapping_add(id * 13)));
                    pipeline.commit(&each.collect::<Vec<_>>(), 0).unwrap();
                }
            }
            assert_log_is_consistent(&pipeline, LABEL);
            pipeline.assert_counters_are_exact();
        }
        pipeline.check(&[0, 1, 2, 30, 61]);
        pipeline.snapshots.clear();
        while pipeline.reclaim(usize::MAX, 0).more {}
        pipeline.check(&[0, 1, 2, 30, 61]);
        pipeline.assert_counters_are_exact();
    }
}
