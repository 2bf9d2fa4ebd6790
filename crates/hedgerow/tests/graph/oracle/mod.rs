//! A graph as plain maps: slow, obvious, and the reference for every engine.

use hedgerow::{
    ColumnType, Commit, CommitTimestamp, Commits, Count, Direction, EdgeSchema, EngineKind, Field,
    GraphOptions, Key, KeyKind, LabelId, LabelSchema, Newest, ParallelEdge, ParallelSchema, ReadGraph,
    Record, RecordRef, RecordSchema, Snapshot, Topology, Value, ValueType,
};
use hedgerow_model::{EdgeValue, Operation, RecordChange, RecordMode};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

mod edge_readers;
mod operations;

pub use crate::engines::{ENGINES, counts_later, is_count};
pub use operations::{Report, Stream, commit, operation, stage};

/// The labels of every graph under test: topology, a float, an integer, records, parallel edges.
pub const LABELS: [LabelId; 5] = [LabelId(0), LabelId(1), LabelId(2), RECORDS, PARALLEL];

/// The label whose edges have records.
pub const RECORDS: LabelId = LabelId(3);

/// The label whose edges may be parallel, and have records.
pub const PARALLEL: LabelId = LabelId(4);

/// The properties of edges of [`RECORDS`] and [`PARALLEL`].
const SENT: [&str; 4] = ["amount", "note", "version", "when"];

/// The positions of the properties that applications set: all but the version.
const SAID: [usize; 3] = [0, 1, 3];

/// Returns true if a commit has the expected effects, as far as the engine knows them yet.
pub fn is_commit(engine: EngineKind, found: Commit, expected: Commit) -> bool {
    let Commit { changed, edges_added, edges_removed, .. } = found;
    let are_counts = is_count(engine, edges_added, expected.edges_added.at_most())
        && is_count(engine, edges_removed, expected.edges_removed.at_most());
    let is_change = is_changed(engine, changed, expected.changed == Some(true));
    are_counts && is_change && found == Commit { changed, edges_added, edges_removed, ..expected }
}

/// Returns true if a commit reports the expected change, or leaves it open in an engine that counts
/// later.
fn is_changed(engine: EngineKind, found: Option<bool>, expected: bool) -> bool {
    found.map_or_else(|| counts_later(engine), |found| found == expected)
}

/// Returns true if a stream has the expected effects, as far as the engine knows them yet.
pub fn are_commits(engine: EngineKind, found: Commits, expected: Commits) -> bool {
    let Commits { changed, edges_added, edges_removed, .. } = found;
    let are_counts = is_count(engine, edges_added, expected.edges_added.at_most())
        && is_count(engine, edges_removed, expected.edges_removed.at_most());
    let are_changes = is_count(engine, changed, expected.changed.at_most());
    are_counts && are_changes && found == Commits { changed, edges_added, edges_removed, ..expected }
}

/// Options of a graph with everything that the oracle supports.
pub fn options(topology: Topology, keys: KeyKind) -> GraphOptions {
    labels().into_iter().fold(without_labels(topology, keys), GraphOptions::label_schema)
}

/// Returns the schemas of [`LABELS`].
pub fn labels() -> [LabelSchema; 5] {
    let label = |name: &str, edges| LabelSchema { name: name.to_owned(), edges };
    let version = Field { nullable: false, ..field(SENT[2], ValueType::Version) };
    let sent = RecordSchema {
        fields: vec![
            field(SENT[0], ValueType::I64),
            field(SENT[1], ValueType::String),
            version,
            field(SENT[3], ValueType::Timestamp),
        ],
    };
    let parallel = ParallelSchema { key: "number".to_owned(), record: sent.clone() };
    [
        label("knows", EdgeSchema::Topology),
        label("pays", EdgeSchema::Value(ColumnType::F64)),
        label("calls", EdgeSchema::Value(ColumnType::U32)),
        label("sends", EdgeSchema::Record(sent)),
        label("orders", EdgeSchema::Parallel(parallel)),
    ]
}

