//! Typed labels, structs as records, and iterators, on every engine.

use crate::engines::in_memory;
use crate::oracle::{ENGINES, is_count};
use hedgerow::prelude::*;
use hedgerow::{Edge, EngineKind, LabelId, Version};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

#[derive(Properties, Clone, Debug, PartialEq)]
struct Everything {
    truth: bool,
    big: i64,
    small: i32,
    natural: u32,
    unsigned: u64,
    double: f64,
    single: f32,
    text: String,
    bytes: Vec<u8>,
    time: SystemTime,
    r#type: Option<String>,
    absent: Option<i64>,
    version: Version,
}

fn everything() -> Everything {
    Everything {
        truth: true,
        big: i64::MIN,
        small: -3,
        natural: u32::MAX,
        unsigned: u64::MAX - 1,
        double: 0.5,
        single: 0.25,
        text: "text".to_owned(),
        bytes: vec![0, 255],
        time: SystemTime::UNIX_EPOCH - Duration::from_micros(7),
        r#type: Some("raw".to_owned()),
        absent: None,
        version: Version(1),
    }
}

#[derive(Properties, Clone, Debug, PartialEq)]
struct Person {
    name: Option<String>,
    age: Option<i64>,
}

fn graph(engine: EngineKind, options: GraphOptions) -> Graph {
    Graph::in_memory(options.engine(engine)).unwrap()
}

#[test]
fn a_struct_is_read_as_it_was_written() {
    for engine in ENGINES {
        let graph = graph(engine, GraphOptions::new().label::<Everything>("has").vertices::<Person>());
        let has = graph.label::<Everything>("has").unwrap();
        let put = graph.put_edge_with(has, 1, 2, Everything { version: Version(77), ..everything() });
        assert_eq!(put.unwrap().edges_added, 1);
        assert_eq!(graph.get_edge(has, 1, 2).unwrap(), Some(everything()));
        assert_eq!(graph.edges(has, 1).unwrap(), [(Key::from(2), everything())]);
        assert_eq!(graph.get_edge(has, 2, 1).unwrap(), None);

        let bulk = [(3, 4, everything()), (3, 5, everything())];
        assert_eq!(graph.ingest(has, &bulk).unwrap().edges_added, 2);
        assert_eq!(graph.get_edge(has, 3, 5).unwrap(), Some(everything()));

        let ada = Person { name: Some("Ada".to_owned()), age: None };
        graph.put_vertex(1, &ada).unwrap();
        assert_eq!(graph.vertex(1).unwrap(), Some(ada));
        let record = graph.properties(1).unwrap().unwrap();
        assert_eq!((record.get("name"), record.get("age")), (Some(&Value::from("Ada")), Some(&Value::Null)));
        assert_eq!(graph.vertex::<Person>(9).unwrap(), None);
        assert_eq!(graph.vertex(2).unwrap(), Some(Person { name: None, age: None }));
    }
}

#[test]
fn records_are_read_by_name_in_transactions_too() {
    for engine in ENGINES {
        let graph = graph(engine, GraphOptions::new().label::<Everything>("has"));
        let has = graph.label::<Everything>("has").unwrap();
        graph
            .transact(|transaction| {
                transaction.put_edge_with(has, 1, 2, everything())?;
                assert_eq!(transaction.get_edge(has, 1, 2)?, Some(everything()));
                let by_name = graph.label::<Record>("has")?;
                let record = transaction.get_edge(by_name, 1, 2)?.unwrap();
                assert_eq!(record.get("small"), Some(&Value::I64(-3)));
                assert_eq!(record.get("type"), Some(&Value::from("raw")));
                assert_eq!(record.get("color"), None);
                Ok(())
            })
            .unwrap();
        graph
            .transact_declared(&[2, 3], |transaction| {
                transaction.put_edge_with(has, 2, 3, everything())?;
                let undeclared = transaction.get_edge(has, 1, 2).unwrap_err();
                assert_eq!(
                    undeclared.to_string(),
                    "vertex 1 was not declared at the start of this transaction"
                );
                assert_eq!(transaction.delete_vertex(2).unwrap_err().kind(), ErrorKind::Unsupported);
                Ok(())
            })
            .unwrap();
        assert_eq!(graph.snapshot().unwrap().edge_count(), 2);
    }
}

/// A struct for records of another schema.
#[derive(Properties, Debug)]
struct Other {
    big: f64,
}

/// A struct whose field cannot hold a null.
#[derive(Properties, Debug)]
struct NotNull {
    absent: i64,
}

/// A struct with a property that is not stored.
#[derive(Properties, Debug)]
struct Unknown {
    color: String,
}

