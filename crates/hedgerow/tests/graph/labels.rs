//! Labels added to an open graph, on every engine: they work like original labels, concurrent with
//! writers and readers.

use crate::engines::MODELLED;
use crate::oracle::{ENGINES, Oracle, commit, domain, is_count, labels, operation, stage, without_labels};
use hedgerow::kernels::BuildOptions;
use hedgerow::kernels::PageRank;
use hedgerow::prelude::*;
use hedgerow::{History, LabelId};
use hedgerow_testing::flag::RaiseOnDrop;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

const TOPOLOGIES: [Topology; 3] = [Topology::Directed, Topology::DirectedWithReverse, Topology::Undirected];
const KEY_KINDS: [KeyKind; 3] = [KeyKind::Number, KeyKind::String, KeyKind::Dense];

#[derive(Properties, Clone, Debug, PartialEq)]
struct Payment {
    amount: f64,
    note: Option<String>,
}

#[derive(Properties)]
struct Call {
    amount: f64,
}

/// Returns a graph with the label "knows" alone.
fn graph(engine: EngineKind, topology: Topology) -> Graph {
    Graph::in_memory(GraphOptions::new().engine(engine).topology(topology).label::<()>("knows")).unwrap()
}

/// Random operations on all labels; the graph was made with the first label only.
#[test]
fn labels_that_are_added_work_as_those_that_a_graph_was_made_with() {
    let mut random = StdRng::seed_from_u64(1);
    for (number, engine) in ENGINES.into_iter().cycle().take(3 * ENGINES.len()).enumerate() {
        let (topology, kind) = (TOPOLOGIES[number % 3], KEY_KINDS[number / 3 % 3]);
        let keys = domain(kind, 9);
        let mut operation = || operation(&keys, random.random());
        let [first, later @ ..] = labels();
        let is_first = |operation: &hedgerow_model::Operation| match operation {
            hedgerow_model::Operation::PutEdge { label, .. }
            | hedgerow_model::Operation::DeleteEdge { label, .. }
            | hedgerow_model::Operation::ChangeRecord { label, .. } => *label == LabelId(0),
            _ => true,
        };
        let options = without_labels(topology, kind).engine(engine).label_schema(first);
        let graph = Graph::in_memory(options).unwrap();
        let mut oracle = Oracle::new(topology);
        let apply = |oracle: &mut Oracle, operation| {
            oracle.apply(&operation);
            commit(&graph, &operation);
        };
        for _ in 0..60 {
            Some(operation()).filter(is_first).into_iter().for_each(|one| apply(&mut oracle, one));
        }
        let (before, shown) = (graph.snapshot().unwrap(), oracle.clone());
        let transaction = graph.begin().unwrap();

        let ids = [&later[..1], &later[1..]].map(|labels| graph.add_labels(labels).unwrap()).concat();
        assert_eq!(ids, [1, 2, 3, 4].map(LabelId));
        let (at_first, shown_at_first) = (graph.snapshot().unwrap(), oracle.clone());
        (0..10).for_each(|_| {
            stage(&transaction, &operation()).unwrap();
        });
        drop(transaction);
        for _ in 0..200 {
            apply(&mut oracle, operation());
        }
        oracle.check(&graph.snapshot().unwrap(), &keys);
        assert_eq!(Oracle::of_snapshot(&graph.snapshot().unwrap()), oracle);
        // These states have no edges of the labels added later.
        shown.check(&before, &keys);
        shown_at_first.check(&at_first, &keys);
        drop((before, at_first));
        graph.reclaim().unwrap();
        assert_eq!(graph.memory().retained_bytes, 0, "{engine:?}");
    }
}

