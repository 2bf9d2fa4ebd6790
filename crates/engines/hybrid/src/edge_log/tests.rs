//! Random histories of a log in front of a plain adjacency, checked against all their states.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::edge_log::{
    Archive, Archiver, ChangeList, Cut, EdgeLog, Ends, LogTail, NewRun, RunChange, RunCommits,
};
use hedgerow_model::token::LiveTimestamps;
use hedgerow_model::{ChangeSlice, CommitTimestamp, EdgeChange, EdgeValue, VertexId};
use hedgerow_sync::Mutex;
use proptest::prelude::*;
use rayon::ThreadPoolBuilder;
use std::collections::BTreeMap;
use std::ops::Range;

/// Table of undirected edges, whose ends are both in adjacency 0.
const UNDIRECTED: u16 = 0;

/// Table of directed edges, by source in adjacency 1 and by destination in adjacency 2.
const DIRECTED: u16 = 1;

const ADJACENCIES: u32 = 3;

/// Values by adjacency, owner and neighbor.
type State = BTreeMap<(u32, u32, u32), u64>;

fn ends_of(table: u16) -> Ends {
    match table {
        UNDIRECTED => Ends { out: 0, back: Some(0) },
        _ => Ends { out: 1, back: Some(2) },
    }
}

/// Contents of an entry over time, each with the round that made it.
type History = Vec<(u32, Option<EdgeValue>)>;

/// An adjacency that keeps all changes of all versions.
#[derive(Default)]
struct PlainAdjacency(Mutex<BTreeMap<(u32, u32, u32), History>>);

impl PlainAdjacency {
    fn state(&self, round: u32) -> State {
        let versions = self.0.lock();
        let seen = versions.iter().filter_map(|(entry, versions)| {
            let (_, value) = versions.iter().rev().find(|(born, _)| *born <= round)?;
            Some((*entry, (*value)?.0))
        });
        seen.collect()
    }
}

impl Archive for PlainAdjacency {
    fn ends(&self, table: u16) -> Ends {
        ends_of(table)
    }

    fn vertex_bound(&self) -> u32 {
        8
    }

    fn add(&self, round: u32, adjacency: u32, changes: &ChangeList) {
        let mut versions = self.0.lock();
        for row in changes.rows(0..u32::MAX) {
            for change in row.iter() {
                let entry = (adjacency, change.owner().get(), change.neighbor().get());
                versions.entry(entry).or_default().push((round, change.value));
            }
        }
    }
}

/// The edges of a commit in one table, put with `value` or deleted.
#[derive(Clone, Debug)]
struct Commit {
    table: u16,
    value: Option<u64>,
    edges: Vec<(u32, u32)>,
}

impl Commit {
    /// Moves the edges to the four vertices from `first` on.
    fn among(self, first: u32) -> Self {
        let edges =
            self.edges.iter().map(|(source, destination)| (first + source % 4, first + destination % 4));
        Commit { edges: edges.collect(), ..self }
    }
}

#[derive(Clone, Debug)]
enum Step {
    Commit(Vec<Commit>),
    /// A commit that is applied after the commit with the next timestamp, which changes other
    /// edges. In between, the earlier commits may be archived. The timestamp of the late commit may
    /// have been registered before.
    Overtaken {
        late: Commit,
        early: Commit,
        archives: bool,
        opens: bool,
    },
    /// Archives the state of `before` commits before the newest.
    Archive {
        before: u64,
    },
    /// Each edge is a commit.
    Stream(Commit),
    /// Registers the newest timestamp, and reads it at the end.
    Open {
        holds: bool,
    },
    Forget,
}