#[test]
fn a_label_of_another_type_is_refused_by_name() {
    let options = GraphOptions::new().label::<Everything>("has").label::<f64>("rates").label::<()>("knows");
    let graph = Graph::in_memory(options).unwrap();
    fn refusal<T: std::fmt::Debug>(refused: Result<T, Error>) -> String {
        let refused = refused.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidInput);
        refused.to_string()
    }
    assert_eq!(refusal(graph.label::<()>("hates")), "there is no label \"hates\" in this graph");
    assert_eq!(refusal(graph.label::<f64>("has")), "the edges of label \"has\" carry a record, not f64");
    assert_eq!(refusal(graph.label::<u32>("rates")), "the edges of label \"rates\" carry f64, not u32");
    assert_eq!(
        refusal(graph.label::<Record>("knows")),
        "the edges of label \"knows\" carry no data, not a record"
    );
    assert_eq!(
        refusal(graph.label::<Other>("has")),
        "property \"big\" of label \"has\" is i64: a field of type f64 cannot hold it"
    );
    assert_eq!(
        refusal(graph.label::<NotNull>("has")),
        "property \"absent\" of label \"has\" is i64, which may be null: a field of type i64 cannot hold it"
    );
    assert_eq!(
        refusal(graph.label::<Unknown>("has")),
        "the edges of label \"has\" have no property \"color\""
    );
    // The type of a label made from an id is checked on use.
    assert!(refusal(graph.get_edge::<u64>(LabelId(1), 1, 2)).contains("carry f64, not u64"));
    assert_eq!(
        refusal(graph.put_edge(LabelId(0), 1, 2)),
        "the edges of label \"has\" carry a record: put them together with it, as `put_edge_with` does"
    );
    let values = [(1, 2, 3_u64)];
    assert!(refusal(graph.ingest(LabelId(1), &values)).contains("\"rates\" carry f64, not u64"));
    // Readers of topology ignore the data.
    assert!(graph.neighbors(graph.label::<()>("has").unwrap(), 1).unwrap().is_empty());
}

#[test]
fn a_number_that_does_not_fit_its_field_is_named() {
    #[derive(Properties, Debug)]
    struct Small {
        number: i32,
    }
    let graph = Graph::in_memory(GraphOptions::new().label::<Small>("has")).unwrap();
    let has = graph.label::<Small>("has").unwrap();
    graph.update_edge(has, 1, 2, &EdgeUpdate::put().set("number", 1_i64 << 40)).unwrap();
    let failed = graph.get_edge(has, 1, 2).map(|found| found.map(|small| small.number)).unwrap_err();
    assert_eq!(failed.kind(), ErrorKind::InvalidInput);
    let expected = "property \"number\" is I64(1099511627776), which does not fit a field of type i64";
    assert_eq!(failed.to_string(), expected);
}

/// Returns all edges, after a check that the iterators agree.
fn all_edges<T: hedgerow::EdgeData + Clone + Send>(snapshot: &Snapshot, label: Label<T>) -> Vec<Edge<T>> {
    let sort = |mut edges: Vec<Edge<T>>| {
        edges.sort_by(|one, other| (&one.source, &one.destination).cmp(&(&other.source, &other.destination)));
        edges
    };
    let edges = sort(snapshot.all_edges(label).unwrap().collect::<Result<_, Error>>().unwrap());
    let parallel = sort(snapshot.par_edges(label).unwrap().collect::<Result<_, Error>>().unwrap());
    let ends = |edges: &[Edge<T>]| -> Vec<(Key, Key)> {
        edges.iter().map(|edge| (edge.source.clone(), edge.destination.clone())).collect()
    };
    assert_eq!(ends(&edges), ends(&parallel));
    edges
}

