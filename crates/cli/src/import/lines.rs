//! Puts lines with properties into the graph.

use crate::stored::target::Target;
use hedgerow::{AsKey, Column, Error, Graph, Record, RecordSchema, Value, WriteGraph, WriteTxn};
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
    if !batch.vertices.is_empty() {
        debug_assert!(batch.edges.is_empty(), "a batch has vertices or edges");
        let transaction = graph.begin()?;
        stage(&transaction, &batch.vertices, &target.vertices)?;
        transaction.note_input(position);
        transaction.commit()?;
    } else if edges.key().is_some() {
        let numbered = |edge: PropertyEdge<K>| {
            let number = edge.value.map_or_else(|| graph.draw_number(), |number| number.0);
            (edge.source, edge.destination, number, edge.record.into())
        };
        let edges: Vec<(K, K, u64, Record)> = batch.edges.drain(..).map(numbered).collect();
        graph.ingest_from(label, &edges, position)?;
    } else if edges.record().is_some() {
        let with_record = |edge: PropertyEdge<K>| (edge.source, edge.destination, edge.record.into());
        let edges: Vec<(K, K, Record)> = batch.edges.drain(..).map(with_record).collect();
        graph.ingest_from(label, &edges, position)?;
    } else {
        with_column!(edges.column(), W => {
            let with_value = |edge: PropertyEdge<K>| {
                let bits = edge.value.unwrap_or_default();
                (edge.source, edge.destination, <W as Column>::from_bits(bits))
            };
            let edges: Vec<(K, K, W)> = batch.edges.drain(..).map(with_value).collect();
            graph.ingest_from(label, &edges, position)?;
        });
    }
    Ok(())
}

/// Stages vertices with their properties.
fn stage<K: AsKey>(
    transaction: &WriteTxn,
    vertices: &[(K, hedgerow_model::Record)],
    schema: &RecordSchema,
) -> Result<(), Error> {
    vertices.iter().try_for_each(|(key, record)| {
        let key = key.as_key();
        transaction.add_vertex(key)?;
        let properties: Vec<_> = named(schema, record.values()).collect();
        match properties.is_empty() {
            true => Ok(()),
            false => transaction.set_properties(key, &properties),
        }
    })
}

/// The values of a record by the names of their properties.
fn named<'a>(schema: &'a RecordSchema, values: &'a [Value]) -> impl Iterator<Item = (&'a str, Value)> {
    schema.fields.iter().map(|field| field.name.as_str()).zip(values.iter().cloned())
}
