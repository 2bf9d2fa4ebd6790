//! Random and fixed graphs to write, and graphs that were read.

use hedgerow_encoding::{decode_record, encode_record};
use hedgerow_log::StoreError;
use hedgerow_log::checkpoint::{
    Checkpoint, CheckpointError, CheckpointSource, ChunkContent, Description, VisitRecord, VisitRun,
    VisitVertex, WriteOptions, write,
};
use hedgerow_log::files::FileSystem;
use hedgerow_model::{
    Catalog, Column, ColumnType, CommitTimestamp, Counts, EdgeSchema, EdgeValue, Field, Key, KeyKind,
    LabelId, LabelSchema, ReadError, Record, RecordSchema, Topology, Value, ValueType, VertexId, with_column,
};
use hedgerow_testing::simulated::SimulatedFiles;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

pub const COLUMNS: [ColumnType; 6] =
    [ColumnType::Unit, ColumnType::U32, ColumnType::U64, ColumnType::I64, ColumnType::F32, ColumnType::F64];

/// A whole graph: each edge once, at its canonical end.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    pub description: Description,
    pub vertices: BTreeMap<u32, (Key, Record)>,
    pub edges: Vec<BTreeMap<(u32, u32), u64>>,
    /// The records of labels with records, by the numeric values that identify them.
    pub records: BTreeMap<u64, Vec<u8>>,
}

/// The record that a number identifies.
fn record_of(number: u64) -> Vec<u8> {
    // Records of different lengths, some of which compress well.
    let padding = vec![0; if number.is_multiple_of(50) { 70_000 } else { number as usize % 9 }];
    encode_record(&Record::new(vec![Value::I64(number as i64), Value::Bytes(padding.into())]))
}

impl Graph {
    /// A graph of edges without values or keys.
    pub fn of_edges(topology: Topology, edges: impl IntoIterator<Item = (u32, u32)>) -> Self {
        let canonical = |(source, destination)| {
            let ends = topology.canonical(VertexId::new(source), VertexId::new(destination));
            ((ends.0.get(), ends.1.get()), 0)
        };
        let edges: BTreeMap<_, _> = edges.into_iter().map(canonical).collect();
        let ids = edges.keys().flat_map(|(source, destination)| [*source, *destination]);
        let vertices = ids.map(|id| (id, (Key::Number(id.into()), Record::EMPTY))).collect();
        Graph::new(topology, KeyKind::Dense, Catalog::default(), vertices, vec![edges])
    }

    pub fn new(
        topology: Topology,
        keys: KeyKind,
        catalog: Catalog,
        vertices: BTreeMap<u32, (Key, Record)>,
        edges: Vec<BTreeMap<(u32, u32), u64>>,
    ) -> Self {
        let counts = Counts {
            vertex_bound: vertices.last_key_value().map_or(0, |(id, _)| id + 1),
            vertices: vertices.len() as u64,
            edges: edges.iter().map(|edges| edges.len() as u64).collect(),
            beside: None,
        };
        let description = Description {
            store: *b"0123456789abcdef",
            timestamp: CommitTimestamp(42),
            wall_clock: 1_700_000_000_000_000,
            topology,
            keys,
            catalog,
            counts,
            input: Some((*b"edges.tsv:1234").into()),
        };
        let labels = description.labels().zip(&edges);
        let with_records = labels.filter(|((_, label), _)| label.edges.record().is_some());
        let numbers = with_records.flat_map(|(_, edges)| edges.values());
        let records = numbers.map(|number| (*number, record_of(*number))).collect();
        Graph { description, vertices, edges, records }
    }

    /// Writes the graph to a new file.
    pub fn written(&self) -> SimulatedFiles {
        let files = SimulatedFiles::new(1);
        files.create_directory().unwrap();
        self.write_to(&files, "checkpoint").unwrap();
        files
    }

    pub fn write_to(&self, files: &dyn FileSystem, name: &str) -> Result<u64, CheckpointError> {
        let written = write(files, name, &self.description, self, &WriteOptions::default())?;
        Ok(written.bytes)
    }

