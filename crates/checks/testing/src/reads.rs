//! Every reading method of a view, for calls while reads fail.

use crate::oracle::{LABELS, RECORDS};
use hedgerow_model::{
    Adjacency, Column, Cursor, Direction, GraphView, LabelId, ParallelEdges, ReadError, RecordCursor,
    VertexId,
};
use std::fmt::Debug;
use std::ops::ControlFlow;

/// The answer of a method, as text.
pub type Answer = Result<String, ReadError>;

/// Receives a description of a call, and a closure that makes it, any number of times.
pub type Ask<'a> = dyn FnMut(&str, &dyn Fn() -> Answer) + 'a;

fn text<T: Debug>(answer: Result<T, ReadError>) -> Answer {
    answer.map(|answer| format!("{answer:?}"))
}

/// Calls all methods of a view of [`crate::pipeline::catalog`], about these vertices.
pub fn each_read<V: GraphView>(view: &V, vertices: &[u32], ask: &mut Ask<'_>) {
    ask("scan_vertices", &|| {
        let mut visited = Vec::new();
        text(view.each_vertex(0..u32::MAX, |vertex| visited.push(vertex)).map(|()| visited))
    });
    for vertex in vertices.iter().copied().map(VertexId::new) {
        ask("contains_vertex", &|| text(view.contains_vertex(vertex)));
        ask("vertex_record", &|| text(view.vertex_record(vertex)));
    }
    for direction in view.topology().directions() {
        for label in (0..LABELS).map(LabelId) {
            each_read_of_edges::<V, ()>(view, (label, *direction), vertices, ask);
        }
        each_read_of_edges::<V, f64>(view, (LabelId(1), *direction), vertices, ask);
        each_read_of_edges::<V, u32>(view, (LabelId(2), *direction), vertices, ask);
        each_read_of_records(view, (LabelId(RECORDS), *direction), vertices, ask);
    }
}

