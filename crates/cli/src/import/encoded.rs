//! Lines with properties, made ready for the graph of a new store on the threads that parse them.

use super::position::PieceTallies;
use hedgerow::store::{self, EdgeRecords};
use hedgerow::{AsKey, EdgeSchema};
use hedgerow_formats::{Batch, Edge, PropertyBatch, PropertyEdge, VertexKey};
use hedgerow_model::Record;
use rayon::ThreadPool;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use std::ops::Range;

/// Approximate size of an encoded property.
const BYTES_PER_VALUE: usize = 10;

/// A piece of a file whose lines carry properties.
#[derive(Debug)]
pub struct Encoded<K> {
    pub batch: Batch<K>,
    /// The properties of each vertex of the batch.
    pub properties: Vec<Record>,
    /// The bits of the value of each edge of the batch, or the place of its record; of edges
    /// without either, nothing.
    pub values: Vec<u64>,
    pub records: EdgeRecords,
    pub tallies: PieceTallies,
}

impl<K: VertexKey + AsKey> Encoded<K> {
    /// Encodes pieces with edges of this schema. Parallel edges without a number get one, in the
    /// order of the lines.
    pub fn all(
        pieces: impl Iterator<Item = PropertyBatch<K>>,
        schema: &EdgeSchema,
        pool: Option<&ThreadPool>,
    ) -> Vec<Self> {
        let numbered = |piece: PropertyBatch<K>| {
            let missing = piece.edges.iter().filter(|edge| edge.value.is_none()).count() as u64;
            (piece, if schema.key().is_some() { store::draw_numbers(missing) } else { 0..0 })
        };
        let pieces: Vec<_> = pieces.map(numbered).collect();
        let encode = |(piece, numbers)| Encoded::of(piece, schema, numbers);
        match pool {
            Some(pool) => pool.install(|| pieces.into_par_iter().map(encode).collect()),
            None => pieces.into_iter().map(encode).collect(),
        }
    }

    fn of(piece: PropertyBatch<K>, schema: &EdgeSchema, mut numbers: Range<u64>) -> Self {
        let tallies = PieceTallies::of(&piece);
        let fields = schema.record().map_or(0, |record| record.fields.len());
        let mut records = EdgeRecords::with_capacity(piece.edges.len() * fields * BYTES_PER_VALUE);
        let value = |edge: &PropertyEdge<K>| match schema {
            EdgeSchema::Topology => None,
            EdgeSchema::Value(_) => Some(edge.value.unwrap_or_default().0),
            EdgeSchema::Record(_) => Some(records.push(edge.record.values())),
            EdgeSchema::Parallel(_) => {
                let number = edge.value.map(|number| number.0).or_else(|| numbers.next());
                Some(records.push_parallel(number.unwrap_or_default(), edge.record.values()))
            }
        };
        let values = piece.edges.iter().filter_map(value).collect();
        let edges = piece.edges.into_iter().map(|edge| Edge::new(edge.source, edge.destination)).collect();
        let (vertices, properties) = piece.vertices.into_iter().unzip();
        Encoded { batch: Batch { edges, vertices }, properties, values, records, tallies }
    }
}
