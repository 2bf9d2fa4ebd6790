//! A type-erased view reads the same as the original through every method, with rows on both sides
//! of each batch limit.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use hedgerow_erased::ErasedView;
use hedgerow_kernels::csr::{BuildOptions, Csr};
use hedgerow_model::{
    Adjacency, Column, Cursor, Direction, GraphView, LabelId, Topology, VertexId, ViewError,
};
use proptest::prelude::*;
use std::ops::ControlFlow;

type Row<W> = (VertexId, Vec<(VertexId, W)>);

/// The rows of a scan up to a vertex, with the runs of each row joined.
fn scanned<A: Adjacency>(adjacency: &A, last: u32) -> Vec<Row<A::Value>> {
    let mut rows: Vec<Row<A::Value>> = Vec::new();
    let flow = adjacency.cursor().scan(0..u32::MAX, |owner, neighbors, values| {
        assert_eq!(neighbors.len(), values.len());
        if rows.last().is_none_or(|(last, _)| *last != owner) {
            rows.push((owner, Vec::new()));
        }
        let (_, row) = rows.last_mut().unwrap();
        row.extend(neighbors.iter().copied().zip(values.iter().copied()));
        if owner.get() >= last { ControlFlow::Break(owner) } else { ControlFlow::Continue(()) }
    });
    assert!(flow.ok().unwrap().break_value().is_none_or(|owner| owner.get() >= last));
    rows
}

fn read_alike<W: Column>(csr: &Csr, direction: Direction) {
    let view = ErasedView::new(csr.clone());
    let adjacency = view.adjacency::<W>(LabelId::DEFAULT, direction).unwrap();
    let direct = csr.adjacency::<W>(LabelId::DEFAULT, direction).unwrap();
    for last in [0, 7, u32::MAX] {
        assert_eq!(scanned(&adjacency, last), scanned(&direct, last));
    }
    assert_eq!(adjacency.cuts(5).unwrap(), direct.cuts(5).unwrap());
    let (mut cursor, mut reader) = (adjacency.cursor(), direct.cursor());
    for vertex in (0..csr.vertex_bound() + 2).map(VertexId::new) {
        cursor.prefetch_place(vertex);
        cursor.prefetch(vertex);
        let row = reader.gather(vertex).unwrap();
        assert_eq!(cursor.degree(vertex), Ok(row.0.len()));
        assert_eq!(cursor.gather(vertex), Ok(row));
        assert_eq!(cursor.contiguous(vertex), Ok(Some(row)));
        let (mut neighbors, mut values) = (Vec::new(), Vec::new());
        let walked = cursor.neighbors(vertex, |some, beside| {
            neighbors.extend_from_slice(some);
            values.extend_from_slice(beside);
            ControlFlow::<()>::Continue(())
        });
        assert_eq!((walked, (&*neighbors, &*values)), (Ok(ControlFlow::Continue(())), row));
        let first = cursor.neighbors(vertex, |some, _| ControlFlow::Break(some[0]));
        assert_eq!(first.unwrap().break_value(), row.0.first().copied());
        for (neighbor, value) in row.0.iter().zip(row.1) {
            assert_eq!(cursor.find(vertex, *neighbor), Ok(Some(*value)));
        }
        assert_eq!(cursor.find(vertex, VertexId::MAX), Ok(None));
    }
}

proptest! {
    #[test]
    fn a_view_reads_the_same(
        edges in prop::collection::vec((0..600_u32, 0..600_u32, any::<u32>()), 0..900),
        hub in 0..600_u32,
        degree in 0..600_u32,
    ) {
        let id = VertexId::new;
        let edges = edges.into_iter().chain((0..degree).map(|neighbor| (hub, neighbor, neighbor)));
        let edges: Vec<_> = edges.map(|(from, to, value)| (id(from), id(to), value)).collect();
        let topology = Topology::DirectedWithReverse;
        let csr = Csr::from_valued_edges(600, topology, &edges, BuildOptions::default()).unwrap();
        for direction in [Direction::Out, Direction::In] {
            read_alike::<()>(&csr, direction);
            read_alike::<u32>(&csr, direction);
        }
    }
}

#[test]
fn a_view_has_the_same_vertices_and_errors() {
    let id = VertexId::new;
    let edges = [(id(0), id(1)), (id(700), id(3))];
    let csr = Csr::from_edges(1000, Topology::Directed, &edges, BuildOptions::default()).unwrap();
    let csr = csr.without_vertices([id(5), id(600)]).unwrap();
    let view = ErasedView::new(csr.clone());
    let vertices = |range: std::ops::Range<u32>| {
        let mut vertices = [Vec::new(), Vec::new()];
        view.each_vertex(range.clone(), |vertex| vertices[0].push(vertex)).unwrap();
        csr.each_vertex(range.clone(), |vertex| vertices[1].push(vertex)).unwrap();
        let first = view.scan_vertices(range, ControlFlow::Break).unwrap().break_value();
        assert_eq!(first, vertices[1].first().copied());
        vertices
    };
    for range in [0..u32::MAX, 5..6, 0..256, 3..515] {
        let [erased, direct] = vertices(range);
        assert_eq!(erased, direct);
    }
    assert_eq!((view.timestamp(), view.topology()), (csr.timestamp(), csr.topology()));
    assert_eq!((view.vertex_bound(), view.vertex_count()), (1000, 998));
    assert_eq!(view.edge_count(LabelId::DEFAULT), 2);
    for vertex in [4, 5, 1000].map(id) {
        assert_eq!(view.contains_vertex(vertex).ok(), csr.contains_vertex(vertex).ok());
        assert_eq!(view.vertex_record(vertex).ok(), csr.vertex_record(vertex).ok());
    }
    let refused = |result: Result<_, ViewError>| result.err();
    assert_eq!(
        refused(view.adjacency::<()>(LabelId::DEFAULT, Direction::In).map(drop)),
        Some(ViewError::NoReverse)
    );
    assert!(matches!(
        refused(view.adjacency::<f64>(LabelId::DEFAULT, Direction::Out).map(drop)),
        Some(ViewError::WrongColumn { .. })
    ));
}
