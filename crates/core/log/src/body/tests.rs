//! Decoding inverts encoding; any bytes are a body or an error.

use super::{Body, CommitRef, LoggedCommit, logged_edge};
use hedgerow_encoding::encode_record;
use hedgerow_encoding::wire::DecodeError;
use hedgerow_model::{
    AdjacencyEffects, AppendedEdges, Catalog, ColumnType, Direction, EdgeChange, EdgeSchema, EdgeValue,
    EffectRecords, Effects, Field, Key, LabelId, LabelSchema, ParallelSchema, Record, RecordSchema,
    StoredEdge, Topology, Value, ValueType, VertexChange, VertexEffect, VertexId,
};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const TOPOLOGIES: [Topology; 3] = [Topology::Directed, Topology::DirectedWithReverse, Topology::Undirected];

type Edges = BTreeMap<(u16, u32, u32), Option<u64>>;

/// Values by owner and neighbor.
type Entries = BTreeMap<(u32, u32), Option<u64>>;

fn id() -> impl Strategy<Value = u32> {
    prop_oneof![4 => 0..40_u32, 1 => Just(u32::MAX - 1), 1 => 0..u32::MAX]
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::I64),
        (-1e9..1e9).prop_map(Value::F64),
        ".{0,9}".prop_map(|text| Value::String(text.into())),
        any::<Vec<u8>>().prop_map(|bytes| Value::Bytes(bytes.into())),
        any::<i64>().prop_map(Value::Timestamp),
    ]
}

fn vertices() -> impl Strategy<Value = Vec<VertexEffect>> {
    let record =
        prop::collection::vec(value(), 0..4).prop_map(|values| VertexChange::Put(Record::new(values)));
    let change = prop_oneof![3 => record, 1 => Just(VertexChange::Delete)];
    prop::collection::btree_map(id(), change, 0..6).prop_map(|map| {
        let effect = |(id, change)| VertexEffect { vertex: VertexId::new(id), change };
        map.into_iter().map(effect).collect()
    })
}

fn keys() -> impl Strategy<Value = Vec<(VertexId, Key)>> {
    let key = prop_oneof![any::<u64>().prop_map(Key::Number), ".{0,9}".prop_map(Key::from)];
    prop::collection::btree_map(id(), key, 0..6)
        .prop_map(|map| map.into_iter().map(|(id, key)| (VertexId::new(id), key)).collect())
}

fn edges() -> impl Strategy<Value = Edges> {
    let small = prop::option::of(Just(0_u64));
    let value = prop_oneof![small, prop::option::of(0..1000_u64), prop::option::of(any::<u64>())];
    prop::collection::btree_map((0..3_u16, id(), id()), value, 0..40)
}

fn catalog() -> Catalog {
    let field = |name: &str, value_type| Field { name: name.to_owned(), value_type, nullable: true };
    let fields = vec![field("a", ValueType::I64), field("b", ValueType::Bytes)];
    let version = Field { nullable: false, ..field("c", ValueType::Version) };
    let record = RecordSchema { fields: [&fields[..], &[version]].concat() };
    let parallel = ParallelSchema { key: "number".to_owned(), record };
    let label = |name: &str, edges| LabelSchema { name: name.to_owned(), edges };
    let labels = vec![
        label("edge", EdgeSchema::Topology),
        label("weight", EdgeSchema::Value(ColumnType::F32)),
        label("record", EdgeSchema::Record(RecordSchema { fields: fields.clone() })),
        label("parallel", EdgeSchema::Parallel(parallel)),
    ];
    Catalog::new(labels, RecordSchema { fields }).unwrap()
}

/// All stored entries of the edges.
fn stored(edges: &Edges, topology: Topology) -> Vec<AdjacencyEffects> {
    let mut entries: BTreeMap<(u16, Direction), Entries> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for (&(label, source, destination), &value) in edges {
        let (source, destination) = topology.canonical(VertexId::new(source), VertexId::new(destination));
        if seen.insert((label, source, destination)) {
            for (direction, owner, neighbor) in topology.entries(source, destination) {
                let entries = entries.entry((label, direction)).or_default();
                entries.insert((owner.get(), neighbor.get()), value);
            }
        }
    }
    let change = |((owner, neighbor), value): ((u32, u32), Option<u64>)| {
        EdgeChange::new(VertexId::new(owner), VertexId::new(neighbor), value.map(EdgeValue))
    };
    let effects = |((label, direction), changes): (_, Entries)| AdjacencyEffects {
        label: LabelId(label),
        direction,
        changes: changes.into_iter().map(change).collect(),
    };
    entries.into_iter().map(effects).collect()
}

