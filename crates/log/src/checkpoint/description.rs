//! What a checkpoint says of its graph as a whole.

use super::codec::Malformed;
use super::codec::bytes::{ByteReader, put_bytes, put_text, put_varint};
use hedgerow_model::{
    Catalogue, ColumnType, Counts, EdgeSchema, Field, KeyKind, LabelId, LabelSchema, RecordSchema, Timestamp, Topology,
    ValueType, VertexId,
};

/// Fields of a record, at most: what the reader makes room for.
const MAX_FIELDS: usize = u16::MAX as usize;

/// What a checkpoint says of its graph as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// The store.
    pub store: u128,
    /// The commit whose state it is.
    pub timestamp: Timestamp,
    /// When that commit was made: microseconds since 1970-01-01 UTC.
    pub wall_clock: i64,
    /// Whether edges are directed, and whether in-neighbours are kept; they are not in the checkpoint.
    pub topology: Topology,
    /// What keys are.
    pub keys: KeyKind,
    /// The labels, and what lies on edges and vertices.
    pub catalogue: Catalogue,
    /// How large the graph is.
    pub counts: Counts,
    /// How far the input was read that the graph comes from, in the words of whoever reads it.
    pub input_position: Option<Box<[u8]>>,
}

/// The bytes of a type are the positions here.
const COLUMNS: [ColumnType; 6] = [
    ColumnType::Unit,
    ColumnType::U32,
    ColumnType::U64,
    ColumnType::I64,
    ColumnType::F32,
    ColumnType::F64,
];
const VALUES: [ValueType; 6] = [
    ValueType::Bool,
    ValueType::I64,
    ValueType::F64,
    ValueType::String,
    ValueType::Bytes,
    ValueType::Timestamp,
];
const TOPOLOGIES: [Topology; 3] = [Topology::Directed, Topology::DirectedWithReverse, Topology::Undirected];
const KEYS: [KeyKind; 3] = [KeyKind::Number, KeyKind::Text, KeyKind::Dense];

/// How the edges of a label are described.
const TOPOLOGY: u8 = 0;
const VALUE: u8 = 1;
const RECORD: u8 = 2;

fn put_kind<T: PartialEq>(bytes: &mut Vec<u8>, kinds: &[T], kind: &T) {
    let position = kinds.iter().position(|other| other == kind);
    bytes.push(position.expect("every kind is in its table") as u8);
}

fn read_kind<T: Copy>(bytes: &mut ByteReader<'_>, kinds: &[T]) -> Result<T, Malformed> {
    let kind = kinds.get(usize::from(bytes.u8()?)).copied();
    kind.ok_or_else(|| bytes.malformed("an unknown kind"))
}

impl Description {
    /// The labels with their schemas.
    pub fn labels(&self) -> impl Iterator<Item = (LabelId, &LabelSchema)> {
        (0..).map(LabelId).zip(self.catalogue.labels())
    }

    /// The type of the values beside the edges of a label.
    pub(super) fn column(&self, label: LabelId) -> ColumnType {
        self.catalogue.label(label).map(|label| label.edges.column()).unwrap_or_default()
    }

    /// All but the store and the time, which the file's header has.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        put_kind(&mut bytes, &TOPOLOGIES, &self.topology);
        put_kind(&mut bytes, &KEYS, &self.keys);
        put_varint(&mut bytes, u64::from(self.counts.vertex_bound));
        put_varint(&mut bytes, self.counts.vertices);
        put_record_schema(&mut bytes, self.catalogue.vertices());
        put_varint(&mut bytes, self.catalogue.labels().len() as u64);
        for (position, label) in self.catalogue.labels().iter().enumerate() {
            put_text(&mut bytes, &label.name);
            put_edge_schema(&mut bytes, &label.edges);
            put_varint(&mut bytes, self.counts.edges.get(position).copied().unwrap_or(0));
        }
        bytes.push(u8::from(self.input_position.is_some()));
        if let Some(position) = &self.input_position {
            put_bytes(&mut bytes, position);
        }
        bytes
    }

    pub(super) fn decode(
        bytes: &[u8],
        store: u128,
        timestamp: Timestamp,
        wall_clock: i64,
    ) -> Result<Self, Malformed> {
        let bytes = &mut ByteReader::new(bytes);
        let topology = read_kind(bytes, &TOPOLOGIES)?;
        let keys = read_kind(bytes, &KEYS)?;
        let vertex_bound = u32::try_from(bytes.length(VertexId::MAX.index() + 1)?);
        let vertex_bound = vertex_bound.map_err(|_| bytes.malformed("a vertex bound above 2^32 - 1"))?;
        let vertices = bytes.length(vertex_bound as usize)? as u64;
        let records = read_record_schema(bytes)?;
        // Each takes three bytes or more.
        let length = bytes.length(bytes.remaining() / 3)?;
        if length == 0 {
            return Err(bytes.malformed("no label"));
        }
        let mut labels = Vec::with_capacity(length);
        let mut counts = Counts { vertex_bound, vertices, ..Counts::default() };
        for _ in 0..length {
            let name = bytes.text()?.to_owned();
            labels.push(LabelSchema { name, edges: read_edge_schema(bytes)? });
            counts.edges.push(bytes.varint()?);
        }
        let input_position = match bytes.u8()? {
            0 => None,
            1 => Some(bytes.bytes()?.into()),
            _ => return Err(bytes.malformed("an unknown kind")),
        };
        bytes.finish()?;
        let catalogue = Catalogue::new(labels, records);
        let catalogue = catalogue.map_err(|_| bytes.malformed("schemas that contradict themselves"))?;
        Ok(Description { store, timestamp, wall_clock, topology, keys, catalogue, counts, input_position })
    }
}

fn put_edge_schema(bytes: &mut Vec<u8>, schema: &EdgeSchema) {
    match schema {
        EdgeSchema::Topology => bytes.push(TOPOLOGY),
        EdgeSchema::Value(column) => {
            bytes.push(VALUE);
            put_kind(bytes, &COLUMNS, column);
        }
        EdgeSchema::Record(record) => {
            bytes.push(RECORD);
            put_record_schema(bytes, record);
        }
    }
}

fn read_edge_schema(bytes: &mut ByteReader<'_>) -> Result<EdgeSchema, Malformed> {
    match bytes.u8()? {
        TOPOLOGY => Ok(EdgeSchema::Topology),
        VALUE => Ok(EdgeSchema::Value(read_kind(bytes, &COLUMNS)?)),
        RECORD => Ok(EdgeSchema::Record(read_record_schema(bytes)?)),
        _ => Err(bytes.malformed("an unknown kind")),
    }
}

fn put_record_schema(bytes: &mut Vec<u8>, schema: &RecordSchema) {
    put_varint(bytes, schema.fields.len() as u64);
    for field in &schema.fields {
        put_text(bytes, &field.name);
        put_kind(bytes, &VALUES, &field.value_type);
        bytes.push(u8::from(field.nullable));
    }
}

fn read_record_schema(bytes: &mut ByteReader<'_>) -> Result<RecordSchema, Malformed> {
    // Each takes three bytes or more.
    let length = bytes.length((bytes.remaining() / 3).min(MAX_FIELDS))?;
    let mut fields = Vec::with_capacity(length);
    for _ in 0..length {
        let name = bytes.text()?.to_owned();
        let value_type = read_kind(bytes, &VALUES)?;
        fields.push(Field { name, value_type, nullable: read_kind(bytes, &[false, true])? });
    }
    Ok(RecordSchema { fields })
}