/// Options of a graph with everything except labels.
pub fn without_labels(topology: Topology, keys: KeyKind) -> GraphOptions {
    let properties = vec![field("age", ValueType::I64), field("name", ValueType::String)];
    GraphOptions::new().topology(topology).keys(keys).vertex_properties(RecordSchema { fields: properties })
}

fn field(name: &str, value_type: ValueType) -> Field {
    Field { name: name.to_owned(), value_type, nullable: true }
}

/// The reference graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Oracle {
    pub topology: Topology,
    pub vertices: BTreeMap<Key, Vec<Value>>,
    pub edges: BTreeMap<(LabelId, Key, Key), EdgeValue>,
    /// Records, each with its key, which is 0 if edges are not parallel. The value of an edge with
    /// a record is 0.
    pub records: BTreeMap<(LabelId, Key, Key, u64), Vec<Value>>,
}

impl Oracle {
    pub fn new(topology: Topology) -> Self {
        Oracle { topology, vertices: BTreeMap::new(), edges: BTreeMap::new(), records: BTreeMap::new() }
    }

    fn canonical(&self, source: &Key, destination: &Key) -> (Key, Key) {
        if self.topology.is_undirected() && destination < source {
            (destination.clone(), source.clone())
        } else {
            (source.clone(), destination.clone())
        }
    }

    fn add(&mut self, key: &Key) -> &mut Vec<Value> {
        self.vertices.entry(key.clone()).or_insert_with(|| vec![Value::Null; 2])
    }

    /// Returns true if the condition of an operation holds, or there is none.
    pub fn holds(&self, operation: &Operation) -> bool {
        let Operation::ChangeRecord { label, source, destination, key, change } = operation else {
            return true;
        };
        let (source, destination) = self.canonical(source, destination);
        let current = self.records.get(&(*label, source, destination, key.unwrap_or_default()));
        let has = |(at, value): &(usize, Value)| current.is_some_and(|record| record[*at] == *value);
        change.condition.iter().flatten().all(has)
    }

    pub fn apply(&mut self, operation: &Operation) {
        match operation {
            Operation::AddVertex { key } => {
                self.add(key);
            }
            Operation::DeleteVertex { key } => {
                self.vertices.remove(key);
                self.edges.retain(|(_, source, destination), _| source != key && destination != key);
                self.records.retain(|(_, source, destination, _), _| source != key && destination != key);
            }
            Operation::SetProperties { key, properties } => {
                let record = self.add(key);
                for (position, value) in properties {
                    record[*position] = value.clone();
                }
            }
            Operation::PutEdge { label, source, destination, value } => {
                self.add(source);
                self.add(destination);
                let (source, destination) = self.canonical(source, destination);
                self.edges.insert((*label, source, destination), *value);
            }
            Operation::DeleteEdge { label, source, destination } => {
                let (source, destination) = self.canonical(source, destination);
                let edge = (*label, source, destination);
                self.edges.remove(&edge);
                self.records.retain(|(label, source, destination, _), _| {
                    (*label, source, destination) != (edge.0, &edge.1, &edge.2)
                });
            }
            Operation::ChangeRecord { label, source, destination, key, change } => {
                self.change_record(*label, source, destination, key.unwrap_or_default(), change);
            }
        }
    }

    /// Returns all edges; parallel edges one by one, with their keys.
    pub fn each_edge(&self) -> BTreeSet<(LabelId, Key, Key, u64)> {
        let edges = self.edges.keys().filter(|(label, ..)| *label != PARALLEL);
        let edges =
            edges.map(|(label, source, destination)| (*label, source.clone(), destination.clone(), 0));
        edges.chain(self.records.keys().filter(|(label, ..)| *label == PARALLEL).cloned()).collect()
    }

