//! Typed parallel edges: put one by one, as streams, in bulk and in transactions they have equal
//! effects, on every engine; and the refusals name the label and the method that is meant.

use crate::oracle::ENGINES;
use hedgerow::prelude::*;
use hedgerow::{Change, EdgeUpdate, SubscribeOptions, Topology, Version};
use hedgerow_testing::cases::one_case_in;
use proptest::prelude::*;
use std::collections::BTreeMap;

const TOPOLOGIES: [Topology; 3] = [Topology::Directed, Topology::DirectedWithReverse, Topology::Undirected];

#[derive(Properties, Clone, Debug, PartialEq)]
struct Payment {
    amount: f64,
    note: Option<String>,
}

impl Payment {
    fn of(amount: u8) -> Self {
        let note = amount.is_multiple_of(2).then(|| format!("note {amount}"));
        Payment { amount: f64::from(amount), note }
    }
}

fn options(topology: Topology, engine: EngineKind) -> GraphOptions {
    GraphOptions::new().topology(topology).engine(engine).parallel_label::<Payment>("pays", "number")
}

/// Returns the edges between two vertices, by number.
fn between(graph: &Graph, source: u64, destination: u64) -> Vec<(u64, Payment)> {
    let pays = graph.label::<Payment>("pays").unwrap();
    graph.snapshot().unwrap().parallel_edges(pays, source, destination, ..).unwrap()
}

fn edges() -> impl Strategy<Value = Vec<(u64, u64, u64, u8)>> {
    prop::collection::vec((0..4_u64, 0..4_u64, 0..5_u64, 0..4_u8), 0..60)
}

proptest! {
    #![proptest_config(one_case_in(10))]

    #[test]
    fn every_way_to_put_parallel_edges_has_equal_effects(batches in prop::collection::vec(edges(), 1..4)) {
        for engine in ENGINES {
            for topology in TOPOLOGIES {
                let graphs = [(); 4].map(|()| Graph::in_memory(options(topology, engine)).unwrap());
                let [single, stream, bulk, transactions] = &graphs;
                let pays = single.label::<Payment>("pays").unwrap();
                let mut expected: BTreeMap<(u64, u64), BTreeMap<u64, Payment>> = BTreeMap::new();
                for batch in &batches {
                    let batch: Vec<_> =
                        batch.iter().map(|(from, to, number, amount)| (*from, *to, *number, Payment::of(*amount))).collect();
                    for (from, to, number, payment) in batch.clone() {
                        single.put_parallel_edge(pays, from, to, number, payment.clone()).unwrap();
                        let ends = if topology.is_undirected() { (from.min(to), from.max(to)) } else { (from, to) };
                        expected.entry(ends).or_default().insert(number, payment);
                    }
                    prop_assert_eq!(stream.put_each(pays, &batch).unwrap().committed, batch.len());
                    bulk.ingest(pays, &batch).unwrap();
                    let staged = transactions.transact(|transaction| {
                        for (from, to, number, payment) in batch.clone() {
                            transaction.put_parallel_edge(pays, from, to, number, payment)?;
                        }
                        batch.last().map_or(Ok(None), |(from, to, number, _)| transaction.parallel_edge(pays, *from, *to, *number))
                    });
                    prop_assert_eq!(staged.unwrap(), batch.last().map(|(.., payment)| payment.clone()));
                }
                let ends = || (0..4).flat_map(|from| (0..4).map(move |to| (from, to)));
                for graph in &graphs {
                    for (from, to) in ends() {
                        let ends = if topology.is_undirected() { (from.min(to), from.max(to)) } else { (from, to) };
                        let expected: Vec<_> = expected.get(&ends).into_iter().flatten().map(|(number, payment)| (*number, payment.clone())).collect();
                        prop_assert_eq!(between(graph, from, to), expected);
                    }
                    let count: usize = expected.values().map(BTreeMap::len).sum();
                    prop_assert_eq!(graph.snapshot().unwrap().edge_count(), count as u64);
                }
                // One of them, then the others.
                let deleted: Vec<_> = expected.iter().flat_map(|((from, to), edges)| edges.keys().map(|number| (*from, *to, *number, ()))).collect();
                if let Some(((from, to, ..), rest)) = deleted.split_first().map(|(first, rest)| (*first, rest)) {
                    stream.delete_each(pays, &deleted[..1]).unwrap();
                    let left = expected[&(from, to)].len() - 1;
                    prop_assert_eq!(between(stream, from, to).len(), left);
                    stream.delete_each(pays, rest).unwrap();
                    prop_assert_eq!(stream.snapshot().unwrap().edge_count(), 0);
                }
            }
        }
    }
}