fn commit(
    topology: Topology,
    edges: &Edges,
    vertices: Vec<VertexEffect>,
    keys: Vec<(VertexId, Key)>,
    input: Option<Vec<u8>>,
) -> LoggedCommit {
    let former_keys = if input.is_some() { Vec::new() } else { keys[..keys.len() / 2].to_vec() };
    let input = input.map(Into::into);
    let mut commit = LoggedCommit { keys, input, former_keys, ..LoggedCommit::default() };
    commit.catalog = commit.input.is_some().then(catalog);
    commit.effects.vertices = vertices;
    commit.effects.adjacencies = stored(edges, topology).into();
    commit
}

/// New records of edges of a label with records, by their ends; `None` deletes.
type RecordEdges = BTreeMap<(u32, u32), Option<Vec<Value>>>;

/// A commit of edges with records and of other edges.
fn commit_of_records(topology: Topology, edges: &RecordEdges, others: &Edges) -> LoggedCommit {
    let label = LabelId(7);
    let (mut numbered, mut records) = (others.clone(), EffectRecords::default());
    let canonical = |(source, destination): &(u32, u32)| {
        let ends = topology.canonical(VertexId::new(*source), VertexId::new(*destination));
        (ends.0.get(), ends.1.get())
    };
    let edges: BTreeMap<_, _> = edges.iter().map(|(ends, record)| (canonical(ends), record)).collect();
    for ((source, destination), record) in edges {
        let position =
            record.as_ref().map(|values| records.push(&encode_record(&Record::new(values.clone()))).0);
        numbered.insert((label.0, source, destination), position);
    }
    let mut commit = commit(topology, &numbered, vec![], vec![], None);
    commit.record_labels = if records.is_empty() { vec![] } else { vec![label] };
    commit.effects.records = records;
    commit
}

/// The canonical entry of a commit of one edge, decoded by the general decoder.
fn the_edge_of(bytes: &[u8], topology: Topology) -> Option<(LabelId, EdgeChange)> {
    let mut commit = LoggedCommit::decode_canonical(bytes, topology).ok()?;
    let adjacencies = std::mem::take(&mut commit.effects.adjacencies);
    let [edges] = &adjacencies[..] else { return None };
    let [change] = edges.changes.iter().collect::<Vec<_>>()[..] else { return None };
    (commit == LoggedCommit::default()).then_some((edges.label, change))
}

fn encoded(commit: &LoggedCommit, topology: Topology) -> Body {
    let mut body = Body::default();
    body.encode(&commit.to_log(), topology);
    body
}