    /// Returns the expected report of a commit from `before` to this state, with timestamp 0.
    pub fn commit_since(&self, before: &Oracle) -> Commit {
        let (old, new) = (before.each_edge(), self.each_edge());
        let missing = |from: &Oracle, of: &Oracle| {
            of.vertices.keys().filter(|key| !from.vertices.contains_key(key)).count() as u64
        };
        Commit {
            at: CommitTimestamp::ZERO,
            changed: Some(self != before),
            edges_added: Count::exactly(new.difference(&old).count() as u64),
            edges_removed: Count::exactly(old.difference(&new).count() as u64),
            vertices_added: missing(before, self),
            vertices_removed: missing(self, before),
            conditions_failed: 0,
        }
    }

    /// Ingests edges with records in bulk: the last of several equal edges counts.
    pub fn ingest_records(&mut self, edges: &[(Key, Key, Record)]) {
        let last =
            edges.iter().map(|(source, destination, record)| (self.canonical(source, destination), record));
        let last: BTreeMap<(Key, Key), &Record> = last.collect();
        for ((source, destination), record) in last {
            let fields = SAID.map(|position| (position, record.values()[position].clone())).into();
            let change = RecordChange::new(RecordMode::Put, fields);
            self.change_record(RECORDS, &source, &destination, 0, &change);
        }
    }

    fn change_record(
        &mut self,
        label: LabelId,
        source: &Key,
        destination: &Key,
        key: u64,
        change: &RecordChange,
    ) {
        let RecordChange { mode, fields, condition } = change;
        let (first, second) = self.canonical(source, destination);
        let pair = (label, first.clone(), second.clone());
        let edge = (label, first, second, key);
        let before = self.records.get(&edge).cloned();
        if let Some(condition) = condition {
            let Some(record) = &before else { return };
            if condition.iter().any(|(position, value)| record[*position] != *value) {
                return;
            }
        }
        if *mode == RecordMode::Delete {
            self.records.remove(&edge);
            if self.parallel(source, destination).is_empty() || label != PARALLEL {
                self.edges.remove(&pair);
            }
            return;
        }
        self.add(source);
        self.add(destination);
        let keeps = matches!(mode, RecordMode::Update | RecordMode::Insert);
        let mut record = before.clone().filter(|_| keeps).unwrap_or(vec![Value::Null; SENT.len()]);
        if *mode != RecordMode::Insert || before.is_none() {
            fields.iter().for_each(|(position, value)| record[*position] = value.clone());
        }
        let said = |record: &[Value]| SAID.map(|position| record[position].clone());
        record[2] = match before {
            Some(before) if said(&before) == said(&record) => before[2].clone(),
            before => Value::I64(1 + before.map_or(0, |before| before[2].as_i64().unwrap())),
        };
        self.edges.insert(pair, EdgeValue(0));
        self.records.insert(edge, record);
    }

    pub fn edge(&self, label: LabelId, source: &Key, destination: &Key) -> Option<EdgeValue> {
        let (source, destination) = self.canonical(source, destination);
        self.edges.get(&(label, source, destination)).copied()
    }

    /// Returns the record of an edge.
    pub fn record(&self, source: &Key, destination: &Key) -> Option<Vec<Value>> {
        let (source, destination) = self.canonical(source, destination);
        self.records.get(&(RECORDS, source, destination, 0)).cloned()
    }

    /// Returns the parallel edges between two vertices, by key.
    pub fn parallel(&self, source: &Key, destination: &Key) -> BTreeMap<u64, Vec<Value>> {
        let (source, destination) = self.canonical(source, destination);
        let edge = |key| (PARALLEL, source.clone(), destination.clone(), key);
        let edges = self.records.range(edge(0)..=edge(u64::MAX));
        edges.map(|((.., key), record)| (*key, record.clone())).collect()
    }

    /// Returns the parallel edges of a vertex whose keys are in a range.
    pub fn parallel_neighbors(
        &self,
        direction: Direction,
        key: &Key,
        keys: &RangeInclusive<u64>,
    ) -> BTreeMap<(Key, u64), Vec<Value>> {
        let mut found = BTreeMap::new();
        for neighbor in self.neighbors(PARALLEL, direction, key).into_keys() {
            let edges = match direction {
                Direction::Out => self.parallel(key, &neighbor),
                Direction::In => self.parallel(&neighbor, key),
            };
            let edges = edges.into_iter().filter(|(key, _)| keys.contains(key));
            found.extend(edges.map(|(key, record)| ((neighbor.clone(), key), record)));
        }
        found
    }

