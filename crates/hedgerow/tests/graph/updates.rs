//! Edges with records, single and parallel: their checks, comparisons and changes, and the
//! conflicts of transactions that update them.

use crate::oracle;
use hedgerow::{
    Column, Direction, EdgeSchema, EdgeUpdate, ErrorKind, Field, Graph, GraphOptions, Isolation, KeyKind,
    LabelId, LabelSchema, ReadGraph, Record, RecordSchema, Topology, Updated, Value, ValueType, WriteGraph,
};
use hedgerow_model::{EdgeValue, RecordHandle};
use std::thread;

/// The first label.
const EDGE: LabelId = LabelId::DEFAULT;

fn graph(options: GraphOptions) -> Graph {
    Graph::in_memory(options).unwrap()
}

fn kind<T: std::fmt::Debug>(result: Result<T, hedgerow::Error>) -> ErrorKind {
    result.unwrap_err().kind()
}

/// Reads of edges and records do not check first that a vertex exists.
#[test]
fn vertices_that_do_not_exist_have_neither_edges_nor_properties() {
    for engine in oracle::ENGINES {
        let options = GraphOptions::new().engine(engine).keys(KeyKind::Dense);
        let graph = payments(options.topology(Topology::DirectedWithReverse));
        let pays = EDGE;
        graph.update_edge(pays, 1, 70_000, &EdgeUpdate::put().set("amount", 5)).unwrap();
        let before = graph.snapshot().unwrap();
        graph.delete_vertex(1).unwrap();
        let after = graph.snapshot().unwrap();
        assert_eq!(before.degree((pays, Direction::Out), 1).unwrap(), 1);
        assert_eq!(before.edges::<Record>((pays, Direction::In), 70_000).unwrap().len(), 1);
        for gone in [0_u64, 1, 2, 69_999, 70_001, 1 << 24, 4_294_967_294] {
            for direction in [Direction::Out, Direction::In] {
                assert_eq!(after.degree((pays, direction), gone).unwrap(), 0, "{engine:?}: {gone}");
                assert_eq!(after.edges::<Record>((pays, direction), gone).unwrap(), []);
            }
            assert_eq!(after.get_edge::<Record>(pays, gone, 70_000).unwrap(), None);
            assert_eq!(after.get_edge::<Record>(pays, 70_000, gone).unwrap(), None);
            assert_eq!(after.properties(gone).unwrap(), None);
        }
    }
}

/// Returns a graph whose only label has records: an amount that each edge must have, and a note.
fn payments(options: GraphOptions) -> Graph {
    let field = |name: &str, value_type, nullable| Field { name: name.to_owned(), value_type, nullable };
    let fields = vec![field("amount", ValueType::I64, false), field("note", ValueType::String, true)];
    let edges = EdgeSchema::Record(RecordSchema { fields });
    graph(options.label_schema(LabelSchema { name: "pays".to_owned(), edges }))
}

#[test]
fn what_lies_on_an_edge_is_checked() {
    for engine in oracle::ENGINES {
        let graph = payments(GraphOptions::new().engine(engine));
        let pays = EDGE;
        for wrong in [
            EdgeUpdate::put().set("note", "no amount"),
            EdgeUpdate::put().set("amount", Value::Null),
            EdgeUpdate::put().set("amount", 1.5),
            EdgeUpdate::put().set("amount", 1).set("weight", 1),
            EdgeUpdate::upsert().set("note", "there is no such edge yet"),
            EdgeUpdate::delete().only_if("weight", 1),
        ] {
            assert_eq!(kind(graph.update_edge(pays, 1, 2, &wrong)), ErrorKind::InvalidInput, "{wrong:?}");
        }
        assert_eq!(graph.snapshot().unwrap().vertex_count(), 0, "what is refused creates nothing");
        // Neither a value nor a handle of the caller can be put instead.
        assert_eq!(kind(graph.put_edge(EDGE, 1, 2)), ErrorKind::InvalidInput);
        assert_eq!(kind(graph.put_edge_with(pays, 1, 2, 7u64)), ErrorKind::InvalidInput);
        let handle = RecordHandle::from_bits(EdgeValue(7));
        assert_eq!(kind(graph.put_edge_with(pays, 1, 2, handle)), ErrorKind::InvalidInput);
        assert_eq!(kind(graph.ingest(pays, &[(1u64, 2u64, handle)])), ErrorKind::InvalidInput);
        // A label without records has none to read or change.
        let plain = self::graph(GraphOptions::new());
        let put = EdgeUpdate::put();
        assert_eq!(kind(plain.update_edge(pays, 1, 2, &put)), ErrorKind::InvalidInput);
        assert_eq!(kind(plain.get_edge::<Record>(pays, 1, 2)), ErrorKind::InvalidInput);
        assert_eq!(kind(plain.get_edge::<Record>(LabelId(9), 1, 2)), ErrorKind::InvalidInput);
    }
}