proptest! {
    #[test]
    fn commits_come_back(
        edges in edges(),
        vertices in vertices(),
        keys in keys(),
        input: Option<Vec<u8>>,
        topology in prop::sample::select(&TOPOLOGIES[..]),
    ) {
        let commit = commit(topology, &edges, vertices, keys, input);
        let body = encoded(&commit, topology);
        prop_assert_eq!(LoggedCommit::decode(body.as_bytes(), topology), Ok(commit));
        for length in 0..body.as_bytes().len() {
            prop_assert!(LoggedCommit::decode(&body.as_bytes()[..length], topology).is_err());
        }
    }

    #[test]
    fn records_of_edges_come_back(
        edges in prop::collection::btree_map((id(), id()), prop::option::of(prop::collection::vec(value(), 0..4)), 0..20),
        others in edges(),
        damage in prop::option::of((any::<usize>(), any::<u8>())),
        topology in prop::sample::select(&TOPOLOGIES[..]),
    ) {
        let commit = commit_of_records(topology, &edges, &others);
        let mut bytes = encoded(&commit, topology).as_bytes().to_vec();
        prop_assert_eq!(LoggedCommit::decode(&bytes, topology), Ok(commit));
        for length in 0..bytes.len() {
            prop_assert!(LoggedCommit::decode(&bytes[..length], topology).is_err());
        }
        if let Some((place, byte)) = damage {
            let place = place % bytes.len();
            bytes[place] = byte;
            if let Ok(decoded) = LoggedCommit::decode(&bytes, topology) {
                let again = encoded(&decoded, topology);
                let read = LoggedCommit::decode(again.as_bytes(), topology);
                // Compares formatted values, because NaN differs from itself.
                prop_assert_eq!(format!("{read:?}"), format!("{:?}", Ok::<_, DecodeError>(decoded)));
            }
        }
    }

    #[test]
    fn edges_come_back_as_they_came(
        ends in prop::collection::vec((id(), id()), 1..30),
        value in prop_oneof![Just(0_u64), 0..1000_u64, any::<u64>()],
        vertices in vertices(),
        damage in prop::option::of((any::<usize>(), any::<u8>())),
        topology in prop::sample::select(&TOPOLOGIES[..]),
    ) {
        let position = |&(source, destination): &(u32, u32)| u64::from(source) << 32 | u64::from(destination);
        let positions: Vec<u64> = ends.iter().map(position).collect();
        let values: Vec<u64> = (0..ends.len() as u64).map(|edge| value.saturating_sub(edge)).collect();
        let appended = AppendedEdges { label: LabelId(5), edges: &positions, values: &values };
        let effects = Effects { vertices, ..Effects::default() };
        let commit = CommitRef { input: Some(&[7]), appended: Some(appended), ..CommitRef::of(&effects) };
        let mut body = Body::default();
        body.encode(&commit, topology);
        let mut bytes = body.as_bytes().to_vec();
        let mut read = LoggedCommit::decode_canonical(&bytes, topology).unwrap();
        prop_assert_eq!((&read.effects, read.input.as_deref()), (&effects, Some(&[7][..])));
        let edges = read.appended.as_mut().unwrap().to_append(true);
        prop_assert_eq!((edges.label, edges.edges, edges.values), (LabelId(5), &positions[..], &values[..]));
        // Of equal edges, the last counts.
        let canonical = |&(source, destination): &(u32, u32)| {
            let ends = topology.canonical(VertexId::new(source), VertexId::new(destination));
            (5, ends.0.get(), ends.1.get())
        };
        let last: Edges = ends.iter().map(canonical).zip(values.iter().copied().map(Some)).collect();
        let sorted = LoggedCommit::decode(&bytes, topology).unwrap();
        prop_assert_eq!(sorted.effects.adjacencies.to_vec(), stored(&last, topology));
        prop_assert_eq!(sorted.appended, None);
        for length in 0..bytes.len() {
            prop_assert!(LoggedCommit::decode(&bytes[..length], topology).is_err());
        }
        if let Some((place, byte)) = damage {
            let place = place % bytes.len();
            bytes[place] = byte;
            let decoded = LoggedCommit::decode(&bytes, topology);
            prop_assert!(decoded.is_err() || decoded.is_ok_and(|commit| commit.effects.is_sorted()));
        }
    }

    #[test]
    fn any_bytes_are_a_body_or_an_error(
        edges in edges(),
        vertices in vertices(),
        keys in keys(),
        damage in prop::collection::vec((any::<usize>(), any::<u8>()), 1..4),
        topology in prop::sample::select(&TOPOLOGIES[..]),
    ) {
        let commit = commit(topology, &edges, vertices, keys, None);
        let mut bytes = encoded(&commit, topology).as_bytes().to_vec();
        for (place, byte) in damage {
            let place = place % bytes.len();
            bytes[place] = byte;
        }
        if let Some(edge) = logged_edge(&bytes, topology) {
            prop_assert_eq!(the_edge_of(&bytes, topology), Some(edge));
        }
        if let Ok(decoded) = LoggedCommit::decode(&bytes, topology) {
            prop_assert!(decoded.effects.is_sorted());
            let again = encoded(&decoded, topology);
            prop_assert_eq!(LoggedCommit::decode(again.as_bytes(), topology), Ok(decoded));
        }
    }

    #[test]
    fn the_short_way_of_one_edge_reads_what_the_general_one_does(
        label in 0..3_u16,
        source: u32,
        destination: u32,
        value: Option<u64>,
        damage in prop::option::of((any::<usize>(), any::<u8>())),
        topology in prop::sample::select(&TOPOLOGIES[..]),
    ) {
        let id = |number: u32| VertexId::new(number.min(VertexId::MAX.get()));
        let value = value.map(EdgeValue);
        let edge = StoredEdge::new(topology, LabelId(label), id(source), id(destination), value);
        let mut body = Body::default();
        body.encode_edge(&edge, topology);
        let mut bytes = body.as_bytes().to_vec();
        if let Some((place, byte)) = damage {
            let place = place % bytes.len();
            bytes[place] = byte;
            prop_assert!(logged_edge(&bytes, topology).is_none_or(|read| the_edge_of(&bytes, topology) == Some(read)));
        } else {
            prop_assert_eq!(logged_edge(&bytes, topology), the_edge_of(&bytes, topology));
            prop_assert!(logged_edge(&bytes, topology).is_some());
        }
    }

    #[test]
    fn random_bytes_do_no_harm(bytes: Vec<u8>) {
        for topology in TOPOLOGIES {
            let _ = logged_edge(&bytes, topology);
            let _ = LoggedCommit::decode(&bytes, topology);
        }
    }
}

