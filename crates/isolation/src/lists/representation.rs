//! How lists are stored in the graph.

use crate::named::Named;
use hedgerow::{
    ColumnType, DeclaredTxn, Direction, EdgeSchema, EdgeUpdate, Error, Field, GraphOptions, Key, LabelId,
    LabelSchema, ParallelSchema, Record, RecordSchema, Snapshot, Value, ValueType, WriteTxn,
};

/// More appends than the checker makes to one list.
pub const LONGEST_LIST: u64 = 32;

/// The distance of the keys of consecutive lists: a key for the list and one for each of its
/// places.
const STRIDE: u64 = LONGEST_LIST + 1;

/// Keys below this do not belong to lists.
pub const FIRST_LIST: u64 = 1_000;

/// The property that holds a list.
const ELEMENTS: &str = "elements";

/// The label whose edges have a record that holds a list.
const RECORDS: LabelId = LabelId(1);

/// The label whose edges may be parallel, with an element each.
const PARALLEL: LabelId = LabelId(2);

/// How a list is stored in the graph. In each representation, two appends at the same position of a
/// list write to the same object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Representation {
    /// An edge from the list's vertex to its n-th place, with the n-th element as value.
    Edges,
    /// All elements in one property of the list's vertex.
    Property,
    /// All elements in one property of an edge from the list's vertex to its first place.
    Record,
    /// The n-th element in a property of the n-th of parallel edges to the first place.
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

/// Labels and properties for lists in any representation.
pub fn with_schema(options: GraphOptions) -> GraphOptions {
    let schema = |value_type| RecordSchema {
        fields: vec![Field { name: ELEMENTS.to_owned(), value_type, nullable: true }],
    };
    let parallel = ParallelSchema { key: "position".to_owned(), record: schema(ValueType::I64) };
    let label = |name: &str, edges| LabelSchema { name: name.to_owned(), edges };
    options
        .label(label("edges", EdgeSchema::Value(ColumnType::I64)))
        .label(label("record", EdgeSchema::Record(schema(ValueType::Bytes))))
        .label(label("parallel", EdgeSchema::Parallel(parallel)))
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

/// Reads of any kind of transaction.
pub trait Reads {
    /// The neighbors of a vertex and the values of the edges.
    fn neighbors(&mut self, key: u64) -> Result<Vec<(Key, i64)>, Error>;
    /// The properties of a vertex.
    fn properties(&mut self, key: u64) -> Result<Option<Record>, Error>;
    /// The record of an edge.
    fn edge_record(&mut self, source: u64, destination: u64) -> Result<Option<Record>, Error>;
    /// The records of parallel edges, by their keys.
    fn parallel_edges(&mut self, source: u64, destination: u64) -> Result<Vec<(u64, Record)>, Error>;
}

/// Writes of any kind of transaction.
pub trait Writes: Reads {
    /// Puts an edge.
    fn put_edge(&mut self, source: u64, destination: u64, value: i64) -> Result<(), Error>;
    /// Sets properties of a vertex.
    fn set_properties(&mut self, key: u64, properties: &[(&str, Value)]) -> Result<(), Error>;
    /// Changes the record of an edge.
    fn update_edge(&mut self, source: u64, destination: u64, update: &EdgeUpdate<'_>) -> Result<(), Error>;
    /// Changes the parallel edge with a key.
    fn update_parallel_edge(
        &mut self,
        source: u64,
        destination: u64,
        key: u64,
        update: &EdgeUpdate<'_>,
    ) -> Result<(), Error>;
}

macro_rules! reads {
    ($($transaction:ty),*) => {
        $(impl Reads for $transaction {
            fn neighbors(&mut self, key: u64) -> Result<Vec<(Key, i64)>, Error> {
                self.neighbors_of(LabelId::DEFAULT, Direction::Out, key)
            }

            fn properties(&mut self, key: u64) -> Result<Option<Record>, Error> {
                Self::properties(self, key)
            }

            fn edge_record(&mut self, source: u64, destination: u64) -> Result<Option<Record>, Error> {
                Self::edge_record(self, RECORDS, source, destination)
            }

            fn parallel_edges(&mut self, source: u64, destination: u64) -> Result<Vec<(u64, Record)>, Error> {
                Self::parallel_edges(self, PARALLEL, source, destination, ..)
            }
        })*
    };
}

macro_rules! writes {
    ($($transaction:ty),*) => {
        $(impl Writes for $transaction {
            fn put_edge(&mut self, source: u64, destination: u64, value: i64) -> Result<(), Error> {
                self.put_edge_value(LabelId::DEFAULT, source, destination, value)
            }

            fn set_properties(&mut self, key: u64, properties: &[(&str, Value)]) -> Result<(), Error> {
                Self::set_properties(self, key, properties)
            }

            fn update_edge(
                &mut self,
                source: u64,
                destination: u64,
                update: &EdgeUpdate<'_>,
            ) -> Result<(), Error> {
                Self::update_edge(self, RECORDS, source, destination, update)
            }

            fn update_parallel_edge(
                &mut self,
                source: u64,
                destination: u64,
                key: u64,
                update: &EdgeUpdate<'_>,
            ) -> Result<(), Error> {
                Self::update_parallel_edge(self, PARALLEL, source, destination, key, update)
            }
        })*
    };
}

reads!(Snapshot, WriteTxn, DeclaredTxn<'_>);
writes!(WriteTxn, DeclaredTxn<'_>);

impl Representation {
    /// The elements of a list, in order.
    pub fn read(self, reads: &mut (impl Reads + ?Sized), list: u64) -> Result<Vec<i64>, Error> {
        match self {
            Representation::Edges => {
                let mut places = reads.neighbors(vertex(list))?;
                places.sort_unstable();
                Ok(places.into_iter().map(|(_, element)| element).collect())
            }
            Representation::Property => {
                let record = reads.properties(vertex(list))?;
                Ok(record.as_ref().and_then(|record| record.values().first()).map_or_else(Vec::new, decoded))
            }
            Representation::Record => {
                let record = reads.edge_record(vertex(list), place(list, 0))?;
                Ok(record.as_ref().and_then(|record| record.values().first()).map_or_else(Vec::new, decoded))
            }
            Representation::Parallel => {
                let edges = reads.parallel_edges(vertex(list), place(list, 0))?;
                Ok(edges.iter().filter_map(|(_, record)| record.values().first()?.as_i64()).collect())
            }
        }
    }

    /// Appends an element.
    pub fn append(self, writes: &mut dyn Writes, list: u64, element: i64) -> Result<(), Error> {
        let mut elements = self.read(writes, list)?;
        match self {
            Representation::Edges => {
                writes.put_edge(vertex(list), place(list, elements.len() as u64), element)
            }
            Representation::Property => {
                elements.push(element);
                writes.set_properties(vertex(list), &[(ELEMENTS, encoded(&elements))])
            }
            Representation::Record => {
                elements.push(element);
                let update = EdgeUpdate::change().set(ELEMENTS, encoded(&elements));
                writes.update_edge(vertex(list), place(list, 0), &update)
            }
            Representation::Parallel => {
                let (position, put) = (elements.len() as u64, EdgeUpdate::put().set(ELEMENTS, element));
                writes.update_parallel_edge(vertex(list), place(list, 0), position, &put)
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
