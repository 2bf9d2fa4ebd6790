//! Puts lines with properties into the graph.

use super::target::Target;
use hedgerow::{
    AsKey, Column, EdgeUpdate, Error, Graph, Record, RecordSchema, Value, ValueType, WriteGraph, WriteTxn,
};
use hedgerow_formats::{PropertyBatch, PropertyEdge};
use hedgerow_model::with_column;

/// Puts vertices and edges with their properties in one commit, with the importer's position after
/// it.
pub fn put<K: AsKey + Sync>(
    graph: &Graph,
    target: &Target<'_>,
    batch: &mut PropertyBatch<K>,
    position: &[u8],
) -> Result<(), Error> {
    let (label, edges) = (target.label, &target.schema.edges);
    if !batch.vertices.is_empty() || edges.key().is_some() {
        let transaction = graph.begin()?;
        stage(&transaction, target, batch)?;
        transaction.note_input(position);
        transaction.commit()?;
    } else if edges.record().is_some() {
        let with_record = |edge: PropertyEdge<K>| (edge.source, edge.destination, edge.record.into());
        let edges: Vec<(K, K, Record)> = batch.edges.drain(..).map(with_record).collect();
        graph.ingest_from(label, &edges, position)?;
    } else {
        with_column!(edges.column(), W => {
            let with_value =
                |edge: PropertyEdge<K>| (edge.source, edge.destination, <W as Column>::from_bits(edge.value));
            let edges: Vec<(K, K, W)> = batch.edges.drain(..).map(with_value).collect();
            graph.ingest_from(label, &edges, position)?;
        });
    }
    Ok(())
}

/// Stages vertices with their properties, and edges that may be parallel.
fn stage<K: AsKey>(
    transaction: &WriteTxn,
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
    let fields = target.schema.edges.record().map_or(&[][..], |schema| &schema.fields);
    batch.edges.iter().try_for_each(|edge| {
        let PropertyEdge { source, destination, value: key, record } = edge;
        let put = fields
            .iter()
            .zip(record.values())
            .filter(|(field, value)| **value != Value::Null && field.value_type != ValueType::Version)
            .fold(EdgeUpdate::put(), |update, (field, value)| update.set(&field.name, value.clone()));
        transaction
            .update_parallel_edge(target.label, source.as_key(), destination.as_key(), key.0, &put)
            .map(drop)
    })
}

/// The values of a record by the names of their properties.
fn named<'a>(schema: &'a RecordSchema, values: &'a [Value]) -> impl Iterator<Item = (&'a str, Value)> {
    schema.fields.iter().map(|field| field.name.as_str()).zip(values.iter().cloned())
}
