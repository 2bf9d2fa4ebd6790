//! Reads a view by every method and compares it with the oracle.

use crate::oracle::{LABELS, Oracle, RECORDS};
use crate::records;
use hedgerow_model::{
    Adjacency, Column, ColumnType, Cursor, Direction, EdgeValue, GraphView, LabelId, ReadError, RecordCursor,
    RecordHandle, VertexId, ViewError,
};
use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};

type Expected = BTreeMap<u32, BTreeMap<u32, EdgeValue>>;
type Entry = (u32, u32, u64);

/// Compares a whole view, and in particular these vertices, with the oracle.
pub fn check_view<V: GraphView>(view: &V, oracle: &Oracle, vertices: &[u32]) {
    check_vertices(view, oracle, vertices);
    for direction in [Direction::Out, Direction::In] {
        if oracle.topology.stored(direction).is_none() {
            let answer = view.adjacency::<()>(LabelId(0), direction).err();
            assert_eq!(answer, Some(ViewError::NoReverse));
            continue;
        }
        for label in 0..LABELS {
            check_adjacency::<V, ()>(view, oracle, label, direction, vertices);
        }
        check_adjacency::<V, f64>(view, oracle, 1, direction, vertices);
        check_adjacency::<V, u32>(view, oracle, 2, direction, vertices);
        check_records(view, oracle, direction, vertices);
    }
    check_errors(view);
}

/// Returns the value that was read. Reads do not fail in these tests.
pub(crate) fn read<T>(result: Result<T, ReadError>) -> T {
    result.unwrap()
}

fn check_vertices<V: GraphView>(view: &V, oracle: &Oracle, vertices: &[u32]) {
    let counts = oracle.counts();
    assert_eq!((view.vertex_bound(), view.vertex_count()), (counts.vertex_bound, counts.vertices));
    for label in (0..LABELS).map(LabelId) {
        assert!(view.edge_count(label).may_be(counts.edges_of(label).at_least()));
    }
    for vertex in vertices {
        let expected = oracle.vertices.get(vertex).cloned();
        let id = VertexId::new(*vertex);
        assert_eq!(read(view.contains_vertex(id)), expected.is_some(), "vertex {vertex}");
        assert_eq!(read(view.vertex_record(id)), expected, "vertex {vertex}");
    }
    for range in ranges(vertices) {
        let mut scanned = Vec::new();
        read(view.each_vertex(range.clone(), |vertex| scanned.push(vertex.get())));
        let first = read(view.scan_vertices(range.clone(), |vertex| ControlFlow::Break(vertex.get())));
        assert_eq!(first.break_value(), scanned.first().copied());
        let expected: Vec<u32> = oracle.vertices.range(range).map(|(vertex, _)| *vertex).collect();
        assert_eq!(scanned, expected);
    }
}