    /// Returns the neighbors of a vertex over edges with records, with their records.
    pub fn neighbor_records(&self, direction: Direction, key: &Key) -> BTreeMap<Key, Vec<Value>> {
        let neighbors = self.neighbors(RECORDS, direction, key).into_keys();
        let record = |neighbor: &Key| match direction {
            Direction::Out => self.record(key, neighbor),
            Direction::In => self.record(neighbor, key),
        };
        neighbors.map(|neighbor| (neighbor.clone(), record(&neighbor).unwrap())).collect()
    }

    pub fn neighbors(&self, label: LabelId, direction: Direction, key: &Key) -> BTreeMap<Key, EdgeValue> {
        let mut neighbors = BTreeMap::new();
        for ((of, source, destination), value) in &self.edges {
            let both = self.topology.is_undirected();
            if *of == label && source == key && (both || direction == Direction::Out) {
                neighbors.insert(destination.clone(), *value);
            }
            if *of == label && destination == key && (both || direction == Direction::In) {
                neighbors.insert(source.clone(), *value);
            }
        }
        neighbors
    }

    /// Returns the state of a snapshot, read through its public methods.
    pub fn of_snapshot(snapshot: &Snapshot) -> Self {
        let mut oracle = Oracle::new(snapshot.topology());
        snapshot
            .for_each_vertex(|_, key| {
                let record = snapshot.properties(&key).unwrap().expect("it exists");
                oracle.vertices.insert(key, record.values().to_vec());
            })
            .unwrap();
        let keys: Vec<Key> = oracle.vertices.keys().cloned().collect();
        for key in &keys {
            for label in LABELS {
                for (neighbor, value) in neighbors_as_bits(snapshot, label, Direction::Out, key) {
                    let (source, destination) = oracle.canonical(key, &neighbor);
                    oracle.edges.insert((label, source, destination), value);
                }
            }
            for (neighbor, record) in snapshot.edges::<Record>((RECORDS, Direction::Out), key).unwrap() {
                let (source, destination) = oracle.canonical(key, &neighbor);
                oracle.records.insert((RECORDS, source, destination, 0), record.values().to_vec());
            }
            for edge in snapshot.parallel_neighbors::<Record>((PARALLEL, Direction::Out), key, ..).unwrap() {
                let (source, destination) = oracle.canonical(key, &edge.neighbor);
                oracle
                    .records
                    .insert((PARALLEL, source, destination, edge.number), edge.data.values().to_vec());
            }
        }
        oracle
    }

    /// Panics unless a snapshot shows exactly this state, by every way of reading it.
    pub fn check(&self, snapshot: &Snapshot, domain: &[Key]) {
        let parallel = self.each_edge().iter().filter(|(label, ..)| *label == PARALLEL).count();
        assert_eq!(snapshot.edge_count_of(PARALLEL), parallel as u64, "parallel edges are always counted");
        self.check_reads(snapshot, domain);
    }