fn commit() -> impl Strategy<Value = Commit> {
    let edges = prop::collection::vec((0..8_u32, 0..8_u32), 1..6);
    (prop::sample::select(vec![UNDIRECTED, DIRECTED]), prop::option::weighted(0.7, 0..4_u64), edges)
        .prop_map(|(table, value, edges)| Commit { table, value, edges })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => prop::collection::vec(commit(), 1..3).prop_map(Step::Commit),
        2 => commit().prop_map(Step::Stream),
        2 => (commit(), commit(), any::<bool>(), any::<bool>()).prop_map(|(late, early, archives, opens)| {
            let (late, early) = (late.among(0), early.among(4));
            Step::Overtaken { late, early, archives, opens }
        }),
        3 => (0..4_u64).prop_map(|before| Step::Archive { before }),
        2 => any::<bool>().prop_map(|holds| Step::Open { holds }),
        1 => Just(Step::Forget),
    ]
}

/// A registered timestamp, the state expected there, and the tail if it is held from the beginning.
struct Opened {
    at: CommitTimestamp,
    expected: State,
    held: Option<std::sync::Arc<LogTail>>,
}

fn apply(state: &mut State, Commit { table, value, edges }: &Commit) {
    let Ends { out, back } = ends_of(*table);
    for (source, destination) in edges {
        let entries = [(out, *source, *destination), (back.unwrap_or(out), *destination, *source)];
        for entry in entries {
            match value {
                Some(value) => drop(state.insert(entry, *value)),
                None => drop(state.remove(&entry)),
            }
        }
    }
}

/// Returns the state that a tail shows at a timestamp, over its version of the adjacency.
fn state_in(tail: &LogTail, adjacency: &PlainAdjacency, at: CommitTimestamp) -> State {
    let mut state = adjacency.state(tail.archived().round);
    for number in 0..ADJACENCIES {
        let changes = tail.changes(at, number, ends_of);
        for owner in (0..8).map(VertexId::new).filter(|owner| changes.row(*owner).is_none()) {
            for change in
                tail.changes_of(at, (number, owner), ends_of).rows(0..u32::MAX).flat_map(ChangeSlice::iter)
            {
                let entry = (number, owner.get(), change.neighbor().get());
                assert_eq!(change.owner(), owner);
                assert_eq!(state.get(&entry).copied(), change.value.map(|value| value.0), "archived already");
            }
        }
        for row in changes.rows(0..u32::MAX) {
            let alone = tail.changes_of(at, (number, row.first_owner()), ends_of);
            let alone = alone.row(row.first_owner()).unwrap();
            for change in alone.iter().filter(|change| row.find(change.neighbor()).is_none()) {
                let entry = (number, change.owner().get(), change.neighbor().get());
                assert_eq!(state.get(&entry).copied(), change.value.map(|value| value.0), "archived already");
            }
            for change in row.iter() {
                let (owner, neighbor) = (change.owner(), change.neighbor());
                assert_eq!(alone.find(neighbor), Some(change));
                assert_eq!(tail.find(at, (number, owner, neighbor), ends_of), Some(change.value));
                let entry = (number, owner.get(), neighbor.get());
                match change.value {
                    Some(value) => drop(state.insert(entry, value.0)),
                    None => drop(state.remove(&entry)),
                }
            }
        }
    }
    state
}

fn append(log: &EdgeLog, at: u64, commits: &[Commit]) {
    append_as(RunCommits::One, log, at, commits);
}

fn append_as(of: RunCommits, log: &EdgeLog, at: u64, commits: &[Commit]) {
    let position = |(source, destination): &(u32, u32)| {
        EdgeChange::position_of(VertexId::new(*source), VertexId::new(*destination))
    };
    let edges: Vec<Vec<u64>> =
        commits.iter().map(|commit| commit.edges.iter().map(position).collect()).collect();
    let values: Vec<Vec<u64>> =
        commits.iter().map(|commit| vec![commit.value.unwrap_or(0); commit.edges.len()]).collect();
    let runs: Vec<NewRun<'_>> = commits
        .iter()
        .zip(edges.iter().zip(&values))
        .map(|(commit, (edges, values))| {
            let change = match commit.value {
                None => RunChange::Delete,
                Some(0) => RunChange::Put,
                Some(_) => RunChange::PutValues(values),
            };
            NewRun { table: commit.table, change, commits: of, edges }
        })
        .collect();
    log.reserve(CommitTimestamp(at), &runs).write(&runs);
}