#[test]
fn records_are_compared_and_changed_as_one() {
    for engine in oracle::ENGINES {
        let graph = payments(GraphOptions::new().engine(engine).topology(Topology::Undirected));
        let pays = EDGE;
        let of = |values: &[Value]| Some(values.to_vec());
        let read = |graph: &Graph| {
            graph.get_edge::<Record>(pays, 2, 1).unwrap().map(|record| record.values().to_vec())
        };
        assert_eq!(read(&graph), None);
        let first = graph.update_edge(pays, 1, 2, &EdgeUpdate::insert().set("amount", 1)).unwrap().written;
        assert_eq!((first.edges_added.at_most(), first.vertices_added), (1, 2));
        let again = graph.update_edge(pays, 2, 1, &EdgeUpdate::insert().set("amount", 5)).unwrap();
        assert!(again.held && !again.changed);
        let noted = EdgeUpdate::upsert().set("note", "rent").only_if("amount", 1);
        assert_eq!(graph.update_edge(pays, 2, 1, &noted).unwrap().written.edges_added, 0);
        assert_eq!(read(&graph), of(&[Value::I64(1), "rent".into()]));
        assert!(!graph.update_edge(pays, 1, 2, &noted).unwrap().changed, "it is as it would be");
        let before = graph.snapshot().unwrap();
        graph.update_edge(pays, 1, 2, &EdgeUpdate::put().set("amount", 2)).unwrap();
        assert_eq!(read(&graph), of(&[Value::I64(2), Value::Null]));
        let kept = before.get_edge::<Record>(pays, 1, 2).unwrap().unwrap();
        assert_eq!((kept.values()[0].as_i64(), kept.values()[1].as_text()), (Some(1), Some("rent")));
        let other = EdgeUpdate::delete().only_if("amount", 1);
        let updated = graph.update_edge(pays, 1, 2, &other).unwrap();
        assert!(!updated.held && !updated.changed && updated.written.conditions_failed == 1);
        assert!(graph.delete_edge(pays, 1, 2).unwrap().changed == Some(true));
        assert_eq!(read(&graph), None);
        assert!(graph.delete_edge(pays, 1, 2).unwrap().changed == Some(false));
        assert!(graph.memory().retained_bytes > 0);
        drop(before);
        assert!(!graph.reclaim().unwrap().more);
        assert_eq!(graph.memory().retained_bytes, 0);
    }
}

#[test]
fn a_lost_update_of_a_record_is_a_conflict() {
    let graph = payments(GraphOptions::new());
    let pays = EDGE;
    graph.update_edge(pays, 1, 2, &EdgeUpdate::put().set("amount", 0)).unwrap();
    let (mut one, mut other) = (graph.begin().unwrap(), graph.begin().unwrap());
    for transaction in [&mut one, &mut other] {
        let amount =
            transaction.get_edge::<Record>(pays, 1, 2).unwrap().unwrap().values()[0].as_i64().unwrap();
        transaction.update_edge(pays, 1, 2, &EdgeUpdate::upsert().set("amount", amount + 1)).unwrap();
    }
    one.commit().unwrap();
    assert_eq!(kind(other.commit()), ErrorKind::Conflict);
    // With declared and with retried transactions, no update is lost.
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..200 {
                    graph
                        .transact(|transaction| {
                            let record = transaction.get_edge::<Record>(pays, 1, 2)?.unwrap();
                            let amount = record.values()[0].as_i64().unwrap() + 1;
                            transaction.update_edge(
                                pays,
                                1,
                                2,
                                &EdgeUpdate::upsert().set("amount", amount),
                            )?;
                            Ok(())
                        })
                        .unwrap();
                }
            });
        }
    });
    let amount = graph.get_edge::<Record>(pays, 1, 2).unwrap().unwrap().values()[0].as_i64();
    assert_eq!(amount, Some(401));
}