    /// Like [`Oracle::check`], for the state of a transaction: its numbers of edges are bounds.
    pub fn check_reads(&self, snapshot: &Snapshot, domain: &[Key]) {
        assert_eq!(snapshot.vertex_count(), self.vertices.len() as u64, "vertex count");
        let mut seen = BTreeSet::new();
        let mut ids = BTreeSet::new();
        snapshot
            .for_each_vertex(|id, key| {
                assert!(id.get() < snapshot.vertex_bound());
                assert!(ids.insert(id), "id {id} twice");
                assert!(seen.insert(key));
            })
            .unwrap();
        assert_eq!(seen, self.vertices.keys().cloned().collect(), "vertices");
        for key in domain {
            self.check_vertex(snapshot, key);
        }
        self.check_edge_readers(snapshot, domain);
        for label in LABELS {
            let pairs = self.edges.keys().filter(|(of, _, _)| *of == label).count();
            let counted = snapshot.pair_count_of(label);
            assert!(counted.may_be(pairs as u64), "{counted} pairs of {label:?}, not {pairs}");
            let edges = self.each_edge().iter().filter(|(of, ..)| *of == label).count();
            let counted = snapshot.edge_count_of(label);
            assert!(counted.may_be(edges as u64), "{counted} edges of {label:?}, not {edges}");
            assert_eq!(snapshot.exact_edge_count_of(label).unwrap(), edges as u64, "{label:?}");
            for source in domain {
                for destination in domain {
                    let value = edge_as_bits(snapshot, label, source, destination);
                    assert_eq!(value, self.edge(label, source, destination), "{source} -> {destination}");
                    if label == RECORDS {
                        let record = snapshot.get_edge::<Record>(label, source, destination).unwrap();
                        let values = record.map(|record| record.values().to_vec());
                        assert_eq!(values, self.record(source, destination), "{source} -> {destination}");
                    }
                    if label == PARALLEL {
                        let edges =
                            snapshot.parallel_edges::<Record>(label, source, destination, ..).unwrap();
                        let expected = self.parallel(source, destination);
                        let all: BTreeMap<_, _> = edges.iter().cloned().collect();
                        assert!(edges.is_sorted_by_key(|(key, _)| *key) && edges.len() == all.len());
                        for key in [0, 1, 5, LARGE_KEY] {
                            let edge =
                                snapshot.parallel_edge::<Record>(label, source, destination, key).unwrap();
                            let values = edge.map(|record| record.values().to_vec());
                            assert_eq!(
                                values.as_ref(),
                                expected.get(&key),
                                "{source} -> {destination} {key}"
                            );
                        }
                        let all = all.into_iter().map(|(key, record)| (key, record.values().to_vec()));
                        assert_eq!(all.collect::<BTreeMap<_, _>>(), expected, "{source} -> {destination}");
                    }
                }
            }
        }
    }

    fn check_vertex(&self, snapshot: &Snapshot, key: &Key) {
        let record = snapshot.properties(key).unwrap().map(|record| record.values().to_vec());
        assert_eq!(record.as_ref(), self.vertices.get(key), "properties of {key}");
        let id = |key: &Key| snapshot.vertex_id(key).unwrap();
        assert_eq!(id(key).is_some(), self.vertices.contains_key(key), "vertex {key}");
        assert_eq!(id(key).and_then(|id| snapshot.key(id).unwrap()), id(key).map(|_| key.clone()));
        for label in LABELS {
            for direction in [Direction::Out, Direction::In] {
                if self.topology.stored(direction).is_none() {
                    assert!(snapshot.edges::<()>((label, direction), key).is_err());
                    continue;
                }
                let read = neighbors_as_bits(snapshot, label, direction, key);
                assert_eq!(snapshot.degree((label, direction), key).unwrap(), read.len());
                let distinct: BTreeMap<_, _> = read.iter().cloned().collect();
                assert_eq!(distinct.len(), read.len(), "a neighbor twice");
                assert_eq!(
                    distinct,
                    self.neighbors(label, direction, key),
                    "{label:?} {direction:?} of {key}"
                );
                if label == RECORDS {
                    let records = snapshot.edges::<Record>((label, direction), key).unwrap();
                    assert_eq!(as_values(records), self.neighbor_records(direction, key));
                }
                if label == PARALLEL {
                    self.check_parallel(snapshot, direction, key);
                }
            }
        }
        for direction in [Direction::Out, Direction::In] {
            if self.topology.stored(direction).is_none() {
                continue;
            }
            self.check_newest(snapshot, direction, key);
        }
    }

