//! Random histories of an adjacency behind a log, compared with the states of its retained
//! versions.

use super::*;
use crate::edge_log::{
    Archive, Archiver, ChangeList, Cut, EdgeLog, Ends, LogTail, NewRun, RunChange, RunCommits,
};
use hedgerow_model::token::LiveTimestamps;
use hedgerow_model::{Column, ColumnType, CommitTimestamp, EdgeChange, EdgeValue, VertexId};
use hedgerow_sync::{Arc, Mutex};
use hedgerow_testing::cases::one_case_in;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

mod handles;

const VERTICES: u32 = 3;

const ENDS: Ends = Ends { out: 0, back: None };

/// Values by owner and neighbor.
type State = BTreeMap<(u32, u32), u64>;

/// Puts or deletions of edges of one owner, whose neighbors are `step` apart.
#[derive(Clone, Debug)]
struct Changes {
    owner: u32,
    value: Option<u64>,
    first: u32,
    step: u32,
    count: u32,
}

impl Changes {
    fn edges(&self) -> impl Iterator<Item = (u32, u32)> {
        let Changes { owner, first, step, count, .. } = *self;
        (0..count).map(move |number| (owner, first + number * step))
    }
}

#[derive(Clone, Debug)]
enum Step {
    Commit(Changes),
    Archive,
    Hold,
    Release(prop::sample::Index),
}

fn changes() -> impl Strategy<Value = Changes> {
    let count = prop_oneof![8 => 1..4_u32, 3 => 5..40_u32, 1 => 100..400_u32];
    (0..VERTICES, prop::option::weighted(0.6, 0..3_u64), 0..60_u32, 1..4_u32, count)
        .prop_map(|(owner, value, first, step, count)| Changes { owner, value, first, step, count })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => changes().prop_map(Step::Commit),
        5 => Just(Step::Archive),
        1 => Just(Step::Hold),
        1 => any::<prop::sample::Index>().prop_map(Step::Release),
    ]
}

/// A tail to be read later, with the expected states of its version and of its timestamp.
struct Held {
    tail: Arc<LogTail>,
    archived: State,
    at: CommitTimestamp,
    fresh: State,
}

/// An adjacency behind a log, with one thread.
struct Store {
    log: EdgeLog,
    table: RowTable,
    archiver: Archiver,
    retained: Mutex<Vec<u32>>,
    counts: Mutex<AddedAndRemoved>,
}

impl Archive for Store {
    fn ends(&self, _: u16) -> Ends {
        ENDS
    }

    fn vertex_bound(&self) -> u32 {
        VERTICES
    }

    fn add(&self, round: u32, _: u32, changes: &ChangeList) {
        let AddedAndRemoved { added, removed, loops } = self.table.add(round, &self.retained.lock(), changes);
        let mut counts = self.counts.lock();
        counts.added += added;
        counts.removed += removed;
        counts.loops += loops;
    }
}

impl Store {
    fn new(column: ColumnType, sizes: BlockSizes) -> Self {
        Store {
            log: EdgeLog::new(64, CommitTimestamp::ZERO),
            table: RowTable::new(column, sizes),
            archiver: Archiver::default(),
            retained: Mutex::new(vec![0]),
            counts: Mutex::default(),
        }
    }

    fn commit(&self, at: u64, changes: &Changes, has_values: bool) {
        let position =
            |(owner, neighbor)| EdgeChange::position_of(VertexId::new(owner), VertexId::new(neighbor));
        let edges: Vec<u64> = changes.edges().map(position).collect();
        let values = vec![changes.value.unwrap_or(0); edges.len()];
        let change = match changes.value {
            None => RunChange::Delete,
            Some(_) if has_values => RunChange::PutValues(&values),
            Some(_) => RunChange::Put,
        };
        let runs = [NewRun { table: 0, change, commits: RunCommits::One, edges: &edges }];
        self.log.reserve(CommitTimestamp(at), &runs).write(&runs);
    }