fn live(opened: &[Opened], newest: u64) -> LiveTimestamps {
    let registered = opened.iter().filter(|opened| opened.held.is_none()).map(|opened| opened.at).collect();
    // SAFETY: has all timestamps that are read without a held tail; no memory depends on others.
    unsafe { LiveTimestamps::as_of(registered, CommitTimestamp(newest)) }
}

fn run(steps: &[Step], threads: usize) {
    let pool = (threads > 1).then(|| ThreadPoolBuilder::new().num_threads(threads).build().unwrap());
    let log = EdgeLog::new(24, CommitTimestamp::ZERO);
    let (adjacency, mut archiver) = (PlainAdjacency::default(), Archiver::default());
    let (mut state, mut newest, mut opened) = (State::new(), 0, Vec::<Opened>::new());
    // Timestamps of each stream except its last, the only one that a reader may have.
    let mut streams = Vec::<Range<u64>>::new();
    for step in steps {
        match step {
            Step::Commit(commits) => {
                newest += 1;
                append(&log, newest, commits);
                commits.iter().for_each(|commit| apply(&mut state, commit));
            }
            Step::Stream(commit) => {
                let first = newest + 1;
                newest += commit.edges.len() as u64;
                streams.push(first..newest);
                append_as(RunCommits::Each, &log, first, std::slice::from_ref(commit));
                apply(&mut state, commit);
                let run =
                    log.newest().runs(CommitTimestamp(newest)).last().map(|run| run.commits().collect());
                assert_eq!(run, Some((first..=newest).map(CommitTimestamp).collect::<Vec<_>>()));
            }
            Step::Overtaken { late, early, archives, opens } => {
                let [first, second] = [newest + 1, newest + 2];
                newest = second;
                apply(&mut state, late);
                if *opens {
                    opened.push(Opened { at: CommitTimestamp(first), expected: state.clone(), held: None });
                }
                apply(&mut state, early);
                append(&log, second, std::slice::from_ref(early));
                if *archives {
                    let applied = first - 1;
                    archiver.archive(&log, &adjacency, Cut::At(CommitTimestamp(applied)), pool.as_ref());
                    log.forget(&live(&opened, applied));
                }
                append(&log, first, std::slice::from_ref(late));
            }
            Step::Archive { before } => {
                let at = newest.saturating_sub(*before);
                let at =
                    streams.iter().find(|stream| stream.contains(&at)).map_or(at, |stream| stream.start - 1);
                let (waiting, at) = (log.waiting(), CommitTimestamp(at));
                let archived = archiver.archive(&log, &adjacency, Cut::At(at), pool.as_ref());
                assert_eq!(archived.is_some(), log.waiting() < waiting);
                if let Some(archived) = archived {
                    assert_eq!((archived, archived.through), (log.newest().archived(), at));
                    assert!(log.newest().runs(at).next().is_none());
                }
            }
            Step::Open { holds } => {
                let at = CommitTimestamp(newest);
                let held = holds.then(|| log.tail_at(at));
                opened.push(Opened { at, expected: state.clone(), held });
            }
            Step::Forget => {
                let kept = log.forget(&live(&opened, newest));
                assert_eq!(kept.last(), Some(&log.newest().archived()));
                assert!(kept.is_sorted_by_key(|archived| (archived.round, archived.through)));
            }
        }
    }
    log.forget(&live(&opened, newest));
    for Opened { at, expected, held } in &opened {
        let tail = held.clone().unwrap_or_else(|| log.tail_at(*at));
        assert_eq!(state_in(&tail, &adjacency, *at), *expected, "at {at:?}");
    }
    let last = log.newest();
    assert_eq!(state_in(&last, &adjacency, CommitTimestamp(u64::MAX)), state);
    drop((opened, last));
    archiver.archive(&log, &adjacency, Cut::At(CommitTimestamp(newest)), None);
    assert_eq!((log.waiting(), adjacency.state(log.newest().archived().round)), (0, state));
    let kept = log.forget(&live(&[], newest));
    assert_eq!(kept, [log.newest().archived()], "nothing is read");
}