fn check_adjacency<V: GraphView, W: Column>(
    view: &V,
    oracle: &Oracle,
    label: u16,
    direction: Direction,
    vertices: &[u32],
) {
    let adjacency = view.adjacency::<W>(LabelId(label), direction).unwrap();
    let mut expected = oracle.adjacency(label, direction);
    if W::TYPE == ColumnType::Unit {
        expected.values_mut().flat_map(|row| row.values_mut()).for_each(|value| *value = EdgeValue(0));
    }
    let mut cursor = adjacency.cursor();
    for vertex in vertices {
        check_vertex::<V::Adjacency<'_, W>>(&mut cursor, *vertex, &expected, vertices);
    }
    for range in ranges(vertices) {
        assert_eq!(scan::<V::Adjacency<'_, W>>(&mut cursor, range.clone()), entries(&expected, range));
    }
    check_break(&mut cursor, &expected);
    check_cuts(&adjacency, view.vertex_bound(), &expected);
}

/// Returns entries in the order of an adjacency, which are sorted here if the engine does not sort.
fn in_order<A: Adjacency, T: Ord>(mut entries: Vec<T>) -> Vec<T> {
    if !A::SORTED {
        entries.sort_unstable();
    }
    entries
}

fn check_vertex<'a, A: Adjacency + 'a>(
    cursor: &mut A::Cursor<'a>,
    vertex: u32,
    expected: &Expected,
    others: &[u32],
) {
    let id = VertexId::new(vertex);
    let none = BTreeMap::new();
    let expected = expected.get(&vertex).unwrap_or(&none);
    let row: Vec<(u32, u64)> = expected.iter().map(|(id, value)| (*id, value.0)).collect();
    let pairs = |ids: &[VertexId], values: &[A::Value]| -> Vec<(u32, u64)> {
        assert_eq!(ids.len(), values.len());
        ids.iter().map(|id| id.get()).zip(values.iter().map(|value| value.to_bits().0)).collect()
    };
    assert_eq!(cursor.degree(id).ok().unwrap(), row.len(), "degree of {vertex}");
    let mut visited = Vec::new();
    let flow = cursor.neighbors(id, |ids, values| {
        assert!(!ids.is_empty());
        visited.extend(pairs(ids, values));
        ControlFlow::<()>::Continue(())
    });
    assert!(flow.ok().unwrap().is_continue());
    assert_eq!(in_order::<A, _>(visited), row, "neighbors of {vertex}");
    let (ids, values) = cursor.gather(id).ok().unwrap();
    assert_eq!(in_order::<A, _>(pairs(ids, values)), row, "gathered of {vertex}");
    if let Some((ids, values)) = cursor.contiguous(id).ok().unwrap() {
        assert_eq!(in_order::<A, _>(pairs(ids, values)), row, "the one run of {vertex}");
    }
    check_newest_first(cursor, id, &row);
    for other in others.iter().chain(expected.keys()) {
        let found = cursor.find(id, VertexId::new(*other)).ok().unwrap();
        assert_eq!(found.map(Column::to_bits), expected.get(other).copied(), "{vertex} to {other}");
    }
}

/// Checks that all neighbors come, by descending commits, up to the requested number, if the engine
/// keeps the order of commits.
fn check_newest_first<C: Cursor>(cursor: &mut C, id: VertexId, row: &[(u32, u64)]) {
    let (mut visited, mut commits) = (Vec::new(), Vec::new());
    let flow = cursor.newest_first(id, |neighbor, value, commit| {
        visited.push((neighbor.get(), value.to_bits().0));
        commits.push(commit);
        ControlFlow::<()>::Continue(())
    });
    let Some(flow) = read(flow) else { return };
    assert!(flow.is_continue() && commits.iter().rev().is_sorted(), "commits of {id} ascend");
    let newest = visited.first().copied();
    visited.sort_unstable();
    assert_eq!(visited, row, "newest first of {id}");
    let flow =
        cursor.newest_first(id, |neighbor, value, _| ControlFlow::Break((neighbor.get(), value.to_bits().0)));
    assert_eq!(read(flow).and_then(ControlFlow::break_value), newest);
}

/// Checks the edge records of the label with records, by every method.
fn check_records<V: GraphView>(view: &V, oracle: &Oracle, direction: Direction, vertices: &[u32]) {
    let expected = oracle.adjacency(RECORDS, direction);
    let Ok(mut cursor) = view.edge_records(LabelId(RECORDS), direction) else {
        panic!("label {RECORDS} has records");
    };
    for vertex in vertices {
        let none = BTreeMap::new();
        let row = expected.get(vertex).unwrap_or(&none);
        check_row(&mut cursor, *vertex, row);
        for other in vertices.iter().chain(row.keys()) {
            let found = read(cursor.find(VertexId::new(*vertex), VertexId::new(*other))).map(<[u8]>::to_vec);
            assert_eq!(found, row.get(other).map(record_of), "{vertex} to {other}");
        }
    }
    for range in ranges(vertices) {
        let mut scanned = Vec::new();
        let flow = read(cursor.scan(range.clone(), |owner, neighbor, record| {
            scanned.push((owner.get(), neighbor.get(), record.to_vec()));
            ControlFlow::<()>::Continue(())
        }));
        assert!(flow.is_continue() && scanned.is_sorted_by_key(|(owner, ..)| *owner));
        scanned.sort();
        let rows = expected.range(range);
        let entries =
            rows.flat_map(|(owner, row)| row.iter().map(|(id, number)| (*owner, *id, record_of(number))));
        assert_eq!(scanned, entries.collect::<Vec<_>>());
    }
    let refused = view.edge_records(LabelId(0), Direction::Out).err();
    assert_eq!(refused, Some(ViewError::NoRecords(LabelId(0))));
    if let Some(refused) = view.adjacency::<RecordHandle>(LabelId(RECORDS), direction).err() {
        assert_eq!(refused, ViewError::NoHandles(LabelId(RECORDS)), "records without handles");
    }
    let unknown = view.edge_records(LabelId(LABELS), Direction::Out).err();
    assert_eq!(unknown, Some(ViewError::UnknownLabel(LabelId(LABELS))));
}

/// Returns the record for a number.
fn record_of(number: &EdgeValue) -> Vec<u8> {
    records::content(number.0 as u32)
}

/// Checks the records of one vertex: in the order of the engine, and newest first if the engine
/// keeps that order.
fn check_row<C: RecordCursor>(cursor: &mut C, vertex: u32, row: &BTreeMap<u32, EdgeValue>) {
    let id = VertexId::new(vertex);
    let expected: Vec<(u32, Vec<u8>)> = row.iter().map(|(id, number)| (*id, record_of(number))).collect();
    // Lent bytes stay valid until the next call.
    let mut lent = Vec::new();
    let flow = read(cursor.neighbors(id, |neighbor, record| {
        lent.push((neighbor.get(), record));
        ControlFlow::<()>::Continue(())
    }));
    assert!(flow.is_continue());
    let mut visited: Vec<_> = lent.into_iter().map(|(id, record)| (id, record.to_vec())).collect();
    if !C::SORTED {
        visited.sort();
    }
    assert_eq!(visited, expected, "records of {vertex}");
    let first = read(cursor.neighbors(id, |neighbor, _| ControlFlow::Break(neighbor.get())));
    assert_eq!(first.is_break(), !row.is_empty());
    check_newest_records(cursor, id, &expected);
}

/// Checks that all records come, by descending commits, and that no time exceeds an earlier one by
/// more than the known bound on disorder, if the engine keeps the order of commits.
fn check_newest_records<C: RecordCursor>(cursor: &mut C, id: VertexId, expected: &[(u32, Vec<u8>)]) {
    let disorder = read(cursor.time_disorder(id));
    let (mut visited, mut commits, mut earliest) = (Vec::new(), Vec::new(), i64::MAX);
    let flow = read(cursor.newest_first(id, |neighbor, record, commit| {
        visited.push((neighbor.get(), record.to_vec()));
        commits.push(commit);
        if let (Some(disorder), Some(time)) = (disorder, records::time(record)) {
            assert!(
                time <= earliest.saturating_add_unsigned(disorder),
                "times of {id} are out of order by {disorder}"
            );
            earliest = earliest.min(time);
        }
        ControlFlow::<()>::Continue(())
    }));
    let Some(flow) = flow else { return };
    assert!(flow.is_continue() && commits.iter().rev().is_sorted(), "commits of {id} ascend");
    visited.sort();
    assert_eq!(visited, expected, "newest first of {id}");
}

fn check_break<C: Cursor>(cursor: &mut C, expected: &Expected) {
    let flow = cursor.scan(0..u32::MAX, |vertex, ids, _| ControlFlow::Break((vertex.get(), ids[0].get())));
    let broke = flow.ok().unwrap().break_value();
    let first = expected.iter().find(|(_, row)| !row.is_empty());
    assert_eq!(broke.map(|(owner, _)| owner), first.map(|(owner, _)| *owner));
    let (Some((owner, neighbor)), Some((_, row))) = (broke, first) else { return };
    // The order of neighbors is checked elsewhere, with all of them.
    assert!(row.contains_key(&neighbor));
    let flow = cursor.neighbors(VertexId::new(owner), |ids, _| ControlFlow::Break(ids[0].get()));
    assert_eq!(flow.ok().unwrap(), ControlFlow::Break(neighbor));
}

fn check_cuts<A: Adjacency>(adjacency: &A, bound: u32, expected: &Expected) {
    for parts in [0, 1, 3, usize::MAX] {
        let cuts = read(adjacency.cuts(parts));
        assert!(cuts.len() <= parts.max(1));
        assert!(cuts.iter().all(|cut| cut.start < cut.end && cut.end <= bound));
        assert!(cuts.windows(2).all(|pair| pair[0].end <= pair[1].start));
        let scanned: Vec<Entry> =
            cuts.into_iter().flat_map(|cut| scan::<A>(&mut adjacency.cursor(), cut)).collect();
        assert_eq!(scanned, entries(expected, 0..u32::MAX));
    }
}

fn check_errors<V: GraphView>(view: &V) {
    let unknown = view.adjacency::<()>(LabelId(LABELS), Direction::Out).err();
    assert_eq!(unknown, Some(ViewError::UnknownLabel(LabelId(LABELS))));
    let wrong = view.adjacency::<u32>(LabelId(1), Direction::Out).err();
    let (declared, asked) = (ColumnType::F64, ColumnType::U32);
    assert_eq!(wrong, Some(ViewError::WrongColumn { label: LabelId(1), declared, asked }));
    assert!(view.adjacency::<u32>(LabelId(0), Direction::Out).is_err());
}

fn scan<'a, A: Adjacency + 'a>(cursor: &mut A::Cursor<'a>, range: Range<u32>) -> Vec<Entry> {
    let mut scanned = Vec::new();
    let flow = cursor.scan(range, |vertex, ids, values| {
        assert!(!ids.is_empty() && ids.len() == values.len());
        scanned.extend(ids.iter().zip(values).map(|(id, value)| (vertex.get(), id.get(), value.to_bits().0)));
        ControlFlow::<()>::Continue(())
    });
    assert!(flow.ok().unwrap().is_continue());
    assert!(scanned.is_sorted_by_key(|(owner, _, _)| *owner));
    in_order::<A, _>(scanned)
}

fn entries(expected: &Expected, range: Range<u32>) -> Vec<Entry> {
    let rows = expected.range(range);
    rows.flat_map(|(owner, row)| row.iter().map(|(id, value)| (*owner, *id, value.0))).collect()
}

/// Returns everything, nothing, and ranges between some of the vertices.
fn ranges(vertices: &[u32]) -> Vec<Range<u32>> {
    let between = vertices.windows(4).step_by(2).map(|ids| ids[0]..ids[3]);
    between.chain([0..u32::MAX, 0..0]).filter(|range| range.start <= range.end).collect()
}
