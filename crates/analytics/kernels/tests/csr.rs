//! Tests the static graph against a naive one, through every method of the traits.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod naive;

use hedgerow_kernels::csr::{BuildOptions, Csr, CsrError};
use hedgerow_kernels::{CancelToken, MemoryBudget, MemoryError};
use hedgerow_model::{
    Adjacency, Column, ColumnType, CommitTimestamp, Cursor, Direction, GraphView, LabelId, Topology,
    VertexId, ViewError,
};
use naive::{ListView, Naive};
use proptest::prelude::*;
use rayon::ThreadPool;
use std::ops::{ControlFlow, Range};

const TOPOLOGIES: [Topology; 3] = [Topology::Directed, Topology::DirectedWithReverse, Topology::Undirected];

fn id(index: u32) -> VertexId {
    VertexId::new(index)
}

fn pool(threads: usize) -> Option<ThreadPool> {
    (threads > 0)
        .then(|| rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start"))
}

fn options(pool: Option<&ThreadPool>) -> BuildOptions<'_> {
    BuildOptions { pool, ..BuildOptions::default() }
}

type Edges = Vec<(VertexId, VertexId, u32)>;

fn graphs() -> impl Strategy<Value = (u32, Topology, Edges)> {
    (1..40_u32, prop::sample::select(&TOPOLOGIES)).prop_flat_map(|(bound, topology)| {
        let edge = (0..bound, 0..bound, any::<u32>()).prop_map(|(a, b, value)| (id(a), id(b), value));
        (Just(bound), Just(topology), prop::collection::vec(edge, 0..200))
    })
}

/// The runs of a scan, one row per owner.
fn scanned<W: Column>(adjacency: &impl Adjacency<Value = W>, range: Range<u32>) -> Vec<(u32, Vec<(u32, W)>)> {
    let mut rows: Vec<(u32, Vec<(u32, W)>)> = Vec::new();
    let whole = adjacency.cursor().scan(range, |owner, neighbors, values| {
        assert!(!neighbors.is_empty(), "a run is never empty");
        if rows.last().is_none_or(|(last, _)| *last != owner.get()) {
            rows.push((owner.get(), Vec::new()));
        }
        let entries = neighbors.iter().map(|neighbor| neighbor.get()).zip(values.iter().copied());
        rows.last_mut().expect("a row was pushed").1.extend(entries);
        ControlFlow::<()>::Continue(())
    });
    assert!(matches!(whole, Ok(ControlFlow::Continue(()))));
    rows
}

/// Checks every method of the cursor against the naive rows.
fn check_adjacency<W: Column>(csr: &Csr, direction: Direction, naive: &Naive<W>) {
    let adjacency = csr.adjacency::<W>(LabelId::DEFAULT, direction).expect("there is this direction");
    let mut cursor = adjacency.cursor();
    let bound = csr.vertex_bound();
    for owner in 0..bound + 3 {
        let expected = naive.row(direction, owner);
        let (ids, values): (Vec<_>, Vec<_>) = expected.iter().map(|(to, value)| (id(*to), *value)).unzip();
        assert_eq!(cursor.degree(id(owner)), Ok(expected.len()));
        assert_eq!(cursor.gather(id(owner)), Ok((&ids[..], &values[..])));
        let mut run = (Vec::new(), Vec::new());
        let all = cursor.neighbors(id(owner), |neighbors, beside| {
            run.0.extend_from_slice(neighbors);
            run.1.extend_from_slice(beside);
            ControlFlow::<()>::Continue(())
        });
        assert_eq!((all, run), (Ok(ControlFlow::Continue(())), (ids, values)));
        for to in 0..bound + 1 {
            let value = expected.iter().find(|(neighbor, _)| *neighbor == to).map(|(_, value)| *value);
            assert_eq!(cursor.find(id(owner), id(to)), Ok(value));
        }
    }
    assert_eq!(scanned(&adjacency, 0..u32::MAX), naive.rows(direction, 0..u32::MAX));
    for start in (0..bound).step_by(7) {
        assert_eq!(scanned(&adjacency, start..start + 5), naive.rows(direction, start..start + 5));
    }
    for parts in [0, 1, 2, 3, 16, 1000] {
        let cuts = adjacency.cuts(parts).unwrap();
        assert!(cuts.len() <= parts.max(1), "at most {parts} cuts: {cuts:?}");
        assert!(cuts.iter().all(|cut| cut.start < cut.end && cut.end <= bound), "{cuts:?}");
        assert!(cuts.windows(2).all(|pair| pair[0].end <= pair[1].start), "cuts ascend: {cuts:?}");
        let rows: Vec<_> = cuts.into_iter().flat_map(|cut| scanned(&adjacency, cut)).collect();
        assert_eq!(rows, naive.rows(direction, 0..bound), "{parts} cuts cover every row once, in order");
    }
}