#[test]
fn one_edge_takes_few_bytes() {
    for topology in TOPOLOGIES {
        for value in [Some(EdgeValue(0)), Some(EdgeValue(u64::MAX)), None] {
            let (source, destination) = (VertexId::new(1_000_000), VertexId::new(77));
            let edge = StoredEdge::new(topology, LabelId(0), source, destination, value);
            let mut body = Body::default();
            body.encode_edge(&edge, topology);
            let decoded = LoggedCommit::decode(body.as_bytes(), topology).unwrap();
            let entries =
                decoded.effects.adjacencies.iter().map(|effects| effects.changes.len()).sum::<usize>();
            assert_eq!(entries, edge.entries().len());
            assert_eq!(encoded(&decoded, topology).as_bytes(), body.as_bytes(), "as in a general commit");
            let weight = if value == Some(EdgeValue(u64::MAX)) { 8 } else { 0 };
            let canonical = LoggedCommit::decode_canonical(body.as_bytes(), topology).unwrap();
            let edges = &canonical.effects.adjacencies[0];
            assert_eq!(
                logged_edge(body.as_bytes(), topology),
                edges.changes.as_slice().get(0).map(|change| (edges.label, change))
            );
            assert!(body.as_bytes().len() <= 14 + weight, "{} bytes", body.as_bytes().len());
        }
    }
}

#[test]
fn edges_that_came_in_another_form_are_refused() {
    let read = |bytes: &[u8]| LoggedCommit::decode(bytes, Topology::Directed);
    let edge = [2, 0, 0, 0, 1, 0, 0, 0];
    let appended = |form: u8| [&[32, 0, form, 1][..], &edge].concat();
    let commit = read(&appended(0)).unwrap();
    assert_eq!(
        commit.effects.adjacencies[0].changes.iter().collect::<Vec<_>>(),
        [EdgeChange::at(1 << 32 | 2, Some(EdgeValue(0)))]
    );
    let refused = |bytes: &[u8], at: usize, what: &str| {
        assert_eq!(read(bytes), Err(DecodeError { offset: at, what: read(bytes).unwrap_err().what }));
        assert!(read(bytes).unwrap_err().what.contains(what), "{:?}", read(bytes));
    };
    refused(&appended(3), 12, "unknown form");
    refused(&[32, 0, 0, 0], 4, "without edges");
    refused(&[36, 0], 1, "both sorted and as they came");
    refused(&[&[32, 0, 0, 2][..], &edge, &[255; 8]].concat(), 12, "beyond the vertex ids");
}

#[test]
fn oversized_counts_are_refused() {
    // 2^56 vertices, keys, neighbors.
    let many = [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1];
    for (section, before) in [(1, &[][..]), (2, &[]), (4, &[1, 0]), (32, &[0, 0])] {
        let bytes = [&[section][..], before, &many].concat();
        let error = LoggedCommit::decode(&bytes, Topology::Directed).unwrap_err();
        assert_eq!(error.what, "more is promised than there are bytes");
    }
}