#[test]
fn iterators_return_every_vertex_and_every_edge_once() {
    for engine in ENGINES {
        for topology in [Topology::Directed, Topology::DirectedWithReverse, Topology::Undirected] {
            let options = GraphOptions::new()
                .topology(topology)
                .label::<u32>("rates")
                .label::<Person>("names")
                .parallel_label::<Person>("calls", "number");
            let graph = graph(engine, options);
            let rates = graph.label::<u32>("rates").unwrap();
            let names = graph.label::<Person>("names").unwrap();
            let calls = graph.label::<Person>("calls").unwrap();
            // The edges span more than one step of ids, and include a loop, a hub, both directions
            // of a pair, and a deleted vertex.
            let rated: Vec<(u64, u64, u32)> =
                (0..1_000).map(|key| (key, key * 7 % 1_000, key as u32)).collect();
            graph.ingest(rates, &rated).unwrap();
            graph.add_vertex(5_000).unwrap();
            let person = |age| Person { name: None, age: Some(age) };
            graph.put_edge_with(names, 1, 2, person(1)).unwrap();
            graph.put_edge_with(names, 2, 1, person(2)).unwrap();
            for number in [10, 11] {
                let update = EdgeUpdate::put().set("age", number as i64);
                graph.update_parallel_edge(calls, 3, 3, number, &update).unwrap();
                graph.update_parallel_edge(calls, 4, 5, number, &update).unwrap();
            }
            graph.delete_vertex(6).unwrap();

            let snapshot = graph.snapshot().unwrap();
            let vertices = snapshot.vertices().map(|vertex| vertex.map(|(_, key)| key));
            let vertices: Vec<Key> = vertices.collect::<Result<_, Error>>().unwrap();
            assert_eq!(vertices.len() as u64, snapshot.vertex_count());
            assert_eq!(vertices.iter().collect::<BTreeSet<_>>().len(), vertices.len());
            assert!(!vertices.contains(&Key::from(6)));

            let rated = all_edges(&snapshot, rates);
            assert!(is_count(engine, snapshot.edge_count_of(rates), rated.len() as u64));
            for Edge { source, destination, data } in &rated {
                assert_eq!(snapshot.get_edge(rates, source, destination).unwrap(), Some(*data));
            }
            let named = all_edges(&snapshot, names);
            assert_eq!(named.len(), if topology.is_undirected() { 1 } else { 2 });
            assert_eq!(named[0].data, person(if topology.is_undirected() { 2 } else { 1 }));
            assert_eq!(all_edges(&snapshot, calls).len(), 4);
            assert_eq!(all_edges(&snapshot, graph.label::<()>("calls").unwrap()).len(), 2);

            let mut first = Vec::new();
            let flow = snapshot.visit_neighbors(rates, 1, |neighbor| {
                first.push(neighbor);
                std::ops::ControlFlow::Break("enough")
            });
            assert_eq!(flow.unwrap().break_value(), Some("enough"));
            assert_eq!(first.len(), 1);
        }
    }
}

#[test]
fn handles_go_to_any_thread() {
    fn travels<T: Send + Sync + Clone + std::fmt::Debug + 'static>() {}
    travels::<Graph>();
    travels::<Snapshot>();
    travels::<Label<Person>>();
    travels::<Record>();
    travels::<GraphOptions>();
    fn moves<T: Send + std::fmt::Debug + 'static>() {}
    moves::<WriteTxn>();
    moves::<Error>();
    fn is_error<T: std::error::Error + Send + Sync + 'static>() {}
    is_error::<Error>();
    is_error::<hedgerow::StreamError>();
}

#[derive(Properties, Clone, Debug, PartialEq)]
struct Counted {
    count: u64,
    most: Option<u64>,
}

/// Unsigned properties keep numbers beyond the signed range, in memory, in logs and in checkpoints.
#[test]
fn unsigned_properties_are_kept_in_stores() {
    let large = [0, 1, i64::MAX as u64, 1 << 63, u64::MAX];
    let counted = |count: u64| Counted { count, most: (count > 1).then_some(count) };
    for engine in in_memory() {
        let folder = tempfile::tempdir().unwrap();
        let version_of_manifest = || std::fs::read(folder.path().join("MANIFEST")).unwrap()[8];
        let graph = GraphOptions::new().engine(engine).label::<()>("knows").create(folder.path()).unwrap();
        assert_eq!(version_of_manifest(), 2, "as before there were any");
        let counts = graph.add_label::<Counted>("counts").unwrap();
        assert_eq!(version_of_manifest(), 3);
        let edges: Vec<_> = (0..).zip(large).map(|(from, count)| (from, 9_u64, counted(count))).collect();
        graph.put_each(counts, &edges[..2]).unwrap();
        graph.ingest(counts, &edges[2..]).unwrap();
        let check = |graph: &Graph| {
            for (from, to, expected) in &edges {
                assert_eq!(graph.get_edge(counts, from, to).unwrap().as_ref(), Some(expected));
            }
        };
        check(&graph);
        let next = EdgeUpdate::upsert().set("count", 5_u64).only_if("count", u64::MAX);
        assert!(!graph.update_edge(counts, 3, 9, &next).unwrap().held);
        let signed = graph.update_edge(counts, 3, 9, &EdgeUpdate::upsert().set("count", 5_i64));
        let refused = signed.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidInput);
        assert!(refused.to_string().contains("u64"), "{refused}");
        graph.close().unwrap();
        let graph = GraphOptions::new().open(folder.path()).unwrap();
        check(&graph);
        graph.checkpoint(&Default::default()).unwrap();
        graph.close().unwrap();
        let graph = GraphOptions::new().open(folder.path()).unwrap();
        check(&graph);
        assert!(graph.update_edge(counts, 4, 9, &next).unwrap().held);
        let record = graph.get_edge::<Record>(counts.id(), 4, 9).unwrap().unwrap();
        assert_eq!((record.values()[0].as_u64(), record.values()[0].as_i64()), (Some(5), None));
    }
}