/// Checks the whole graph against the naive one.
fn check<W: Column>(csr: &Csr, naive: &Naive<W>) {
    assert_eq!(csr.edge_count(LabelId::DEFAULT), naive.edge_count());
    assert_eq!(csr.edge_count(LabelId(1)), 0);
    check_adjacency(csr, Direction::Out, naive);
    match csr.topology() {
        Topology::Directed => {
            let none = csr.adjacency::<W>(LabelId::DEFAULT, Direction::In);
            assert_eq!(none.err(), Some(ViewError::NoReverse));
        }
        Topology::DirectedWithReverse | Topology::Undirected => check_adjacency(csr, Direction::In, naive),
    }
}

proptest! {
    #[test]
    fn edges_become_rows((bound, topology, edges) in graphs(), threads in 0..3_usize) {
        let pool = pool(threads);
        let csr = Csr::from_valued_edges(bound, topology, &edges, options(pool.as_ref())).unwrap();
        check(&csr, &Naive::new(topology, edges.iter().copied()));

        let bare: Vec<_> = edges.iter().map(|(source, destination, _)| (*source, *destination)).collect();
        let csr = Csr::from_edges(bound, topology, &bare, options(pool.as_ref())).unwrap();
        check(&csr, &Naive::new(topology, bare.iter().map(|(source, destination)| (*source, *destination, ()))));
        prop_assert_eq!((csr.vertex_count(), csr.timestamp()), (u64::from(bound), CommitTimestamp::ZERO));
    }

    #[test]
    fn a_copy_of_a_view_is_the_same_graph((bound, topology, edges) in graphs(), threads in 0..3_usize) {
        let pool = pool(threads);
        let naive = Naive::new(topology, edges.iter().copied());
        // Ids above the last end of an edge, and each unused one below it, stay unused.
        let view = ListView::new(bound + 5, CommitTimestamp(7), &naive);
        let csr = Csr::from_view::<_, u32>(&view, LabelId::DEFAULT, options(pool.as_ref())).unwrap();
        check(&csr, &naive);
        let topology_only = Csr::from_view::<_, ()>(&csr, LabelId::DEFAULT, options(pool.as_ref())).unwrap();
        check(&topology_only, &Naive::new(topology, edges.iter().map(|(a, b, _)| (*a, *b, ()))));

        prop_assert_eq!(csr.timestamp(), CommitTimestamp(7));
        prop_assert_eq!((csr.vertex_bound(), csr.vertex_count()), (view.vertex_bound(), view.vertex_count()));
        let mut vertices = Vec::new();
        csr.each_vertex(0..u32::MAX, |vertex| vertices.push(vertex)).unwrap();
        prop_assert_eq!(&vertices, &view.vertices());
        for index in 0..bound + 9 {
            prop_assert_eq!(csr.contains_vertex(id(index)), Ok(vertices.contains(&id(index))));
        }
    }

    #[test]
    fn transposing_turns_every_edge_round((bound, topology, edges) in graphs(), threads in 0..3_usize) {
        let pool = pool(threads);
        let view = ListView::new(bound, CommitTimestamp(7), &Naive::new(topology, edges.iter().copied()));
        let turned = Csr::transposed::<_, ()>(&view, LabelId::DEFAULT, options(pool.as_ref())).unwrap();
        let turned_edges = edges.iter().map(|(source, destination, _)| (*destination, *source, ()));
        let expected = if topology.is_undirected() { topology } else { Topology::Directed };
        prop_assert_eq!(turned.topology(), expected);
        prop_assert_eq!(turned.vertex_count(), view.vertex_count());
        check(&turned, &Naive::new(expected, turned_edges));
    }
}

#[test]
fn many_chunks_give_the_same_rows_as_one() {
    // More edges than one chunk holds, with distant duplicates whose last value must win.
    let edges: Vec<_> = (0..300_000_u64)
        .map(|edge| {
            let mixed = edge.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            (id((mixed >> 40) as u32 % 700), id((mixed >> 20) as u32 % 700), edge)
        })
        .collect();
    let pool = pool(3);
    for topology in TOPOLOGIES {
        let csr = Csr::from_valued_edges(1000, topology, &edges, options(pool.as_ref())).unwrap();
        let naive = Naive::new(topology, edges.iter().copied());
        assert_eq!(csr.edge_count(LabelId::DEFAULT), naive.edge_count());
        for direction in topology.directions() {
            let adjacency = csr.adjacency::<u64>(LabelId::DEFAULT, *direction).unwrap();
            assert_eq!(scanned(&adjacency, 0..1000), naive.rows(*direction, 0..1000));
        }
    }
}

#[test]
fn parallel_edges_of_a_view_stay() {
    let edges = vec![(id(2), id(0), 5), (id(0), id(1), 7), (id(0), id(1), 3), (id(0), id(0), 1)];
    let view = ListView::multi(3, edges);
    let csr = Csr::from_view::<_, u32>(&view, LabelId::DEFAULT, BuildOptions::default()).unwrap();
    assert_eq!(csr.offsets(), [0, 3, 3, 4]);
    assert_eq!(csr.neighbors(), [id(0), id(1), id(1), id(0)]);
    assert_eq!(csr.edge_count(LabelId::DEFAULT), 4);
    let turned = Csr::transposed::<_, ()>(&view, LabelId::DEFAULT, BuildOptions::default()).unwrap();
    assert_eq!(turned.offsets(), [0, 2, 4, 4]);
    assert_eq!(turned.neighbors(), [id(0), id(2), id(0), id(0)]);
}