#[test]
fn a_label_is_added_once_and_returned_from_then_on() {
    for engine in ENGINES {
        let graph = graph(engine, Topology::Directed);
        let knows = graph.label::<()>("knows").unwrap();
        let pays = graph.add_label::<Payment>("pays").unwrap();
        let calls = graph.add_parallel_label::<Call>("calls", "number").unwrap();
        let catalog = graph.catalog();
        assert_eq!(graph.add_label::<()>("knows").unwrap(), knows);
        assert_eq!(graph.add_label::<Payment>("pays").unwrap(), pays);
        assert_eq!(graph.add_parallel_label::<Call>("calls", "number").unwrap(), calls);
        assert_eq!(
            (graph.label::<Payment>("pays").unwrap(), graph.label::<Call>("calls").unwrap()),
            (pays, calls)
        );
        // Some of the labels exist, others are new.
        let rates = LabelSchema::with_value::<f32>("rates");
        let asked = [catalog.labels()[1].clone(), rates.clone(), catalog.labels()[0].clone()];
        assert_eq!(graph.add_labels(&asked).unwrap(), [1, 3, 0].map(LabelId));
        assert_eq!(graph.catalog(), catalog.with_labels(&[rates]).unwrap());
        assert_eq!(graph.add_labels(&[]).unwrap(), []);
    }
}

fn refused<T: std::fmt::Debug>(result: Result<T, Error>, kind: ErrorKind, parts: &[&str]) {
    let error = result.unwrap_err();
    assert_eq!(error.kind(), kind, "{error}");
    parts.iter().for_each(|part| assert!(error.to_string().contains(part), "{part:?} is not in {error}"));
}

#[test]
fn another_label_of_the_same_name_is_refused_and_both_are_named() {
    for engine in ENGINES {
        let graph = graph(engine, Topology::Undirected);
        graph.add_label::<Payment>("pays").unwrap();
        graph.add_label::<u32>("rates").unwrap();
        let catalog = graph.catalog();
        let kind = ErrorKind::InvalidInput;
        let record = ["\"pays\"", "a record (\"amount\": f64, \"note\": string?)"];
        refused(graph.add_label::<u64>("rates"), kind, &["\"rates\"", "carry u32:", "carry u64"]);
        refused(graph.add_label::<u64>("knows"), kind, &["\"knows\"", "carry no data:", "carry u64"]);
        refused(graph.add_label::<()>("rates"), kind, &["\"rates\"", "carry u32:", "carry no data"]);
        refused(
            graph.add_label::<Call>("pays"),
            kind,
            &[&record[..], &["carry a record (\"amount\": f64)"]].concat(),
        );
        let parallel =
            "carry a key \"number\", as parallel edges, and a record (\"amount\": f64, \"note\": string?)";
        refused(
            graph.add_parallel_label::<Payment>("pays", "number"),
            kind,
            &[&record[..], &[parallel]].concat(),
        );
        // If one of several labels is invalid, none is added.
        let fine = || LabelSchema::new("fine");
        refused(graph.add_labels(&[fine(), LabelSchema::new("rates")]), kind, &["\"rates\""]);
        refused(graph.add_labels(&[fine(), fine()]), kind, &["\"fine\"", "twice"]);
        let twice = RecordSchema::new().field("size", ValueType::I64).field("size", ValueType::F64);
        refused(
            graph.add_labels(&[fine(), LabelSchema::with_record("odd", twice)]),
            kind,
            &["\"size\"", "twice"],
        );
        assert_eq!(graph.catalog(), catalog);
        // Two ways to define edges without data.
        assert_eq!(graph.add_labels(&[LabelSchema::with_value::<()>("knows")]).unwrap(), [LabelId(0)]);
    }
}

#[test]
fn a_graph_has_as_many_labels_as_ids() {
    let many = (0..65_534).map(|number| LabelSchema::new(format!("label {number}")));
    let options = GraphOptions::new().engine(EngineKind::Tel);
    let graph = Graph::in_memory(many.fold(options, GraphOptions::label_schema)).unwrap();
    let last = graph.add_label::<u32>("the last").unwrap();
    assert_eq!(last.id(), LabelId(65_534));
    graph.put_edge_with(last, 1, 2, 7).unwrap();
    assert_eq!(graph.get_edge(last, 1, 2).unwrap(), Some(7));
    refused(graph.add_label::<()>("one more"), ErrorKind::InvalidInput, &["at most 65535 labels"]);
    assert_eq!(graph.add_label::<u32>("the last").unwrap(), last);
}