fn each_read_of_edges<V: GraphView, W: Column>(
    view: &V,
    (label, direction): (LabelId, Direction),
    vertices: &[u32],
    ask: &mut Ask<'_>,
) {
    let adjacency = view.adjacency::<W>(label, direction).unwrap();
    ask("cuts", &|| text(adjacency.cuts(3)));
    ask("scan", &|| {
        let mut visited = Vec::new();
        let flow = adjacency.cursor().scan(0..u32::MAX, |owner, neighbors, values| {
            visited.extend(neighbors.iter().zip(values).map(|(id, value)| (owner, *id, *value)));
            ControlFlow::<()>::Continue(())
        });
        text(flow.map(|_| visited))
    });
    let ids: Vec<VertexId> = vertices.iter().copied().map(VertexId::new).collect();
    for vertex in ids.iter().copied() {
        ask("degree", &|| text(adjacency.cursor().degree(vertex)));
        ask("neighbors", &|| {
            let mut visited = Vec::new();
            let flow = adjacency.cursor().neighbors(vertex, |neighbors, values| {
                visited.extend(neighbors.iter().copied().zip(values.iter().copied()));
                ControlFlow::<()>::Continue(())
            });
            text(flow.map(|_| visited))
        });
        ask("gather", &|| text(adjacency.cursor().gather(vertex)));
        ask("contiguous", &|| text(adjacency.cursor().contiguous(vertex)));
        ask("newest_first", &|| {
            let mut cursor = adjacency.cursor();
            let mut visited = Vec::new();
            let flow = cursor.newest_first(vertex, |id, value, commit| {
                visited.push((id, value, commit));
                ControlFlow::<()>::Continue(())
            });
            text(flow.map(|flow| flow.map(|_| visited)))
        });
        ask("intersect", &|| intersect::<V::Adjacency<'_, W>>(&adjacency, vertex, &ids));
        ask("common_neighbors", &|| common_neighbors::<V::Adjacency<'_, W>>(&adjacency, [vertex, ids[0]]));
        for other in ids.iter().copied() {
            ask("find", &|| text(adjacency.cursor().find(vertex, other)));
        }
    }
}

fn intersect<A: Adjacency>(adjacency: &A, vertex: VertexId, ids: &[VertexId]) -> Answer {
    let (mut visited, mut cursor) = (Vec::new(), adjacency.cursor());
    text(A::intersect(&mut cursor, vertex, ids, |id| visited.push(id)).map(|()| visited))
}

fn common_neighbors<A: Adjacency>(adjacency: &A, ends: [VertexId; 2]) -> Answer {
    let (mut visited, mut one, mut other) = (Vec::new(), adjacency.cursor(), adjacency.cursor());
    text(A::common_neighbors([&mut one, &mut other], ends, |id| visited.push(id)).map(|()| visited))
}

fn each_read_of_records<V: GraphView>(
    view: &V,
    (label, direction): (LabelId, Direction),
    vertices: &[u32],
    ask: &mut Ask<'_>,
) {
    let cursor = || view.edge_records(label, direction).ok().unwrap();
    ask("scan of records", &|| scan_records(&mut cursor()));
    for vertex in vertices.iter().copied().map(VertexId::new) {
        ask("neighbors", &|| {
            let (mut visited, mut cursor) = (Vec::new(), cursor());
            let flow = cursor.neighbors(vertex, |neighbor, record| {
                visited.push((neighbor, record.to_vec()));
                ControlFlow::<()>::Continue(())
            });
            text(flow.map(|_| visited))
        });
        ask("newest_first of records", &|| {
            let mut cursor = cursor();
            let mut visited = Vec::new();
            let flow = cursor.newest_first(vertex, |neighbor, record, commit| {
                visited.push((neighbor, record.to_vec(), commit));
                ControlFlow::<()>::Continue(())
            });
            text(flow.map(|flow| flow.map(|_| visited)))
        });
        for other in vertices.iter().copied().map(VertexId::new) {
            ask("find of a record", &|| {
                text(cursor().find(vertex, other).map(|found| found.map(<[u8]>::to_vec)))
            });
        }
    }
}

fn scan_records<C: RecordCursor>(cursor: &mut C) -> Answer {
    let mut visited = Vec::new();
    let flow = cursor.scan(0..u32::MAX, |owner, other, record| {
        visited.push((owner, other, record.to_vec()));
        ControlFlow::<()>::Continue(())
    });
    text(flow.map(|_| visited))
}

/// Calls all methods of a view about parallel edges of a label.
pub fn each_read_of_parallel_edges<V: GraphView>(
    view: &V,
    label: LabelId,
    vertices: &[u32],
    ask: &mut Ask<'_>,
) {
    let cursor = || view.edge_records(label, Direction::Out).ok().unwrap();
    ask("scan of lists", &|| scan_records(&mut cursor()));
    for vertex in vertices.iter().copied().map(VertexId::new) {
        ask("parallel_neighbors", &|| {
            let (mut visited, mut cursor) = (Vec::new(), cursor());
            let flow = cursor.parallel_neighbors(vertex, |neighbor, edges| match all_of(edges) {
                Ok(edges) => {
                    visited.push((neighbor, edges));
                    ControlFlow::Continue(())
                }
                Err(error) => ControlFlow::Break(error),
            });
            match flow? {
                ControlFlow::Break(error) => Err(error),
                ControlFlow::Continue(()) => Ok(format!("{visited:?}")),
            }
        });
        for other in vertices.iter().copied().map(VertexId::new) {
            ask("find_parallel", &|| {
                let mut cursor = cursor();
                let found = cursor.find_parallel(vertex, other)?;
                text(found.map(all_of).transpose())
            });
        }
    }
}

fn all_of<'c>(edges: impl ParallelEdges<'c>) -> Answer {
    let all: Vec<_> = edges.edges(0..=u64::MAX).collect::<Result<_, _>>()?;
    let keys = all.iter().map(|(key, _)| edges.find(*key)).collect::<Result<Vec<_>, _>>()?;
    Ok(format!("{} {all:?} {keys:?}", edges.count()?))
}