#[test]
fn the_empty_graph_has_no_rows() {
    for topology in TOPOLOGIES {
        let csr = Csr::from_edges(0, topology, &[], BuildOptions::default()).unwrap();
        check(&csr, &Naive::<()>::new(topology, []));
        assert_eq!((csr.vertex_bound(), csr.vertex_count()), (0, 0));
        let copy = Csr::from_view::<_, ()>(&csr, LabelId::DEFAULT, BuildOptions::default()).unwrap();
        check(&copy, &Naive::<()>::new(topology, []));
    }
}

#[test]
fn a_break_ends_the_call_and_comes_back() {
    let edges = [(id(0), id(1)), (id(1), id(2)), (id(2), id(0))];
    let csr = Csr::from_edges(3, Topology::Directed, &edges, BuildOptions::default()).unwrap();
    let adjacency = csr.adjacency::<()>(LabelId::DEFAULT, Direction::Out).unwrap();
    let mut seen = 0;
    let broken = adjacency.cursor().scan(0..3, |owner, _, _| {
        seen += 1;
        if owner == id(1) { ControlFlow::Break("found") } else { ControlFlow::Continue(()) }
    });
    assert_eq!((broken, seen), (Ok(ControlFlow::Break("found")), 2));
    let broken = adjacency.cursor().neighbors(id(2), |run, _| ControlFlow::Break(run[0]));
    assert_eq!(broken, Ok(ControlFlow::Break(id(0))));
}

#[test]
fn bad_input_is_named() {
    let edges = [(id(0), id(1)), (id(2), id(0)), (id(0), id(3))];
    let out_of_range = Csr::from_edges(3, Topology::Directed, &edges, BuildOptions::default());
    let expected = CsrError::VertexOutOfRange { edge: 2, vertex: id(3), vertex_bound: 3 };
    assert_eq!(out_of_range.unwrap_err(), expected);

    let csr = Csr::from_edges(5, Topology::Directed, &edges, BuildOptions::default()).unwrap();
    for end in [id(2), id(3)] {
        assert_eq!(csr.clone().without_vertices([end]).unwrap_err(), CsrError::VertexHasEdges(end));
    }
    let holes = csr.clone().without_vertices([id(4), id(9)]).unwrap();
    assert_eq!((holes.vertex_bound(), holes.vertex_count()), (5, 4));
    assert_eq!([holes.contains_vertex(id(4)), csr.contains_vertex(id(9))], [const { Ok(false) }; 2]);

    let unknown = csr.adjacency::<()>(LabelId(1), Direction::Out).err();
    assert_eq!(unknown, Some(ViewError::UnknownLabel(LabelId(1))));
    let (label, declared, asked) = (LabelId::DEFAULT, ColumnType::Unit, ColumnType::F32);
    let wrong = Csr::from_view::<_, f32>(&csr, label, BuildOptions::default()).unwrap_err();
    assert_eq!(wrong, CsrError::View(ViewError::WrongColumn { label, declared, asked }));
}

#[test]
fn memory_is_checked_before_anything_is_built() {
    let edges = [(id(0), id(1))];
    let csr = Csr::from_edges(100, Topology::Directed, &edges, BuildOptions::default()).unwrap();
    let little = BuildOptions { memory: MemoryBudget::bytes(100), ..BuildOptions::default() };
    let (built, label) = (Csr::from_edges(100, Topology::Directed, &edges, little), LabelId::DEFAULT);
    for refused in
        [built, Csr::from_view::<_, ()>(&csr, label, little), Csr::transposed::<_, ()>(&csr, label, little)]
    {
        let Err(CsrError::Memory(MemoryError::Insufficient { needed, available, .. })) = refused else {
            panic!("refused for lack of memory")
        };
        assert!(needed > csr.memory_bytes() as u64 && available == 100, "{needed} of {available}");
    }
}

#[test]
fn a_cancelled_build_gives_no_graph() {
    let cancel = CancelToken::new();
    cancel.cancel();
    let edges = [(id(0), id(1))];
    let csr = Csr::from_edges(2, Topology::Directed, &edges, BuildOptions::default()).unwrap();
    let options = BuildOptions { cancel: Some(&cancel), ..BuildOptions::default() };
    let (built, label) = (Csr::from_edges(2, Topology::Directed, &edges, options), LabelId::DEFAULT);
    for cancelled in
        [built, Csr::from_view::<_, ()>(&csr, label, options), Csr::transposed::<_, ()>(&csr, label, options)]
    {
        assert_eq!(cancelled.unwrap_err(), CsrError::Cancelled);
    }
}