    /// Reads the graph from a file, its chunks in an order that `shuffle` determines.
    pub fn read(files: &dyn FileSystem, name: &str, shuffle: u64) -> Result<Self, StoreError> {
        let checkpoint = Checkpoint::open(files, name)?;
        let description = checkpoint.description().clone();
        let mut graph = Graph {
            vertices: BTreeMap::new(),
            edges: vec![BTreeMap::new(); description.catalog.labels().len()],
            records: BTreeMap::new(),
            description,
        };
        let mut chunks = checkpoint.chunks().to_vec();
        chunks.sort_by_key(|chunk| (chunk.offset + 1).wrapping_mul(shuffle));
        for chunk in &chunks {
            match chunk.content {
                ChunkContent::Description => {}
                ChunkContent::Vertices => checkpoint.read_vertices(chunk, |vertex, key, record| {
                    let before = graph.vertices.insert(vertex.get(), (key.to_key(), record));
                    assert_eq!(before, None, "{vertex} twice");
                })?,
                ChunkContent::Edges(label) => {
                    let column = graph.description.catalog.label(label).unwrap().edges.column();
                    let edges = &mut graph.edges[label.index()];
                    if column == ColumnType::Record {
                        checkpoint.read_record_edges(chunk, |source, destination, bytes| {
                            let record = decode_record(bytes).unwrap();
                            let number = record.values()[0].as_i64().unwrap() as u64;
                            graph.records.insert(number, bytes.to_vec());
                            let before = edges.insert((source.get(), destination.get()), number);
                            assert_eq!(before, None, "{source} to {destination} twice");
                        })?;
                        continue;
                    }
                    with_column!(column, W => checkpoint.read_edges::<W>(chunk, |source, run, values| {
                        assert_eq!(run.len(), values.len());
                        for (destination, value) in run.iter().zip(values) {
                            let before = edges.insert((source.get(), destination.get()), bits_of(value));
                            assert_eq!(before, None, "{source} to {destination} twice");
                        }
                    }))?;
                }
            }
        }
        Ok(graph)
    }

    /// The neighbors of all vertices; in an undirected graph from both ends.
    fn rows(&self, label: LabelId, range: Range<u32>) -> BTreeMap<u32, BTreeMap<u32, u64>> {
        let mut rows = BTreeMap::<u32, BTreeMap<u32, u64>>::new();
        let is_undirected = self.description.topology.is_undirected();
        for ((source, destination), value) in &self.edges[label.index()] {
            let mut add = |owner: &u32, neighbor: &u32| {
                if range.contains(owner) {
                    rows.entry(*owner).or_default().insert(*neighbor, *value);
                }
            };
            add(source, destination);
            if is_undirected {
                add(destination, source);
            }
        }
        rows
    }
}