    /// Checks the parallel edges of a vertex.
    fn check_parallel(&self, snapshot: &Snapshot, direction: Direction, key: &Key) {
        let expected = |keys| self.parallel_neighbors(direction, key, &keys);
        for keys in [0..=u64::MAX, 2..=4, 5..=u64::MAX, 0..=0] {
            let edges =
                snapshot.parallel_neighbors::<Record>((PARALLEL, direction), key, keys.clone()).unwrap();
            assert!(
                edges.is_sorted_by_key(|edge| (snapshot.vertex_id(&edge.neighbor).unwrap(), edge.number))
            );
            assert_eq!(by_key(edges), expected(keys), "{direction:?} of {key}");
        }
        let all = expected(0..=u64::MAX);
        assert_eq!(snapshot.parallel_degree((PARALLEL, direction), key).unwrap(), all.len() as u64);
        let of_records = snapshot.edges::<Record>((PARALLEL, direction), key).unwrap();
        assert_eq!(of_records.len(), all.len());
        assert!(of_records.iter().all(|(neighbor, record)| {
            all.iter().any(|((other, _), values)| neighbor == other && record.values() == &values[..])
        }));
    }

    /// Checks newest-first reads: by amount, by the time of the label, and by integer values.
    fn check_newest(&self, snapshot: &Snapshot, direction: Direction, key: &Key) {
        let id = |key: &Key| snapshot.vertex_id(key).unwrap();
        let newest = |mut dated: Vec<(i64, Key)>, most: usize, since: i64| {
            dated.retain(|(time, _)| *time >= since);
            dated.sort_by_key(|(time, key)| (Reverse(*time), id(key)));
            dated.into_iter().map(|(_, key)| key).take(most).collect::<Vec<Key>>()
        };
        let records = self.neighbor_records(direction, key);
        let by = |time: fn(&[Value]) -> Option<i64>| -> Vec<(i64, Key)> {
            let dated = |(neighbor, values): (&Key, &Vec<Value>)| Some((time(values)?, neighbor.clone()));
            records.iter().filter_map(dated).collect()
        };
        let (amounts, times) = (by(|values| values[0].as_i64()), by(|values| values[3].as_timestamp()));
        let counts: Vec<(i64, Key)> = self
            .neighbors(LABELS[2], direction, key)
            .into_iter()
            .map(|(neighbor, value)| (value.0 as i64, neighbor))
            .collect();
        for (most, since) in [(0, 0), (1, 0), (3, 1), (usize::MAX, i64::MIN)] {
            let wanted = Newest::most(most).since(since);
            let read = snapshot.newest::<u32>((LABELS[2], direction), key, &wanted).unwrap();
            let read: Vec<Key> = read.into_iter().map(|(neighbor, _)| neighbor).collect();
            assert_eq!(read, newest(counts.clone(), most, since), "newest of {key}");
            let with_records = |keys: Vec<Key>| -> Vec<(Vec<Value>, Key)> {
                keys.into_iter().map(|key| (records[&key].clone(), key)).collect()
            };
            let read = |wanted: &Newest| -> Vec<(Vec<Value>, Key)> {
                let read = snapshot.newest::<Record>((RECORDS, direction), key, wanted).unwrap();
                read.into_iter().map(|(key, record)| (record.values().to_vec(), key)).collect()
            };
            assert_eq!(
                read(&wanted),
                with_records(newest(times.clone(), most, since)),
                "newest of {key} by the label's time"
            );
            let wanted = wanted.by_property(SENT[0]);
            let expected = with_records(newest(amounts.clone(), most, since));
            assert_eq!(read(&wanted), expected, "newest of {key}");
            let mut visited = Vec::new();
            let visit = |id, record: RecordRef<'_>| {
                let values: Vec<Value> = record.values().map(Value::from).collect();
                assert_eq!(record.to_record().unwrap().values(), values);
                visited.push((values, snapshot.key(id).unwrap().unwrap()));
            };
            snapshot.visit_newest_records((RECORDS, direction), key, &wanted, visit).unwrap();
            assert_eq!(visited, expected, "newest of {key}");
            let read = snapshot.newest_parallel::<Record>((PARALLEL, direction), key, &wanted).unwrap();
            let mut dated: Vec<_> =
                self.parallel_neighbors(direction, key, &(0..=u64::MAX)).into_iter().collect();
            dated.retain(|(_, values)| values[0].as_i64().is_some_and(|amount| amount >= since));
            dated.sort_by_key(|((neighbor, key), values)| (Reverse(values[0].as_i64()), id(neighbor), *key));
            dated.truncate(most);
            let read =
                read.into_iter().map(|edge| ((edge.neighbor, edge.number), edge.data.values().to_vec()));
            assert_eq!(read.collect::<Vec<_>>(), dated, "newest of {key}");
            let by_number = Newest::most(most).by_property("number");
            let read = snapshot.newest_parallel::<Record>((PARALLEL, direction), key, &by_number).unwrap();
            let mut keys: Vec<u64> = self
                .parallel_neighbors(direction, key, &(0..=u64::MAX))
                .into_keys()
                .map(|(_, key)| key)
                .collect();
            keys.sort_unstable_by_key(|key| Reverse(*key));
            keys.truncate(most);
            assert_eq!(read.iter().map(|edge| edge.number).collect::<Vec<_>>(), keys, "newest of {key}");
        }
    }
}

