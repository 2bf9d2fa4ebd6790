use super::*;
use crate::levels::{VersionBatch, VersionSource};
use hedgerow_testing::cases::one_case_in;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};

const COLUMNS: [ColumnType; 3] = [ColumnType::Unit, ColumnType::U32, ColumnType::Record];

/// Around the ends of pages, and the last valid vertex.
const OWNERS: [u32; 6] = [0, 1, 255, 256, 70_000, VertexId::MAX.get()];

const NEIGHBORS: RangeInclusive<u32> = 0..=9;

/// A change of an edge.
#[derive(Clone, Debug)]
struct Push {
    adjacency: u32,
    owner: u32,
    neighbor: u32,
    content: Option<u32>,
    /// True if the previous commit made this change as well.
    joins: bool,
    /// True if a reader opens a snapshot of this change and keeps it open.
    is_read: bool,
}

/// The number that an edge carries in each version, by adjacency, owner and neighbor, then
/// timestamp.
type Oracle = BTreeMap<(u32, u32, u32), BTreeMap<u64, Option<u32>>>;

fn pushes() -> impl Strategy<Value = Vec<Push>> {
    // Most changes go to few rows, so that these become long.
    let owner = prop_oneof![3 => Just(256), 1 => select(&OWNERS[..])];
    let push = (0..3u32, owner, NEIGHBORS, any::<Option<u32>>(), 0..4u8, 0..4u8);
    vec(push, 0..120).prop_map(|pushes| {
        let push = |(adjacency, owner, neighbor, content, joins, is_read)| Push {
            adjacency,
            owner,
            neighbor,
            content,
            joins: joins == 0,
            is_read: is_read == 0,
        };
        pushes.into_iter().map(push).collect()
    })
}

fn record_of(number: u32) -> Vec<u8> {
    vec![number as u8; number as usize % 40]
}

fn push(mem_graph: &MemGraph, push: &Push, at: u64, editable_from: u64) {
    let record = push.content.map(record_of);
    let content = push.content.map(|number| match COLUMNS[push.adjacency as usize] {
        ColumnType::Record => MemContent::Record(record.as_deref().unwrap_or_default()),
        _ => MemContent::Value(EdgeValue(number.into())),
    });
    let (owner, neighbor) = (VertexId::new(push.owner), VertexId::new(push.neighbor));
    let (at, editable_from) = (CommitTimestamp(at), CommitTimestamp(editable_from));
    mem_graph.push(push.adjacency, owner, neighbor, at, editable_from, content);
}

/// Creates a MemGraph with the first adjacencies, and adds the others.
fn with_added(first: usize, block_words: usize, buckets: usize) -> MemGraph {
    let mem_graph = MemGraph::new(&COLUMNS[..first], CommitTimestamp(0), block_words, buckets);
    COLUMNS[first..].iter().for_each(|column| mem_graph.add_adjacency(*column));
    mem_graph
}

/// Applies changes. Only the timestamps of the last one and of those with `is_read` are read later,
/// unless `all_read`. Returns the timestamps that are read.
fn apply(pushes: &[Push], all_read: bool) -> (MemGraph, Oracle, BTreeSet<u64>) {
    let (mem_graph, mut oracle, mut read) =
        (with_added(pushes.len() % 4, 64, 2), Oracle::new(), BTreeSet::from([0]));
    let mut at = 1;
    for (number, change) in pushes.iter().enumerate() {
        at += u64::from(number > 0 && (!change.joins || read.contains(&at)));
        let editable_from = if all_read { at } else { read.last().expect("0 is read") + 1 };
        push(&mem_graph, change, at, editable_from);
        let versions = oracle.entry((change.adjacency, change.owner, change.neighbor)).or_default();
        versions.insert(at, change.content);
        if change.is_read || number + 1 == pushes.len() {
            read.insert(at);
        }
    }
    match all_read {
        true => (mem_graph, oracle, (0..=at).collect()),
        false => (mem_graph, oracle, read),
    }
}

/// Returns the oracle's content of an edge that carries a number.
fn expected_content(adjacency: u32, number: u32) -> Vec<u8> {
    match COLUMNS[adjacency as usize] {
        ColumnType::Unit => Vec::new(),
        ColumnType::Record => record_of(number),
        _ => number.to_le_bytes().to_vec(),
    }
}

fn content_of(mem_graph: &MemGraph, adjacency: u32, value: EdgeValue) -> Vec<u8> {
    match COLUMNS[adjacency as usize] {
        ColumnType::Unit => Vec::new(),
        ColumnType::Record => {
            let mut record = Vec::new();
            mem_graph.record(value, &mut record);
            record
        }
        _ => (value.0 as u32).to_le_bytes().to_vec(),
    }
}