#[test]
fn states_and_transactions_of_before_know_the_label_and_no_edge_of_it() {
    for engine in ENGINES {
        let options = GraphOptions::new().engine(engine).topology(Topology::DirectedWithReverse);
        let graph = Graph::in_memory(options.label::<()>("knows").history(History::All)).unwrap();
        let knows = graph.label::<()>("knows").unwrap();
        graph.put_edge(knows, 1, 2).unwrap();
        let (before, transaction) = (graph.snapshot().unwrap(), graph.begin().unwrap());
        let pays = graph.add_label::<f64>("pays").unwrap();
        let (sends, calls) = (
            graph.add_label::<Payment>("sends").unwrap(),
            graph.add_parallel_label::<Call>("calls", "number").unwrap(),
        );
        let payment = Payment { amount: 1.5, note: None };
        graph.put_edge_with(pays, 1, 2, 2.5).unwrap();
        graph.put_edge_with(sends, 1, 2, payment.clone()).unwrap();
        graph.update_parallel_edge(calls, 1, 2, 9, &EdgeUpdate::put().set("amount", 0.5)).unwrap();
        for state in [before.clone(), graph.snapshot_at(before.timestamp()).unwrap()] {
            assert_eq!(state.neighbors(pays, 1).unwrap(), Vec::<Key>::new());
            assert_eq!(state.neighbors(pays.incoming(), 2).unwrap(), Vec::<Key>::new());
            assert_eq!((state.degree(pays, 1).unwrap(), state.get_edge(pays, 1, 2).unwrap()), (0, None));
            assert_eq!(state.edges(sends, 1).unwrap(), []);
            assert_eq!((state.edge_count_of(calls), state.parallel_degree(calls, 1).unwrap()), (0.into(), 0));
            assert!(state.parallel_edges(calls, 1, 2, ..).unwrap().is_empty());
            assert!(is_count(engine, state.edge_count(), 1) && state.edge_count_of(pays) == 0);
            assert_eq!(state.all_edges(pays).unwrap().count(), 0);
            let copy = state.to_csr::<f64>(pays, BuildOptions::default()).unwrap();
            assert!(copy.neighbors().is_empty());
            assert_eq!(state.run(PageRank::default().label(pays)).unwrap().ranks.len(), 2);
            refused(
                state.get_edge(Label::<u32>::from(pays.id()), 1, 2),
                ErrorKind::InvalidInput,
                &["\"pays\""],
            );
        }
        // The transaction began before, so it does not see these edges, but it sees its own.
        assert_eq!(transaction.get_edge(pays, 1, 2).unwrap(), None);
        transaction.put_edge_with(sends, 3, 4, payment.clone()).unwrap();
        transaction.put_edge_with(pays, 3, 4, 3.5).unwrap();
        assert_eq!(transaction.edges(sends, 3).unwrap(), [(Key::Number(4), payment.clone())]);
        let committed = transaction.commit().unwrap();
        let after = graph.snapshot_at(committed.at).unwrap();
        assert_eq!((after.get_edge(pays, 3, 4).unwrap(), after.edge_count_of(sends)), (Some(3.5), 2.into()));
        assert!(is_count(engine, after.edge_count(), 6));
    }
}