/// Updates the edge with a record from vertex 1 to vertex `to`, or the parallel edge with key 7.
fn update_record<W: WriteGraph>(
    graph: &W,
    label: LabelId,
    to: u64,
    update: &EdgeUpdate<'_>,
) -> Updated<W::Written> {
    let updated = match label {
        oracle::PARALLEL => graph.update_parallel_edge(label, 1, to, 7, update),
        _ => graph.update_edge(label, 1, to, update),
    };
    updated.unwrap()
}

#[test]
fn conflicts_are_judged_by_net_changes() {
    for engine in oracle::ENGINES {
        check_net_changes(&graph(oracle::options(Topology::Directed, KeyKind::Number).engine(engine)));
    }
}

/// A commit that leaves an edge unchanged has not touched it, whatever it did in between. A
/// transaction conflicts with changes to every edge that it staged.
pub fn check_net_changes(graph: &Graph) {
    let five = EdgeUpdate::put().set("amount", 5);
    let others = [EdgeUpdate::put().set("amount", 6), EdgeUpdate::delete()];
    for (label, other) in [oracle::RECORDS, oracle::PARALLEL]
        .into_iter()
        .flat_map(|label| others.iter().map(move |other| (label, other)))
    {
        let begin = |to, update| {
            let transaction = graph.begin().unwrap();
            update_record(&transaction, label, to, update);
            transaction
        };
        // The first transaction deletes an end of the edge and puts the edge again unchanged; the
        // second puts an edge and deletes its end again.
        let puts_again = || {
            let transaction = graph.begin().unwrap();
            transaction.delete_vertex(2).unwrap();
            update_record(&transaction, label, 2, &five);
            transaction
        };
        let deletes_again = || {
            let transaction = begin(3, &five);
            transaction.delete_vertex(3).unwrap();
            transaction.add_vertex(3).unwrap();
            transaction
        };
        let clear = || [2, 3].map(|to| update_record(graph, label, to, &EdgeUpdate::delete()));
        let reset = || {
            clear();
            // Creates a new record, whose version equals that of a record that is put again.
            update_record(graph, label, 2, &five);
            graph.add_vertex(3).unwrap();
        };
        reset();
        let (concurrent, net) = (begin(2, other), puts_again());
        assert_eq!(net.commit().unwrap().changed, Some(false), "the edge is as it was");
        concurrent.commit().unwrap();
        reset();
        let (concurrent, net) = (begin(2, other), puts_again());
        concurrent.commit().unwrap();
        assert_eq!(kind(net.commit()), ErrorKind::Conflict);
        reset();
        let (concurrent, net) = (begin(3, &five), deletes_again());
        assert_eq!(net.commit().unwrap().changed, Some(false), "there is no edge, as before");
        concurrent.commit().unwrap();
        reset();
        let (concurrent, net) = (begin(3, &five), deletes_again());
        concurrent.commit().unwrap();
        assert_eq!(kind(net.commit()), ErrorKind::Conflict);
        clear();
    }
    // An edge without a record is not compared, if the commit changes anything at all.
    graph.put_edge(EDGE, 1, 2).unwrap();
    let (concurrent, again) = (graph.begin().unwrap(), graph.begin().unwrap());
    concurrent.delete_edge(EDGE, 1, 2).unwrap();
    again.put_edge(EDGE, 1, 2).unwrap();
    again.add_vertex(1000).unwrap();
    again.commit().unwrap();
    assert_eq!(kind(concurrent.commit()), ErrorKind::Conflict);
}

