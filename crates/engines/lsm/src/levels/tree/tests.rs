mod upkeep;

use super::*;
use crate::levels::block::Version;
use crate::levels::check::check_files;
use crate::levels::merge::VersionBatch;
use crate::levels::merged_row::MergedRow;
use crate::levels::seen_edges::RowContent;
use hedgerow_model::token::LiveTimestamps;
use hedgerow_model::{CommitTimestamp, EdgeValue, FileTotals, ReadError, VertexId};
use hedgerow_testing::sample::Sample;
use hedgerow_testing::simulated::{Fault, FaultKind, SimulatedFiles, Survival};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;

const COLUMNS: [ColumnType; 3] = [ColumnType::Unit, ColumnType::U32, ColumnType::Record];

/// All changes of each edge, by timestamp.
type History = BTreeMap<(u32, u32, u32), BTreeMap<u64, Option<EdgeValue>>>;

/// Levels that are full after a few dozen edges, with their expected content.
struct Graph {
    tree: LevelTree,
    history: History,
    /// The newest commit, and the newest flushed commit.
    now: u64,
    flushed: u64,
    /// Views, by the timestamp that they read.
    views: Vec<(u64, Arc<LevelSet>)>,
}

/// The changes of one adjacency since a commit.
struct Recent {
    adjacency: u32,
    versions: Vec<(u32, u32, Version)>,
}

impl VersionSource for Recent {
    fn read(&mut self, batch: &mut VersionBatch) -> Result<(), ReadError> {
        for (owner, neighbor, version) in self.versions.drain(..) {
            let (owner, neighbor) = (VertexId::new(owner), VertexId::new(neighbor));
            match COLUMNS[self.adjacency as usize] {
                ColumnType::Record => {
                    let record = version.value.map(record_of);
                    batch.push_record(owner, neighbor, version.at, record.as_deref());
                }
                _ => batch.push(owner, neighbor, version),
            }
        }
        Ok(())
    }
}

/// Returns the record that stands for a value, which is its number of bytes.
fn record_of(value: EdgeValue) -> Vec<u8> {
    vec![7; value.0 as usize]
}

fn options(columns: &[ColumnType]) -> LevelOptions {
    LevelOptions {
        level_0_files: 3,
        level_1_bytes: 300,
        fan_out: 2,
        segment_bytes: 80,
        ..LevelOptions::new(columns.to_vec())
    }
}

fn open(files: &SimulatedFiles) -> Result<LevelTree, EngineError> {
    LevelTree::open(Arc::new(files.clone()), options(&COLUMNS))
}

fn shared(files: &SimulatedFiles) -> Arc<dyn FileSystem> {
    Arc::new(files.clone())
}

fn directory() -> SimulatedFiles {
    let files = SimulatedFiles::new(1);
    files.create_directory().unwrap();
    files
}

impl Graph {
    fn new(files: &SimulatedFiles) -> Self {
        Graph { tree: open(files).unwrap(), history: History::new(), now: 0, flushed: 0, views: Vec::new() }
    }

    fn change(&mut self, (adjacency, owner, neighbor): (u32, u32, u32), value: Option<u32>) {
        let has_values = COLUMNS[adjacency as usize] != ColumnType::Unit;
        let value = value.map(|value| EdgeValue(if has_values { u64::from(value) } else { 0 }));
        self.now += 1;
        self.history.entry((adjacency, owner, neighbor)).or_default().insert(self.now, value);
    }

    /// Returns the timestamps of open views, and the next one.
    fn live(&self) -> LiveTimestamps {
        let mut timestamps: Vec<_> = self.views.iter().map(|(at, _)| CommitTimestamp(*at)).collect();
        timestamps.sort_unstable();
        // SAFETY: no engine is involved; the value only says which versions are kept.
        unsafe { LiveTimestamps::as_of(timestamps, CommitTimestamp(self.now)) }
    }

    fn flush(&mut self) -> Result<(), EngineError> {
        let live = self.live();
        let recent = |adjacency: u32| {
            let edges = self.history.range((adjacency, 0, 0)..(adjacency + 1, 0, 0));
            let versions = edges.flat_map(|((_, owner, neighbor), changes)| {
                let newest_first = changes.range(self.flushed + 1..).rev();
                newest_first.map(|(at, value)| {
                    (*owner, *neighbor, Version { at: CommitTimestamp(*at), value: *value })
                })
            });
            FlushPart { adjacency, sources: vec![Recent { adjacency, versions: versions.collect() }] }
        };
        let parts = (0..self.tree.options.columns.len() as u32).map(recent).collect();
        self.tree.flush(
            parts,
            &live,
            FlushPoint { durable_through: CommitTimestamp(self.now), ..FlushPoint::default() },
        )?;
        self.flushed = self.now;
        Ok(())
    }