/// In an undirected graph, each edge of every label is visible from both of its ends, which exist,
/// and is counted once. An engine with files of its own, used with a store here, may count it
/// later.
fn check_edges(graph: &Graph, keys: u64) {
    let snapshot = graph.snapshot().unwrap();
    for label in (0..graph.catalog().labels().len() as u16).map(LabelId) {
        let (mut ends, mut loops) = (0, 0);
        for key in 0..keys {
            for neighbor in snapshot.neighbors(label, key).unwrap() {
                assert!(
                    snapshot.contains_edge(label, &neighbor, key).unwrap(),
                    "{label:?}: {key} to {neighbor}"
                );
                assert!(snapshot.contains_vertex(&neighbor).unwrap());
                ends += 1;
                loops += u64::from(neighbor == key);
            }
        }
        let (counted, edges) = (snapshot.edge_count_of(label), (ends + loops) / 2);
        let is_counted_later = graph.durability().is_some();
        assert!(counted.may_be(edges) && (is_counted_later || counted == edges), "{counted} of {label:?}");
    }
}

/// Two threads add the same labels to an undirected graph with the label "knows"; others put edges
/// of any label that they find, delete vertices with edges of all labels, and read.
pub fn add_beside_writers_and_readers(graph: &Graph) {
    const KEYS: u64 = 64;
    let names: Vec<String> = (0..60).map(|number| format!("label {number}")).collect();
    let is_over = AtomicBool::new(false);
    let until_over = &|run: &mut dyn FnMut()| {
        while !is_over.load(Ordering::Relaxed) {
            run();
        }
    };
    let newest = &|| LabelId(graph.catalog().labels().len() as u16 - 1);
    thread::scope(|scope| {
        let _over = RaiseOnDrop(&is_over);
        for seed in 0..2 {
            let mut random = StdRng::seed_from_u64(seed);
            scope.spawn(move || {
                until_over(&mut || {
                    let (from, to) = (random.random_range(1..KEYS), random.random_range(1..KEYS));
                    // The label that was added last.
                    let label = newest();
                    match label {
                        LabelId(0) => graph.put_edge(label, from, to).unwrap(),
                        LabelId(number) => graph.put_edge_with(label, from, to, u32::from(number)).unwrap(),
                    };
                    if random.random_range(0..4) == 0 {
                        graph.delete_vertex(to).unwrap();
                    }
                });
            });
        }
        scope.spawn(|| until_over(&mut || check_edges(graph, KEYS)));
        let add = || names.iter().map(|name| graph.add_label::<u32>(name).unwrap()).collect::<Vec<_>>();
        let (one, other) = (scope.spawn(add), scope.spawn(add));
        let ids = one.join().unwrap();
        assert_eq!(ids, other.join().unwrap());
        assert!(ids.iter().map(|label| label.id().index()).eq(1..=names.len()));
    });
    let catalog = graph.catalog();
    assert!(names.iter().eq(catalog.labels()[1..].iter().map(|label| &label.name)));
    for (from, name) in (0..).zip(&names) {
        let label = graph.label::<u32>(name).unwrap();
        assert!(graph.put_edge_with(label, from, KEYS, 1).unwrap().changed != Some(false));
    }
    check_edges(graph, KEYS + 1);
}

#[test]
fn labels_are_added_beside_writers_and_readers() {
    MODELLED
        .into_iter()
        .for_each(|engine| add_beside_writers_and_readers(&graph(engine, Topology::Undirected)));
}

/// A call visits each label of the graph once, however many labels it adds or finds. Counted, not
/// timed.
#[cfg(debug_assertions)]
#[test]
fn many_labels_are_found_in_one_pass_over_those_of_the_graph() {
    let names = |count: usize| {
        (0..count).map(|number| LabelSchema::new(format!("label {number}"))).collect::<Vec<_>>()
    };
    for engine in ENGINES {
        let graph = graph(engine, Topology::Directed);
        let labels = names(500);
        for (add, present) in [(&labels[..100], 1), (&labels, 101), (&labels, 501)] {
            let (ids, searched) = hedgerow_model::measure_searched_labels(|| graph.add_labels(add).unwrap());
            assert!(ids.into_iter().eq((1..).take(add.len()).map(LabelId)), "{engine:?}");
            assert_eq!(searched, present, "{engine:?}");
        }
    }
}
