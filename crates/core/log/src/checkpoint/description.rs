//! The description of the whole graph in a checkpoint.

use super::layout::CheckpointHeader;
use crate::body::{decode_catalog, encode_catalog};
use hedgerow_encoding::wire::{DecodeError, Reader, put_bytes, put_varint};
use hedgerow_model::{Catalog, ColumnType, CommitTimestamp, Counts, KeyKind, LabelId, LabelSchema, Topology};

/// The description of the whole graph in a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// The id of the store.
    pub store: [u8; 16],
    /// The commit whose state the checkpoint contains.
    pub timestamp: CommitTimestamp,
    /// The wall-clock time of that commit: microseconds since 1970-01-01 UTC.
    pub wall_clock: u64,
    /// The direction of edges. In-neighbors are not in the checkpoint.
    pub topology: Topology,
    /// The kind of keys.
    pub keys: KeyKind,
    /// The labels, and the schemas of edges and vertices.
    pub catalog: Catalog,
    /// The size of the graph.
    pub counts: Counts,
    /// The position of the last importer in its input, in its own format.
    pub input: Option<Box<[u8]>>,
}

/// Each kind is encoded as its position in its table.
const TOPOLOGIES: [Topology; 3] = [Topology::Directed, Topology::DirectedWithReverse, Topology::Undirected];
const KEYS: [KeyKind; 3] = [KeyKind::Number, KeyKind::String, KeyKind::Dense];

fn put_kind<T: PartialEq>(bytes: &mut Vec<u8>, kinds: &[T], kind: &T) {
    let position = kinds.iter().position(|other| other == kind);
    bytes.push(position.expect("every kind is in its table") as u8);
}

fn read_kind<T: Copy>(reader: &mut Reader<'_>, kinds: &[T]) -> Result<T, DecodeError> {
    let kind = kinds.get(usize::from(reader.byte()?)).copied();
    kind.ok_or_else(|| reader.error("an unknown kind"))
}

impl Description {
    /// The labels with their schemas.
    pub fn labels(&self) -> impl Iterator<Item = (LabelId, &LabelSchema)> {
        self.catalog.labels().iter().zip((0..).map(LabelId)).map(|(schema, label)| (label, schema))
    }

    /// The type of the values of a label's edges.
    #[must_use]
    pub fn column(&self, label: LabelId) -> ColumnType {
        self.catalog.label(label).map(|label| label.edges.column()).unwrap_or_default()
    }

    /// Encodes everything except the store and the times, which are in the file's header.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        put_kind(&mut bytes, &TOPOLOGIES, &self.topology);
        put_kind(&mut bytes, &KEYS, &self.keys);
        encode_catalog(&mut bytes, &self.catalog);
        put_varint(&mut bytes, u64::from(self.counts.vertex_bound));
        put_varint(&mut bytes, self.counts.vertices);
        for (label, _) in self.labels() {
            put_varint(&mut bytes, self.counts.edges_of(label).at_most());
        }
        bytes.push(u8::from(self.input.is_some()));
        if let Some(position) = &self.input {
            put_bytes(&mut bytes, position);
        }
        bytes
    }

    pub(super) fn decode(bytes: &[u8], header: &CheckpointHeader) -> Result<Self, DecodeError> {
        let reader = &mut Reader::new(bytes);
        let topology = read_kind(reader, &TOPOLOGIES)?;
        let keys = read_kind(reader, &KEYS)?;
        let catalog = decode_catalog(reader)?;
        let vertex_bound = u32::try_from(reader.varint()?);
        let vertex_bound = vertex_bound.map_err(|_| reader.error("a vertex bound above 2^32 - 1"))?;
        let vertices = reader.varint()?;
        let edges = catalog.labels().iter().map(|_| reader.varint()).collect::<Result<_, _>>()?;
        let input = if reader.flag()? { Some(reader.bytes()?.into()) } else { None };
        reader.end()?;
        let counts = Counts { vertex_bound, vertices, edges, beside: None };
        let CheckpointHeader { store, timestamp, wall_clock } = *header;
        Ok(Description { store, timestamp, wall_clock, topology, keys, catalog, counts, input })
    }
}