    /// Returns everything that a snapshot at `at` should see.
    fn seen(&self, at: u64) -> Vec<((u32, u32, u32), EdgeValue)> {
        let newest = |changes: &BTreeMap<u64, Option<EdgeValue>>| {
            changes.range(..=at).next_back().and_then(|(_, value)| *value)
        };
        self.history.iter().filter_map(|(edge, changes)| Some((*edge, newest(changes)?))).collect()
    }

    fn check(&self) {
        let current = self.tree.current();
        let newest = (self.flushed, Arc::clone(&current));
        let at_views = self.views.iter().map(|(at, _)| (*at, Arc::clone(&current)));
        for (at, set) in self.views.iter().cloned().chain(at_views).chain([newest]) {
            assert_eq!(read(&set, at), self.seen(at), "at {at}, now {}", self.now);
        }
        self.check_levels(&current);
    }

    /// Returns the number of files that new views read.
    fn listed(&self) -> usize {
        let current = self.tree.current();
        (0..COLUMNS.len() as u32).flat_map(|adjacency| current.levels(adjacency)).map(Vec::len).sum()
    }

    /// Checks that no owner is in two files of a level below level 0.
    fn check_levels(&self, set: &LevelSet) {
        for adjacency in 0..COLUMNS.len() as u32 {
            for files in set.levels(adjacency).iter().skip(1) {
                assert!(files.is_sorted_by(|one, other| one.owners().end <= other.owners().start));
            }
        }
    }
}

/// Returns the whole content of edges of a column.
fn content_of(column: ColumnType) -> RowContent {
    if column == ColumnType::Record { RowContent::Records } else { RowContent::Values }
}

fn read(set: &LevelSet, at: u64) -> Vec<((u32, u32, u32), EdgeValue)> {
    let (at, mut found) = (CommitTimestamp(at), Vec::new());
    for (adjacency, column) in (0..).zip(COLUMNS) {
        let mut row = MergedRow::new(content_of(column));
        let mut by_owner = Vec::new();
        for owner in (0..30).map(VertexId::new) {
            row.clear();
            set.read_row(adjacency, owner, at, &mut row).unwrap();
            by_owner.extend(edges(&mut row).map(|(neighbor, value)| (owner, neighbor, value)));
        }
        assert_eq!(scan(set, adjacency, at, 0..u32::MAX, &mut row), by_owner);
        let some = by_owner.iter().filter(|(owner, ..)| (7..20).contains(&owner.get())).copied();
        assert_eq!(scan(set, adjacency, at, 7..20, &mut row), some.collect::<Vec<_>>());
        for (owner, neighbor, value) in &by_owner {
            row.clear();
            set.read_edge(adjacency, (*owner, *neighbor), at, &mut row).unwrap();
            assert_eq!(edges(&mut row).collect::<Vec<_>>(), [(*neighbor, *value)]);
        }
        let by_owner = by_owner.into_iter();
        found.extend(
            by_owner.map(|(owner, neighbor, value)| ((adjacency, owner.get(), neighbor.get()), value)),
        );
    }
    found
}

/// Returns the edges of these owners, in their order.
fn scan(
    set: &LevelSet,
    adjacency: u32,
    at: CommitTimestamp,
    owners: Range<u32>,
    row: &mut MergedRow,
) -> Vec<(VertexId, VertexId, EdgeValue)> {
    let mut rows = set.rows(adjacency, owners, at, row.content()).unwrap();
    let mut found = Vec::new();
    while let Some(owner) = rows.next_owner() {
        row.clear();
        match rows.row_alone(owner) {
            Some(alone) => row.add_row(alone, &[]),
            None => rows.read(owner, row).unwrap(),
        }
        found.extend(edges(row).map(|(neighbor, value)| (owner, neighbor, value)));
    }
    found
}

