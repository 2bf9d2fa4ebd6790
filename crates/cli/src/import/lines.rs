//! Lines with properties into a transaction.

use super::target::Target;
use hedgerow::model::with_column;
use hedgerow::{AsKey, Column, EdgeUpdate, Error, LabelId, RecordSchema, Value, ValueType, WriteTxn};
use hedgerow_formats::{PropertyBatch, PropertyEdge};

/// Stages vertices and edges with all that lies on them.
pub fn stage<K: AsKey>(
    transaction: &mut WriteTxn,
    target: &Target<'_>,
    batch: &PropertyBatch<K>,
) -> Result<(), Error> {
    for (key, record) in &batch.vertices {
        let key = key.as_key();
        transaction.add_vertex(key)?;
        let properties: Vec<_> = named(&target.vertices, record.values()).collect();
        if !properties.is_empty() {
            transaction.set_properties(key, &properties)?;
        }
    }
    match target.schema.edges.record() {
        Some(schema) => batch.edges.iter().try_for_each(|edge| {
            let PropertyEdge { source, destination, value, record } = edge;
            let fields = schema.fields.iter().zip(record.values());
            let put = fields
                .filter(|(field, value)| **value != Value::Null && field.value_type != ValueType::Version)
                .fold(EdgeUpdate::put(), |update, (field, value)| update.set(&field.name, value.clone()));
            let (label, source, destination) = (target.label, source.as_key(), destination.as_key());
            match target.schema.edges.key() {
                Some(_) => transaction.update_parallel_edge(label, source, destination, value.0, &put),
                None => transaction.update_edge(label, source, destination, &put),
            }
        }),
        None => with_column!(target.schema.edges.column(), W => {
            batch.edges.iter().try_for_each(|edge| stage_value::<K, W>(transaction, target.label, edge))
        }),
    }
}

/// Stages an edge whose label carries values of type `W`.
fn stage_value<K: AsKey, W: Column>(
    transaction: &mut WriteTxn,
    label: LabelId,
    edge: &PropertyEdge<K>,
) -> Result<(), Error> {
    let (source, destination) = (edge.source.as_key(), edge.destination.as_key());
    transaction.put_edge_value(label, source, destination, W::from_bits(edge.value))
}

/// The values of a record by the names of their properties.
fn named<'a>(schema: &'a RecordSchema, values: &'a [Value]) -> impl Iterator<Item = (&'a str, Value)> {
    schema.fields.iter().map(|field| field.name.as_str()).zip(values.iter().cloned())
}