/// The answer of an update about its condition is still true when the transaction commits;
/// otherwise it does not commit.
#[test]
fn an_update_is_not_committed_on_a_condition_that_changed() {
    for engine in oracle::ENGINES {
        let graph = graph(oracle::options(Topology::Directed, KeyKind::Number).engine(engine));
        let set = |amount: i64| EdgeUpdate::upsert().set("amount", amount);
        let in_graph = |label, update: &EdgeUpdate<'_>| match label {
            oracle::RECORDS => graph.update_edge(label, 1, 2, update).unwrap().held,
            _ => graph.update_parallel_edge(label, 1, 2, 7, update).unwrap().held,
        };
        let if_five = set(9).only_if("amount", 5);
        for (label, amount) in [(oracle::RECORDS, 5), (oracle::RECORDS, 6), (oracle::PARALLEL, 5)] {
            in_graph(label, &set(amount));
            assert_eq!(in_graph(label, &if_five), amount == 5);
        }
        for isolation in [Isolation::Snapshot, Isolation::Serializable] {
            for (label, amount) in
                [oracle::RECORDS, oracle::PARALLEL].into_iter().flat_map(|of| [(of, 5), (of, 6)])
            {
                in_graph(label, &set(amount));
                let transaction = graph.begin_with(isolation).unwrap();
                let updated = match label {
                    oracle::RECORDS => transaction.update_edge(label, 1, 2, &if_five),
                    _ => transaction.update_parallel_edge(label, 1, 2, 7, &if_five),
                };
                let held = amount == 5;
                assert_eq!(updated.unwrap(), Updated { held, changed: held, written: () });
                transaction.put_edge(EDGE, 3, amount).unwrap();
                in_graph(label, &set(11 - amount));
                assert_eq!(kind(transaction.commit()), ErrorKind::Conflict, "{engine:?} {label:?} {amount}");
                assert!(!graph.contains_edge(EDGE, 3, amount).unwrap());
            }
        }
        // A retried transaction decides again.
        in_graph(oracle::RECORDS, &set(6));
        let mut told = Vec::new();
        let run_again = graph.transact(|transaction| {
            told.push(transaction.update_edge(oracle::RECORDS, 1, 2, &if_five)?.held);
            if told.len() == 1 {
                in_graph(oracle::RECORDS, &set(5));
            }
            Ok(())
        });
        run_again.unwrap();
        assert_eq!(told, [false, true]);
        // An end of this edge did not exist when the transaction began.
        let transaction = graph.begin().unwrap();
        let delete = EdgeUpdate::delete().only_if("amount", 5);
        assert!(!transaction.update_edge(oracle::RECORDS, 1, 77, &delete).unwrap().held);
        graph.update_edge(oracle::RECORDS, 1, 77, &set(5)).unwrap();
        assert_eq!(kind(transaction.commit()), ErrorKind::Conflict);
    }
}

#[test]
fn an_update_that_leaves_a_needed_property_out_is_refused_at_once() {
    let graph = payments(GraphOptions::new());
    let transaction = graph.begin().unwrap();
    let noted = EdgeUpdate::upsert().set("note", "rent");
    assert_eq!(kind(transaction.update_edge(EDGE, 1, 2, &noted)), ErrorKind::InvalidInput);
    assert!(transaction.is_empty());
    let put = EdgeUpdate::put().set("amount", 5);
    assert!(transaction.update_edge(EDGE, 1, 2, &put).unwrap().changed);
    assert!(transaction.update_edge(EDGE, 1, 2, &noted).unwrap().changed, "it has its amount now");
    assert!(!transaction.update_edge(EDGE, 1, 2, &noted).unwrap().changed);
    transaction.commit().unwrap();
}

