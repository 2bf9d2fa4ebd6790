//! Logs at the sizes where something changes: full blocks, full words of filters, rewrites; each beside snapshots of what was before.

use super::TestedTel;
use crate::filter::Filter;
use crate::layout::{CLASSES, Layout, bytes_of};
use hedgerow_model::{Engine, Topology, VertexId};
use hedgerow_sync::atomic::{AtomicU64, Ordering};
use hedgerow_sync::epoch;
use hedgerow_testing::oracle::Request;
use hedgerow_testing::pipeline::Pipeline;

type Tested = Pipeline<TestedTel>;

/// A label for each width of values: none, 8, 4 bytes.
const WIDTHS: [(u16, usize); 3] = [(0, 0), (1, 8), (2, 4)];

const OWNER: u32 = 1;

fn put(label: u16, destinations: impl IntoIterator<Item = u32>, value: u32) -> Request {
    Request::PutEdges { label, source: OWNER, destinations: destinations.into_iter().collect(), value }
}

fn delete(label: u16, destinations: impl IntoIterator<Item = u32>) -> Request {
    Request::DeleteEdges { label, source: OWNER, destinations: destinations.into_iter().collect() }
}

/// The class and the length of the owner's log.
fn shape(pipeline: &Tested, label: u16) -> (u8, usize) {
    let guard = epoch::pin();
    let table = pipeline.engine.tables[usize::from(label)];
    let log = pipeline.engine.log(table, VertexId::new(OWNER), &guard).expect("it has edges");
    (log.class(), log.length())
}

/// Every block from the smallest to one of 64 KiB is filled to the last entry and by one more, in one commit or edge by edge,
/// with entries that ended before and after a snapshot that still sees them; and what each snapshot saw is read in the end.
#[test]
fn every_size_is_outgrown_under_snapshots() {
    let largest = (0..CLASSES as u8).find(|class| bytes_of(*class) == 1 << 16).unwrap();
    for (label, width) in WIDTHS {
        let mut pipeline = Tested::new(Topology::Directed, None);
        // The short way is one between vertices that exist.
        let last = Layout::of(largest, width).capacity as u32 + 10;
        let vertices = Request::PutEdges { label: 0, source: 0, destinations: (0..last).collect(), value: 0 };
        pipeline.commit(&[vertices, put(label, [0], 0)], 0).unwrap();
        let (mut next, mut outgrown) = (1, 0);
        for class in 0..=largest {
            let capacity = Layout::of(class, width).capacity;
            let (now, length) = shape(&pipeline, label);
            if now > class || length > capacity {
                continue;
            }
            // All but two places, so that two single edges fill it.
            let missing = (capacity - length).saturating_sub(2) as u32;
            pipeline.commit(&[put(label, next..next + missing, 5)], 0).unwrap();
            next += missing;
            // A value that changes is another entry while a snapshot sees the old one; a deletion is none.
            pipeline.open();
            pipeline.commit(&[delete(label, [next / 2])], 0).unwrap();
            while shape(&pipeline, label) < (class, capacity) {
                assert!(pipeline.commit_edge(label, (OWNER, next), Some(6), 0));
                next += 1;
            }
            assert_eq!(shape(&pipeline, label), (class, capacity), "it is full");
            pipeline.assert_counters_are_exact();
            pipeline.open();
            let before = pipeline.oracle.edges[usize::from(label)].len();
            // The odd sizes are outgrown by an edge alone, unless they take long to copy, the others by a commit.
            if !(class % 2 == 1 && pipeline.commit_edge(label, (OWNER, next), Some(7), 0)) {
                pipeline.commit(&[put(label, [next], 7)], 0).unwrap();
            }
            next += 1;
            let (grown, length) = shape(&pipeline, label);
            assert!(grown == class + 1 && length <= Layout::of(grown, width).capacity);
            assert!(pipeline.oracle.edges[usize::from(label)].len() > before);
            pipeline.assert_counters_are_exact();
            // The two snapshots of the size before see it whole, through the blocks that took its place.
            pipeline.check(&[0, 1, 2, next / 2, next - 1, next]);
            while pipeline.snapshots.len() > 2 {
                pipeline.close(0);
            }
            outgrown += 1;
        }
        assert_eq!(outgrown, usize::from(largest) + 1, "each size was met");
        pipeline.snapshots.clear();
        pipeline.reclaim(usize::MAX, 0);
        pipeline.check(&[0, 1, 2, next - 1]);
        pipeline.assert_counters_are_exact();
    }
}

/// Ids whose bits are all in one word of a filter of so many words, until no bit of that word is free, and some more of that word.
fn ids_of_one_word(words: usize, more: usize) -> (Vec<u32>, Vec<u32>) {
    let word_of = |id: u32| {
        let filter: Vec<AtomicU64> = (0..words).map(|_| AtomicU64::new(0)).collect();
        Filter(&filter).insert(VertexId::new(id));
        filter
            .iter()
            .enumerate()
            .map(|(word, bits)| (word, bits.load(Ordering::Relaxed)))
            .find(|(_, bits)| *bits != 0)
    };
    let (mut filling, mut others, mut bits) = (Vec::new(), Vec::new(), 0);
    for id in 2.. {
        match word_of(id) {
            Some((0, of_id)) if bits | of_id != bits => {
                bits |= of_id;
                filling.push(id);
            }
            Some((0, _)) if bits == u64::MAX => others.push(id),
            _ => {}
        }
        if others.len() == more {
            return (filling, others);
        }
    }
    unreachable!("there are more ids than bits")
}