type Seen = Vec<(u32, Option<Vec<u8>>)>;

fn expected_row(oracle: &Oracle, adjacency: u32, owner: u32, at: u64) -> Seen {
    let edges = oracle.range((adjacency, owner, 0)..=(adjacency, owner, u32::MAX));
    let seen = edges.filter_map(|((.., neighbor), versions)| {
        let (_, number) = versions.range(..=at).next_back()?;
        Some((*neighbor, number.map(|number| expected_content(adjacency, number))))
    });
    seen.collect()
}

fn row_of(mem_graph: &MemGraph, adjacency: u32, owner: u32, at: u64) -> Seen {
    // The items in the list before the row stay, even if they look like a part of the row.
    let mut edges = vec![(VertexId::new(0), None)];
    mem_graph.read_row(adjacency, VertexId::new(owner), CommitTimestamp(at), &mut edges);
    let content = |value: EdgeValue| content_of(mem_graph, adjacency, value);
    edges.into_iter().skip(1).map(|(neighbor, value)| (neighbor.get(), value.map(content))).collect()
}

type Versions = Vec<(u32, u32, u64, Option<Vec<u8>>)>;

fn expected_versions(oracle: &Oracle, adjacency: u32, after: u64, through: u64) -> Versions {
    let edges = oracle.range((adjacency, 0, 0)..(adjacency + 1, 0, 0));
    let versions = edges.flat_map(|((_, owner, neighbor), versions)| {
        let asked = versions.iter().rev().filter(|(at, _)| after < **at && **at <= through);
        asked.map(|(at, number)| {
            (*owner, *neighbor, *at, number.map(|number| expected_content(adjacency, number)))
        })
    });
    versions.collect()
}

fn versions_of(mem_graph: &MemGraph, adjacency: u32, after: u64, through: u64) -> Versions {
    let mut versions = mem_graph.versions(adjacency, CommitTimestamp(after), CommitTimestamp(through));
    let mut read = Versions::new();
    while versions.read_batch() {
        for (owner, MemEntry { neighbor, version }) in &versions.batch {
            let content = version.value.map(|value| content_of(mem_graph, adjacency, value));
            read.push((owner.get(), neighbor.get(), version.at.0, content));
        }
    }
    read
}

