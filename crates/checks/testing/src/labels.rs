//! Named cases of labels that are added to open graphs.

use crate::Tested;
use crate::check::{check_view, read};
use crate::contract::{delete, put, put_valued};
use crate::oracle::{RECORDS, Request};
use crate::parallel::{self, ParallelGraph};
use crate::pipeline::{Pipeline, other_labels, with_first_label};
use hedgerow_model::{
    Adjacency, Catalog, Cursor, Direction, Engine, GraphView, LabelId, RecordSchema, Topology, VertexId,
};
use std::thread;

const TOPOLOGIES: [Topology; 3] = [Topology::Directed, Topology::DirectedWithReverse, Topology::Undirected];

fn add_all<E: Engine>(engine: &E) {
    other_labels().iter().for_each(|label| engine.add_label(label));
}

/// Returns a request for edges of the label with records.
fn put_record(source: u32, destinations: impl IntoIterator<Item = u32>, record: u32) -> Request {
    let destinations = destinations.into_iter().collect();
    Request::PutEdges { label: RECORDS, source, destinations, value: record }
}

/// Returns a request for edges of the label with values of eight bytes.
fn put_weight(source: u32, destinations: impl IntoIterator<Item = u32>, weight: u32) -> Request {
    let destinations = destinations.into_iter().collect();
    Request::PutEdges { label: 1, source, destinations, value: weight }
}

/// Every type of edge data, with short and long rows that are put, changed and deleted under
/// snapshots.
pub fn labels_that_were_added_are_like_those_from_the_beginning<T: Tested>() {
    let commits: [Vec<Request>; 6] = [
        vec![put(1, [2, 3]), put_valued(1, 0..300, 7)],
        vec![put_weight(64, [1, 2], 5), put_record(1, [2, 70], 3), put_record(2, 0..40, 9)],
        vec![put_record(1, [2], 4), put_weight(64, [1], 6), delete(1, [2])],
        vec![Request::DeleteEdges { label: RECORDS, source: 2, destinations: (0..40).step_by(2).collect() }],
        vec![Request::DeleteVertex { vertex: 1 }],
        vec![put_record(1, [2], 8), put_valued(1, [1], 1)],
    ];
    let vertices = [0, 1, 2, 3, 39, 64, 70, 299, 300];
    for topology in TOPOLOGIES {
        let mut added = with_first_label::<T>(topology);
        add_all(&added.engine);
        let mut made = Pipeline::<T>::new(topology, None);
        for pipeline in [&mut added, &mut made] {
            pipeline.assert_counters_are_exact();
            pipeline.check(&vertices);
            for commit in &commits {
                pipeline.commit(commit, 0).unwrap();
                pipeline.open();
                pipeline.check(&vertices);
                pipeline.assert_counters_are_exact();
            }
            while !pipeline.snapshots.is_empty() {
                pipeline.close(0);
            }
            pipeline.reclaim_all();
            pipeline.check(&vertices);
            pipeline.assert_counters_are_exact();
            pipeline.assert_nothing_is_retained();
        }
        if T::RECOUNT.is_some() {
            let held = |pipeline: &Pipeline<T>| pipeline.engine.memory();
            assert_eq!(held(&added).live_bytes, held(&made).live_bytes);
        }
    }
}

/// Snapshots opened before a label, of a graph that already has edges and vertices with large ids.
pub fn states_from_before_a_label_show_it_without_edges<T: Tested>() {
    for topology in TOPOLOGIES {
        let mut pipeline = with_first_label::<T>(topology);
        pipeline.open();
        pipeline.commit(&[put(1, [2, 65, 500_000])], 0).unwrap();
        pipeline.open();
        add_all(&pipeline.engine);
        let vertices = [0, 1, 2, 65, 500_000, 500_001];
        pipeline.check(&vertices);
        pipeline.commit(&[put_record(1, [2, 500_000], 4), put_valued(500_000, [1], 2)], 0).unwrap();
        pipeline.check(&vertices);
        pipeline.assert_counters_are_exact();
        pipeline.close(0);
        pipeline.reclaim_all();
        pipeline.check(&vertices);
        pipeline.close(0);
        pipeline.reclaim_all();
        pipeline.check(&vertices);
        pipeline.assert_nothing_is_retained();
    }
}