impl CheckpointSource for Graph {
    fn vertices(&self, range: Range<u32>, visit: &mut VisitVertex<'_>) -> Result<(), ReadError> {
        for (id, (key, record)) in self.vertices.range(range) {
            if visit(VertexId::new(*id), key.as_ref(), record).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn rows<W: Column>(
        &self,
        label: LabelId,
        range: Range<u32>,
        visit: &mut VisitRun<'_, W>,
    ) -> Result<(), ReadError> {
        for (owner, row) in Graph::rows(self, label, range) {
            let neighbors: Vec<VertexId> = row.keys().map(|id| VertexId::new(*id)).collect();
            let values: Vec<W> = row.values().map(|value| W::from_bits(EdgeValue(*value))).collect();
            // In runs of different lengths.
            let length = 1 + owner as usize % 5 * 100;
            for (neighbors, values) in neighbors.chunks(length).zip(values.chunks(length)) {
                if visit(VertexId::new(owner), neighbors, values).is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn records(
        &self,
        label: LabelId,
        range: Range<u32>,
        visit: &mut VisitRecord<'_>,
    ) -> Result<(), ReadError> {
        for (owner, row) in Graph::rows(self, label, range) {
            for (neighbor, number) in row {
                let record = &self.records[&number];
                if visit(VertexId::new(owner), VertexId::new(neighbor), record).is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn cuts(&self, _label: LabelId, parts: usize) -> Result<Vec<Range<u32>>, ReadError> {
        let bound = self.description.counts.vertex_bound;
        let length = bound.div_ceil(parts as u32 + 1).max(1);
        Ok((0..bound)
            .step_by(length as usize)
            .map(|from| from..bound.min(from.saturating_add(length)))
            .collect())
    }
}

fn bits_of<W: Column>(value: &W) -> u64 {
    value.to_bits().0
}

const TOPOLOGIES: [Topology; 3] = [Topology::Directed, Topology::DirectedWithReverse, Topology::Undirected];

const VALUE_TYPES: [ValueType; 6] = [
    ValueType::Bool,
    ValueType::I64,
    ValueType::F64,
    ValueType::String,
    ValueType::Bytes,
    ValueType::Timestamp,
];

fn fields() -> impl Strategy<Value = RecordSchema> {
    prop::collection::vec(prop::sample::select(&VALUE_TYPES[..]), 0..4).prop_map(|types| {
        let field =
            |(number, value_type)| Field { name: format!("field {number}"), value_type, nullable: true };
        RecordSchema { fields: types.into_iter().enumerate().map(field).collect() }
    })
}

fn edge_schema() -> impl Strategy<Value = EdgeSchema> {
    prop_oneof![
        2 => Just(EdgeSchema::Topology),
        6 => prop::sample::select(&COLUMNS[1..]).prop_map(EdgeSchema::Value),
        1 => fields().prop_map(EdgeSchema::Record),
    ]
}

/// A value of a type, small or large.
fn value(value_type: ValueType, seed: u64) -> Value {
    let number = if seed.is_multiple_of(2) { seed % 100 } else { seed };
    match value_type {
        _ if seed.is_multiple_of(5) => Value::Null,
        ValueType::Bool => Value::Bool(seed.is_multiple_of(3)),
        ValueType::I64 | ValueType::Version => Value::I64(number as i64),
        ValueType::F64 => Value::F64(number as f64 / 3.0),
        ValueType::String => Value::String(format!("text {number} äöü").into()),
        ValueType::Bytes => Value::Bytes(number.to_le_bytes().into()),
        ValueType::Timestamp => Value::Timestamp(number as i64),
        ValueType::U64 => Value::U64(number),
    }
}

fn edge_value(column: ColumnType, seed: u64) -> u64 {
    match column {
        ColumnType::Unit => 0,
        ColumnType::F32 if seed.is_multiple_of(2) => u64::from(((seed % 100) as f32).to_bits()),
        ColumnType::F64 if seed.is_multiple_of(2) => ((seed % 100) as f64).to_bits(),
        ColumnType::U32 | ColumnType::F32 => u64::from(seed as u32),
        // NaNs are not equal to themselves, but their bits are: the model compares bits.
        ColumnType::U64 | ColumnType::I64 | ColumnType::F64 | ColumnType::Record => seed,
    }
}

fn key(kind: KeyKind, id: u32, seed: u64) -> Key {
    match kind {
        KeyKind::Dense => Key::Number(id.into()),
        KeyKind::Number => Key::Number(seed),
        KeyKind::String => Key::Text(format!("vertex {id} {}", "x".repeat((seed % 7) as usize)).into()),
    }
}

/// Ids close together, far apart, and the largest id.
fn ids() -> impl Strategy<Value = BTreeSet<u32>> {
    let id = prop_oneof![6 => 0..60_u32, 1 => 1000..100_000_u32, 1 => Just(u32::MAX - 1)];
    prop::collection::btree_set(id, 0..40)
}

/// Any small graph.
pub fn graphs() -> impl Strategy<Value = Graph> {
    let topology = prop::sample::select(&TOPOLOGIES[..]);
    let keys = prop::sample::select(&[KeyKind::Number, KeyKind::String, KeyKind::Dense][..]);
    let labels = prop::collection::vec(edge_schema(), 1..4);
    let edge = (any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..4_usize, any::<u64>());
    let edges = prop::collection::vec(edge, 0..300);
    (topology, keys, fields(), labels, ids(), any::<u64>(), edges).prop_map(
        |(topology, keys, fields, labels, ids, seed, edges)| {
            let vertex = |id: u32| {
                let seed = seed.wrapping_mul(u64::from(id) * 2 + 1);
                let values = fields.fields.iter().map(|field| value(field.value_type, seed)).collect();
                let record = if seed.is_multiple_of(4) { Record::EMPTY } else { Record::new(values) };
                (id, (key(keys, id, seed), record))
            };
            let mut tables = vec![BTreeMap::new(); labels.len()];
            let ends: Vec<u32> = ids.iter().copied().collect();
            for (source, destination, label, seed) in edges {
                if ends.is_empty() {
                    break;
                }
                let (source, destination) = (*source.get(&ends), *destination.get(&ends));
                let label = label % labels.len();
                let ends = topology.canonical(VertexId::new(source), VertexId::new(destination));
                let value = edge_value(labels[label].column(), seed);
                tables[label].insert((ends.0.get(), ends.1.get()), value);
            }
            let label = |(number, edges)| LabelSchema { name: format!("label {number}"), edges };
            let labels = labels.into_iter().enumerate().map(label).collect();
            let vertices = ids.iter().map(|id| vertex(*id)).collect();
            let catalog = Catalog::new(labels, fields.clone()).unwrap();
            Graph::new(topology, keys, catalog, vertices, tables)
        },
    )
}