/// Compares all reads at a timestamp.
fn check_reads(mem_graph: &MemGraph, oracle: &Oracle, at: u64) -> Result<(), TestCaseError> {
    for adjacency in 0..3 {
        for owner in OWNERS {
            let expected = expected_row(oracle, adjacency, owner, at);
            prop_assert_eq!(&row_of(mem_graph, adjacency, owner, at), &expected);
            let expected: BTreeMap<_, _> = expected.into_iter().collect();
            for neighbor in NEIGHBORS {
                let (vertex, neighbor_id) = (VertexId::new(owner), VertexId::new(neighbor));
                let found = mem_graph.find(adjacency, vertex, neighbor_id, CommitTimestamp(at));
                let found = found.map(|value| value.map(|value| content_of(mem_graph, adjacency, value)));
                prop_assert_eq!(found.as_ref(), expected.get(&neighbor));
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(one_case_in(2))]

    #[test]
    fn reads_are_those_of_sorted_maps(pushes in pushes()) {
        let (mem_graph, oracle, read) = apply(&pushes, true);
        read.into_iter().try_for_each(|at| check_reads(&mem_graph, &oracle, at))?;
    }

    #[test]
    fn overwriting_hides_nothing_from_readers(pushes in pushes()) {
        let (mem_graph, oracle, read) = apply(&pushes, false);
        for at in read {
            check_reads(&mem_graph, &oracle, at)?;
            // A flush through a timestamp that is read writes what a reader sees.
            for adjacency in 0..3 {
                let mut newest = versions_of(&mem_graph, adjacency, 0, at);
                newest.dedup_by_key(|(owner, neighbor, ..)| (*owner, *neighbor));
                let mut expected = expected_versions(&oracle, adjacency, 0, at);
                expected.dedup_by_key(|(owner, neighbor, ..)| (*owner, *neighbor));
                prop_assert_eq!(newest, expected);
            }
        }
    }

    #[test]
    fn owners_are_found_in_order(pushes in pushes(), from in 0..80_000u32) {
        let (mem_graph, oracle, _) = apply(&pushes, true);
        for adjacency in 0..3 {
            for from in OWNERS.into_iter().chain([from, u32::MAX]) {
                let edges = oracle.range((adjacency, from, 0)..(adjacency + 1, 0, 0));
                let mut expected: Vec<_> = edges.map(|((_, owner, _), _)| VertexId::new(*owner)).collect();
                expected.dedup();
                prop_assert_eq!(mem_graph.owners(adjacency, from..u32::MAX).collect::<Vec<_>>(), expected);
            }
        }
    }

    #[test]
    fn versions_of_a_range_come_in_order(pushes in pushes(), after in 0..100u64, count in 0..100u64) {
        let (mem_graph, oracle, _) = apply(&pushes, true);
        for adjacency in 0..3 {
            let expected = expected_versions(&oracle, adjacency, after, after + count);
            prop_assert_eq!(versions_of(&mem_graph, adjacency, after, after + count), expected);
        }
    }

    #[test]
    fn a_residue_has_the_later_versions(pushes in pushes(), after in 0..100u64) {
        let (mem_graph, mut oracle, read) = apply(&pushes, true);
        oracle.values_mut().for_each(|versions| versions.retain(|at, _| *at > after));
        let mut versions: Vec<_> =
            (0..3).map(|adjacency| mem_graph.versions(adjacency, CommitTimestamp::ZERO, CommitTimestamp(after))).collect();
        versions.iter_mut().for_each(|versions| while versions.read_batch() {});
        match mem_graph.residue(versions.iter()) {
            Some(residue) => {
                for adjacency in 0..3 {
                    let expected = expected_versions(&oracle, adjacency, 0, u64::MAX);
                    prop_assert!(adjacency > 0 || !oracle.values().all(BTreeMap::is_empty));
                    prop_assert_eq!(versions_of(&residue, adjacency, 0, u64::MAX), expected);
                }
                read.into_iter().try_for_each(|at| check_reads(&residue, &oracle, at))?;
            }
            None => prop_assert!(oracle.values().all(BTreeMap::is_empty)),
        }
    }
}

#[test]
fn a_source_gives_all_versions() {
    let pushes = (0..60).map(|number| Push {
        adjacency: number % 3,
        owner: number / 3 % 2,
        neighbor: number * 7 % 10,
        content: (number % 4 > 0).then_some(number),
        joins: false,
        is_read: true,
    });
    let (mem_graph, oracle, _) = apply(&pushes.collect::<Vec<_>>(), true);
    for adjacency in 0..3 {
        let (mut source, mut given) =
            (mem_graph.versions(adjacency, CommitTimestamp(7), CommitTimestamp(50)), 0);
        loop {
            let mut batch = VersionBatch::default();
            source.read(&mut batch).unwrap();
            if batch.is_empty() {
                break;
            }
            given += batch.len();
        }
        assert_eq!(given, expected_versions(&oracle, adjacency, 7, 50).len());
    }
}

#[test]
fn an_edge_that_is_overwritten_takes_no_more_memory() {
    let mem_graph = MemGraph::new(&COLUMNS, CommitTimestamp(0), 64, 2);
    let change =
        |at| Push { adjacency: 1, owner: 3, neighbor: 4, content: Some(at), joins: false, is_read: false };
    let mut used = Vec::new();
    for at in 1..100 {
        push(&mem_graph, &change(at), at.into(), 1);
        used.push(mem_graph.used_bytes());
    }
    assert_eq!(used[10], used[98]);
    let found = mem_graph.find(1, VertexId::new(3), VertexId::new(4), CommitTimestamp(99));
    assert_eq!(found, Some(Some(EdgeValue(99))));
}

#[test]
fn timestamps_count_from_the_beginning() {
    let begin = 1 << 40;
    let mem_graph = MemGraph::new(&COLUMNS, CommitTimestamp(begin), 64, 2);
    let (first, last) = (begin + 1, begin + MemGraph::MOST_COMMITS);
    let takes = |at| mem_graph.takes(CommitTimestamp(at));
    assert!(takes(first) && takes(last) && !takes(begin) && !takes(last + 1) && !takes(0));
    let change =
        |content| Push { adjacency: 1, owner: 3, neighbor: 4, content, joins: false, is_read: false };
    push(&mem_graph, &change(Some(5)), first, first);
    push(&mem_graph, &change(None), last, last);
    let seen = |at| row_of(&mem_graph, 1, 3, at);
    assert_eq!(seen(begin), []);
    assert_eq!(seen(last - 1), [(4, Some(5_u32.to_le_bytes().to_vec()))]);
    assert_eq!(seen(last), [(4, None)]);
    let versions = versions_of(&mem_graph, 1, begin, u64::MAX);
    assert_eq!(versions.iter().map(|version| version.2).collect::<Vec<_>>(), [last, first]);
}

#[test]
fn an_empty_mem_graph_has_nothing() {
    let mem_graph = MemGraph::new(&COLUMNS, CommitTimestamp(0), 64, 2);
    assert_eq!(mem_graph.used_bytes(), 0);
    assert!(mem_graph.bytes() < 1000);
    assert_eq!(mem_graph.owners(0, 0..u32::MAX).next(), None);
    assert!(mem_graph.residue(std::iter::empty()).is_none());
    assert_eq!(mem_graph.find(0, VertexId::new(0), VertexId::new(0), CommitTimestamp(9)), None);
}

#[test]
fn nothing_is_in_an_adjacency_that_was_not_added() {
    let mem_graph = MemGraph::new(&COLUMNS[..1], CommitTimestamp(0), 64, 2);
    let (owner, at) = (VertexId::new(3), CommitTimestamp(1));
    mem_graph.push(0, owner, owner, at, at, Some(MemContent::Value(EdgeValue(0))));
    for adjacency in 1..3 {
        assert_eq!(mem_graph.owners(adjacency, 0..u32::MAX).next(), None);
        assert_eq!(mem_graph.find(adjacency, owner, owner, at), None);
        assert_eq!(row_of(&mem_graph, adjacency, 3, 1), []);
        let (mut versions, mut batch) =
            (mem_graph.versions(adjacency, CommitTimestamp(0), at), VersionBatch::default());
        versions.read(&mut batch).unwrap();
        assert!(batch.is_empty() && mem_graph.residue([versions].iter()).is_none());
    }
}

#[test]
fn records_of_any_length_come_back() {
    let mem_graph = MemGraph::new(&COLUMNS, CommitTimestamp(0), 16, 2);
    let record = |number: u32| vec![number as u8; number as usize * number as usize % 3001];
    let (owner, at) = (VertexId::new(1), CommitTimestamp(1));
    for number in 0..100 {
        let record = record(number);
        let content = Some(MemContent::Record(&record));
        mem_graph.push(2, owner, VertexId::new(number), at, at, content);
    }
    for number in 0..100 {
        let found = mem_graph.find(2, owner, VertexId::new(number), at);
        let mut bytes = vec![1];
        mem_graph.record(found.flatten().expect("the edge was put"), &mut bytes);
        assert_eq!(bytes[1..], record(number));
    }
}

/// Neighbors of each writer's row.
const RING: u64 = 97;

/// The change of a row at a timestamp: each round puts or deletes all edges.
fn change_at(at: u64) -> (VertexId, Option<EdgeValue>) {
    let neighbor = VertexId::new((at * 41 % RING) as u32);
    (neighbor, (at % (2 * RING) < RING).then_some(EdgeValue(at)))
}

#[test]
fn readers_see_what_was_published_beside_writers() {
    const LAST: u64 = if cfg!(miri) { 100 } else { 30 * RING };
    let mem_graph = MemGraph::new(&[ColumnType::U64], CommitTimestamp(0), 64, 1);
    let published = [const { AtomicU64::new(0) }; 2];
    let read = |owner: usize| {
        let at = published[owner].load(Ordering::Acquire);
        let mut edges = Vec::new();
        mem_graph.read_row(0, VertexId::new(owner as u32), CommitTimestamp(at), &mut edges);
        let last_round = at.saturating_sub(RING - 1).max(1)..=at;
        let expected: BTreeMap<_, _> = last_round.map(change_at).collect();
        assert!(edges.iter().copied().eq(expected.iter().map(|(neighbor, value)| (*neighbor, *value))));
        for (neighbor, value) in expected.into_iter().step_by(11) {
            let found = mem_graph.find(0, VertexId::new(owner as u32), neighbor, CommitTimestamp(at));
            assert_eq!(found, Some(value));
        }
        at == LAST
    };
    std::thread::scope(|scope| {
        for (owner, published) in published.iter().enumerate() {
            let mem_graph = &mem_graph;
            scope.spawn(move || {
                for at in 1..=LAST {
                    let ((neighbor, value), at) = (change_at(at), CommitTimestamp(at));
                    let owner = VertexId::new(owner as u32);
                    mem_graph.push(0, owner, neighbor, at, at, value.map(MemContent::Value));
                    published.store(at.0, Ordering::Release);
                }
            });
        }
        scope.spawn(|| while !(read(0) & read(1)) {});
        while !(read(1) & read(0)) {}
    });
}