    fn archive(&mut self) {
        let mut archiver = std::mem::take(&mut self.archiver);
        archiver.archive(&self.log, self, Cut::At(self.log.latest()), None);
        self.archiver = archiver;
        // SAFETY: a reader of a timestamp holds the tail that it reads through.
        let live = unsafe { LiveTimestamps::as_of(Vec::new(), CommitTimestamp(u64::MAX)) };
        let retained: Vec<u32> = self.log.forget(&live).iter().map(|archived| archived.round).collect();
        self.table.free_former(&retained);
        self.retained = Mutex::new(retained);
    }
}

/// Compares a version with its expected state, by every method.
fn check<W: Column>(table: &RowTable, tail: &LogTail, expected: &State) {
    // SAFETY: the table is fed by the log of the tail.
    let round = unsafe { RetainedVersion::new(tail) };
    let mut deleted = Vec::new();
    let mut in_order = Vec::new();
    for (vertex, row) in table.rows(0..VERTICES, round) {
        let mut read = Vec::new();
        let flow = row.neighbors::<W, ()>(&mut deleted, |neighbors, values| {
            assert!(!neighbors.is_empty() && neighbors.len() == values.len());
            let pairs = neighbors.iter().zip(values);
            read.extend(pairs.map(|(neighbor, value)| (neighbor.get(), value.to_bits().0)));
            ControlFlow::Continue(())
        });
        assert!(flow.is_continue());
        assert_eq!(row.degree(), read.len(), "the degree of {vertex}");
        read.sort_unstable();
        in_order.extend(read.into_iter().map(|(neighbor, value)| ((vertex.get(), neighbor), value)));
    }
    let expected_in_order: Vec<_> = expected.iter().map(|(edge, value)| (*edge, *value)).collect();
    assert_eq!(in_order, expected_in_order);
    for owner in 0..VERTICES {
        for neighbor in (0..70).chain([300, 900]) {
            let found =
                table.row(VertexId::new(owner), round).and_then(|row| row.find(VertexId::new(neighbor)));
            assert_eq!(found, expected.get(&(owner, neighbor)).map(|value| EdgeValue(*value)));
        }
    }
}

/// Compares a version and the changes after it with the expected state of both.
fn check_fresh<W: Column>(table: &RowTable, tail: &LogTail, at: CommitTimestamp, expected: &State) {
    // SAFETY: the table is fed by the log of the tail.
    let round = unsafe { RetainedVersion::new(tail) };
    let changes = tail.changes(at, 0, |_| ENDS);
    let replaced = ReplacedEntries::new(&changes, |owner| table.row(owner, round));
    let (mut merged, mut rows_with_changes) = (RowCopy::<W>::default(), 0..);
    for owner in 0..VERTICES {
        let (vertex, expected) = (VertexId::new(owner), expected.range((owner, 0)..(owner + 1, 0)));
        let row = table.row(vertex, round);
        if let Some(changes) = changes.row(vertex) {
            let number = rows_with_changes.next().expect("rows have numbers");
            let (mut room, replaced) = (ReplacedInRow::default(), replaced.of(number));
            match row {
                Some(row) => {
                    assert_eq!(room.find(row, changes), replaced);
                    merged.merge(row, replaced, changes);
                }
                None => merged.copy_puts(changes),
            }
            let (neighbors, values) = merged.edges();
            let pairs = neighbors.iter().zip(values);
            let mut read: Vec<_> =
                pairs.map(|(neighbor, value)| (neighbor.get(), value.to_bits().0)).collect();
            read.sort_unstable();
            let expected = expected.clone().map(|((_, neighbor), value)| (*neighbor, *value));
            assert_eq!(read, expected.collect::<Vec<_>>(), "the neighbors of {vertex} at {at}");

            let mut in_place = Vec::new();
            let _: Option<ControlFlow<()>> = row.map(|row| {
                row.neighbors_without(replaced, &mut Vec::new(), |neighbors, values: &[W]| {
                    let pairs = neighbors.iter().zip(values);
                    in_place.extend(pairs.map(|(neighbor, value)| (neighbor.get(), value.to_bits().0)));
                    ControlFlow::Continue(())
                })
            });
            merged.copy_puts(changes);
            let (neighbors, values) = merged.edges();
            let puts = neighbors.iter().zip(values);
            in_place.extend(puts.map(|(neighbor, value)| (neighbor.get(), value.to_bits().0)));
            in_place.sort_unstable();
            assert_eq!(in_place, read, "the neighbors of {vertex} at {at}, in place");
            let archived = row.map_or(0, |row| row.degree());
            assert_eq!(archived - replaced.len() + changes.count_puts(), read.len());
        }
        for ((_, neighbor), value) in expected {
            let found = find_merged(row, changes.row(vertex), VertexId::new(*neighbor));
            assert_eq!(found, Some(EdgeValue(*value)));
        }
    }
}