/// A view, not only its timestamp, is held while labels are added.
pub fn a_view_that_is_open_shows_the_labels_that_come<T: Tested>() {
    for topology in TOPOLOGIES {
        let mut pipeline = with_first_label::<T>(topology);
        pipeline.commit(&[put(1, [2, 65])], 0).unwrap();
        pipeline.open();
        let snapshot = &pipeline.snapshots[0];
        let view = pipeline.engine.view(&snapshot.state, &snapshot.token);
        add_all(&pipeline.engine);
        check_view(&view, &snapshot.oracle, &[0, 1, 2, 65, 66]);
    }
}

/// A label with parallel edges, which also have records.
pub fn parallel_edges_of_a_label_that_was_added_are_kept<T: Tested>() {
    let labels = parallel::catalog().labels().to_vec();
    for topology in TOPOLOGIES {
        let plain = Catalog::new(labels[..1].to_vec(), RecordSchema::default()).unwrap();
        let engine = T::engine(topology, plain);
        engine.add_label(&labels[1]);
        let mut graph = ParallelGraph::<T>::new(engine, topology);
        graph.check_newest();
        graph.commit(&[((1, 2), Some(vec![(7, Some(1)), (9, Some(2))]))]).unwrap();
        graph
            .commit(&[((1, 2), Some(vec![(7, None), (8, Some(3))])), ((2, 2), Some(vec![(0, Some(4))]))])
            .unwrap();
        graph.check_newest();
        graph.commit(&[((2, 2), None)]).unwrap();
        graph.check_newest();
    }
}

/// Single edges without effects, for engines that take them.
pub fn edges_of_a_new_label_are_committed_one_by_one<T: Tested>() {
    for topology in TOPOLOGIES {
        let mut pipeline = with_first_label::<T>(topology);
        let vertices = [0, 1, 2, 64];
        pipeline.commit(&vertices.map(|vertex| Request::PutVertex { vertex, property: None }), 0).unwrap();
        add_all(&pipeline.engine);
        let changes =
            [((1, 2), Some(5)), ((1, 2), Some(6)), ((2, 64), Some(1)), ((1, 2), None), ((0, 1), None)];
        for (ends, value) in changes {
            pipeline.open();
            for label in [1, 2] {
                if pipeline.commit_edge(label, ends, value, 0) {
                    pipeline.assert_counters_are_exact();
                }
            }
            pipeline.check(&vertices);
        }
    }
}

/// Staged changes that are not applied, of a label without edges.
pub fn a_change_of_a_new_label_that_is_dropped_leaves_nothing<T: Tested>() {
    let mut pipeline = with_first_label::<T>(Topology::DirectedWithReverse);
    pipeline.commit(&[put(1, [2])], 0).unwrap();
    add_all(&pipeline.engine);
    pipeline.abandon(&[put_record(1, [2, 900], 3), put_valued(2, 0..100, 1)]);
    pipeline.assert_counters_are_exact();
    pipeline.check(&[1, 2, 99, 900]);
    pipeline.commit(&[put_record(1, [2], 3)], 0).unwrap();
    pipeline.check(&[1, 2, 99, 900]);
}

/// One thread reads a snapshot while another adds labels.
pub fn readers_go_on_while_labels_come<T: Tested>() {
    for _ in 0..20 {
        let mut pipeline = with_first_label::<T>(Topology::Undirected);
        pipeline.commit(&[put(1, 0..200)], 0).unwrap();
        pipeline.open();
        let count = || {
            let snapshot = &pipeline.snapshots[0];
            let view = pipeline.engine.view(&snapshot.state, &snapshot.token);
            let adjacency = view.adjacency::<()>(LabelId(0), Direction::Out).unwrap();
            read(adjacency.cursor().degree(VertexId::new(1)))
        };
        thread::scope(|scope| {
            let engine = &pipeline.engine;
            let adding = scope.spawn(move || add_all(engine));
            while !adding.is_finished() {
                assert_eq!(count(), 200);
            }
        });
        pipeline.commit(&[put_valued(1, 0..200, 3), put_record(1, [2], 5)], 0).unwrap();
        pipeline.check(&[0, 1, 2, 199]);
    }
}
