//! The content of a vertex or an edge, compared between two states.

use crate::error::StoredError;
use crate::stored::number::EdgeNumber;
use crate::stored::properties::{Properties, Property};
use hedgerow::{
    Column, Direction, EdgeData, EdgeSchema, Key, LabelId, ParallelEdge, ReadGraph, Record, RecordSchema,
    Snapshot, Value,
};
use hedgerow_model::with_column;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// The value of an edge, or the properties of an edge or a vertex.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Content {
    Number(EdgeNumber),
    Properties(Properties),
}

/// The edges that start at a vertex, by the key of the other end, and the number of a parallel
/// edge.
pub type Row = BTreeMap<(Key, Option<u64>), Content>;

impl Content {
    /// Returns true if the bits are the same: two NaN are, 0.0 and -0.0 are not.
    pub fn is_same(&self, other: &Content) -> bool {
        match (self, other) {
            (Content::Number(one), Content::Number(other)) => {
                std::mem::discriminant(one) == std::mem::discriminant(other) && one.bits() == other.bits()
            }
            (Content::Properties(one), Content::Properties(other)) => {
                let pairs = one.iter().zip(other.iter());
                one.iter().count() == other.iter().count()
                    && pairs.into_iter().all(|((name, one), (other_name, other))| {
                        name == other_name && is_same_property(one, other)
                    })
            }
            _ => false,
        }
    }
}

fn is_same_property(one: &Property, other: &Property) -> bool {
    match (one, other) {
        (Property::Value(Value::F64(one)), Property::Value(Value::F64(other))) => {
            one.to_bits() == other.to_bits()
        }
        _ => one == other,
    }
}

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Content::Number(number) => number.fmt(f),
            Content::Properties(properties) => properties.fmt(f),
        }
    }
}

/// The properties of a vertex, which exists.
pub fn of_vertex(snapshot: &Snapshot, schema: &RecordSchema, key: &Key) -> Result<Content, StoredError> {
    let record = snapshot.properties(key)?.unwrap_or_default();
    Ok(Content::Properties(Properties::of(schema, &record)))
}

/// The edges of a label that start at a vertex, which exists; in an undirected graph those whose
/// other end has the same key or a larger one.
pub fn row_of(
    snapshot: &Snapshot,
    label: LabelId,
    schema: &EdgeSchema,
    key: &Key,
) -> Result<Row, StoredError> {
    let hop = (label, Direction::Out);
    let mut row: Row = match schema {
        EdgeSchema::Parallel(schema) => {
            let edges = snapshot.parallel_neighbors::<Record>(hop, key, ..)?.into_iter();
            let edge = |ParallelEdge { neighbor, number, data: record }| {
                let content = Content::Properties(Properties::of_parallel(schema, number, &record));
                ((neighbor, Some(number)), content)
            };
            edges.map(edge).collect()
        }
        EdgeSchema::Record(schema) => {
            let edges = snapshot.edges::<Record>(hop, key)?.into_iter();
            let content = |record| Content::Properties(Properties::of(schema, &record));
            edges.map(|(neighbor, record)| ((neighbor, None), content(record))).collect()
        }
        EdgeSchema::Topology | EdgeSchema::Value(_) => {
            with_column!(schema.column(), W => row_of_values::<W>(snapshot, hop, key)?)
        }
    };
    if snapshot.topology().is_undirected() {
        row.retain(|(neighbor, _), _| neighbor >= key);
    }
    Ok(row)
}

fn row_of_values<W: Column + EdgeData>(
    snapshot: &Snapshot,
    hop: (LabelId, Direction),
    key: &Key,
) -> Result<Row, StoredError> {
    let edges = snapshot.edges::<W>(hop, key)?.into_iter();
    Ok(edges.map(|(neighbor, value)| ((neighbor, None), Content::Number(EdgeNumber::of(value)))).collect())
}