/// Returns the value of an edge at a timestamp.
fn find_fresh(
    table: &RowTable,
    tail: &LogTail,
    at: CommitTimestamp,
    (owner, neighbor): (u32, u32),
) -> Option<EdgeValue> {
    // SAFETY: the table is fed by the log of the tail.
    let round = unsafe { RetainedVersion::new(tail) };
    let (owner, changes) = (VertexId::new(owner), tail.changes(at, 0, |_| ENDS));
    find_merged(table.row(owner, round), changes.row(owner), VertexId::new(neighbor))
}

fn run<W: Column>(steps: &[Step], sizes: BlockSizes) {
    let has_values = W::TYPE != ColumnType::Unit;
    let mut store = Store::new(W::TYPE, sizes);
    let (mut state, mut archived, mut at) = (State::new(), State::new(), 0);
    let mut held: Vec<Held> = Vec::new();
    for step in steps {
        match step {
            Step::Commit(changes) => {
                at += 1;
                store.commit(at, changes, has_values);
                for edge in changes.edges() {
                    match changes.value {
                        Some(value) => drop(state.insert(edge, if has_values { value } else { 0 })),
                        None => drop(state.remove(&edge)),
                    }
                }
            }
            Step::Archive => {
                store.archive();
                archived = state.clone();
                check::<W>(&store.table, &store.log.newest(), &archived);
                let (counted, walked) = store.table.counted_and_walked_note_bytes();
                assert_eq!(counted, walked, "bytes of notes");
            }
            Step::Hold => {
                let (tail, at) = (store.log.newest(), CommitTimestamp(at));
                held.push(Held { tail, archived: archived.clone(), at, fresh: state.clone() });
            }
            Step::Release(index) if !held.is_empty() => drop(held.swap_remove(index.index(held.len()))),
            Step::Release(_) => {}
        }
        for Held { tail, archived, at, fresh } in &held {
            check::<W>(&store.table, tail, archived);
            check_fresh::<W>(&store.table, tail, *at, fresh);
        }
    }
    let AddedAndRemoved { added, removed, loops } = *store.counts.lock();
    let are_loops = archived.keys().filter(|(owner, neighbor)| owner == neighbor).count();
    assert_eq!((added - removed, loops as usize), (archived.len() as u64, are_loops));
}

proptest! {
    #![proptest_config(one_case_in(2))]

    #[test]
    fn retained_versions_without_values_stay_as_they_were(
        steps in prop::collection::vec(step(), 0..60),
        sizes in prop::sample::select(vec![BlockSizes::Exact, BlockSizes::Lines, BlockSizes::LinesAndPages, BlockSizes::Growing]),
    ) {
        run::<()>(&steps, sizes);
    }

    #[test]
    fn retained_versions_with_values_stay_as_they_were(steps in prop::collection::vec(step(), 0..60)) {
        run::<u32>(&steps, BlockSizes::Growing);
        run::<u64>(&steps, BlockSizes::Lines);
    }
}