/// A key of parallel edges beyond the range of signed times.
const LARGE_KEY: u64 = u64::MAX - 1;

/// Parallel edges by neighbor and key.
pub fn by_key(edges: Vec<ParallelEdge>) -> BTreeMap<(Key, u64), Vec<Value>> {
    edges.into_iter().map(|edge| ((edge.neighbor, edge.number), edge.data.values().to_vec())).collect()
}

/// Records by neighbor.
pub fn as_values(records: Vec<(Key, Record)>) -> BTreeMap<Key, Vec<Value>> {
    records.into_iter().map(|(neighbor, record)| (neighbor, record.values().to_vec())).collect()
}

/// Returns the neighbors of a vertex, whatever the type of the label's values.
pub fn neighbors_as_bits(
    snapshot: &Snapshot,
    label: LabelId,
    direction: Direction,
    key: &Key,
) -> Vec<(Key, EdgeValue)> {
    use hedgerow::Column;
    fn bits<W: Column>(pairs: Vec<(Key, W)>) -> Vec<(Key, EdgeValue)> {
        pairs.into_iter().map(|(key, value)| (key, value.to_bits())).collect()
    }
    match label.0 {
        0 | 3 | 4 => bits(snapshot.edges::<()>((label, direction), key).unwrap()),
        1 => bits(snapshot.edges::<f64>((label, direction), key).unwrap()),
        _ => bits(snapshot.edges::<u32>((label, direction), key).unwrap()),
    }
}

/// Returns the value of an edge, whatever the type of the label's values.
pub fn edge_as_bits(
    snapshot: &Snapshot,
    label: LabelId,
    source: &Key,
    destination: &Key,
) -> Option<EdgeValue> {
    use hedgerow::Column;
    match label.0 {
        0 | 3 | 4 => snapshot.get_edge::<()>(label, source, destination).unwrap().map(Column::to_bits),
        1 => snapshot.get_edge::<f64>(label, source, destination).unwrap().map(Column::to_bits),
        _ => snapshot.get_edge::<u32>(label, source, destination).unwrap().map(Column::to_bits),
    }
}

/// Returns the keys of a test, of the graph's kind: small keys, and keys at the boundaries of
/// partitions.
pub fn domain(kind: KeyKind, size: usize) -> Vec<Key> {
    let dense = [0, 1, 63, 64, 65, 127, 128, 4096 * 64, 4_294_967_294];
    let number = |index: usize| match kind {
        KeyKind::Dense => dense.get(index).copied().unwrap_or(index as u64),
        _ => (index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15),
    };
    let key = |index: usize| match kind {
        KeyKind::String => Key::Text(format!("vertex {index}").into()),
        _ => Key::Number(number(index)),
    };
    (0..size).map(key).collect()
}