/// Where a word of the filter is full it tells nothing of those that share it: they are looked for, and neither found where they are not nor missed where
/// they are, before and after the log is rewritten larger and smaller.
#[test]
fn a_full_word_of_a_filter_costs_a_look_and_no_more() {
    for (label, width) in WIDTHS {
        let class = (0..CLASSES as u8).find(|class| Layout::of(*class, width).filter_words == 16).unwrap();
        let layout = Layout::of(class, width);
        let (filling, others) = ids_of_one_word(layout.filter_words, 40);
        assert!(filling.len() + 1 < layout.capacity, "they fit beside each other");
        let mut pipeline = Tested::new(Topology::Directed, None);
        // Above half of the smaller size, so that the log is of this class.
        let rest = layout.capacity - filling.len() - 1;
        pipeline
            .commit(&[put(label, filling.iter().copied().chain(1_000_000..1_000_000 + rest as u32), 1)], 0)
            .unwrap();
        assert_eq!(shape(&pipeline, label), (class, layout.capacity - 1));
        let may_have = |pipeline: &Tested, id: u32| {
            let guard = epoch::pin();
            let log =
                pipeline.engine.log(pipeline.engine.tables[usize::from(label)], VertexId::new(OWNER), &guard);
            log.expect("it has edges").may_have(VertexId::new(id))
        };
        assert!(others.iter().all(|id| may_have(&pipeline, *id)), "the word is full");
        let looked_at: Vec<u32> = filling.iter().chain(&others).copied().collect();
        pipeline.open();
        pipeline.check(&looked_at);
        // None of them is there to be deleted; then one is put, changed, deleted and put again.
        pipeline.commit(&[delete(label, others.iter().copied())], 0).unwrap();
        for value in 1..4 {
            pipeline.commit(&[put(label, [others[0]], value)], 0).unwrap();
            pipeline.commit(&[put(label, [filling[0]], value + 1)], 0).unwrap();
        }
        pipeline.commit(&[delete(label, [others[0], filling[1]])], 0).unwrap();
        pipeline.commit(&[put(label, others.iter().copied(), 9)], 0).unwrap();
        assert!(shape(&pipeline, label).0 > class, "it grew");
        pipeline.check(&looked_at);
        pipeline.assert_counters_are_exact();
        // Smaller again: what is left is found by a filter of its own.
        pipeline.commit(&[delete(label, 1_000_000..1_000_000 + rest as u32)], 0).unwrap();
        pipeline.snapshots.clear();
        pipeline.reclaim(usize::MAX, 0);
        assert!(looked_at.iter().filter(|id| **id != filling[1]).all(|id| may_have(&pipeline, *id)));
        pipeline.check(&looked_at);
        pipeline.assert_counters_are_exact();
    }
}

/// What a run of commits on one log does, one step after the other.
fn script() -> Vec<Vec<Request>> {
    let mut steps = Vec::new();
    for round in 0..6_u32 {
        steps.push(vec![put(2, round * 7..round * 7 + 20, round)]);
        steps.push(vec![delete(2, (round * 5..round * 5 + 12).step_by(2))]);
        steps.push(vec![put(2, (0..30).step_by(3), round + 10), put(0, [round, 40 + round], 0)]);
        if round % 3 == 2 {
            steps.push(vec![delete(2, 0..100), delete(0, 0..100)]);
        }
    }
    steps
}

/// Old entries are freed after each step of a run, by any budget, with snapshots as of earlier steps that are held or closed.
#[test]
fn logs_are_rewritten_at_every_point() {
    let steps = script();
    for point in 0..steps.len() {
        for (budget, held) in [(1, 0), (100, 1), (usize::MAX, 0), (usize::MAX, 2)] {
            let mut pipeline = Tested::new(Topology::Directed, None);
            for (number, step) in steps.iter().enumerate() {
                pipeline.commit(step, 0).unwrap();
                pipeline.open();
                if number < point {
                    continue;
                }
                while pipeline.snapshots.len() > held {
                    pipeline.close(number);
                }
                pipeline.reclaim(budget, 0);
                pipeline.assert_counters_are_exact();
                if number == point || number + 1 == steps.len() {
                    pipeline.check(&[0, 1, 2, 6, 19, 45]);
                }
            }
            pipeline.snapshots.clear();
            while pipeline.reclaim(budget, 0).more {}
            pipeline.check(&[0, 1, 2, 6, 19, 45]);
            assert_eq!(pipeline.engine.memory().retained_bytes, 0);
        }
    }
}

/// A commit or a single edge that is prepared before each step of a run, and given up, is never seen, and takes nothing with it: neither memory nor what
/// comes after it into the same places.
#[test]
fn what_is_given_up_leaves_nothing() {
    let steps = script();
    for point in 0..steps.len() {
        let mut pipeline = Tested::new(Topology::Directed, None);
        pipeline.commit(&[put(0, [0], 0)], 0).unwrap();
        for (number, step) in steps.iter().enumerate() {
            if number >= point {
                // What is about to be done, what is not, and what needs a larger block.
                pipeline.abandon(step);
                pipeline.abandon(&[put(2, 60..90, 77), delete(2, 0..30)]);
                pipeline.abandon(&[put(2, 100..1000, 78), put(0, 100..1000, 0)]);
                pipeline.give_up_edge(2, (OWNER, 99), Some(7));
                pipeline.give_up_edge(2, (OWNER, 1), None);
                pipeline.assert_counters_are_exact();
            }
            pipeline.open();
            pipeline.commit(step, 0).unwrap();
            pipeline.assert_counters_are_exact();
        }
        pipeline.check(&[0, 1, 2, 6, 19, 45, 60, 99, 100]);
        pipeline.snapshots.clear();
        pipeline.reclaim(usize::MAX, 0);
        pipeline.check(&[0, 1, 60, 99, 100]);
    }
}