#[test]
fn payments_of_a_store_come_back() {
    for engine in ENGINES {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        let graph = options(Topology::DirectedWithReverse, engine).create(&path).unwrap();
        let pays = graph.label::<Payment>("pays").unwrap();
        let payments: Vec<_> =
            (0..100).map(|number| (1, 2 + number % 3, number, Payment::of(number as u8))).collect();
        assert_eq!(graph.ingest(pays, &payments).unwrap().edges_added, 100, "{engine}");
        let drawn = graph.draw_number();
        graph.put_parallel_edge(pays, 1, 2, drawn, Payment::of(1)).unwrap();
        graph.close().unwrap();
        drop(graph);
        let graph = GraphOptions::new().engine(engine).open(&path).unwrap();
        let found = between(&graph, 1, 2);
        assert_eq!((found.len(), found.last()), (35, Some(&(drawn, Payment::of(1)))), "{engine}");
        assert_eq!(found[1], (3, Payment::of(3)), "{engine}");
    }
}

#[test]
fn changes_tell_the_payment_before() {
    for engine in ENGINES {
        let graph = Graph::in_memory(options(Topology::Directed, engine)).unwrap();
        let pays = graph.label::<Payment>("pays").unwrap();
        for number in [7, 8] {
            graph.put_parallel_edge(pays, 1, 2, number, Payment::of(number as u8)).unwrap();
        }
        let mut view = graph.follow(&SubscribeOptions::new()).unwrap();
        graph.put_parallel_edge(pays, 1, 2, 7, Payment::of(1)).unwrap();
        graph.put_parallel_edge(pays, 1, 2, 9, Payment::of(2)).unwrap();
        graph.update_parallel_edge(pays, 1, 2, 8, &EdgeUpdate::delete()).unwrap();
        assert!(view.advance().unwrap());
        let amounts = |change: Change<'_>| match change {
            Change::PutEdge(edge) | Change::DeleteEdge(edge) => {
                let states = [view.before().unwrap(), view.snapshot()];
                let amount = |state| edge.data_in(state, pays).unwrap().map(|payment| payment.amount);
                Some((edge.number().unwrap(), states.map(amount)))
            }
            Change::PutVertex(_) | Change::DeleteVertex(_) => None,
        };
        let found: Vec<_> = view.changes().iter().filter_map(amounts).collect();
        let expected = [(7, [Some(7.0), Some(1.0)]), (9, [None, Some(2.0)]), (8, [Some(8.0), None])];
        assert_eq!(found, expected, "{engine}");
    }
}

#[test]
fn a_bulk_counts_the_edges_that_it_adds_and_changes_nothing_twice() {
    for engine in ENGINES {
        for topology in TOPOLOGIES {
            let graph = Graph::in_memory(options(topology, engine)).unwrap();
            let pays = graph.label::<Payment>("pays").unwrap();
            let of = |amount| Payment::of(amount);
            // The last of two edges with one number wins, wherever the other edges of the pair are.
            let batch =
                [(1, 2, 7, of(1)), (2, 1, 7, of(2)), (1, 2, 9, of(3)), (1, 2, 7, of(4)), (3, 3, 0, of(5))];
            let added = if topology.is_undirected() { 3 } else { 4 };
            let commit = graph.ingest(pays, &batch).unwrap();
            assert_eq!((commit.edges_added, commit.edges_removed), (added.into(), 0.into()), "{engine}");
            assert_eq!(between(&graph, 1, 2), [(7, of(4)), (9, of(3))], "{engine}");
            let again = graph.ingest(pays, &batch).unwrap();
            assert_eq!((again.changed, again.edges_added), (Some(false), 0.into()), "{engine}");
            let more = graph.ingest(pays, &[(1, 2, 9, of(6)), (1, 2, 8, of(7))]).unwrap();
            assert_eq!((more.changed, more.edges_added), (Some(true), 1.into()), "{engine}");
            assert_eq!(between(&graph, 1, 2), [(7, of(4)), (8, of(7)), (9, of(6))], "{engine}");
            assert_eq!(graph.snapshot().unwrap().edge_count_of(pays), added + 1);
        }
    }
}

/// The store counts the versions of each parallel edge.
#[test]
fn puts_of_a_parallel_edge_are_counted() {
    #[derive(Properties, Clone, Debug, PartialEq)]
    struct Order {
        amount: f64,
        version: Version,
    }
    for engine in ENGINES {
        let options = GraphOptions::new().engine(engine).parallel_label::<Order>("orders", "number");
        let graph = Graph::in_memory(options).unwrap();
        let orders = graph.label::<Order>("orders").unwrap();
        let order = |amount| Order { amount, version: Version(0) };
        graph.put_parallel_edge(orders, 1, 2, 7, order(1.0)).unwrap();
        graph.ingest(orders, &[(1, 2, 7, order(2.0)), (1, 2, 8, order(3.0))]).unwrap();
        let found = graph.snapshot().unwrap().parallel_edges(orders, 1, 2, ..).unwrap();
        let counted = |amount, version| Order { amount, version: Version(version) };
        assert_eq!(found, [(7, counted(2.0, 2)), (8, counted(3.0, 1))], "{engine}");
    }
}