#[test]
fn memory_of_rewritten_rows_is_used_again() {
    const NEIGHBORS: u32 = if cfg!(miri) { 40 } else { 300 };
    const TIMES: u64 = if cfg!(miri) { 2 } else { 20 };
    let mut store = Store::new(ColumnType::Unit, BlockSizes::Growing);
    let mut commit_and_archive = |at: u64, value| {
        store.commit(at, &Changes { owner: 0, value, first: 0, step: 1, count: NEIGHBORS }, false);
        store.archive();
        store.table.memory()
    };
    for at in 0..TIMES {
        commit_and_archive(2 * at + 1, Some(0));
        commit_and_archive(2 * at + 2, None);
    }
    let used = commit_and_archive(2 * TIMES + 1, Some(0));
    let (live, all) = (used.live_bytes, used.live_bytes + used.retained_bytes + used.reserved_bytes);
    assert!(live < 6_000 && all < 22_000, "{used:?}");
}

/// A chain that no retained version has counts as retained while a reader may be passing through
/// it, and its memory is not reused.
#[test]
fn memory_of_retired_chains_counts_as_used_until_no_reader_is_pinned() {
    let mut store = Store::new(ColumnType::Unit, BlockSizes::Growing);
    let mut at = 0;
    let rewrite = |store: &mut Store, at: &mut u64| {
        for value in [Some(0), None] {
            *at += 1;
            store.commit(*at, &Changes { owner: 0, value, first: 0, step: 1, count: 300 }, false);
            store.archive();
        }
        store.table.memory()
    };
    for _ in 0..5 {
        rewrite(&mut store, &mut at);
    }
    let before = rewrite(&mut store, &mut at);
    let domain = &raw const store.table.domain;
    // SAFETY: the table stays in `store`, and changes its domain by shared references only.
    let pinned = unsafe { &*domain }.pin();
    let beside = rewrite(&mut store, &mut at);
    let later = rewrite(&mut store, &mut at);
    assert!(before.retained_bytes < beside.retained_bytes, "{before:?}, then {beside:?}");
    assert!(beside.retained_bytes + 1_000 < later.retained_bytes, "{beside:?}, then {later:?}");
    drop(pinned);
    let after = rewrite(&mut store, &mut at);
    assert!(after.total_bytes() <= before.total_bytes(), "{before:?}, and {after:?} without a reader");
}

/// The exact set of a hub's neighbors shrinks when edges are deleted.
#[test]
fn bytes_of_the_notes_of_a_hub_are_exact_while_it_shrinks() {
    let mut store = Store::new(ColumnType::Unit, BlockSizes::Growing);
    let changes = |value, first, count| Changes { owner: 0, value, first, step: 3, count };
    store.commit(1, &changes(Some(0), 0, 4_000), false);
    store.archive();
    for round in 0..30 {
        store.commit(2 + u64::from(round), &changes(None, 300 * round, 100), false);
        store.archive();
        let (counted, walked) = store.table.counted_and_walked_note_bytes();
        assert_eq!(counted, walked, "after {round} rounds");
    }
}

/// Rows of ever other sizes reuse freed blocks that are not much larger.
#[test]
fn a_large_block_takes_the_place_of_one_that_was_larger() {
    let mut store = Store::new(ColumnType::Unit, BlockSizes::Growing);
    let put = |store: &mut Store, at, owner, count| {
        store.commit(at, &Changes { owner, value: Some(0), first: 0, step: 1, count }, false);
        store.archive();
    };
    put(&mut store, 1, 0, 20_000);
    store.commit(2, &Changes { owner: 0, value: None, first: 0, step: 1, count: 20_000 }, false);
    store.archive();
    // After some rounds, the memory of the old block can be reused.
    (3..6).for_each(|at| put(&mut store, at, 1, 1));
    let free = store.table.memory().reserved_bytes;
    put(&mut store, 6, 2, 17_000);
    let memory = store.table.memory();
    assert!(free > 80_000 && memory.reserved_bytes < free - 80_000, "{free} bytes were free: {memory:?}");
}