#[test]
fn parallel_edges_are_asked_for_by_their_key_and_others_are_not() {
    use hedgerow::ParallelSchema;
    for engine in oracle::ENGINES {
        let orders = ParallelSchema { key: "number".to_owned(), record: RecordSchema::default() };
        let orders = LabelSchema { name: "orders".to_owned(), edges: EdgeSchema::Parallel(orders) };
        let graph = payments(GraphOptions::new().engine(engine).label_schema(orders));
        let (orders, pays) = (LabelId(0), LabelId(1));
        let put = EdgeUpdate::put();
        for wrong in [
            graph.update_edge(orders, 1, 2, &put).map(drop),
            graph.update_parallel_edge(pays, 1, 2, 3, &put).map(drop),
            graph.update_parallel_edge(LabelId(9), 1, 2, 3, &put).map(drop),
            graph.get_edge::<Record>(orders, 1, 2).map(drop),
            graph.parallel_edge::<Record>(pays, 1, 2, 3).map(drop),
            graph.put_edge(EDGE, 1, 2).map(drop),
            graph.update_parallel_edge(orders, 1, 2, 3, &put.clone().set("number", 3)).map(drop),
        ] {
            assert_eq!(kind(wrong), ErrorKind::InvalidInput);
        }
        assert_eq!(graph.snapshot().unwrap().vertex_count(), 0, "what is refused creates nothing");
        let added = |key| graph.update_parallel_edge(orders, 1, 2, key, &put).unwrap().written.edges_added;
        assert_eq!([added(7), added(9), added(7)], [1, 1, 0]);
        let snapshot = graph.snapshot().unwrap();
        assert_eq!(snapshot.parallel_edges::<Record>(orders, 1, 2, 8..).unwrap(), [(9, Record::default())]);
        assert!(snapshot.parallel_edges::<Record>(orders, 1, 2, 9..9).unwrap().is_empty());
        let excluded = (std::ops::Bound::Excluded(u64::MAX), std::ops::Bound::Unbounded);
        assert!(snapshot.parallel_edges::<Record>(orders, 1, 2, excluded).unwrap().is_empty());
        assert_eq!((snapshot.edge_count_of(orders), snapshot.pair_count_of(orders)), (2.into(), 1.into()));
        assert_eq!(snapshot.edge_count(), 2, "as commits count them");
        let insert = graph.update_parallel_edge(orders, 1, 2, 9, &EdgeUpdate::insert()).unwrap();
        assert!(!insert.changed, "it is there");
        let (_, commit) = graph
            .transact_declared(&[1u64, 2], |transaction| {
                assert_eq!(transaction.parallel_edge::<Record>(orders, 1, 2, 7)?, Some(Record::default()));
                transaction.update_parallel_edge(orders, 1, 2, 7, &EdgeUpdate::delete())?;
                assert_eq!(transaction.parallel_edges::<Record>(orders, 1, 2, ..)?.len(), 1);
                transaction.update_parallel_edge(orders, 2, 1, 7, &EdgeUpdate::put())
            })
            .unwrap();
        assert_eq!((commit.edges_added.at_most(), commit.edges_removed.at_most()), (1, 1));
        assert!(graph.delete_edge(orders, 1, 2).unwrap().changed == Some(true));
        assert!(graph.snapshot().unwrap().neighbors(EDGE, 1).unwrap().is_empty());
        assert!(graph.delete_vertex(2).unwrap().changed == Some(true));
        assert_eq!(graph.snapshot().unwrap().edge_count(), 0);
        drop(snapshot);
        assert!(!graph.reclaim().unwrap().more);
        assert_eq!(graph.memory().retained_bytes, 0);
    }
}

#[test]
fn a_strict_graph_makes_no_ends_for_records() {
    let graph = payments(GraphOptions::new().strict(true));
    let (pays, put) = (EDGE, EdgeUpdate::put().set("amount", 1));
    assert_eq!(kind(graph.update_edge(pays, 1, 2, &put)), ErrorKind::NotFound);
    graph.add_vertex(1).unwrap();
    graph.add_vertex(2).unwrap();
    assert!(graph.update_edge(pays, 1, 2, &put).unwrap().changed);
    // An update that needs a missing edge changes nothing, even if the ends do not exist.
    assert!(!graph.update_edge(pays, 5, 6, &EdgeUpdate::delete()).unwrap().changed);
}
