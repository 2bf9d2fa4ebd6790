//! Representations of lists in the graph.

use crate::named::Named;
use hedgerow::{
    ColumnType, EdgeSchema, EdgeUpdate, Error, Field, GraphOptions, Key, LabelId, LabelSchema,
    ParallelSchema, ReadGraph, Record, RecordSchema, Value, ValueType, WriteGraph,
};

/// Upper bound on the number of appends to one list by the checker.
pub const LONGEST_LIST: u64 = 32;

/// The distance between the keys of consecutive lists: one key for the list and one for each of its
/// places.
const STRIDE: u64 = LONGEST_LIST + 1;

/// The smallest key of a list; smaller keys belong to no list.
pub const FIRST_LIST: u64 = 1_000;

/// The property that holds a list.
const ELEMENTS: &str = "elements";

/// The label with one element per edge.
const EDGES: LabelId = LabelId(0);

/// The label with edge records that hold a list.
const RECORDS: LabelId = LabelId(1);

/// The label of parallel edges with one element per edge.
const PARALLEL: LabelId = LabelId(2);

/// The representation of a list in the graph. In each representation, two appends at the same
/// position of a list write to the same object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Representation {
    /// The n-th element is the value of an edge from the list's vertex to its n-th place.
    Edges,
    /// All elements are in one property of the list's vertex.
    Property,
    /// All elements are in one property of an edge from the list's vertex to its first place.
    Record,
    /// The n-th element is in a property of the n-th parallel edge from the list's vertex to its
    /// first place.
    Parallel,
}

impl Named for Representation {
    const NAMES: &'static [(&'static str, Self)] = &[
        ("edges", Representation::Edges),
        ("property", Representation::Property),
        ("record", Representation::Record),
        ("parallel", Representation::Parallel),
    ];
}

/// Declares the labels and properties of all representations.
pub fn with_schema(options: GraphOptions) -> GraphOptions {
    let schema = |value_type| RecordSchema {
        fields: vec![Field { name: ELEMENTS.to_owned(), value_type, nullable: true }],
    };
    let parallel = ParallelSchema { key: "position".to_owned(), record: schema(ValueType::I64) };
    let label = |name: &str, edges| LabelSchema { name: name.to_owned(), edges };
    options
        .label_schema(label("edges", EdgeSchema::Value(ColumnType::I64)))
        .label_schema(label("record", EdgeSchema::Record(schema(ValueType::Bytes))))
        .label_schema(label("parallel", EdgeSchema::Parallel(parallel)))
        .vertex_properties(schema(ValueType::Bytes))
}

/// The vertex of a list.
fn vertex(list: u64) -> u64 {
    FIRST_LIST + list * STRIDE
}

/// The vertex of a place in a list.
fn place(list: u64, position: u64) -> u64 {
    vertex(list) + 1 + position
}

impl Representation {
    /// The elements of a list, in order.
    pub fn read(self, reads: &impl ReadGraph, list: u64) -> Result<Vec<i64>, Error> {
        match self {
            Representation::Edges => {
                let mut places: Vec<(Key, i64)> = reads.edges(EDGES, vertex(list))?;
                places.sort_unstable();
                Ok(places.into_iter().map(|(_, element)| element).collect())
            }
            Representation::Property => {
                let record = reads.properties(vertex(list))?;
                Ok(record.as_ref().and_then(|record| record.values().first()).map_or_else(Vec::new, decoded))
            }
            Representation::Record => {
                let record: Option<Record> = reads.get_edge(RECORDS, vertex(list), place(list, 0))?;
                Ok(record.as_ref().and_then(|record| record.values().first()).map_or_else(Vec::new, decoded))
            }
            Representation::Parallel => {
                let edges = reads.parallel_edges::<Record>(PARALLEL, vertex(list), place(list, 0), ..)?;
                Ok(edges.iter().filter_map(|(_, record)| record.values().first()?.as_i64()).collect())
            }
        }
    }

    /// Appends an element.
    pub fn append(
        self,
        writes: &(impl ReadGraph + WriteGraph<Written = ()>),
        list: u64,
        element: i64,
    ) -> Result<(), Error> {
        let mut elements = self.read(writes, list)?;
        match self {
            Representation::Edges => {
                writes.put_edge_with(EDGES, vertex(list), place(list, elements.len() as u64), element)
            }
            Representation::Property => {
                elements.push(element);
                writes.set_properties(vertex(list), &[(ELEMENTS, encoded(&elements))])
            }
            Representation::Record => {
                elements.push(element);
                let update = EdgeUpdate::upsert().set(ELEMENTS, encoded(&elements));
                writes.update_edge(RECORDS, vertex(list), place(list, 0), &update).map(drop)
            }
            Representation::Parallel => {
                let (position, put) = (elements.len() as u64, EdgeUpdate::put().set(ELEMENTS, element));
                writes.update_parallel_edge(PARALLEL, vertex(list), place(list, 0), position, &put).map(drop)
            }
        }
    }

    /// The vertices that a transaction must declare to read a list, or to append to it.
    pub fn declared(self, list: u64, appends: bool) -> impl Iterator<Item = u64> {
        let places = match self {
            Representation::Edges if appends => LONGEST_LIST,
            Representation::Edges | Representation::Property => 0,
            Representation::Record | Representation::Parallel => 1,
        };
        std::iter::once(vertex(list)).chain((0..places).map(move |position| place(list, position)))
    }
}

fn encoded(elements: &[i64]) -> Value {
    let bytes: Vec<u8> = elements.iter().flat_map(|element| element.to_le_bytes()).collect();
    Value::Bytes(bytes.into())
}

fn decoded(value: &Value) -> Vec<i64> {
    let Value::Bytes(bytes) = value else { return Vec::new() };
    let (elements, _) = bytes.as_chunks();
    elements.iter().map(|element| i64::from_le_bytes(*element)).collect()
}
