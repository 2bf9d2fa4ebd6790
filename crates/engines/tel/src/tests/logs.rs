//! Deterministic tests of rare cases of a log: full blocks, every upgrade, saturated filters,
//! abandoned writes, and compaction after every step.

use super::blocks::{Tested, WIDTHS, delete, put};
use crate::block::{DEAD, END_OF_TIME, EntryLog, OwnedBlock};
use crate::filter::Filter;
use crate::layout::{BlockLayout, Fit, HEADER_BYTES, Need, Shape, bytes_of};
use crate::store::BlockStore;
use hedgerow_in_memory::records::memory::{embedded_size, is_embedded};
use hedgerow_model::{
    Allowance, Changes, CommitTimestamp, EdgeValue, Engine, LabelId, StoredEdge, Topology, VertexId,
};
use hedgerow_sync::atomic::{AtomicU64, Ordering};
use hedgerow_testing::cases::one_case_in;
use hedgerow_testing::oracle::{LABELS, Oracle};
use proptest::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The class of 1 MiB blocks; under Miri, a class of blocks with a filter.
const LAST: u8 = if cfg!(miri) { 4 } else { 14 };

/// Reads the log of vertex 1.
pub(super) fn with_log<R>(pipeline: &Tested, label: u16, read: impl FnOnce(EntryLog<'_>) -> R) -> Option<R> {
    let guard = pipeline.engine.retired.domain.pin();
    let table = pipeline.engine.table_at(usize::from(label));
    pipeline.engine.log(table, VertexId::new(1), &guard).map(read)
}

pub(super) fn class(pipeline: &Tested, label: u16) -> Option<u8> {
    with_log(pipeline, label, |log| log.class())
}

/// Returns the number of entries that still fit in the log.
fn room(pipeline: &Tested, label: u16) -> u32 {
    with_log(pipeline, label, |log| (log.layout().capacity - log.length()) as u32).unwrap_or(0)
}

/// The filter denies no entry, the header counts the dead entries, and records are adjacent.
pub(super) fn assert_log_is_consistent(pipeline: &Tested, label: u16) {
    with_log(pipeline, label, |log| {
        assert!(log.ids().iter().all(|id| log.may_have(*id)), "an entry that the filter denies");
        let dead = log.invalidations().iter().filter(|end| end.load(Ordering::Relaxed) == DEAD).count();
        assert_eq!(log.dead(), dead);
        assert!(log.creations().is_sorted());
        assert_records_are_consistent(log);
    });
}

fn assert_records_are_consistent(log: EntryLog<'_>) {
    let mut kept = Need { entries: log.length() - log.dead(), record_bytes: 0 };
    let has_records = log.layout().record_room > 0;
    let mut lowest = None;
    for position in (0..log.length()).filter(|_| has_records) {
        let (value, end) = (log.value(position), log.invalidations()[position].load(Ordering::Relaxed));
        let bytes = log.embedded(position).map_or(0, |record| embedded_size(record.len()));
        kept.record_bytes += if end == DEAD { 0 } else { bytes };
        if is_embedded(value) {
            let place = value.0 & !1;
            assert!(
                lowest.is_none_or(|above| above == place + bytes as u64),
                "records have a gap or overlap"
            );
            lowest = Some(place);
        }
    }
    assert_eq!(log.need_of_kept(), kept);
}

/// Looks up about 200 neighbors of vertex 1 in each snapshot.
fn look_up_some(pipeline: &Tested, label: u16, last: u32) {
    for snapshot in &pipeline.snapshots {
        let (at, edges) = (snapshot.token.at(), &snapshot.oracle.edges[usize::from(label)]);
        for id in (0..=last).rev().step_by(1 + last as usize / 200) {
            let found = with_log(pipeline, label, |log| log.find(VertexId::new(id), at)).flatten();
            assert_eq!(found.is_some(), edges.contains_key(&(1, id)), "neighbor {id} as of {at:?}");
        }
    }
}

/// Blocks of each size and width, filled to one entry below their capacity, to their capacity, and
/// beyond it.
#[test]
fn a_block_is_full_when_its_columns_meet_the_filter() {
    const { assert!(bytes_of(14) == 1 << 20) };
    let store = BlockStore::default();
    for (label, width) in WIDTHS {
        let shape = Shape::plain(width);
        for class in 0..=LAST {
            let layout = BlockLayout::of(class, shape);
            let full = layout.capacity;
            let columns = [
                (HEADER_BYTES, 4 * full),
                (layout.values, width * full),
                (layout.creations, 8 * full),
                (layout.invalidations, 8 * full),
                (layout.filter, 8 * layout.filter_words),
            ];
            for pair in columns.windows(2) {
                assert!(pair[0].0 + pair[0].1 <= pair[1].0, "columns of class {class} overlap: {pair:?}");
            }
            assert_eq!(layout.filter + 8 * layout.filter_words, bytes_of(class));
            let entry = 4 + width + 8 + 8;
            assert!(HEADER_BYTES + (full + 1) * entry > layout.filter - 16, "room for more is left");

            let fit = Fit { class, shape };
            let Ok(mut block) = OwnedBlock::try_new(&store, fit, LabelId(label)) else {
                panic!("memory has no end")
            };
            let writer = block.writer();
            let one = Need { entries: 1, record_bytes: 0 };
            let value = |number: usize| EdgeValue(!(number as u64) & (u64::MAX >> (64 - 8 * width.max(1))));
            for number in 0..full {
                assert!(writer.log().has_room(one));
                writer.write_ahead(VertexId::new(number as u32), value(number), || None);
                writer.publish(CommitTimestamp(number as u64 + 1));
                writer.invalidate(number, CommitTimestamp(u64::MAX - 2 - number as u64));
            }
            let log = writer.log();
            assert!(!log.has_room(one));
            assert_eq!((log.length(), log.label()), (full, LabelId(label)));
            for number in 0..full {
                assert_eq!(log.ids()[number], VertexId::new(number as u32));
                assert_eq!(log.creations()[number], CommitTimestamp(number as u64 + 1));
                let end = log.invalidations()[number].load(Ordering::Relaxed);
                assert_eq!(end, u64::MAX - 2 - number as u64);
                assert!(width == 0 || log.value(number) == value(number));
                assert!(log.may_have(VertexId::new(number as u32)));
            }
            // The filter rules out some other ids, so no column has overwritten it.
            let wrong = (0..1000).filter(|id| log.may_have(VertexId::new(u32::MAX - 1 - id))).count();
            assert_eq!(wrong == 1000, layout.filter_words == 0, "{wrong} of 1000 in class {class}");
            assert!(wrong < 200 || layout.filter_words == 0, "{wrong} of 1000 in class {class}");
            let one_more = AssertUnwindSafe(|| writer.write_ahead(VertexId::new(0), EdgeValue(0), || None));
            assert!(catch_unwind(one_more).is_err(), "an entry after the last");
        }
    }
}

/// Every upgrade up to 1 MiB blocks, each by a single entry, with snapshots before and after it,
/// and with ended entries in the old block: some that a snapshot sees, and dead ones, which are
/// left out.
#[test]
fn every_upgrade_keeps_what_snapshots_see_and_leaves_out_the_dead() {
    for (label, _) in WIDTHS {
        let mut pipeline = Tested::new(Topology::Directed, None);
        let (mut next, mut reached, mut left_out) = (0, Vec::new(), 0);
        pipeline.commit(&[put(label, [next], 1)], 0).unwrap();
        while class(&pipeline, label).unwrap() <= LAST {
            next += 1;
            let before = class(&pipeline, label).unwrap();
            reached.push(before);
            // Up to 2 KiB entry by entry, then mostly in one commit.
            let most = room(&pipeline, label).saturating_sub(4);
            if before > 5 && most > 0 {
                pipeline.commit(&[put(label, next..next + most, 2)], 0).unwrap();
                next += most;
            }
            pipeline.open();
            let seen = next - 1;
            if room(&pipeline, label) >= 4 {
                pipeline.commit(&[put(label, next..next + 2, 3)], 0).unwrap();
                pipeline.commit(&[delete(label, [seen, next])], 0).unwrap();
                next += 2;
            }
            while room(&pipeline, label) > 0 {
                pipeline.commit(&[put(label, [next], next)], 0).unwrap();
                next += 1;
                assert_eq!(class(&pipeline, label), Some(before));
            }
            assert_log_is_consistent(&pipeline, label);
            let (length, dead) = with_log(&pipeline, label, |log| (log.length(), log.dead())).unwrap();
            pipeline.commit(&[put(label, [next], 4)], 0).unwrap();
            assert_eq!(class(&pipeline, label), Some(before + 1), "one entry more takes the next size");
            let after = with_log(&pipeline, label, |log| (log.length(), log.dead())).unwrap();
            assert_eq!(after, (length - dead + 1, 0));
            left_out += dead;
            pipeline.open();
            assert_log_is_consistent(&pipeline, label);
            pipeline.assert_counters_are_exact();
            // All neighbors are looked up in small logs, only some in large ones, since each lookup
            // searches the log.
            let looked_at = if before < 9 { vec![0, 1, seen, seen + 1, next] } else { vec![0, seen] };
            pipeline.check(&looked_at);
            look_up_some(&pipeline, label, next);
            while pipeline.snapshots.len() > 2 {
                pipeline.close(0);
            }
        }
        assert!(reached.iter().copied().eq(0..=LAST), "{reached:?}");
        assert!(left_out > usize::from(LAST) / 2, "{left_out} dead entries were left out");
    }
}

/// Upgrades by batches that skip sizes, with ended entries and with snapshots before and after.
#[test]
fn upgrades_that_skip_sizes_are_upgrades() {
    for (label, width) in WIDTHS {
        for skipped in 2..=4_u8 {
            let mut pipeline = Tested::new(Topology::Directed, None);
            pipeline.commit(&[put(label, 0..3, 0)], 0).unwrap();
            let (mut next, mut skips) = (3, 0);
            while class(&pipeline, label).unwrap() + skipped <= LAST {
                let before = class(&pipeline, label).unwrap();
                pipeline.open();
                let ended = [next - 1, next - 3];
                pipeline.commit(&[delete(label, ended), put(label, [next - 2], 9)], 0).unwrap();
                let more = BlockLayout::of(before + skipped - 1, Shape::plain(width)).capacity as u32;
                pipeline.commit(&[put(label, next..next + more, 1), put(label, [ended[0]], 5)], 0).unwrap();
                next += more;
                skips += u32::from(class(&pipeline, label).unwrap() >= before + skipped);
                pipeline.open();
                assert_log_is_consistent(&pipeline, label);
                pipeline.assert_counters_are_exact();
                let looked_at =
                    if before < 6 { vec![0, 1, ended[0], ended[1], next - 1] } else { vec![0, next] };
                pipeline.check(&looked_at);
                look_up_some(&pipeline, label, next);
            }
            assert!(skips >= u32::from(LAST / skipped) - 1, "{skips} upgrades skipped sizes");
        }
    }
}

/// Ids that fall into the first word of a filter of `words` words: some that set all its bits, and
/// others.
fn in_one_word(words: usize) -> (Vec<u32>, Vec<u32>) {
    let words: Vec<AtomicU64> = (0..words).map(|_| AtomicU64::new(0)).collect();
    let bits_of = |id| {
        words[0].store(0, Ordering::Relaxed);
        Filter(&words).insert(VertexId::new(id));
        words[0].load(Ordering::Relaxed)
    };
    let (mut saturating, mut others, mut set) = (Vec::new(), Vec::new(), 0);
    for id in 0..20_000 {
        match bits_of(id) {
            0 => {}
            bits if set | bits != set => {
                set |= bits;
                saturating.push(id);
            }
            _ => others.push(id),
        }
    }
    assert_eq!(set, u64::MAX, "every bit is set");
    (saturating, others)
}

/// With all bits set, the filter rules out no neighbor: absent ones are searched for and not found,
/// and present ones are found, before and after the log moves to a larger and to a smaller block.
#[test]
fn a_saturated_filter_costs_searches_and_nothing_else() {
    for (label, width) in WIDTHS {
        let mut pipeline = Tested::new(Topology::Directed, None);
        let (smaller, layout) =
            (BlockLayout::of(5, Shape::plain(width)), BlockLayout::of(6, Shape::plain(width)));
        let (saturating, absent) = in_one_word(layout.filter_words);
        assert!(saturating.len() < layout.capacity && absent.len() > 300);
        let fill = 30_000..30_000 + (smaller.capacity + 10 - saturating.len()) as u32;
        let all = saturating.iter().copied().chain(fill);
        pipeline.commit(&[put(label, all, 1)], 0).unwrap();
        assert_eq!(class(&pipeline, label), Some(6));
        pipeline.open();
        let agrees = |pipeline: &Tested| {
            with_log(pipeline, label, |log| {
                let mut there = pipeline.oracle.edges[usize::from(label)].keys().map(|(_, id)| *id);
                assert!(there.all(|id| log.find(VertexId::new(id), END_OF_TIME).is_some()));
                assert!(absent.iter().all(|id| log.find(VertexId::new(*id), END_OF_TIME).is_none()));
                absent.iter().filter(|id| log.may_have(VertexId::new(**id))).count()
            })
        };
        assert_eq!(agrees(&pipeline), Some(absent.len()), "each is a false positive");
        // Deleting absent edges, alone and with others, changes nothing; they can be put and
        // deleted.
        pipeline.commit(&[delete(label, absent.iter().copied())], 0).unwrap();
        for id in &absent[..4] {
            pipeline.commit(&[put(0, [*id], 0)], 0).unwrap();
            assert!(pipeline.commit_edge(label, (1, *id), Some(7), 0));
            assert!(pipeline.commit_edge(label, (1, *id), None, 0));
            assert_eq!(agrees(&pipeline), Some(absent.len()));
        }
        // An upgrade.
        pipeline.commit(&[put(label, 40_000..40_000 + layout.capacity as u32, 2)], 0).unwrap();
        assert!(class(&pipeline, label) > Some(6));
        agrees(&pipeline);
        pipeline.check(&[0, 1, saturating[0], absent[0], 40_000]);
        // Compaction into a smaller block, once the rest is garbage.
        pipeline.close(0);
        pipeline.commit(&[delete(label, 30_000..50_000)], 0).unwrap();
        pipeline.reclaim(usize::MAX, 0);
        assert!(class(&pipeline, label) < Some(6));
        assert_log_is_consistent(&pipeline, label);
        assert_eq!(agrees(&pipeline), Some(absent.len()), "a smaller filter is saturated, too");
        pipeline.check(&[0, 1, saturating[0], absent[0], 40_000]);
    }
}

/// Plans changes in every way and abandons them, three times: nothing becomes visible, and
/// repeating takes no more memory.
fn give_up(pipeline: &Tested, label: u16, first: u32, count: u32) {
    let ids = first..first + count;
    let requests = [put(label, ids.clone(), 77), delete(label, (first / 2..first).step_by(3))];
    let edges = [(1, first), (2, first + 1)].map(|(source, destination)| {
        let ends = [source, destination].map(VertexId::new);
        let value = Oracle::value(label, 5);
        StoredEdge::new(Topology::Directed, LabelId(label), ends[0], ends[1], Some(value))
    });
    let mut free = Vec::new();
    for _ in 0..3 {
        pipeline.abandon(&requests);
        for edges in [&edges[..1], &edges] {
            let (locks, mut room) = (pipeline.locks(), Default::default());
            let staged =
                pipeline.engine.stage(&locks, Changes::Each(edges), &mut room, Allowance::UNLIMITED, None);
            drop(staged.unwrap());
        }
        free.push(pipeline.engine.reserved_bytes());
    }
    // Free memory grows when the system provides some, and when replaced blocks are freed.
    assert!(free.is_sorted(), "memory is not freed: {free:?}");
}

proptest! {
    #![proptest_config(one_case_in(5))]

    /// Writers that give up at any point leave nothing behind, whether they appended in place or
    /// copied.
    #[test]
    fn writers_that_give_up_leave_nothing(
        label in 0..LABELS,
        margin in prop_oneof![Just(0_u64), Just(1000)],
        steps in prop::collection::vec((0..400_u32, 1..300_u32, 1..40_u32, any::<bool>()), 1..25),
    ) {
        let mut pipeline = Tested::new(Topology::Directed, None);
        for (first, abandoned, count, puts) in steps {
            give_up(&pipeline, label, first, abandoned);
            pipeline.assert_counters_are_exact();
            let ids = first..first + count;
            let request = if puts { put(label, ids, count) } else { delete(label, ids) };
            pipeline.commit(&[request], margin).unwrap();
            give_up(&pipeline, label, first, 1);
            pipeline.assert_counters_are_exact();
            assert_log_is_consistent(&pipeline, label);
            if count % 4 == 0 {
                pipeline.open();
            }
            pipeline.check(&[0, 1, first, first + abandoned]);
        }
        pipeline.snapshots.clear();
        pipeline.reclaim(usize::MAX, 0);
        pipeline.check(&[0, 1, 399]);
        pipeline.assert_counters_are_exact();
    }
}

/// Writers that fail because of the limit leave nothing behind, and writes that need no more memory
/// succeed.
#[test]
fn writers_that_a_limit_refuses_leave_nothing() {
    for label in 0..LABELS {
        let mut pipeline = Tested::new(Topology::Directed, Some(1 << 18));
        let (mut next, mut refused) = (0, 0);
        while refused < 12 {
            let (before, free) = (pipeline.engine.memory(), pipeline.engine.reserved_bytes());
            match pipeline.commit(&[put(label, next..next + 150, 1)], 0) {
                Ok(()) => next += 150,
                Err(_) => {
                    refused += 1;
                    let after = pipeline.engine.memory();
                    assert_eq!(
                        (after.live_bytes, after.retained_bytes),
                        (before.live_bytes, before.retained_bytes)
                    );
                    assert!(pipeline.engine.reserved_bytes() >= free);
                    give_up(&pipeline, label, next, 150);
                    // New neighbors replace the deleted ones.
                    pipeline.commit(&[delete(label, next - 300..next - 100)], 0).unwrap();
                    next -= 100;
                    pipeline.reclaim(usize::MAX, 0);
                }
            }
            pipeline.assert_counters_are_exact();
            assert_log_is_consistent(&pipeline, label);
        }
        pipeline.check(&[0, 1, next - 1, next]);
    }
}

/// Reclamation after every step, with different budgets and numbers of open snapshots, of a log
/// that grows, is changed, shrinks, is emptied, and is filled again.
#[test]
fn compaction_after_every_step_changes_no_state() {
    for label in 0..LABELS {
        for budget in [1, 100, usize::MAX] {
            for held in [0, 3] {
                compact_after_every_step(label, budget, held);
            }
        }
    }
}

fn compact_after_every_step(label: u16, budget: usize, held: usize) {
    let mut pipeline = Tested::new(Topology::Directed, None);
    let mut shrunk = 0;
    let mut step = |pipeline: &mut Tested, request, number: usize| {
        pipeline.commit(&[request], if number.is_multiple_of(5) { 1000 } else { 0 }).unwrap();
        pipeline.open();
        while pipeline.snapshots.len() > held {
            // Not always the oldest.
            pipeline.close(number / 3);
        }
        let before = class(pipeline, label);
        pipeline.reclaim(budget, 0);
        let after = class(pipeline, label);
        shrunk += usize::from(after.is_some() && after < before);
        assert_log_is_consistent(pipeline, label);
        pipeline.assert_counters_are_exact();
        pipeline.check(&[0, 1, 299]);
    };
    for round in 0..2_usize {
        for number in 0..6 {
            step(&mut pipeline, put(label, number * 50..number * 50 + 70, number), round);
        }
        for number in 0..30 {
            let first = number * 10 + round as u32;
            step(&mut pipeline, put(label, first..first + 5, 50 + number), number as usize);
            step(&mut pipeline, delete(label, first..first + 10), number as usize);
        }
        step(&mut pipeline, delete(label, 0..400), 0);
        pipeline.snapshots.clear();
        while pipeline.reclaim(budget, 0).more {}
        pipeline.reclaim(usize::MAX, 0);
        assert_eq!(class(&pipeline, label), None, "nothing is left");
        let memory = pipeline.engine.memory();
        assert_eq!((memory.live_bytes, memory.retained_bytes), (0, 0));
    }
    assert!(shrunk >= 2, "the log became smaller {shrunk} times with budget {budget}, {held} held");
}