#[test]
fn refusals_name_the_label_and_the_method() {
    #[derive(Properties, Clone)]
    struct Extra {
        extra: f64,
    }
    let options = GraphOptions::new().parallel_label::<Payment>("pays", "number");
    let graph = Graph::in_memory(options.label::<Payment>("owes").label::<()>("knows")).unwrap();
    let pays = graph.label::<Payment>("pays").unwrap();
    let owes = graph.label::<Payment>("owes").unwrap();
    let knows = graph.label::<()>("knows").unwrap();
    let extra = |label: Label<Payment>| Label::<Extra>::from(hedgerow::LabelId::from(label));
    let (one, all) = (Payment::of(1), [(1, 2, Payment::of(1))]);
    let numbered = [(1, 2, 7, Payment::of(1))];
    let refused = |error: Error, parts: &[&str]| {
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
        assert!(parts.iter().all(|part| error.to_string().contains(part)), "{error}");
    };
    let needs_number = ["\"pays\"", "put_parallel_edge"];
    refused(graph.put_edge_with(pays, 1, 2, one.clone()).unwrap_err(), &needs_number);
    refused(graph.ingest(pays, &all).unwrap_err(), &needs_number);
    refused(graph.put_each(pays, &all).unwrap_err().into(), &needs_number);
    let has_none = ["\"owes\"", "parallel_label"];
    refused(graph.put_parallel_edge(owes, 1, 2, 7, one.clone()).unwrap_err(), &has_none);
    refused(graph.ingest(owes, &numbered).unwrap_err(), &has_none);
    refused(graph.put_each(owes, &numbered).unwrap_err().into(), &has_none);
    let has_none = ["\"knows\"", "parallel_label"];
    refused(graph.put_parallel_edge(knows, 1, 2, 7, ()).unwrap_err(), &has_none);
    refused(graph.ingest(knows, &[(1, 2, 7, ())]).unwrap_err(), &has_none);
    refused(graph.put_each(knows, &[(1, 2, 7, ())]).unwrap_err().into(), &has_none);
    refused(graph.delete_each(knows, &[(1, 2, 7, ())]).unwrap_err().into(), &has_none);
    for (label, name) in [(pays, "\"pays\""), (owes, "\"owes\"")] {
        let no_property = [name, "\"extra\""];
        refused(graph.label::<Extra>(name.trim_matches('"')).unwrap_err(), &no_property);
        let update = EdgeUpdate::put().set("extra", 1.0);
        match label == pays {
            true => {
                let put = graph.put_parallel_edge(extra(label), 1, 2, 7, Extra { extra: 1.0 });
                refused(put.unwrap_err(), &no_property);
                refused(graph.update_parallel_edge(label, 1, 2, 7, &update).unwrap_err(), &no_property);
                let all = [(1, 2, 7, Extra { extra: 1.0 })];
                refused(graph.ingest(extra(label), &all).unwrap_err(), &no_property);
            }
            false => {
                refused(
                    graph.put_edge_with(extra(label), 1, 2, Extra { extra: 1.0 }).unwrap_err(),
                    &no_property,
                );
                refused(graph.update_edge(label, 1, 2, &update).unwrap_err(), &no_property);
                refused(
                    graph.ingest(extra(label), &[(1, 2, Extra { extra: 1.0 })]).unwrap_err(),
                    &no_property,
                );
            }
        }
    }
    let no_property = ["the vertices of this graph", "GraphOptions::vertices::<V>()"];
    let error = graph.set_properties(1, &[("age", 3_i64.into())]).unwrap_err();
    refused(error, &[no_property[0], no_property[1], "\"age\""]);
    let error = graph.put_vertex(1, &Extra { extra: 1.0 }).unwrap_err();
    refused(error, &[no_property[0], no_property[1], "\"extra\""]);
    // Data that is no record is not dropped.
    let carries = ["\"pays\" carry a record"];
    let (untyped, number) = (hedgerow::LabelId::from(pays), 5.0_f64);
    refused(graph.put_parallel_edge::<()>(untyped, 1, 2, 7, ()).unwrap_err(), &carries);
    refused(graph.put_parallel_edge(untyped, 1, 2, 7, number).unwrap_err(), &carries);
    refused(graph.ingest(untyped, &[(1, 2, 7, ())]).unwrap_err(), &carries);
    refused(graph.ingest(untyped, &[(1, 2, 7, number)]).unwrap_err(), &carries);
    refused(graph.put_each(untyped, &[(1, 2, 7, ())]).unwrap_err().into(), &carries);
    let staged = graph.transact(|transaction| transaction.put_parallel_edge(untyped, 1, 2, 7, number));
    refused(staged.unwrap_err(), &carries);
    // The position of the edge whose record lacks a property.
    let incomplete = Record::new(vec![Value::Null, Value::Null]);
    let edges = [(1, 2, 7, Record::new(vec![Value::F64(1.0), Value::Null])), (1, 2, 8, incomplete)];
    refused(graph.ingest(untyped, &edges).unwrap_err(), &["number 1 of the edges to ingest", "\"amount\""]);
    assert_eq!(graph.snapshot().unwrap().vertex_count(), 0, "nothing was written");
}

#[test]
fn an_error_from_main_reads_like_its_message() {
    let graph = Graph::in_memory(GraphOptions::new()).unwrap();
    let error = graph.label::<()>("no").unwrap_err();
    assert_eq!(format!("{error:?}"), error.to_string());
}