/// Finishes a row. Returns its edges, with the values that their records stand for.
fn edges(row: &mut MergedRow) -> impl Iterator<Item = (VertexId, EdgeValue)> {
    let content = row.content();
    let row = row.finish();
    row.edges().map(move |(neighbor, value)| match content {
        RowContent::Records => (neighbor, EdgeValue(row.record(value).len() as u64)),
        _ => (neighbor, value),
    })
}

#[derive(Clone, Debug)]
enum Step {
    Changes(Vec<((u32, u32, u32), Option<u32>)>),
    Flush,
    Compact,
    CompactAll,
    Open,
    Close(prop::sample::Index),
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let value = prop_oneof![4 => (0..9u32).prop_map(Some), 1 => Just(None)];
    let change = ((0..COLUMNS.len() as u32, prop_oneof![Just(7), 0..30u32], 0..60u32), value);
    let step = prop_oneof![
        3 => vec(change, 1..80).prop_map(Step::Changes),
        3 => Just(Step::Flush),
        3 => Just(Step::Compact),
        1 => Just(Step::CompactAll),
        1 => Just(Step::Open),
        1 => any::<prop::sample::Index>().prop_map(Step::Close),
        1 => Just(Step::Reopen),
    ];
    vec(step, 1..40)
}

/// Runs a step. Fails if a file operation failed; the graph is unchanged then.
fn run(graph: &mut Graph, files: &SimulatedFiles, step: &Step) -> Result<(), EngineError> {
    match step {
        Step::Changes(changes) => changes.iter().for_each(|(edge, value)| graph.change(*edge, *value)),
        Step::Flush => graph.flush()?,
        Step::Compact => {
            let needs_compaction = graph.tree.needs_compaction();
            assert_eq!(graph.tree.compact(&graph.live())?.is_some(), needs_compaction);
            graph.tree.remove_unread()?;
        }
        Step::CompactAll => upkeep::compact_all(graph)?,
        Step::Open => graph.views.push((graph.flushed, graph.tree.current())),
        Step::Close(view) if !graph.views.is_empty() => {
            let view = view.index(graph.views.len());
            graph.views.swap_remove(view);
        }
        Step::Close(_) => {}
        Step::Reopen => {
            graph.views.clear();
            graph.tree = open(files)?;
            assert_eq!(graph.tree.current().durable_through(), CommitTimestamp(graph.flushed));
        }
    }
    Ok(())
}

/// Returns the number of edge files.
fn edge_files(files: &SimulatedFiles) -> usize {
    let names = files.list().unwrap();
    let with_records = names.iter().filter_map(|name| name.strip_suffix(".records"));
    with_records.for_each(|name| assert!(names.contains(&format!("{name}.edges")), "{name} has no edges"));
    names.iter().filter(|name| name.ends_with(".edges")).count()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 1 } else { 100 }))]

    #[test]
    fn views_see_the_same_through_flushes_and_compactions(steps in steps()) {
        let files = directory();
        let mut graph = Graph::new(&files);
        for step in &steps {
            run(&mut graph, &files, step).unwrap();
            graph.check();
        }
        graph.views.clear();
        graph.tree.remove_unread().unwrap();
        prop_assert_eq!(edge_files(&files), graph.listed());
        prop_assert_eq!(graph.tree.unlisted().unwrap(), FileTotals::default());
        let checked = check_files(&shared(&files), &COLUMNS, &mut |_| {}).unwrap();
        prop_assert!(checked.problems.is_empty() && checked.unlisted.is_empty(), "{:?}", checked);
        while graph.tree.compact(&graph.live()).unwrap().is_some() {}
        graph.check();
    }

    #[test]
    fn a_failure_changes_nothing_and_leaves_nothing(
        steps in steps(),
        at in 1..400u64,
        kind in prop::sample::select(&FaultKind::ALL[..]),
    ) {
        let files = directory();
        let mut graph = Graph::new(&files);
        files.inject(Fault { at: files.operations() + at, kind, sticky: false });
        for step in &steps {
            if run(&mut graph, &files, step).is_err() {
                prop_assert_eq!(files.faults_met(), 1);
                graph.check();
                for survival in Survival::ALL {
                    let after_loss = open(&files.after_crash(survival, at)).unwrap();
                    let flushed = after_loss.current().durable_through().0;
                    prop_assert!([graph.flushed, graph.now].contains(&flushed));
                    prop_assert_eq!(read(&after_loss.current(), flushed), graph.seen(flushed));
                }
                run(&mut graph, &files, step).unwrap();
            }
        }
        files.heal();
        graph.check();
        graph.views.clear();
        // Files of a failed edit stay until another edit succeeds.
        graph.change((0, 0, 0), None);
        graph.flush().unwrap();
        graph.tree.remove_unread().unwrap();
        if kind != FaultKind::Device {
            // Only a failing device keeps a file from being removed.
            prop_assert_eq!(edge_files(&files), graph.listed());
        }
        graph.tree = open(&files).unwrap();
        graph.check();
    }
}