proptest! {
    #[test]
    fn a_version_and_the_tail_after_it_show_every_state(steps in prop::collection::vec(step(), 0..60)) {
        run(&steps, 1);
    }

    #[test]
    #[cfg_attr(miri, ignore = "starts threads for each case")]
    fn threads_share_the_work_of_archiving(steps in prop::collection::vec(step(), 0..40)) {
        run(&steps, 3);
    }
}

#[test]
fn a_commit_larger_than_a_buffer_lies_in_one_of_its_own() {
    let (log, adjacency) = (EdgeLog::new(4, CommitTimestamp::ZERO), PlainAdjacency::default());
    let edges = (0..8).flat_map(|source| (0..8).map(move |destination| (source, destination)));
    append(&log, 1, &[Commit { table: DIRECTED, value: Some(5), edges: edges.collect() }]);
    assert!(log.newest().buffers().last().unwrap().is_complete(), "it is full");
    append(&log, 2, &[Commit { table: DIRECTED, value: None, edges: vec![(3, 3)] }]);
    assert_eq!(state_in(&log.newest(), &adjacency, CommitTimestamp(1)).len(), 128);
    assert_eq!(state_in(&log.newest(), &adjacency, CommitTimestamp(2)).len(), 126);
    let mut archiver = Archiver::default();
    let archived = archiver.archive(&log, &adjacency, Cut::At(CommitTimestamp(1)), None).unwrap();
    assert_eq!((log.waiting(), archived.through), (1, CommitTimestamp(1)));
    assert_eq!(log.newest().buffers().len(), 2, "the buffer of its own is not read any more");
}

#[test]
fn buffers_without_readers_are_used_again() {
    let (log, adjacency, mut archiver) =
        (EdgeLog::new(64, CommitTimestamp::ZERO), PlainAdjacency::default(), Archiver::default());
    let mut commits = 1..;
    let mut fill = |log: &EdgeLog| {
        for at in commits.by_ref().take(100) {
            append(log, at, &[Commit { table: UNDIRECTED, value: Some(0), edges: vec![(1, 2)] }]);
            if at % 10 == 5 {
                archiver.archive(log, &adjacency, Cut::At(CommitTimestamp(at)), None);
            }
            log.forget(&live(&[], u64::MAX));
        }
        let used = log.memory();
        used.live_bytes + used.retained_bytes + used.reserved_bytes
    };
    fill(&log);
    let held = log.newest();
    let (before, after) = (fill(&log), fill(&log));
    assert!(after <= before, "{before} bytes grew to {after}");
    assert_eq!(held.runs(CommitTimestamp(100)).last().map(|run| run.at), Some(CommitTimestamp(100)));
}

#[test]
fn parts_of_one_commit_are_archived_one_after_the_other() {
    let (log, adjacency, mut archiver) =
        (EdgeLog::new(24, CommitTimestamp::ZERO), PlainAdjacency::default(), Archiver::default());
    let at = CommitTimestamp(7);
    let mut expected = State::new();
    for part in 0..3 {
        let part =
            Commit { table: DIRECTED, value: Some(2), edges: vec![(part, part + 1), (part + 1, part)] };
        append(&log, at.0, std::slice::from_ref(&part));
        apply(&mut expected, &part);
        let archived = archiver.archive(&log, &adjacency, Cut::Within(at), None).unwrap();
        assert_eq!((archived.through, log.waiting()), (CommitTimestamp(6), 0));
        assert_eq!(state_in(&log.tail_at(at), &adjacency, at), expected);
    }
    assert_eq!(archiver.archive(&log, &adjacency, Cut::At(at), None), None, "nothing waits");
}