#[test]
fn adjacencies_are_added_while_the_levels_are_open() {
    let files = directory();
    let options = options(&COLUMNS[..1]);
    let columns = Arc::clone(&options.columns);
    let mut graph = Graph { tree: LevelTree::open(shared(&files), options).unwrap(), ..Graph::new(&files) };
    for known in [1, 2, 3] {
        (columns.len()..known).for_each(|adjacency| assert_eq!(columns.push(COLUMNS[adjacency]), adjacency));
        for round in 0..6 {
            for change in 0..60 {
                let edge = (change % known as u32, change * 7 % 30, (change * 13 + round * 29) % 60);
                graph.change(edge, (change % 5 > 0).then_some(round));
            }
            graph.flush().unwrap();
            graph.views.push((graph.flushed, graph.tree.current()));
            while graph.tree.compact(&graph.live()).unwrap().is_some() {}
            graph.check();
        }
        let last = graph.tree.current();
        assert!(last.levels(known as u32 - 1).len() > 1, "the new adjacency must be compacted, too");
    }
    graph.views.clear();
    upkeep::compact_all(&mut graph).unwrap();
    graph.check();
    let unknown = LevelTree::open(shared(&files), LevelOptions::new(COLUMNS[..2].to_vec()));
    assert!(unknown.unwrap_err().to_string().contains("adjacency 2"));
    graph.tree = open(&files).unwrap();
    graph.check();
}

/// Kills the process at each operation, which loses nothing, opens the levels, and then loses
/// power.
#[test]
fn what_an_opening_found_survives_a_loss_of_power() {
    let files = directory();
    let mut graph = Graph::new(&files);
    files.keep_crash_images();
    for round in 0..5 {
        (0..30).for_each(|change| graph.change((change % 3, change % 11, change * 3 % 17), Some(round)));
        graph.flush().unwrap();
        while graph.tree.compact(&graph.live()).unwrap().is_some() {}
    }
    for image in files.take_crash_images() {
        let files = image.after_kill();
        let at = open(&files).unwrap().current().durable_through();
        for (seed, survival) in (0..3).flat_map(|seed| Survival::ALL.map(|survival| (seed, survival))) {
            let found = open(&files.after_crash(survival, seed)).unwrap().current();
            assert_eq!(found.durable_through(), at, "{survival:?} at {}", image.operation());
            assert_eq!(read(&found, at.0), graph.seen(at.0));
        }
    }
}

#[test]
fn a_loss_of_power_keeps_what_was_flushed() {
    let files = directory();
    let mut graph = Graph::new(&files);
    files.keep_crash_images();
    let mut flushes = vec![(0, 0)];
    for round in 0..16 {
        for change in 0..60 {
            let edge = (change % 3, (change * 7 + round * 11) % 30, (change * 13 + round * 29) % 60);
            graph.change(edge, (change % 5 > 0).then_some(round));
        }
        graph.flush().unwrap();
        flushes.push((files.operations(), graph.flushed));
        while graph.tree.compact(&graph.live()).unwrap().is_some() {}
    }
    assert!(graph.tree.current().levels(1).len() > 2, "the workload must cross several levels");
    for image in Sample::of_run().take(files.take_crash_images(), 0) {
        let made = flushes.partition_point(|(end, _)| *end < image.operation()) - 1;
        for (seed, survival) in (0..2).flat_map(|seed| Survival::ALL.map(|survival| (seed, survival))) {
            let tree = open(&image.after_crash(survival, seed)).unwrap();
            let at = tree.current().durable_through().0;
            assert!(flushes[made..].iter().take(2).any(|(_, flushed)| *flushed == at), "{survival:?}: {at}");
            assert_eq!(read(&tree.current(), at), graph.seen(at));
        }
    }
}
